"""
A run's time for work is over once, and waiting for people does not count.
"""

import asyncio

import pytest
from attrs import evolve

from rodada.statemachine import Conversation, Limits, Text, UserMessage
from rodada.statemachine.drivers.deadline import Deadline
from rodada.statemachine.run import Run, new_run
from support.clock import HeldClock


def run_of(seconds: float | None) -> Run:
    limits = Limits(seconds=seconds, closing_seconds=4)
    return new_run("run", UserMessage("m", (Text("hello"),)), Conversation(), limits=limits)


def passed_at(run: Run, asked_for: float, answered_after: float | None = None) -> list[float]:
    """
    The seconds at which the time was over, of `asked_for`; people are asked at 1 s and answer after so many more.
    """
    found: list[float] = []

    async def scene() -> None:
        clock = HeldClock()
        deadline = Deadline(clock, lambda: found.append(clock.mono() - began))
        began = clock.mono()
        deadline.follow(run, 0)
        if answered_after is not None:
            await clock.advance(1)
            deadline.follow(evolve(run, asked_ms=1000), 1000)
            await clock.advance(answered_after)
            ms = round(1000 * (1 + answered_after))
            deadline.follow(evolve(run, people_ms=ms - 1000), ms)
        await clock.advance(asked_for)
        deadline.follow(run, round(1000 * (clock.mono() - began)))
        await clock.advance(asked_for)

    asyncio.run(scene())
    return found


@pytest.mark.parametrize(("answered_after", "over"), [(None, 6), (30, 36)])
def test_the_time_is_over_once_and_waiting_for_people_does_not_count(answered_after: float | None, over: float) -> None:
    assert [over] == passed_at(run_of(10), 100, answered_after)


def test_unlimited_time_is_never_over() -> None:
    assert [] == passed_at(run_of(None), 100_000)


def test_a_cancelled_deadline_does_not_pass() -> None:
    async def scene() -> list[str]:
        clock, found = HeldClock(), list[str]()
        deadline = Deadline(clock, lambda: found.append("over"))
        deadline.follow(run_of(10), 0)
        deadline.cancel()
        await clock.advance(100)
        return found

    assert [] == asyncio.run(scene())
