"""
A run: what is sent of the history, how much time is left, what it must hold.
"""

import re

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import FormatError, InvalidValue
from rodada.statemachine.events import HistoryAppended, TurnReceived
from rodada.statemachine.jsontext import JsonValue
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    ModelTurn,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.request import model_request
from rodada.statemachine.run import (
    Origin,
    Run,
    checked_state,
    new_run,
    select_from,
    unfinished,
)
from rodada.statemachine.states import State
from rodada.statemachine.step import step
from rodada.statemachine.wording import ENGLISH, PORTUGUESE
from support import words
from support.pairing import broken_pairs
from support.walks import Walk, reached, reached_runs, walks

PERSON = UserMessage("m", (Text("hello"),))
ANSWER = ModelTurn(Stop.WHOLE, "hello yourself")
pasts = words.conversations(most=6)
history_limits = st.integers(0, 9)


def exchange(*ids: str) -> Exchange:
    requests = tuple(ToolRequest(each, "tool", "{}") for each in ids)
    return Exchange(
        ModelTurn(Stop.WHOLE, requests=requests),
        tuple(ToolResult.of(request, Status.SUCCEEDED, "done") for request in requests),
    )


def wire_messages(entries: tuple[Entry, ...]) -> int:
    return sum(2 if isinstance(entry, Exchange) else 1 for entry in entries)


def sent(past: Conversation, most: int | None) -> tuple[Entry, ...]:
    return past.entries[select_from(past, most) :]


# What of the history is sent


@given(pasts, history_limits)
def test_f007_a_selection_starts_at_a_user_message_and_holds_every_turn_with_its_results(
    past: Conversation, most: int
) -> None:
    chosen = sent(past, most)
    assert broken_pairs(Conversation("c", chosen).to_json()) == []
    assert not chosen or isinstance(chosen[0], UserMessage)
    assert wire_messages(chosen) <= most


def test_f007_a_result_whose_turn_is_just_too_far_back_is_left_out_with_it() -> None:
    thirty = Conversation(
        "c", (PERSON, *(exchange(f"a{at}") for at in range(5)), PERSON, *(exchange(f"b{at}") for at in range(9)))
    )
    assert wire_messages(thirty.entries) == 30
    assert sent(thirty, 20) == thirty.entries[6:]
    assert sent(thirty, 18) == ()
    assert sent(thirty, 19) == thirty.entries[6:]


@given(pasts, st.integers(0, 5))
def test_f008_a_history_that_fits_is_sent_whole(past: Conversation, more: int) -> None:
    assert sent(past, wire_messages(past.entries) + more) == past.entries
    assert sent(past, None) == past.entries


def test_f009_ten_calls_and_their_results_stay_or_go_together() -> None:
    ten = Conversation("c", (PERSON, exchange(*"abcdefghij"), ANSWER))
    assert wire_messages(ten.entries) == 4
    assert [sent(ten, most) for most in (0, 1, 3, 4, 6)] == [(), (), (), ten.entries, ten.entries]


@given(pasts, history_limits)
def test_f009_a_selection_is_as_long_as_it_can_be(past: Conversation, most: int) -> None:
    starts = [at for at, entry in enumerate(past.entries) if isinstance(entry, UserMessage)]
    fitting = [at for at in starts if wire_messages(past.entries[at:]) <= most]
    assert select_from(past, most) == min(fitting, default=len(past.entries))


@given(pasts, history_limits)
def test_f010_less_room_drops_whole_exchanges_from_the_old_end_alone(past: Conversation, most: int) -> None:
    more, less = sent(past, most + 1), sent(past, most)
    assert less == more[len(more) - len(less) :]
    assert all(len(each.turn.requests) == len(each.results) for each in less if isinstance(each, Exchange))


def test_f011_what_would_begin_with_a_call_begins_with_the_person_or_is_empty() -> None:
    past = Conversation("c", (PERSON, exchange("a"), exchange("b"), ANSWER, PERSON, ANSWER))
    lengths = [len(sent(past, most)) for most in range(10)]
    assert lengths == [0, 0, 2, 2, 2, 2, 2, 2, 6, 6]
    assert {type(entry) for most in range(10) for entry in sent(past, most)[:1]} == {UserMessage}


