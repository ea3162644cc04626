"""
One run of the loop with the model, the tools, the history and the time in the test's hands.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from rodada.statemachine import (
    Conversation,
    Limits,
    LiveRun,
    Outcome,
    Status,
    ToolLoop,
)
from support.clock import HeldClock, idle
from support.held import HeldHistory, HeldProvider, HeldTool

T = TypeVar("T")


class Scene:
    """
    One run with every port in the test's hands.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        tools: tuple[HeldTool, ...] = (),
        *,
        stored: bool = False,
        parallel: bool = False,
    ) -> None:
        self.clock = HeldClock()
        self.provider = HeldProvider()
        self.history = HeldHistory() if stored else None
        self.loop = ToolLoop(
            self.provider,
            tools=tools,
            limits=limits or Limits(),
            parallel=parallel,
            clock=self.clock,
            history=self.history,
        )

    async def asks(self, *names: str, text: str = "") -> None:
        """
        The model asks for tools, and what may start has started.
        """
        await idle()
        self.provider.call(*names, text=text)
        await idle()

    async def says(self, text: str) -> None:
        """
        The model answers.
        """
        await idle()
        self.provider.say(text)
        await idle()

    async def fails(self, error: Exception) -> None:
        """
        The call of the model fails.
        """
        await idle()
        self.provider.fail(error)
        await idle()

    def start(self, conversation: Conversation | None = None) -> LiveRun:
        """
        The run, not yet begun.
        """
        return self.loop.start("hello", conversation=conversation)


def play(scene: Callable[[], Coroutine[object, object, T]]) -> T:
    """
    Run a scene and see that no task of it is left.
    """

    async def watched() -> T:
        result = await scene()
        await idle()
        assert {asyncio.current_task()} == asyncio.all_tasks()
        return result

    return asyncio.run(watched())


def rows(outcome: Outcome) -> list[str]:
    """
    The path of a run.
    """
    return [each.row for each in outcome.transitions]


def statuses(outcome: Outcome) -> list[tuple[str, Status]]:
    """
    What became of each call, by the tool's name.
    """
    return [(call.name, call.status) for call in outcome.calls]
