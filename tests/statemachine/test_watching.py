"""
What watchers see: plain values, and the truth about the text of each turn.
"""

import json

import pytest
from hypothesis import given

from rodada.statemachine.events import EPOCH, TurnReceived
from rodada.statemachine.jsontext import JsonValue
from rodada.statemachine.messages import ModelTurn, Status, Stop
from rodada.statemachine.outcome import outcome_of
from rodada.statemachine.run import Run
from rodada.statemachine.states import ENDS, State
from rodada.statemachine.step import Step, step
from rodada.statemachine.watching import (
    ApprovalAsked,
    Ended,
    Gap,
    Notice,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnKind,
    notice_json,
    turn_ended,
)
from support.walks import Walk, everything_tried, reached_runs, walks

END = next(run for run in reached_runs() if run.state in ENDS)
MOVED = Step(1, EPOCH, State.CALL_MODEL, "TurnReceived", "answer_kept", State.APPEND_HISTORY, (("is_cut", False),), 1)


@pytest.mark.parametrize(
    ("notice", "shown"),
    [
        (TurnEnded(2, TurnKind.PARTIAL, "half"), {"type": "TurnEnded", "call": 2, "kind": "partial", "text": "half"}),
        (ToolStarted("a", "save"), {"type": "ToolStarted", "id": "a", "name": "save"}),
        (
            ToolEnded("a", "save", Status.FAILED, 0.5),
            {"type": "ToolEnded", "id": "a", "name": "save", "status": "failed", "seconds": 0.5},
        ),
        (
            ApprovalAsked("a", "save", "{}"),
            {"type": "ApprovalAsked", "id": "a", "name": "save", "arguments": "{}"},
        ),
        (Gap(3), {"type": "Gap", "missed": 3}),
        (Ended(outcome_of(END)), {"type": "Ended", "outcome": outcome_of(END).to_json()}),
        (
            MOVED,
            {
                "type": "Step",
                "n": 1,
                "at": "1970-01-01T00:00:00+00:00",
                "state": "CallModel",
                "event": "TurnReceived",
                "row": "answer_kept",
                "to": "AppendHistory",
                "verdicts": [["is_cut", False]],
                "call": 1,
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_notice_is_a_plain_json_object(notice: Notice, shown: JsonValue) -> None:
    assert notice_json(notice) == shown
    assert json.loads(json.dumps(shown)) == shown
    assert hash(notice) == hash(notice)


def kind_of(event: TurnReceived, after: Run) -> TurnKind:
    """
    What became of a turn's words, read off the run after it.
    """
    if after.state in ENDS:
        return TurnKind.PARTIAL
    if after.state is State.CALL_MODEL:
        return TurnKind.DISCARDED
    return TurnKind.ANSWER if isinstance(after.entry, ModelTurn) else TurnKind.NARRATION


def test_the_text_of_a_turn_is_narration_an_answer_partial_or_discarded() -> None:
    kinds: set[tuple[TurnKind, State]] = set()
    for tried in everything_tried():
        if tried.row is not None and isinstance(tried.event, TurnReceived):
            after, _ = step(tried.run, tried.event)
            seen = turn_ended(tried.event, after)
            assert seen == TurnEnded(tried.event.call, kind_of(tried.event, after), tried.event.turn.text)
            kinds.add((seen.kind, after.state))
    assert {kind for kind, _ in kinds} == set(TurnKind)


@given(walks())
def test_only_an_answer_is_ever_called_one(walk: Walk) -> None:
    for run, event in walk.steps:
        if isinstance(event, TurnReceived):
            after, _ = step(run, event)
            answered = turn_ended(event, after).kind is TurnKind.ANSWER
            assert answered == (isinstance(after.entry, ModelTurn) and event.turn.stop is Stop.WHOLE)
