"""
Streaming: watchers hear a turn while it is said, and what they were told adds up to the outcome.
"""

import asyncio
import gc
from collections.abc import Callable
from functools import partial, reduce

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import (
    ArgumentsDelta,
    Ended,
    Gap,
    Limits,
    ModelTurn,
    Notice,
    Outcome,
    RunStatus,
    Said,
    SoFar,
    Stop,
    TextDelta,
    ToolLoop,
    TurnEnded,
    TurnKind,
    UserMessage,
    audience,
    told,
)
from rodada.statemachine.drivers.clock import SystemClock
from rodada.statemachine.errors import NotSupported, ProviderOverloaded
from rodada.statemachine.ports import Timer
from rodada.tools import tool
from support.clock import HeldClock, idle
from support.event_loops import new_loop
from support.held import HeldProvider


@tool(reads="log")
def read_log(weeks: int) -> str:
    """Read the log."""
    return f"{weeks} weeks"


def talkative() -> Scripted:
    return Scripted(
        [
            Turn("Let me look. ", [Call("read_log", {"weeks": 4})]),
            Turn("You are", error=ProviderOverloaded("scripted", "busy", retryable=True)),
            Turn("You lift 5 kg more."),
        ]
    )


async def noticed(loop: ToolLoop) -> tuple[list[Notice], Outcome]:
    async with loop.start("How much?") as live:
        return [notice async for notice in live.events(after=0)], await live.outcome()


UNHURRIED = Limits(call_seconds=None)


def of_outcome(outcome: Outcome) -> Said:
    return Said(outcome.narration, outcome.answer, outcome.partial)


def said_by(notices: list[Notice]) -> list[str]:
    return [notice.text for notice in notices if isinstance(notice, TextDelta)]


def ends(notices: list[Notice]) -> list[tuple[int, int, TurnKind, str]]:
    return [(each.call, each.attempt, each.kind, each.text) for each in notices if isinstance(each, TurnEnded)]


class Hurried(SystemClock):
    """
    A clock on which waits before another try are over at once.
    """

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        return super().later(0.0 if seconds < 10 else seconds, callback)


def talkative_loop(*, stream: bool = True) -> ToolLoop:
    return ToolLoop(talkative(), tools=[read_log], clock=Hurried(), stream=stream)


def test_watchers_hear_the_words_as_they_come_and_what_became_of_each_turn() -> None:
    notices, outcome = asyncio.run(noticed(talkative_loop()))

    assert said_by(notices) == ["Let ", "me ", "look. ", "You ", "are", "You ", "lift ", "5 ", "kg ", "more."]
    assert [each for each in notices if isinstance(each, ArgumentsDelta)] == [
        ArgumentsDelta(0, "read_log", '{"weeks":4}', n=5, call=1, attempt=1)
    ]
    assert ends(notices) == [
        (1, 1, TurnKind.NARRATION, "Let me look. "),
        (2, 1, TurnKind.DISCARDED, "You are"),
        (3, 2, TurnKind.ANSWER, "You lift 5 kg more."),
    ]
    assert outcome.narration == ("Let me look. ",)
    assert outcome.answer == "You lift 5 kg more."


def test_notices_are_numbered_without_a_hole() -> None:
    notices, _ = asyncio.run(noticed(talkative_loop()))
    assert [each.n for each in notices] == list(range(1, len(notices) + 1))
    assert isinstance(notices[-1], Ended)


def test_who_watches_under_eager_tasks_misses_nothing_either() -> None:
    """
    There a run would begin while its block is entered, and a model speak before the driver knows of its task.
    """

    async def heard_from_now_on() -> list[Notice]:
        async with talkative_loop().start("How much?") as live:
            return [notice async for notice in live.events()]

    with asyncio.Runner(loop_factory=partial(new_loop, "eager tasks")) as runner:
        notices = runner.run(heard_from_now_on())
    expected, _ = asyncio.run(noticed(talkative_loop()))
    assert said_by(expected) == said_by(notices)
    assert [1, len(notices)] == [notices[0].n, notices[-1].n]


