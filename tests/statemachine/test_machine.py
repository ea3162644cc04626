"""
How the state-machine library is used: one plain machine, no callbacks, guards that may be asked as often as one likes.
"""

import ast
import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from transitions import Machine, Transition
from transitions.extensions.asyncio import AsyncMachine

import rodada.statemachine
from rodada.statemachine.errors import UnexpectedEvent
from rodada.statemachine.events import EVENTS, CancelRequested, DeadlinePassed, Event, HistoryAppended, ToolFinished
from rodada.statemachine.loop import ToolLoop
from rodada.statemachine.machine import FLOW, Cursor, Flow, build_machine
from rodada.statemachine.messages import ModelTurn, Status, Stop, Text, ToolResult
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest
from rodada.statemachine.run import Run
from rodada.statemachine.states import State
from rodada.statemachine.step import move, step
from rodada.statemachine.table import TABLE
from support.walks import Walk, everything_tried, reached_runs, walks

CORE = Path(rodada.statemachine.__file__).parent
MACHINE_CALLBACKS = (
    "prepare_event",
    "before_state_change",
    "after_state_change",
    "finalize_event",
    "on_exception",
    "on_final",
)
TRANSITION_CALLBACKS = ("prepare", "before", "after")


def transitions() -> list[Transition]:
    return [each for event in FLOW.machine.events.values() for rows in event.transitions.values() for each in rows]


# The machine is the table


def test_the_machine_has_the_tables_rows_and_no_other() -> None:
    assert len(transitions()) == len(TABLE)
    wanted = sorted((row.source.name, row.to.name, row.event.__name__) for row in TABLE)
    assert wanted == sorted(
        (each.source, each.dest, name)
        for name, event in FLOW.machine.events.items()
        for rows in event.transitions.values()
        for each in rows
    )


def test_the_machine_asks_the_tables_guards_in_the_tables_way() -> None:
    for row in TABLE:
        conditions = [
            [(condition.func, condition.target) for condition in each.conditions]
            for each in FLOW.machine.events[row.event.__name__].transitions[row.source.name]
        ]
        assert [*((guard, True) for guard in row.when), *((guard, False) for guard in row.unless)] in conditions


def test_f114_the_machine_is_a_plain_synchronous_one() -> None:
    assert isinstance(FLOW.machine, Machine)
    assert not isinstance(FLOW.machine, AsyncMachine)
    assert {type(FLOW.machine).__module__, *(base.__module__ for base in type(FLOW.machine).__mro__)} == {
        "rodada.statemachine.machine",
        "transitions.core",
        "builtins",
    }


def test_f114_no_module_imports_another_machine_of_the_library() -> None:
    for path in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transitions"):
                assert path.name == "machine.py"
                assert node.module == "transitions"
            if isinstance(node, ast.Import):
                assert not [alias.name for alias in node.names if alias.name.startswith("transitions")]


def test_f114_nothing_runs_inside_the_machine_but_guards() -> None:
    assert [name for name in MACHINE_CALLBACKS if getattr(FLOW.machine, name)] == []
    assert [each for each in transitions() if any(getattr(each, name) for name in TRANSITION_CALLBACKS)] == []
    assert [state for state in FLOW.machine.states.values() if state.on_enter or state.on_exit] == []


def test_f115_nobody_but_the_flow_fires_the_machine() -> None:
    firing = {
        path.name
        for path in CORE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("trigger", "dispatch", "add_model", "events")
        if not (node.attr == "events" and path.name in ("live.py", "loop.py"))
    }
    assert firing == {"machine.py"}


def test_f115_nothing_is_shared_between_two_steps() -> None:
    assert FLOW.machine.models == []
    cursor = Cursor(State.CALL_MODEL)
    assert not hasattr(cursor, "__dict__")
    assert FLOW.machine.initial == State.APPEND_HISTORY.name


def test_f116_the_machine_has_no_queue() -> None:
    assert FLOW.machine.has_queue is False


@given(walks())
def test_f116_after_a_cancel_the_next_event_is_taken_as_ever(walk: Walk) -> None:
    for run, event in walk.steps:
        cancelled = move(run, CancelRequested(), 1)
        again = move(run, event, 1)
        assert move(run, CancelRequested(), 1) == cancelled
        assert move(run, event, 1) == again


