"""
The asyncio driver: every event may come while anything is in flight; time is held, nothing sleeps.
"""

import ast
import asyncio
import importlib
import inspect
import pkgutil

import pytest
from attrs import evolve

from rodada.statemachine import (
    Conversation,
    Ended,
    Exchange,
    Kind,
    Limits,
    ModelTurn,
    Notice,
    Outcome,
    Reason,
    RunStatus,
    State,
    Status,
    StepTaken,
    Text,
    ToolEnded,
    ToolList,
    ToolStarted,
    TurnEnded,
    TurnKind,
    UserMessage,
    step,
)
from rodada.statemachine import drivers as drivers_package
from rodada.statemachine import guards as guards_module
from rodada.statemachine.drivers import asyncio_driver
from rodada.statemachine.drivers.asyncio_driver import AsyncioDriver
from rodada.statemachine.drivers.ports import Ports
from rodada.statemachine.errors import ProviderOverloaded, UnexpectedEvent
from rodada.statemachine.events import DeadlinePassed, Event
from rodada.statemachine.machine import FLOW
from rodada.statemachine.run import Run, new_run
from rodada.statemachine.step import Moved, move
from support.clock import HeldClock, idle
from support.held import HeldProvider, HeldTool
from support.scene import Scene, play, rows, statuses

# A plain course


def test_a_message_is_answered() -> None:
    async def scene() -> Outcome:
        it = Scene()
        async with it.start() as live:
            await it.says("hi")
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
            await it.asks("a", "b")
            assert (1, 0) == (len(a.calls), len(b.calls))
            a.calls[0].finish("A")
            await idle()
            assert (1, 1) == (len(a.calls), len(b.calls))
            b.calls[0].finish("B")
            await it.says("done")
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
            await it.asks("a")
            a.calls[0].finish("A")
            await it.asks("a")
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
            await it.asks("a", "b")
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
            await it.fails(ProviderOverloaded("test", "busy", retry_after=5))
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


def test_a_call_that_has_no_time_left_before_the_deadline_is_heard_makes_the_closing_call() -> None:
    async def scene() -> tuple[Outcome, list[bool]]:
        it = Scene(Limits(seconds=10, closing_seconds=4), stored=True)
        assert it.history is not None
        async with it.start() as live:
            await idle()
            it.clock.skip(7)
            it.history.done[0].set_result(None)
            await it.says("this is what I have")
            it.history.done[1].set_result(None)
            return await live.outcome(), [each.tools_allowed for each in it.provider.requests]

    outcome, allowed = play(scene)
    assert ["model_called", "late_call_closed", "closing_kept", "answer_stored"] == rows(outcome)
    assert (RunStatus.INCOMPLETE, Reason.DEADLINE, "this is what I have") == (
        outcome.status,
        outcome.reason,
        outcome.answer,
    )
    assert [False] == allowed


def test_the_deadline_while_a_tool_runs_stops_it_and_closes() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", Kind.READ)
        it = Scene(Limits(seconds=10, closing_seconds=4), tools=(a,))
        async with it.start() as live:
            await it.asks("a")
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
            await it.says("closing")
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
            await it.asks("a")
            a.calls[0].finish()
            await idle()
            it.history.done[1].set_result(None)
            await it.says("x")
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


# Watching


def test_watchers_see_what_happens_in_order() -> None:
    async def scene() -> list[Notice]:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            events = live.events()
            await it.asks("a", text="let me look")
            a.calls[0].finish()
            await it.says("done")
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


@pytest.mark.parametrize("name", [each.name for each in pkgutil.iter_modules(drivers_package.__path__)])
def test_a_driver_names_no_state_no_guard_and_no_reason(name: str) -> None:
    members = {member.name for member in (*State, *Reason)}
    values = {member.value for member in (*State, *Reason)}
    functions = inspect.getmembers(guards_module, inspect.isfunction)
    asked = {name for name, function in functions if function.__module__ == guards_module.__name__}
    module = importlib.import_module(f"{drivers_package.__name__}.{name}")
    nodes = list(ast.walk(ast.parse(inspect.getsource(module))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert not names & {*members, *asked, "State", "Reason"}
    assert not texts & {*members, *values, *asked}


def test_a_machine_without_rows_makes_every_run_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    for event in FLOW.machine.events.values():
        monkeypatch.setattr(event, "transitions", {})

    async def scene() -> None:
        it = Scene()
        async with it.start() as live:
            await live.outcome()

    with pytest.raises(UnexpectedEvent):
        play(scene)
