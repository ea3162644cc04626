"""
The asyncio driver: every event may come while anything is in flight; time is held, nothing sleeps.
"""

import ast
import asyncio
import inspect
import math
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Literal, TypeVar

import pytest
from attrs import evolve

from rodada.statemachine import (
    Conversation,
    Ended,
    Entry,
    Exchange,
    Kind,
    Limits,
    LiveRun,
    ModelRequest,
    ModelTurn,
    Notice,
    Origin,
    Outcome,
    PlannedCall,
    Reason,
    RunStatus,
    State,
    Status,
    StepTaken,
    Stop,
    Text,
    ToolEnded,
    ToolList,
    ToolLoop,
    ToolRequest,
    ToolStarted,
    TurnEnded,
    TurnKind,
    Usage,
    UserMessage,
    Watch,
    step,
)
from rodada.statemachine import guards as guards_module
from rodada.statemachine.drivers import asyncio_driver, tool_run
from rodada.statemachine.drivers.asyncio_driver import AsyncioDriver, Ports
from rodada.statemachine.errors import ProviderOverloaded, ProviderRejected, UnexpectedEvent, WrongEventLoop
from rodada.statemachine.events import DeadlinePassed, Event
from rodada.statemachine.machine import MACHINE
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.run import Run, new_run
from rodada.statemachine.step import Moved, move
from support.clock import START, HeldClock, idle
from support.held import HeldCall, HeldHistory, HeldProvider, HeldTool

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

    def start(self, conversation: Conversation | None = None) -> LiveRun:
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
    return [each.row for each in outcome.transitions]


def statuses(outcome: Outcome) -> list[tuple[str, Status]]:
    return [(call.name, call.status) for call in outcome.calls]


# A plain course


def test_a_message_is_answered() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.say("hi")
            return await live.outcome()

    outcome = play(scene)
    assert (RunStatus.COMPLETED, None, "hi", "model") == (
        outcome.status,
        outcome.reason,
        outcome.answer,
        outcome.answer_by,
    )
    assert ["model_called", "answer_kept", "answer_stored"] == rows(outcome)


def test_tools_run_one_at_a_time_in_request_order() -> None:
    async def scene() -> Outcome:
        a, b = HeldTool("a"), HeldTool("b")
        it = Scene(tools=(a, b))
        async with it.start() as live:
            await idle()
            it.provider.call("a", "b")
            await idle()
            assert (1, 0) == (len(a.calls), len(b.calls))
            a.calls[0].finish("A")
            await idle()
            assert (1, 1) == (len(a.calls), len(b.calls))
            b.calls[0].finish("B")
            await idle()
            it.provider.say("done")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.SUCCEEDED), ("b", Status.SUCCEEDED)] == statuses(outcome)
    assert ["A", "B"] == [call.text for call in outcome.calls]