@given(walks(), history_limits)
def test_f012_the_selection_is_made_once_and_the_active_turn_is_always_sent_whole(walk: Walk, most: int) -> None:
    first = walk.steps[0][0] if walk.steps else walk.last
    chosen = select_from(first.conversation, most)
    for run in (*(run for run, _ in walk.steps), walk.last):
        again = evolve(run, selected=chosen)
        request = model_request(again, "", (), None)
        assert request.entries[request.active :] == run.own
        assert request.entries[: request.active] == first.conversation.entries[chosen:]
        assert run.start == len(first.conversation.entries)
        assert run.selected == first.selected


def test_a_new_run_has_its_message_in_hand_and_its_selection_made() -> None:
    past = Conversation("c", (PERSON, exchange("a"), ANSWER, PERSON, ANSWER))
    limits, origin = Limits(history_messages=3), Origin("t", "ana")
    run = new_run("r", PERSON, past, limits=limits, origin=origin, wording=PORTUGUESE)
    assert run == Run(
        id="r",
        origin=origin,
        limits=limits,
        wording=PORTUGUESE,
        conversation=past,
        start=5,
        selected=3,
        state=State.APPEND_HISTORY,
        entry=PERSON,
    )
    assert new_run("r", PERSON, past).selected == 0
    assert new_run("r", PERSON, past).wording is ENGLISH


# What it holds


@given(reached())
def test_every_reached_run_holds_what_its_state_means(run: Run) -> None:
    assert checked_state(run) is run
    assert all(result is run.result_of(result.id) for result in run.results)
    assert set(run.running) == set(run.started) - {result.id for result in run.results}
    assert run.result_of("nobody") is None
    assert run.own == run.conversation.entries[run.start :]
    assert run.exchanges == tuple(entry for entry in run.own if isinstance(entry, Exchange))
    assert run.requests == (run.turn.requests if run.turn else ())


@pytest.mark.parametrize("state", State)
def test_a_run_that_holds_another_thing_than_its_state_means_is_refused(state: State) -> None:
    for run in reached_runs():
        moved = evolve(run, state=state)
        alike = [other for other in (run.state, state) if other in (State.AWAIT_APPROVAL, State.EXECUTE_TOOLS)]
        ends = [other for other in (run.state, state) if other in (State.FINALIZE, State.CANCELLED, State.ERROR)]
        if run.state is state or len(alike) == 2 or len(ends) == 2:
            assert checked_state(moved) is moved
        else:
            with pytest.raises(InvalidValue, match=rf"^Run: a run in {state.value} (must|cannot) hold an? "):
                checked_state(moved)


def test_unfinished_are_the_requests_never_executed_or_with_unknown_outcome() -> None:
    requests = tuple(ToolRequest(status.value, "tool", "{}") for status in Status)
    results = tuple(ToolResult.of(request, Status(request.id), "") for request in requests)
    begun = new_run("r", PERSON, Conversation("c", (PERSON, ANSWER)))
    told = begun.conversation.append(PERSON).append(Exchange(ModelTurn(Stop.WHOLE, requests=requests), results))
    run = evolve(begun, conversation=told)
    assert [request.id for request in unfinished(run)] == ["not_executed", "outcome_unknown"]
    assert unfinished(evolve(run, start=len(told.entries))) == ()


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("selected", 2, "selected=2 and start="),
        ("start", 99, "do not fit its conversation"),
        ("plan", {"type": "Plan", "calls": []}, "the plan is for ()"),
        ("started", ["nobody"], "['nobody'] were started"),
    ],
)
def test_a_stored_run_whose_parts_do_not_fit_is_refused(field: str, value: JsonValue, told: str) -> None:
    request = ToolRequest("c1", "tool", "{}")
    run, _ = step(new_run("run", UserMessage("m", (Text("hello"),)), Conversation("c")), HistoryAppended())
    run, _ = step(run, TurnReceived(1, ModelTurn(Stop.WHOLE, "", (request,)), Plan((PlannedCall("c1"),))))
    document = {**run.to_json(), field: value}

    with pytest.raises(FormatError, match=re.escape(told)):
        Run.from_json(document)
