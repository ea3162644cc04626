"""
One question to a real model, with the gym assistant's tools.
"""

import asyncio
from typing import cast

from rodada.cli.demo.desk import new_desk
from rodada.cli.demo.gym import INSTRUCTIONS, gym_tools
from rodada.cli.demo.play import watched
from rodada.cli.demo.view import View
from rodada.statemachine import Limits, Outcome, Provider, ToolLoop

QUESTION = (
    "How much did my bench press improve this month? Compute my record from the training log, and save a goal of "
    "2.5 kg more than my best lift."
)


async def ask(view: View, provider: Provider) -> Outcome:
    """
    Ask, and show what happens; also when the asking task is cancelled.
    """
    view.person(QUESTION)
    view.path_head()
    with new_desk() as desk:
        loop = ToolLoop(provider, tools=gym_tools(desk), instructions=INSTRUCTIONS, limits=Limits(seconds=120))
        async with loop:
            outcome = await _asked(view, loop)
        for exercise, kg in desk.goals.items():
            view.say(f"On the desk lies a goal: {exercise}, {kg} kg.")
    return outcome


async def _asked(view: View, loop: ToolLoop) -> Outcome:
    try:
        async with loop.start(QUESTION) as live:
            outcome = await watched(live, view.notice)
    except asyncio.CancelledError as cancelled:
        settled = cast("Outcome | None", getattr(cancelled, "outcome", None))
        if isinstance(settled, Outcome):
            view.outcome(settled)
        raise
    view.outcome(outcome)
    return outcome