def test_without_streaming_the_turns_end_the_same_and_nothing_is_heard_before() -> None:
    streamed, _ = asyncio.run(noticed(talkative_loop()))
    whole, _ = asyncio.run(noticed(talkative_loop(stream=False)))
    assert said_by(whole) == []
    assert [each for each in ends(whole) if each[2] is not TurnKind.DISCARDED] == [
        each for each in ends(streamed) if each[2] is not TurnKind.DISCARDED
    ]


def test_a_watcher_that_comes_back_goes_on_behind_the_last_notice_that_it_saw() -> None:
    async def scene() -> None:
        loop = talkative_loop()
        async with loop.start("How much?") as live:
            everything = [notice async for notice in live.events(after=0)]
            for seen in range(len(everything) + 1):
                assert [notice async for notice in live.events(after=seen)] == everything[seen:]

    asyncio.run(scene())


@pytest.mark.parametrize("kept", [1, 2, 3, 7, 1000])
def test_what_is_told_adds_up_from_any_point_however_little_is_kept(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    everything, outcome = asyncio.run(noticed(talkative_loop()))
    monkeypatch.setattr(audience, "LONGEST_QUEUE", kept)

    async def scene() -> None:
        loop = talkative_loop()
        async with loop.start("How much?") as live:
            await live.outcome()
            for seen in range(len(everything) + 1):
                before = reduce(told, everything[:seen], Said())
                later = [notice async for notice in live.events(after=seen)]
                assert reduce(told, later, before) == of_outcome(outcome)

    asyncio.run(scene())


@pytest.mark.parametrize("seen", [-1, 0, 1, 5])
@pytest.mark.parametrize("kept", [1, 2, 7])
def test_a_watcher_that_comes_back_too_late_loses_only_what_is_no_longer_kept(
    monkeypatch: pytest.MonkeyPatch, kept: int, seen: int
) -> None:
    everything, _ = asyncio.run(noticed(talkative_loop()))
    monkeypatch.setattr(audience, "LONGEST_QUEUE", kept)
    lost = len(everything) - kept

    async def scene() -> list[Notice]:
        async with talkative_loop().start("How much?") as live:
            await live.outcome()
            return [notice async for notice in live.events(after=seen)]

    gap, so_far, *rest = asyncio.run(scene())
    assert gap == Gap(lost - max(seen, 0), n=lost)
    assert so_far == SoFar(reduce(told, everything[:lost], Said()), n=lost)
    assert [(type(each), each.n) for each in rest] == [(type(each), each.n) for each in everything[lost:]]
    assert isinstance(rest[-1], Ended)


def test_watchers_that_left_are_told_nothing_more() -> None:
    def watchers() -> int:
        gc.collect()
        return sum(type(each).__name__ == "_Watcher" for each in gc.get_objects())

    async def scene() -> int:
        provider = HeldProvider()
        async with ToolLoop(provider, limits=UNHURRIED).start("How much?") as live:
            staying = live.events()
            for _ in range(20):
                live.events()
                async for _notice in live.events(after=0):
                    break
            await idle()
            count = watchers()
            provider.say("done")
            assert [type(each) async for each in staying][-1] is Ended
            return count

    before = watchers()
    assert asyncio.run(scene()) == before + 1


@pytest.mark.parametrize("kept", [1, 2, 3, 7])
def test_a_slow_watcher_is_told_what_was_said_in_the_gap(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(audience, "LONGEST_QUEUE", kept)

    async def scene() -> tuple[list[Notice], Outcome]:
        async with talkative_loop().start("How much?") as live:
            events = live.events()
            outcome = await live.outcome()
            return [notice async for notice in events], outcome

    seen, outcome = asyncio.run(scene())
    gap, so_far = seen[:2]
    assert isinstance(gap, Gap)
    assert isinstance(so_far, SoFar)
    assert gap.missed == gap.n == so_far.n
    assert [each.n for each in seen[2:]] == list(range(gap.n + 1, gap.n + len(seen) - 1))
    assert reduce(told, seen, Said()) == of_outcome(outcome)


def test_f006_words_that_were_heard_before_a_cancel_are_partial_and_never_history() -> None:
    async def scene() -> tuple[list[Notice], Outcome]:
        provider = HeldProvider()
        async with ToolLoop(provider, clock=HeldClock(), stream=True).start("hello") as live:
            events = live.events()
            await idle()
            provider.murmur("Hel", "lo ")
            live.cancel("enough")
            return [notice async for notice in events], await live.outcome()

    notices, outcome = asyncio.run(scene())
    assert (outcome.status, outcome.partial, outcome.answer) == (RunStatus.CANCELLED, "Hello ", "")
    assert [type(entry) for entry in outcome.conversation.entries] == [UserMessage]
    assert ends(notices) == [(1, 1, TurnKind.PARTIAL, "Hello ")]


def test_f089_what_a_failed_attempt_said_is_discarded_and_never_glued_to_the_next() -> None:
    notices, outcome = asyncio.run(noticed(talkative_loop()))
    assert (2, 1, TurnKind.DISCARDED, "You are") in ends(notices)
    assert outcome.answer == "You lift 5 kg more."
    assert outcome.partial == ""


def test_words_before_the_last_failure_are_partial() -> None:
    failing = Turn("You are", error=ProviderOverloaded("scripted", "busy", retryable=False))
    notices, outcome = asyncio.run(noticed(ToolLoop(Scripted([failing]), stream=True)))
    assert (outcome.status, outcome.partial) == (RunStatus.FAILED, "You are")
    assert ends(notices) == [(1, 1, TurnKind.PARTIAL, "You are")]


def test_of_a_call_that_was_given_up_nothing_is_heard_any_more() -> None:
    async def scene() -> list[Notice]:
        provider, clock = HeldProvider(), HeldClock()
        async with ToolLoop(provider, clock=clock, limits=UNHURRIED, stream=True).start("hello") as live:
            events = live.events()
            await idle()
            provider.murmur("too ")
            await clock.advance(290)
            await idle()
            provider.murmur("late", call=1)
            provider.murmur("The time is over.", call=2)
            provider.say("The time is over.")
            return [notice async for notice in events]

    notices = asyncio.run(scene())
    assert said_by(notices) == ["too ", "The time is over."]
    assert [(kind, text) for _, _, kind, text in ends(notices)] == [
        (TurnKind.DISCARDED, "too "),
        (TurnKind.ANSWER, "The time is over."),
    ]


def test_what_was_said_before_a_pause_is_dropped_too_where_the_time_is_over() -> None:
    async def scene() -> list[Notice]:
        provider, clock = HeldProvider(), HeldClock()
        async with ToolLoop(provider, clock=clock, limits=UNHURRIED, stream=True).start("hello") as live:
            events = live.events()
            await idle()
            provider.murmur("Let me ")
            provider.replies[-1].set_result(ModelTurn(Stop.PAUSED, "Let me "))
            await idle()
            provider.murmur("see")
            await clock.advance(290)
            provider.murmur("The time is over.")
            provider.say("The time is over.")
            return [notice async for notice in events]

    notices = asyncio.run(scene())
    assert ends(notices) == [
        (2, 1, TurnKind.DISCARDED, "Let me see"),
        (3, 1, TurnKind.ANSWER, "The time is over."),
    ]


def test_words_of_a_call_that_was_given_up_are_not_those_of_the_next() -> None:
    async def scene() -> tuple[list[Notice], Outcome]:
        provider, clock = HeldProvider(), HeldClock()
        async with ToolLoop(provider, clock=clock, limits=UNHURRIED, stream=True).start("hello") as live:

            async def cancelled_once_discarded() -> list[Notice]:
                notices: list[Notice] = []
                async for notice in live.events():
                    notices.append(notice)
                    if isinstance(notice, TurnEnded) and notice.kind is TurnKind.DISCARDED:
                        live.cancel("enough")
                return notices

            watching = asyncio.create_task(cancelled_once_discarded())
            await idle()
            provider.murmur("too late")
            await clock.advance(290)
            return await watching, await live.outcome()

    notices, outcome = asyncio.run(scene())
    assert [(kind, text) for _, _, kind, text in ends(notices)] == [
        (TurnKind.DISCARDED, "too late"),
        (TurnKind.PARTIAL, ""),
    ]
    assert outcome.partial == ""


def test_a_model_that_cannot_stream_is_refused_by_name() -> None:
    class Whole:
        ask = Scripted().ask

    for make in (
        lambda: ToolLoop(Whole(), stream=True),
        lambda: ToolLoop(Whole()).start("hello", stream=True),
    ):
        with pytest.raises(NotSupported, match="cannot stream; its turns come whole"):
            make()
