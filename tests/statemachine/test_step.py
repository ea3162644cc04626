"""
One step: pure, recorded, refused where no row admits it; guards and actions never look into content.
"""

from datetime import UTC, datetime

import pytest
from attrs import evolve
from hypothesis import given

from rodada.statemachine.actions import keep_answer
from rodada.statemachine.errors import UnexpectedEvent
from rodada.statemachine.events import (
    ApprovalDecided,
    CallFailed,
    Event,
    Failure,
    HistoryAppended,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.limits import Limits
from rodada.statemachine.machine import FLOW, Flow
from rodada.statemachine.messages import Exchange, ModelTurn, Status, Stop, Text, ToolRequest, ToolResult
from rodada.statemachine.orders import AskModel, effects
from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.run import Run, checked_state
from rodada.statemachine.states import State
from rodada.statemachine.step import Moved, Step, move, step
from rodada.statemachine.table import Row
from support.erasing import erased
from support.walks import Walk, after, everything_tried, reached_runs, walks

START = reached_runs()[0]
TAKEN = tuple(tried for tried in everything_tried() if tried.row is not None)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


# What a step is


def test_a_step_says_where_from_where_to_by_which_row_and_why() -> None:
    moved = move(START, HistoryAppended(at=NOON, mono_ms=5), 7)
    assert moved.step == Step(
        n=7,
        at=NOON,
        state=State.APPEND_HISTORY,
        event="HistoryAppended",
        row="model_called",
        to=State.CALL_MODEL,
        verdicts=(("cancel_is_the_reason", False), ("entry_is_answer", False), ("has_reason", False)),
        call=1,
    )
    assert moved.effects == (AskModel(1, True),)
    assert step(START, HistoryAppended(at=NOON, mono_ms=5)) == (moved.run, moved.effects)


@given(walks())
def test_a_step_is_a_function_of_run_and_event(walk: Walk) -> None:
    for number, (run, event) in enumerate(walk.steps, 1):
        copy = Run.from_json(run.to_json())
        moved = move(run, event, number)
        assert move(copy, event, number) == moved
        assert copy == run
        assert checked_state(moved.run) is moved.run
        assert moved.effects == effects(run, event, moved.run)
        assert (moved.step.state, moved.step.to) == (run.state, moved.run.state)
        assert dict(moved.step.verdicts) == dict(FLOW.verdicts(run, event))
        assert moved.step.call == moved.run.calls


def test_the_verdicts_hold_every_guard_that_a_candidate_row_names() -> None:
    for tried in TAKEN[::11]:
        named = {name for row in FLOW.candidates(tried.run, tried.event) for name in row.guard_names}
        assert [name for name, _ in move(tried.run, tried.event, 1).step.verdicts] == sorted(named)


# What is refused


def called() -> Run:
    return after(START, HistoryAppended())


@pytest.mark.parametrize("number", [0, 2, -1])
def test_a_reply_to_a_call_that_is_not_in_hand_is_refused(number: int) -> None:
    late: tuple[Event, ...] = (
        TurnReceived(number, ModelTurn(Stop.WHOLE, "late")),
        CallFailed(number, Failure("E", "m")),
    )
    for event in late:
        with pytest.raises(UnexpectedEvent, match=rf"in CallModel \(call {number} is not in hand\)") as refused:
            step(called(), event)
        assert refused.value.verdicts == ()


def test_a_request_with_an_id_that_was_used_before_is_refused() -> None:
    tried = next(each for each in TAKEN if isinstance(each.run.conversation.last, Exchange) and each.run.calls > 1)
    run = evolve(tried.run, state=State.CALL_MODEL, entry=None)
    assert isinstance(run.conversation.last, Exchange)
    (again, *_) = run.conversation.last.turn.requests
    event = TurnReceived(run.calls, ModelTurn(Stop.WHOLE, requests=(again,)), Plan((PlannedCall(again.id),)))
    with pytest.raises(UnexpectedEvent, match=rf"request ids \['{again.id}'\] were used before"):
        step(run, event)


@pytest.mark.parametrize("state", [State.FINALIZE, State.CANCELLED, State.ERROR])
def test_an_end_takes_nothing(state: State) -> None:
    run = next(run for run in reached_runs() if run.state is state)
    with pytest.raises(
        UnexpectedEvent, match=rf"HistoryAppended does not fit a run in {state.value} \(no row starts here"
    ):
        step(run, HistoryAppended())


# Guards read facts; actions may carry content, never look into it


def facts_of(run: Run, event: Event, flow: Flow = FLOW) -> tuple[object, ...]:
    """
    What a step did, its content erased.
    """
    moved = move(run, event, 1, flow)
    return moved.step, erased(moved.run), erased(moved.effects)


def test_with_the_content_erased_every_step_is_the_same() -> None:
    for tried in TAKEN:
        assert facts_of(erased(tried.run), erased(tried.event)) == facts_of(tried.run, tried.event), tried


@given(walks())
def test_with_the_content_erased_every_step_is_the_same_whatever_was_said(walk: Walk) -> None:
    bare = erased(walk.steps[0][0]) if walk.steps else erased(walk.last)
    for run, event in walk.steps:
        assert erased(bare) == erased(run)
        assert facts_of(bare, erased(event)) == facts_of(run, event)
        bare, _ = step(bare, erased(event))


def looks_into_the_text(run: Run, event: TurnReceived) -> bool:
    return event.turn.text.startswith("words")


def test_a_guard_that_looks_into_a_text_would_be_found() -> None:
    nosy = Row(
        "answer_kept",
        State.CALL_MODEL,
        TurnReceived,
        keep_answer,
        State.APPEND_HISTORY,
        when=(looks_into_the_text,),
    )
    tried = next(each for each in TAKEN if each.row is not None and each.row.name == "answer_kept")
    assert facts_of(tried.run, tried.event, Flow((nosy,)))
    with pytest.raises(UnexpectedEvent):
        facts_of(erased(tried.run), erased(tried.event), Flow((nosy,)))


@given(walks())
def test_erasing_keeps_facts_and_erases_once(walk: Walk) -> None:
    bare = erased(walk.last)
    assert erased(bare) == bare
    assert (bare.state, bare.reason, bare.rounds, bare.calls) == (
        walk.last.state,
        walk.last.reason,
        walk.last.rounds,
        walk.last.calls,
    )
    assert [each.digest for each in bare.requests] == [each.digest for each in walk.last.requests]
    assert all(turn.text == "" and turn.native == () for turn in bare.held)


def denied_again(run: Run, reason: str) -> Run:
    """
    The run after one more round in which the same call was denied.
    """
    asked = ToolRequest(f"d{len(run.conversation.entries)}", "save", "{}")
    planned = Plan((PlannedCall(asked.id, approvals=1),))
    return after(
        run,
        HistoryAppended(),
        TurnReceived(run.calls + 1, ModelTurn(Stop.WHOLE, requests=(asked,)), planned),
        ApprovalDecided(asked.id, False, "ana", reason=reason),
    )


@pytest.mark.parametrize("reason", ["no", "still no"])
def test_a_call_that_is_denied_again_in_other_words_repeats_itself_all_the_same(reason: str) -> None:
    run = evolve(START, limits=Limits(max_repeats=2))
    twice = denied_again(denied_again(run, "no"), reason)
    again = ToolRequest("again", "save", "{}")
    event = TurnReceived(3, ModelTurn(Stop.WHOLE, requests=(again,)), Plan((PlannedCall("again", approvals=1),)))
    assert move(after(twice, HistoryAppended()), event, 1).step.row == "answer_repetition"


def polled(run: Run, text: str) -> Run:
    asked = ToolRequest(f"p{len(run.conversation.entries)}", "read", "{}")
    return after(
        run,
        HistoryAppended(),
        TurnReceived(run.calls + 1, ModelTurn(Stop.WHOLE, requests=(asked,)), Plan((PlannedCall(asked.id),))),
        ToolFinished(ToolResult(asked.id, Status.SUCCEEDED, (Text(text),))),
    )


@pytest.mark.parametrize(("second", "row"), [("waiting", "answer_repetition"), ("nearly done", "tools_started")])
def test_a_call_whose_result_changes_does_not_repeat_itself(second: str, row: str) -> None:
    twice = polled(polled(evolve(START, limits=Limits(max_repeats=2)), "waiting"), second)
    again = ToolRequest("again", "read", "{}")
    event = TurnReceived(3, ModelTurn(Stop.WHOLE, requests=(again,)), Plan((PlannedCall("again"),)))
    moved: Moved = move(after(twice, HistoryAppended()), event, 1)
    assert moved.step.row == row