# Guards


def broken_invariant() -> tuple[Run, Event]:
    """
    A run in which a call runs, and a result that answers another one.
    """
    run = next(run for run in reached_runs() if run.running)
    return run, ToolFinished(ToolResult("nobody", Status.SUCCEEDED, (Text("done"),)))


def test_f117_a_failed_guard_is_an_error_that_names_it_and_changes_nothing() -> None:
    run, event = broken_invariant()
    with pytest.raises(UnexpectedEvent, match="ToolFinished does not fit a run in ExecuteTools") as refused:
        step(run, event)
    assert (refused.value.state, refused.value.event) == ("ExecuteTools", "ToolFinished")
    assert ("answers_running", False) in refused.value.verdicts
    assert "answers_running=False" in str(refused.value)


def test_f117_the_library_makes_no_events_of_its_own() -> None:
    assert set(FLOW.machine.events) == {event.__name__ for event in EVENTS}
    assert set(FLOW.machine.states) == {state.name for state in State}
    assert not FLOW.machine.auto_transitions
    assert not FLOW.machine.ignore_invalid_triggers


def test_f117_every_event_that_no_row_admits_is_refused() -> None:
    refused = [tried for tried in everything_tried() if tried.row is None]
    assert len(refused) > 1000
    for tried in refused:
        with pytest.raises(UnexpectedEvent):
            step(tried.run, tried.event)


def test_f118_guards_may_be_asked_as_often_as_one_likes() -> None:
    for tried in everything_tried()[::7]:
        first = FLOW.verdicts(tried.run, tried.event)
        assert {FLOW.verdicts(tried.run, tried.event) for _ in range(3)} == {first}
        rows = [FLOW.take(tried.run, tried.event) for _ in range(3)]
        assert all(row is tried.row for row in rows)


@given(walks())
def test_f118_a_run_that_was_asked_about_in_between_goes_the_same_way(walk: Walk) -> None:
    if not walk.steps:
        return
    run = walk.steps[0][0]
    for _, event in walk.steps:
        for other in (CancelRequested(), DeadlinePassed(), HistoryAppended(), event):
            FLOW.verdicts(run, other)
            FLOW.take(run, other)
        run, _ = step(run, event)
    assert run == walk.last


# The table is what moves a run


def test_without_the_machines_rows_every_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    for event in FLOW.machine.events.values():
        monkeypatch.setattr(event, "transitions", dict[str, list[Transition]]())
    taken = [tried for tried in everything_tried() if tried.row is not None][::5]
    assert {tried.run.state for tried in taken} == {row.source for row in TABLE}
    for tried in taken:
        with pytest.raises(UnexpectedEvent):
            step(tried.run, tried.event)


class Answering:
    """
    A provider that always answers.
    """

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        return ModelTurn(Stop.WHOLE, "yes")


def test_without_the_machines_rows_a_loop_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = ToolLoop(Answering())
    assert asyncio.run(loop.run("hello")).answer == "yes"
    for event in FLOW.machine.events.values():
        monkeypatch.setattr(event, "transitions", dict[str, list[Transition]]())
    with pytest.raises(UnexpectedEvent, match="HistoryAppended does not fit a run in AppendHistory"):
        asyncio.run(loop.run("hello"))


def test_a_machine_without_rows_takes_nothing_and_one_with_one_row_takes_that() -> None:
    run = reached_runs()[0]
    assert Flow(()).take(run, HistoryAppended()) is None
    only = Flow(row for row in TABLE if row.name == "model_called")
    taken = only.take(run, HistoryAppended())
    assert taken is not None
    assert taken.name == "model_called"
    assert only.take(run, CancelRequested()) is None
    assert only.candidates(run, HistoryAppended()) == (taken,)


def test_another_destination_moves_a_run_elsewhere() -> None:
    run = reached_runs()[0]
    stays = Flow(row.going(State.APPEND_HISTORY) for row in TABLE if row.name == "cancel_in_append")
    moved = move(run, CancelRequested(detail="why"), 4, stays)
    assert (moved.step.n, moved.step.row, moved.run.detail) == (4, "cancel_in_append", "why")
    assert build_machine(()).events == {}
