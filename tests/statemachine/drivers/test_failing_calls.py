"""
Model calls that fail, as the asyncio driver meets them: tried again, given up, and told.
"""

import asyncio
import math
from contextlib import suppress

import pytest

from rodada.statemachine import (
    Entry,
    Exchange,
    Limits,
    ModelRequest,
    ModelTurn,
    Outcome,
    Reason,
    RunStatus,
    Status,
    Stop,
    ToolLoop,
    Usage,
    Watch,
)
from rodada.statemachine.errors import ProviderOverloaded, ProviderRejected, WrongEventLoop
from support.clock import HeldClock, idle
from support.held import HeldProvider, HeldTool
from support.scene import Scene, play, rows, statuses


def test_a_retry_waits_as_long_as_the_vendor_asked() -> None:
    async def scene() -> tuple[Outcome, int, int]:
        it = Scene()
        async with it.start() as live:
            await it.fails(ProviderOverloaded("test", "busy", retry_after=3))
            await it.clock.advance(2.9)
            before = len(it.provider.requests)
            await it.clock.advance(0.2)
            after = len(it.provider.requests)
            it.provider.say("hi")
            return await live.outcome(), before, after

    outcome, before, after = play(scene)
    assert (1, 2) == (before, after)
    assert (RunStatus.COMPLETED, 2) == (outcome.status, outcome.model_calls)


def test_attempts_are_bounded_and_the_failure_is_told() -> None:
    async def scene() -> Outcome:
        it = Scene(Limits(max_attempts=2))
        async with it.start() as live:
            for _ in range(2):
                await it.fails(ProviderOverloaded("test", "busy"))
                await it.clock.advance(1)
            return await live.outcome()

    outcome = play(scene)
    assert ["model_called", "call_retried", "call_failed"] == rows(outcome)
    assert (RunStatus.FAILED, Reason.CALL_FAILED) == (outcome.status, outcome.reason)
    assert outcome.error is not None
    assert "ProviderOverloaded" == outcome.error.error


def test_a_wait_that_does_not_fit_into_the_time_left_ends_at_once() -> None:
    async def scene() -> Outcome:
        it = Scene(Limits(seconds=10, closing_seconds=4))
        async with it.start() as live:
            await it.fails(ProviderOverloaded("test", "busy", retry_after=60))
            return await live.outcome()

    assert ["model_called", "call_failed"] == rows(play(scene))


@pytest.mark.parametrize("asked", [math.inf, 1e306])
def test_a_wait_beyond_all_measure_does_not_fit_either(asked: float) -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await it.fails(ProviderOverloaded("test", "busy", retry_after=asked))
            return await live.outcome()

    assert ["model_called", "call_failed"] == rows(play(scene))


def test_a_failure_after_a_round_is_reported_with_what_is_known() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            a.calls[0].finish()
            await it.fails(ProviderRejected("test", "no"))
            return await live.outcome()

    outcome = play(scene)
    assert (RunStatus.INCOMPLETE, Reason.CALL_FAILED, "engine") == (outcome.status, outcome.reason, outcome.answer_by)
    assert [("a", Status.SUCCEEDED)] == statuses(outcome)


def test_a_model_call_that_takes_too_long_is_given_up_and_tried_again() -> None:
    async def scene() -> tuple[Outcome, list[int]]:
        it = Scene(Limits(call_seconds=5))
        async with it.start() as live:
            await it.clock.advance(5)
            await it.clock.advance(1)
            it.provider.say("hi")
            return await live.outcome(), it.provider.given_up

    outcome, given_up = play(scene)
    assert ["model_called", "call_retried", "answer_kept", "answer_stored"] == rows(outcome)
    assert [1] == given_up


@pytest.mark.parametrize("broken", ["no turn", "ids twice", "raises"])
def test_a_provider_that_breaks_its_word_is_a_failed_call(broken: str) -> None:
    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            a.calls[0].finish()
            await idle()
            reply = it.provider.replies[-1]
            if broken == "no turn":
                reply.set_result("a string")  # type: ignore[arg-type]
            elif broken == "raises":
                reply.set_exception(KeyError("secret"))
            else:
                last = it.provider.requests[-1].conversation.last
                assert isinstance(last, Exchange)
                reply.set_result(last.turn)
            return await live.outcome()

    outcome = play(scene)
    assert (RunStatus.INCOMPLETE, Reason.CALL_FAILED) == (outcome.status, outcome.reason)
    assert outcome.error is not None
    assert "secret" not in outcome.error.message