def test_the_driver_and_a_plain_loop_over_step_give_equal_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[tuple[Run, Event, Run]] = []
    real_move = move

    def recording(run: Run, event: Event, n: int) -> Moved:
        moved = real_move(run, event, n)
        fed.append((run, event, moved.run))
        return moved

    monkeypatch.setattr(asyncio_driver, "move", recording)

    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(Limits(max_rounds=1), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            a.calls[0].finish("A")
            await idle()
            it.provider.call("a")
            await idle()
            it.provider.say("closing")
            return await live.outcome()

    play(scene)
    run = fed[0][0]
    for _, event, _ in fed:
        run, _ = step(run, event)
    assert fed[-1][2] == run
    assert State.FINALIZE is run.state


# Cancel and deadline while something is in flight


def test_a_cancel_while_the_model_is_asked_gives_the_call_up() -> None:
    async def scene() -> tuple[Outcome, list[int]]:
        it = Scene()
        async with it.start() as live:
            await idle()
            live.cancel("left")
            return await live.outcome(), it.provider.given_up

    outcome, given_up = play(scene)
    assert (RunStatus.CANCELLED, Reason.CANCELLED, "left", "") == (
        outcome.status,
        outcome.reason,
        outcome.detail,
        outcome.answer,
    )
    assert [1] == given_up
    assert [UserMessage] == [type(entry) for entry in outcome.appended]


def test_a_cancel_while_a_tool_runs_stops_it_and_settles_the_history() -> None:
    async def scene() -> tuple[Outcome, int]:
        a, b = HeldTool("a", Kind.READ), HeldTool("b")
        it = Scene(tools=(a, b))
        async with it.start() as live:
            await idle()
            it.provider.call("a", "b")
            await idle()
            live.cancel()
            return await live.outcome(), a.calls[0].cancels

    outcome, cancels = play(scene)
    assert RunStatus.CANCELLED is outcome.status
    assert [("a", Status.OUTCOME_UNKNOWN), ("b", Status.NOT_EXECUTED)] == statuses(outcome)
    assert [UserMessage, Exchange] == [type(entry) for entry in outcome.conversation.entries]
    assert 1 == cancels


def test_a_cancel_while_a_retry_waits_gives_it_up() -> None:
    async def scene() -> tuple[Outcome, int]:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.fail(ProviderOverloaded("test", "busy", retry_after=5))
            await idle()
            live.cancel()
            outcome = await live.outcome()
            return outcome, len(it.provider.requests)

    outcome, asked = play(scene)
    assert ["model_called", "call_retried", "cancel_in_call"] == rows(outcome)
    assert 1 == asked


def test_a_cancel_while_an_entry_is_stored_waits_for_it() -> None:
    async def scene() -> tuple[Outcome, bool]:
        it = Scene(stored=True)
        assert it.history is not None
        async with it.start() as live:
            await idle()
            live.cancel()
            await idle()
            waited = not it.history.done[0].done() and len(it.history.appends) == 1
            it.history.done[0].set_result(None)
            return await live.outcome(), waited

    outcome, waited = play(scene)
    assert ["cancel_in_append", "cancel_settled"] == rows(outcome)
    assert waited
    assert [UserMessage] == [type(entry) for entry in outcome.conversation.entries]


def test_the_deadline_while_the_model_is_asked_makes_the_closing_call() -> None:
    async def scene() -> tuple[Outcome, list[bool], list[int]]:
        it = Scene(Limits(seconds=10, closing_seconds=4))
        async with it.start() as live:
            await it.clock.advance(6)
            it.provider.say("this is what I have")
            outcome = await live.outcome()
            return outcome, [each.tools_allowed for each in it.provider.requests], it.provider.given_up

    outcome, allowed, given_up = play(scene)
    assert (RunStatus.INCOMPLETE, Reason.DEADLINE, "this is what I have", "model") == (
        outcome.status,
        outcome.reason,
        outcome.answer,
        outcome.answer_by,
    )
    assert [True, False] == allowed
    assert [1] == given_up


def test_the_deadline_while_a_tool_runs_stops_it_and_closes() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", Kind.READ)
        it = Scene(Limits(seconds=10, closing_seconds=4), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await it.clock.advance(6)
            it.provider.say("closing")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.OUTCOME_UNKNOWN)] == statuses(outcome)
    assert (RunStatus.INCOMPLETE, Reason.DEADLINE, "closing") == (outcome.status, outcome.reason, outcome.answer)


def test_the_deadline_while_a_retry_waits_closes_at_once() -> None:
    """
    A wait is begun only where it fits, so the deadline is fed here by hand, as a late timer could.
    """

    async def scene() -> tuple[Run, list[str], int]:
        clock, provider = HeldClock(), HeldProvider()
        first = new_run("run", UserMessage("m", (Text("hello"),)), Conversation())
        driver = AsyncioDriver(first, Ports(provider=provider, toolbox=ToolList(()), clock=clock), lambda notice: None)
        driving = asyncio.create_task(driver.drive())
        await idle()
        provider.fail(ProviderOverloaded("test", "busy", retry_after=5))
        await idle()
        driver.post(DeadlinePassed())
        await idle()
        provider.say("closing")
        return await driving, [each.row for each in driver.steps], len(provider.requests)

    run, taken, asked = play(scene)
    assert ["model_called", "call_retried", "deadline_in_call", "closing_kept", "answer_stored"] == taken
    assert 2 == asked
    assert Reason.DEADLINE is run.reason


