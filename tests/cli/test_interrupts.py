"""
Ctrl-C as news, and what is done about it.
"""

import asyncio
import os
import signal
import threading

import pytest

from rodada.cli import attending
from rodada.cli.attending import Attended
from rodada.cli.interrupts import Interrupts, News
from rodada.cli.stop_clock import StopClock
from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, Outcome, RunStatus, Status, ToolLoop
from rodada.tools import tool


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_a_press_is_news() -> None:
    with Interrupts() as interrupts:
        press()
        assert interrupts.next(None) is News.PRESSED
        assert interrupts.next(0.0) is News.TIME
        interrupts.end()
        assert interrupts.next(None) is News.ENDED


def test_a_press_before_anybody_listens_is_heard_later() -> None:
    with Interrupts() as interrupts:
        press()
        interrupts.end()
        assert [interrupts.next(None), interrupts.next(None)] == [News.PRESSED, News.ENDED]


def test_the_second_press_breaks_in_while_nobody_listens() -> None:
    with Interrupts():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_what_was_set_before_is_set_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


class Said(Interrupts):
    """
    Says what it is told to, from when a tool runs: that it was started says only that its thread was asked for.
    """

    def __init__(self, *news: News) -> None:
        super().__init__()
        self.running = threading.Event()
        self.patience: list[float | None] = []
        self._told = list(news)

    def next(self, seconds: float | None) -> News:
        self.running.wait()
        self.patience.append(seconds)
        return self._told.pop(0) if self._told else super().next(10)


def attended(interrupts: Said, tool_seconds: float | None = 3600) -> Outcome | None:
    @tool(writes="log")
    def rest() -> str:
        """
        Rests in a thread for ever.
        """
        interrupts.running.set()
        threading.Event().wait()
        return "never"

    clock = StopClock()
    limits = Limits(stop_seconds=600, tool_seconds=tool_seconds)
    loop = ToolLoop(Scripted([Turn(calls=[Call("rest")])]), tools=[rest], limits=limits, clock=clock)
    return Attended(loop.start("Hi"), loop, clock, interrupts, lambda notice: None).wait()


def test_the_second_press_ends_the_time_that_a_tool_has_to_stop() -> None:
    interrupts = Said(News.PRESSED, News.PRESSED)
    outcome = attended(interrupts)
    assert outcome is not None
    assert (outcome.status, outcome.detail, outcome.still_running) == (
        RunStatus.CANCELLED,
        "interrupted",
        ("call_1_0",),
    )
    assert interrupts.patience == [None, 600.5]


def test_a_tool_that_was_hurried_is_not_told_to_have_run_out_of_its_own_time() -> None:
    outcome = attended(Said(News.PRESSED, News.TIME))
    assert outcome is not None
    [call] = outcome.calls
    assert "Interrupted" in call.text


def test_who_presses_on_does_not_lose_what_the_run_settles_with() -> None:
    outcome = attended(Said(News.PRESSED, News.PRESSED, News.PRESSED))
    assert outcome is not None
    assert [call.status for call in outcome.calls] == [Status.OUTCOME_UNKNOWN]


def test_a_run_that_does_not_settle_gives_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attending, "SETTLING_SECONDS", 0.01)
    interrupts, go = Said(News.PRESSED, News.PRESSED), threading.Event()

    @tool
    async def block() -> None:
        interrupts.running.set()
        go.wait(10)

    clock = StopClock()
    loop = ToolLoop(Scripted([Turn(calls=[Call("block")])]), tools=[block], clock=clock)
    assert Attended(loop.start("Hi"), loop, clock, interrupts, lambda notice: None).wait() is None
    go.set()


def test_only_waits_of_stopping_are_hurried() -> None:
    async def waits() -> list[str]:
        clock, ended, over = StopClock(), list[str](), asyncio.Event()
        timers = [clock.later(3600, lambda: ended.append("earlier"))]
        clock.stopping()
        timers.append(clock.later(3600, lambda: ended.append("grace")))
        cancelled = clock.later(3600, lambda: ended.append("cancelled"))
        cancelled.cancel()
        clock.hurry()
        timers += [clock.later(3600, lambda: ended.append("later")), clock.later(3600, over.set)]
        await over.wait()
        for timer in timers:
            timer.cancel()
        return ended

    assert asyncio.run(waits()) == ["grace", "later"]