def test_an_error_of_our_own_keeps_its_words() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await it.fails(WrongEventLoop("Anthropic"))
            return await live.outcome()

    outcome = play(scene)
    assert outcome.error is not None
    assert "WrongEventLoop" == outcome.error.error
    assert "one ToolLoop to each loop" in outcome.error.message


def test_a_cancel_that_nobody_asked_for_is_a_failed_call() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.replies[-1].cancel()
            return await live.outcome()

    outcome = play(scene)
    assert (RunStatus.FAILED, Reason.CALL_FAILED) == (outcome.status, outcome.reason)


def test_a_store_that_is_cancelled_from_inside_is_a_failed_append() -> None:
    async def scene() -> Outcome:
        it = Scene(stored=True)
        assert it.history is not None
        async with it.start() as live:
            await idle()
            it.history.done[0].cancel()
            return await live.outcome()

    assert Reason.APPEND_FAILED is play(scene).reason


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_store_that_never_returns_is_a_failed_append(stubborn: bool) -> None:
    over = asyncio.Event()

    class Endless:
        async def append(self, conversation_id: str, after: int, entries: tuple[Entry, ...]) -> None:
            while not over.is_set():
                with suppress(*((asyncio.CancelledError,) if stubborn else ())):
                    await over.wait()

    async def scene() -> Outcome:
        clock = HeldClock()
        limits = Limits(call_seconds=3, stop_seconds=1)
        async with ToolLoop(HeldProvider(), clock=clock, limits=limits, history=Endless()).start("hello") as live:
            await clock.advance(4)
            over.set()
            return await live.outcome()

    assert Reason.APPEND_FAILED is play(scene).reason


def test_a_provider_that_ignores_its_cancel_is_left_behind() -> None:
    class Stubborn:
        def __init__(self) -> None:
            self.over = asyncio.Event()

        async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
            while not self.over.is_set():
                with suppress(asyncio.CancelledError):
                    await self.over.wait()
            return ModelTurn(Stop.WHOLE, "too late")

    async def scene() -> Outcome:
        clock, provider = HeldClock(), Stubborn()
        limits = Limits(call_seconds=3, stop_seconds=1)
        async with ToolLoop(provider, clock=clock, limits=limits).start("hello") as live:
            await clock.advance(4)
            provider.over.set()
            return await live.outcome()

    outcome = play(scene)
    assert (RunStatus.FAILED, Reason.CALL_FAILED) == (outcome.status, outcome.reason)
    assert outcome.error is not None
    assert "did not stop" in outcome.error.message


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_provider_says_of_a_call_that_was_given_up_is_not_heard(fails: bool) -> None:
    class Deaf:
        async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
            if request.call > 1:
                return ModelTurn(Stop.WHOLE, "The time is over.")
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if fails:
                    raise ProviderOverloaded("deaf", "it was interrupted") from None
            return ModelTurn(Stop.WHOLE, "too late")

    async def scene() -> Outcome:
        clock = HeldClock()
        async with ToolLoop(Deaf(), clock=clock, limits=Limits(call_seconds=None)).start("hello") as live:
            await clock.advance(281)
            return await live.outcome()

    outcome = play(scene)
    assert (RunStatus.INCOMPLETE, Reason.DEADLINE) == (outcome.status, outcome.reason)
    assert ("The time is over.", "model", 2) == (outcome.answer, outcome.answer_by, outcome.model_calls)


def test_a_turn_that_claims_words_it_has_not_is_a_failed_call() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.replies[-1].set_result(ModelTurn(Stop.WHOLE, "", has_words=True))
            return await live.outcome()

    assert Reason.CALL_FAILED is play(scene).reason


@pytest.mark.parametrize("asked", [math.nan, "7", None], ids=str)
def test_what_is_no_wait_is_not_heard(asked: float) -> None:
    async def scene() -> Outcome:
        it = Scene(Limits(seconds=10, closing_seconds=4))
        async with it.start() as live:
            await it.fails(ProviderOverloaded("test", "busy", retry_after=asked))
            await it.clock.advance(2)
            await it.says("hi")
            return await live.outcome()

    assert RunStatus.COMPLETED is play(scene).status


def test_each_model_call_has_its_usage_also_one_that_gave_no_turn() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await it.fails(ProviderOverloaded("test", "busy"))
            await it.clock.advance(1)
            it.provider.replies[-1].set_result(ModelTurn(Stop.WHOLE, "hi", usage=Usage(input_tokens=3)))
            return await live.outcome()

    outcome = play(scene)
    assert (Usage(), Usage(input_tokens=3)) == outcome.usages
    assert Usage(input_tokens=3) == outcome.usage