def test_the_deadline_while_an_entry_is_stored_closes_after_it() -> None:
    async def scene() -> Outcome:
        it = Scene(Limits(seconds=10, closing_seconds=4), stored=True)
        assert it.history is not None
        async with it.start() as live:
            await it.clock.advance(6)
            it.history.done[0].set_result(None)
            await idle()
            it.provider.say("closing")
            await idle()
            it.history.done[1].set_result(None)
            return await live.outcome()

    outcome = play(scene)
    assert ["deadline_in_append", "closing_called", "closing_kept", "answer_stored"] == rows(outcome)


def test_the_deadline_passes_once_and_not_while_the_closing_call_goes_on() -> None:
    async def scene() -> Outcome:
        it = Scene(Limits(seconds=10, closing_seconds=4))
        async with it.start() as live:
            await it.clock.advance(6)
            await it.clock.advance(3)
            it.provider.say("closing")
            return await live.outcome()

    outcome = play(scene)
    assert 1 == sum(each.event == "DeadlinePassed" for each in outcome.transitions)


def test_the_closing_call_has_what_is_left_and_ends_honestly() -> None:
    async def scene() -> tuple[Outcome, float | None]:
        it = Scene(Limits(seconds=10, closing_seconds=4))
        async with it.start() as live:
            await it.clock.advance(6)
            await it.clock.advance(4)
            return await live.outcome(), it.provider.requests[1].seconds

    outcome, seconds = play(scene)
    assert (RunStatus.INCOMPLETE, Reason.DEADLINE, "engine") == (outcome.status, outcome.reason, outcome.answer_by)
    assert 4 == seconds
    assert "the time for one message is over" in outcome.answer


# Appends


def test_each_entry_is_appended_once_at_its_position_before_the_run_goes_on() -> None:
    async def scene() -> tuple[Outcome, list[tuple[str, int, list[type]]], int]:
        a = HeldTool("a")
        it = Scene(tools=(a,), stored=True)
        assert it.history is not None
        async with it.start() as live:
            await idle()
            asked_early = len(it.provider.requests)
            it.history.done[0].set_result(None)
            await idle()
            it.provider.call("a")
            await idle()
            a.calls[0].finish()
            await idle()
            it.history.done[1].set_result(None)
            await idle()
            it.provider.say("x")
            await idle()
            it.history.done[2].set_result(None)
            outcome = await live.outcome()
            told = [(name, after, [type(entry) for entry in entries]) for name, after, entries in it.history.appends]
            return outcome, told, asked_early

    outcome, told, asked_early = play(scene)
    name = outcome.conversation.id
    assert [(name, 0, [UserMessage]), (name, 1, [Exchange]), (name, 2, [ModelTurn])] == told
    assert 0 == asked_early


def test_a_failed_append_fails_the_run_and_loses_nothing() -> None:
    async def scene() -> Outcome:
        it = Scene(stored=True)
        assert it.history is not None
        async with it.start() as live:
            await idle()
            it.history.done[0].set_exception(OSError("postgres://user:secret@host"))
            return await live.outcome()

    outcome = play(scene)
    assert (RunStatus.FAILED, Reason.APPEND_FAILED) == (outcome.status, outcome.reason)
    assert [UserMessage] == [type(entry) for entry in outcome.conversation.entries]
    assert outcome.error is not None
    assert "OSError" == outcome.error.error
    assert "secret" not in outcome.error.message


# Model calls that fail


def test_a_retry_waits_as_long_as_the_vendor_asked() -> None:
    async def scene() -> tuple[Outcome, int, int]:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.fail(ProviderOverloaded("test", "busy", retry_after=3))
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
                await idle()
                it.provider.fail(ProviderOverloaded("test", "busy"))
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
            await idle()
            it.provider.fail(ProviderOverloaded("test", "busy", retry_after=60))
            return await live.outcome()

    assert ["model_called", "call_failed"] == rows(play(scene))


