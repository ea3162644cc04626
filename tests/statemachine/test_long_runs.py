"""
A round costs the engine no more late in a run than early, nor behind a long stored conversation.
"""

import asyncio
from functools import partial

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Conversation, Limits, Text, ToolLoop, UserMessage
from rodada.statemachine.messages import Entry, ModelTurn, Stop
from rodada.tools import tool
from support.calls_made import calls_made


@tool(reads="log")
async def look(number: int) -> int:
    """Look a number up."""
    return number


def run(rounds: int, stored: int = 0) -> None:
    earlier = [(UserMessage(f"u{at}", (Text("Hi."),)), ModelTurn(Stop.WHOLE, "Hi.")) for at in range(stored)]
    entries: list[Entry] = [entry for pair in earlier for entry in pair]
    turns = [Turn(calls=[Call("look", {"number": at})]) for at in range(rounds)]
    limits = Limits(max_rounds=rounds, seconds=None, call_seconds=None, tool_seconds=None, history_messages=None)
    loop = ToolLoop(Scripted([*turns, Turn("Done.")]), tools=[look], limits=limits)
    outcome = asyncio.run(loop.run("Go.", conversation=Conversation("c", tuple(entries))))
    assert (rounds, "Done.") == (outcome.rounds, outcome.answer)


def test_a_round_costs_no_more_late_in_a_run() -> None:
    run(3)
    few, many = (calls_made(partial(run, rounds)) / rounds for rounds in (30, 300))
    assert many < few * 1.05


def test_a_round_costs_no_more_behind_a_long_stored_conversation() -> None:
    run(3)

    def a_round(stored: int) -> int:
        return calls_made(partial(run, 20, stored)) - calls_made(partial(run, 10, stored))

    assert a_round(500) < a_round(0) * 1.05
