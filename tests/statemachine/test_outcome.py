"""
The outcome: what the host is told of an ended run, and nothing that is not so.
"""

import json
from typing import cast

import pytest
from attrs import evolve, fields, frozen
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.checker.world import FULL, LOST, REFUSED
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.events import (
    AppendFailed,
    CallFailed,
    CancelRequested,
    DeadlinePassed,
    Event,
    Failure,
    HistoryAppended,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import (
    Exchange,
    ModelTurn,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from rodada.statemachine.outcome import CallRecord, Outcome, Selection, Unfinished, outcome_of, total_usage
from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.run import Run
from rodada.statemachine.states import ENDS, Reason, RunStatus
from rodada.statemachine.step import Step, move
from support import words
from support.walks import after, reached_runs

START = evolve(reached_runs()[0], limits=Limits(max_rounds=1, max_attempts=1, max_pauses=1))
STORED = HistoryAppended()
TOLD = Usage(input_tokens=10, output_tokens=2)


def said(call: int, text: str, stop: Stop = Stop.WHOLE, word: str = "") -> TurnReceived:
    return TurnReceived(call, ModelTurn(stop, text, stop_word=word, usage=TOLD))


def asked(call: int, request_id: str = "a", text: str = "let me see") -> TurnReceived:
    request = ToolRequest(request_id, "save", '{"kg":80}')
    turn = ModelTurn(Stop.WHOLE, text, (request,), usage=TOLD)
    return TurnReceived(call, turn, Plan((PlannedCall(request_id),)))


def done(request_id: str = "a", status: Status = Status.SUCCEEDED) -> ToolFinished:
    return ToolFinished(ToolResult(request_id, status, (Text(status.value),)))


ROUND: tuple[Event, ...] = (STORED, asked(1), done(), STORED)


@frozen
class Told:
    """
    What an outcome says of its ending.
    """

    status: RunStatus
    reason: Reason | None = None
    answer: str = ""
    answer_by: str = ""
    partial: str = ""
    detail: str = ""
    error: Failure | None = None


def own(reason: Reason, *undone: str) -> str:
    return START.wording.own_answer(reason, undone)


def incomplete(reason: Reason, partial: str = "", detail: str = "", undone: tuple[str, ...] = ()) -> Told:
    return Told(RunStatus.INCOMPLETE, reason, own(reason, *undone), "engine", partial, detail)


ENDINGS: dict[str, tuple[tuple[Event, ...], Told]] = {
    "answered": ((STORED, said(1, "yes"), STORED), Told(RunStatus.COMPLETED, None, "yes", "model")),
    "answered after a round": ((*ROUND, said(2, "80 kg"), STORED), Told(RunStatus.COMPLETED, None, "80 kg", "model")),
    "closed by the model": (
        (*ROUND, asked(2, "b"), STORED, said(3, "I stop here"), STORED),
        Told(RunStatus.INCOMPLETE, Reason.MAX_ROUNDS, "I stop here", "model"),
    ),
    "closing reply is empty": (
        (*ROUND, asked(2, "b"), STORED, said(3, " ")),
        incomplete(Reason.MAX_ROUNDS, partial=" ", undone=("save",)),
    ),
    "closing call fails": (
        (*ROUND, asked(2, "b"), STORED, CallFailed(3, REFUSED)),
        evolve(incomplete(Reason.MAX_ROUNDS, detail=REFUSED.message, undone=("save",)), error=REFUSED),
    ),
    "deadline, closing reply is cut": (
        (STORED, DeadlinePassed(), said(2, "half", Stop.CUT)),
        incomplete(Reason.DEADLINE, partial="half"),
    ),
    "refused": (
        (STORED, said(1, "I will not", Stop.REFUSED, "safety")),
        incomplete(Reason.REFUSED, "I will not", "safety"),
    ),
    "unknown stop": ((STORED, said(1, "?", Stop.UNKNOWN, "new")), incomplete(Reason.UNKNOWN_STOP, "?", "new")),
    "cut": ((STORED, said(1, "half a", Stop.CUT, "length")), incomplete(Reason.CUT, "half a", "length")),
    "blank twice": ((STORED, said(1, ""), said(2, "")), incomplete(Reason.EMPTY)),
    "malformed twice": (
        (STORED, said(1, "", Stop.MALFORMED), said(2, "{", Stop.MALFORMED, "bad")),
        incomplete(Reason.MALFORMED, "{", "bad"),
    ),
    "paused too often": (
        (STORED, said(1, "one ", Stop.PAUSED), said(2, "two", Stop.PAUSED, "pause")),
        incomplete(Reason.PAUSED, "one two", "pause"),
    ),
    "call fails after a round": (
        (*ROUND, CallFailed(2, LOST)),
        evolve(incomplete(Reason.CALL_FAILED, detail=LOST.message), error=LOST),
    ),
    "call fails behind a pause": (
        (*ROUND, said(2, "one ", Stop.PAUSED), CallFailed(3, REFUSED)),
        evolve(incomplete(Reason.CALL_FAILED, partial="one ", detail=REFUSED.message), error=REFUSED),
    ),
    "call fails at once": (
        (STORED, CallFailed(1, LOST)),
        Told(RunStatus.FAILED, Reason.CALL_FAILED, detail=LOST.message, error=LOST),
    ),
    "append fails": ((AppendFailed(FULL),), Told(RunStatus.FAILED, Reason.APPEND_FAILED, error=FULL)),
    "cancelled in a call": (
        (STORED, said(1, "one ", Stop.PAUSED), CancelRequested("left")),
        Told(RunStatus.CANCELLED, Reason.CANCELLED, partial="one ", detail="left"),
    ),
    "cancelled in a tool": (
        (STORED, asked(1), CancelRequested("left"), CancelRequested("again"), done(), STORED),
        Told(RunStatus.CANCELLED, Reason.CANCELLED, detail="left"),
    ),
}


@pytest.mark.parametrize(("events", "told"), ENDINGS.values(), ids=ENDINGS)
def test_each_ending_says_what_is_so(events: tuple[Event, ...], told: Told) -> None:
    outcome = outcome_of(after(START, *events))
    assert told == Told(
        outcome.status,
        outcome.reason,
        outcome.answer,
        outcome.answer_by,
        outcome.partial,
        outcome.detail,
        outcome.error,
    )


def test_every_reason_and_every_status_has_an_ending_here_or_one_of_the_same_kind() -> None:
    told = [told for _, told in ENDINGS.values()]
    assert {each.status for each in told} == set(RunStatus)
    stopped_alike = {Reason.MAX_TOKENS_TOTAL, Reason.MAX_COST, Reason.MAX_REPEATS}
    assert {each.reason for each in told} == {None, *Reason} - stopped_alike


def test_a_whole_outcome() -> None:
    run, steps = START, list[Step]()
    for number, event in enumerate((*ROUND, said(2, "80 kg"), STORED), 1):
        moved = move(run, event, number)
        run, steps = moved.run, [*steps, moved.step]
    message, answer = START.entry, ModelTurn(Stop.WHOLE, "80 kg", usage=TOLD)
    exchange = Exchange(asked(1).turn, (done().result,))
    assert isinstance(message, UserMessage)
    assert outcome_of(run, tuple(steps), ("thread",)) == Outcome(
        run_id="checked",
        status=RunStatus.COMPLETED,
        reason=None,
        detail="",
        answer="80 kg",
        answer_by="model",
        partial="",
        conversation=START.conversation.append(message).append(exchange).append(answer),
        appended=(message, exchange, answer),
        selection=Selection(0, 0),
        narration=("let me see",),
        rounds=1,
        model_calls=2,
        calls=(CallRecord("a", "save", '{"kg":80}', Status.SUCCEEDED, "succeeded"),),
        unfinished=(),
        usage=Usage(input_tokens=20, output_tokens=4),
        usages=(TOLD, TOLD),
        cost=2.4,
        still_running=("thread",),
        transitions=tuple(steps),
        error=None,
    )


def test_the_json_of_an_outcome() -> None:
    run = after(START, STORED, asked(1, text=""), CancelRequested("left"), done(status=Status.OUTCOME_UNKNOWN), STORED)
    moved = move(START, STORED, 1)
    assert outcome_of(run, (moved.step,), ("a",)).to_json() == {
        "run_id": "checked",
        "status": "cancelled",
        "reason": "cancelled",
        "detail": "left",
        "answer": "",
        "answer_by": "",
        "narration": [],
        "partial": "",
        "output": None,
        "rounds": 1,
        "model_calls": 1,
        "calls": [
            {
                "id": "a",
                "name": "save",
                "arguments": {"kg": 80},
                "status": "outcome_unknown",
                "deterministic": False,
            }
        ],
        "unfinished": [{"id": "a", "name": "save"}],
        "usage": {
            "input_tokens": 10,
            "cached_input_tokens": None,
            "cache_write_tokens": None,
            "output_tokens": 2,
            "reasoning_tokens": None,
        },
        "usage_is_whole": True,
        "cost": 1.2,
        "still_running": ["a"],
        "error": None,
        "transitions": [
            {"n": 1, "state": "AppendHistory", "event": "HistoryAppended", "row": "model_called", "to": "CallModel"}
        ],
    }


def test_arguments_that_are_no_object_are_shown_as_they_came() -> None:
    bad = ToolRequest("a", "save", '{"kg":')
    turn = TurnReceived(1, ModelTurn(Stop.WHOLE, requests=(bad,)), Plan((PlannedCall("a"),)))
    told = outcome_of(after(START, STORED, turn, done(), STORED, said(2, "so"), STORED)).to_json()
    (call,) = cast("list[JsonObject]", told["calls"])
    assert call["arguments"] == '{"kg":'


ENDED = [run for run in reached_runs() if run.state in ENDS]


def test_no_reached_end_tells_more_or_less_than_is_so() -> None:
    for run in ENDED:
        outcome = outcome_of(run)
        assert (outcome.reason is None) == (outcome.status is RunStatus.COMPLETED)
        assert bool(outcome.answer.strip()) == (outcome.status in (RunStatus.COMPLETED, RunStatus.INCOMPLETE))
        assert bool(outcome.answer_by) == bool(outcome.answer)
        assert (outcome.error is not None) >= (outcome.status is RunStatus.FAILED)
        assert outcome.conversation is run.conversation
        assert (
            outcome.conversation.entries[-len(outcome.appended) or len(run.conversation.entries) :] == outcome.appended
        )
        assert len(outcome.usages) <= outcome.model_calls
        open_calls = [call for call in outcome.calls if call.status in (Status.NOT_EXECUTED, Status.OUTCOME_UNKNOWN)]
        assert outcome.unfinished == tuple(Unfinished(call.id, call.name) for call in open_calls)
        json.dumps(outcome.to_json(), allow_nan=False)


def test_a_run_that_goes_on_has_no_outcome() -> None:
    with pytest.raises(InvalidValue, match="outcome_of: run checked is in AppendHistory and has not ended"):
        outcome_of(START)


@given(st.lists(words.usages, max_size=5))
def test_tokens_are_added_up_and_not_told_only_where_nobody_told(usages: list[Usage]) -> None:
    total = total_usage(tuple(usages))
    for each in fields(Usage):
        told = [getattr(usage, each.name) for usage in usages if getattr(usage, each.name) is not None]
        assert getattr(total, each.name) == (sum(told) if told else None)


def test_zero_is_told_and_none_is_not() -> None:
    assert total_usage(()) == Usage()
    assert total_usage((Usage(input_tokens=0), Usage(output_tokens=5))) == Usage(input_tokens=0, output_tokens=5)


def test_what_was_left_out_of_the_history_is_told() -> None:
    run: Run = after(evolve(START, selected=2), STORED, said(1, "yes"), STORED)
    assert outcome_of(run).selection == Selection(first=2, left_out=2)


def test_what_failed_is_shown_with_its_facts() -> None:
    failure = Failure("ProviderRejected", "no", provider="anthropic", status=400, code="bad", request_id="r1")
    failed = after(START, STORED, CallFailed(1, failure))
    assert outcome_of(failed).to_json()["error"] == {
        "error": "ProviderRejected",
        "message": "no",
        "provider": "anthropic",
        "status": 400,
        "code": "bad",
        "request_id": "r1",
    }


@pytest.mark.parametrize(
    ("told", "whole"),
    [
        ((), True),
        ((TOLD, TOLD), True),
        ((TOLD, Usage()), False),
        ((TOLD, Usage(input_tokens=1)), False),
        ((Usage(output_tokens=1),), False),
    ],
)
def test_f098_totals_say_whether_every_call_told_its_tokens(told: tuple[Usage, ...], whole: bool) -> None:
    run = after(START, STORED, CancelRequested("left"))
    assert evolve(outcome_of(run), usages=told).usage_is_whole is whole