@pytest.mark.parametrize("asked", [math.inf, 1e306])
def test_a_wait_beyond_all_measure_does_not_fit_either(asked: float) -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.fail(ProviderOverloaded("test", "busy", retry_after=asked))
            return await live.outcome()

    assert ["model_called", "call_failed"] == rows(play(scene))


def test_a_failure_after_a_round_is_reported_with_what_is_known() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            a.calls[0].finish()
            await idle()
            it.provider.fail(ProviderRejected("test", "no"))
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
            await idle()
            it.provider.call("a")
            await idle()
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
            await idle()
            it.provider.fail(WrongEventLoop("Anthropic"))
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


def test_a_turn_that_claims_words_it_has_not_is_a_failed_call() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.replies[-1].set_result(ModelTurn(Stop.WHOLE, "", has_words=True))
            return await live.outcome()

    assert Reason.CALL_FAILED is play(scene).reason


@pytest.mark.parametrize("asked", [float("inf"), float("nan"), "7", None], ids=str)
def test_an_absurd_wait_does_not_end_a_run(asked: float) -> None:
    async def scene() -> Outcome:
        it = Scene(Limits(seconds=10, closing_seconds=4))
        async with it.start() as live:
            await idle()
            it.provider.fail(ProviderOverloaded("test", "busy", retry_after=asked))
            await it.clock.advance(2)
            if len(it.provider.requests) > 1:
                it.provider.say("hi")
            return await live.outcome()

    assert play(scene).status in (RunStatus.COMPLETED, RunStatus.FAILED)


def test_each_model_call_has_its_usage_also_one_that_gave_no_turn() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await idle()
            it.provider.fail(ProviderOverloaded("test", "busy"))
            await it.clock.advance(1)
            it.provider.replies[-1].set_result(ModelTurn(Stop.WHOLE, "hi", usage=Usage(input_tokens=3)))
            return await live.outcome()

    outcome = play(scene)
    assert (Usage(), Usage(input_tokens=3)) == outcome.usages
    assert Usage(input_tokens=3) == outcome.usage


# Tools


def test_a_write_may_finish_within_its_grace_after_a_cancel() -> None:
    async def scene() -> tuple[Outcome, int]:
        a = HeldTool("a")
        it = Scene(Limits(stop_seconds=5), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            live.cancel()
            await it.clock.advance(3.9)
            a.calls[0].finish("saved")
            return await live.outcome(), a.calls[0].cancels

    outcome, cancels = play(scene)
    assert [("a", Status.SUCCEEDED)] == statuses(outcome)
    assert 0 == cancels


def test_a_write_that_does_not_finish_in_time_is_cancelled_and_told_as_unknown() -> None:
    async def scene() -> tuple[Outcome, int]:
        a = HeldTool("a")
        it = Scene(Limits(stop_seconds=5), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            live.cancel()
            await it.clock.advance(5)
            return await live.outcome(), a.calls[0].cancels

    outcome, cancels = play(scene)
    assert [("a", Status.OUTCOME_UNKNOWN)] == statuses(outcome)
    assert "may have taken effect" in outcome.calls[0].text
    assert 1 == cancels


def test_the_grace_of_a_stop_leaves_the_closing_call_its_share() -> None:
    async def scene() -> tuple[Outcome, float | None]:
        a = HeldTool("a", stubborn=True)
        it = Scene(Limits(seconds=2, closing_seconds=1), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await it.clock.advance(1.5)
            it.provider.say("closing")
            outcome = await live.outcome()
        a.calls[0].finish()
        return outcome, it.provider.requests[-1].seconds

    outcome, seconds = play(scene)
    assert (Reason.DEADLINE, "closing") == (outcome.reason, outcome.answer)
    assert 0.5 == seconds


def test_what_was_refused_when_it_was_planned_never_runs() -> None:
    """
    Its arguments would pass by now, but nobody was asked to approve it.
    """
    changes: list[int] = []

    class Fickle(HeldTool):
        def planned(self, request: ToolRequest) -> PlannedCall | None:
            return super().planned(request) if changes else None

        def call(self, request: ToolRequest, setting: CallSetting) -> HeldCall:
            changes.append(1)
            return super().call(request, setting)

    async def scene() -> Outcome:
        it = Scene(tools=(Fickle("a", approvals=1),))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            it.provider.say("done")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.FAILED)] == statuses(outcome)
    assert "did not pass their checks" in outcome.calls[0].text


def test_a_cut_off_read_may_simply_be_asked_again() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", Kind.READ)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            live.cancel()
            return await live.outcome()

    assert "may simply be asked again" in play(scene).calls[0].text


def test_a_tool_that_will_not_end_is_left_behind_and_named() -> None:
    async def scene() -> tuple[Outcome, HeldTool]:
        a = HeldTool("a", Kind.READ, stubborn=True)
        it = Scene(Limits(stop_seconds=5), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            live.cancel()
            await it.clock.advance(5)
            outcome = await live.outcome()
        a.calls[0].finish()
        return outcome, a

    outcome, _ = play(scene)
    assert [("a", Status.OUTCOME_UNKNOWN)] == statuses(outcome)
    assert outcome.still_running == tuple(call.id for call in outcome.calls)


def test_a_thread_that_cannot_be_stopped_is_named() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", Kind.READ, thread=True)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            live.cancel()
            return await live.outcome()

    outcome = play(scene)
    assert outcome.still_running == tuple(call.id for call in outcome.calls)


@pytest.mark.parametrize(
    ("own", "after"),
    [("usual", 60.0), (2.0, 2.0)],
    ids=["the usual limit", "the tool's own"],
)
def test_a_tool_is_cut_off_when_its_time_is_over(own: float | Literal["usual"], after: float) -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", own_seconds=own)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await it.clock.advance(after)
            it.provider.say("done")
            return await live.outcome()

    outcome = play(scene)
    assert RunStatus.COMPLETED is outcome.status
    assert [("a", Status.OUTCOME_UNKNOWN)] == statuses(outcome)
    assert f"Timed out after {after:g} s" in outcome.calls[0].text


def test_a_tool_without_a_limit_of_its_own_may_take_long() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", own_seconds=None)
        it = Scene(Limits(seconds=None), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await it.clock.advance(100_000)
            a.calls[0].finish("at last")
            await idle()
            it.provider.say("done")
            return await live.outcome()

    assert [("a", Status.SUCCEEDED)] == statuses(play(scene))


def test_f074_a_tool_that_cancels_itself_has_failed() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            a.calls[0].end.cancel()
            await idle()
            it.provider.say("done")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.FAILED)] == statuses(outcome)
    assert RunStatus.COMPLETED is outcome.status


def test_a_toolbox_cannot_lie_about_a_started_call() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            a.calls[0].finish("never ran", Status.NOT_EXECUTED)
            await idle()
            it.provider.say("done")
            return await live.outcome()

    assert [("a", Status.FAILED)] == statuses(play(scene))


# Side by side


def test_independent_calls_run_together_and_their_results_keep_request_order() -> None:
    async def scene() -> Outcome:
        a, b, c = HeldTool("a", writes="x"), HeldTool("b", writes="y"), HeldTool("c", writes="x")
        it = Scene(tools=(a, b, c), parallel=True)
        async with it.start() as live:
            await idle()
            it.provider.call("a", "b", "c")
            await idle()
            assert (1, 1, 0) == (len(a.calls), len(b.calls), len(c.calls))
            b.calls[0].finish("B")
            await idle()
            a.calls[0].finish("A")
            await idle()
            c.calls[0].finish("C")
            await idle()
            it.provider.say("done")
            return await live.outcome()

    assert ["A", "B", "C"] == [call.text for call in play(scene).calls]


def test_no_more_calls_run_at_once_than_the_limit_allows() -> None:
    async def scene() -> list[int]:
        a = HeldTool("a", Kind.READ)
        it = Scene(Limits(max_parallel=2), tools=(a,), parallel=True)
        async with it.start() as live:
            await idle()
            it.provider.call("a", "a", "a")
            await idle()
            counts = [len(a.calls)]
            a.calls[1].finish()
            await idle()
            counts.append(len(a.calls))
            live.cancel()
        return counts

    assert [2, 3] == play(scene)


def test_a_call_is_told_what_surrounds_it() -> None:
    async def scene() -> tuple[CallSetting, str, str]:
        a = HeldTool("a", Kind.READ)
        it = Scene(Limits(seconds=10, closing_seconds=4), tools=(a,))
        async with it.loop.start("hello", context={"db": 1}, origin=Origin(actor="ana")) as live:
            await it.clock.advance(1)
            it.provider.call("a")
            await idle()
            a.settings[0].cancel("enough")
            outcome = await live.outcome()
        return a.settings[0], live.id, outcome.detail

    setting, run_id, detail = play(scene)
    assert ({"db": 1}, Origin(actor="ana"), run_id, 1) == (
        setting.context,
        setting.origin,
        setting.run_id,
        setting.attempt,
    )
    assert START + timedelta(seconds=6) == setting.deadline
    assert f"{run_id}/{setting.call_id}" == setting.idempotency_key
    assert "enough" == detail


# People


def test_a_call_waits_for_its_approval_and_that_time_is_not_counted() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", approvals=1)
        it = Scene(Limits(seconds=10, closing_seconds=4), tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await it.clock.advance(3600)
            assert not a.calls
            live.approve(live_request(it), by="ana")
            await it.clock.advance(5)
            a.calls[0].finish()
            await idle()
            it.provider.say("done")
            return await live.outcome()

    outcome = play(scene)
    assert RunStatus.COMPLETED is outcome.status
    assert "approved_started" in rows(outcome)


def test_a_denial_is_told_with_who_and_why() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", approvals=1)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await idle()
            it.provider.call("a")
            await idle()
            live.deny(live_request(it), by="ana", reason="Too expensive.")
            await idle()
            it.provider.say("all right")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.DENIED)] == statuses(outcome)
    assert "Not executed: denied by ana. Too expensive." == outcome.calls[0].text


def live_request(it: Scene) -> str:
    """
    The id that the scene's first request got.
    """
    return it.provider.requests[-1].request_ids((None,))[0]


# Watching


def test_watchers_see_what_happens_in_order() -> None:
    async def scene() -> list[Notice]:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            events = live.events()
            await idle()
            it.provider.call("a", text="let me look")
            await idle()
            a.calls[0].finish()
            await idle()
            it.provider.say("done")
            return [notice async for notice in events]

    seen = play(scene)
    told = [evolve(notice, n=0, call=0, attempt=0) for notice in seen if not isinstance(notice, (StepTaken, Ended))]
    request_id = next(notice.id for notice in told if isinstance(notice, ToolStarted))
    assert [
        TurnEnded(TurnKind.NARRATION, "let me look"),
        ToolStarted(request_id, "a"),
        ToolEnded(request_id, "a", Status.SUCCEEDED, 0.0),
        TurnEnded(TurnKind.ANSWER, "done"),
    ] == told
    assert isinstance(seen[-1], Ended)
    assert [notice.step.row for notice in seen if isinstance(notice, StepTaken)] == rows(seen[-1].outcome)


# The driver decides nothing


def test_the_driver_names_no_state_no_guard_and_no_reason() -> None:
    members = {member.name for member in (*State, *Reason)}
    values = {member.value for member in (*State, *Reason)}
    functions = inspect.getmembers(guards_module, inspect.isfunction)
    asked = {name for name, function in functions if function.__module__ == guards_module.__name__}
    for module in (asyncio_driver, tool_run):
        nodes = list(ast.walk(ast.parse(inspect.getsource(module))))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        assert not names & {*members, *asked, "State", "Reason"}
        assert not texts & {*members, *values, *asked}


def test_a_machine_without_rows_makes_every_run_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    for event in MACHINE.events.values():
        monkeypatch.setattr(event, "transitions", {})

    async def scene() -> None:
        it = Scene()
        async with it.start() as live:
            await live.outcome()

    with pytest.raises(UnexpectedEvent):
        play(scene)
