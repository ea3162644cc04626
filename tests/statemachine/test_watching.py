"""
What watchers see: plain values, and the truth about the text of each turn.
"""

import json
from functools import reduce

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.events import EPOCH, DeadlinePassed, Event, GivesUp, TurnReceived
from rodada.statemachine.messages import ModelTurn, Status, Stop
from rodada.statemachine.notice import ArgumentsDelta, Notice, ReasoningDelta, TextDelta
from rodada.statemachine.outcome import outcome_of
from rodada.statemachine.run import Run
from rodada.statemachine.states import ENDS, State
from rodada.statemachine.step import Step, step
from rodada.statemachine.watching import (
    ApprovalAsked,
    Ended,
    Gap,
    Said,
    SoFar,
    StepTaken,
    ToolEnded,
    ToolNotRun,
    ToolStarted,
    TurnEnded,
    TurnKind,
    told,
    turn_ended,
)
from support.walks import Walk, everything_tried, reached_runs, walks

UNTOLD: dict[str, object] = {"n": 0, "call": 0, "attempt": 0}
END = next(run for run in reached_runs() if run.state in ENDS)
MOVED = Step(1, EPOCH, State.CALL_MODEL, "TurnReceived", "answer_kept", State.APPEND_HISTORY, (("is_cut", False),), 1)


@pytest.mark.parametrize(
    ("notice", "shown"),
    [
        (
            TurnEnded(TurnKind.PARTIAL, "half", call=2, attempt=1, n=7),
            {"n": 7, "call": 2, "attempt": 1, "type": "TurnEnded", "kind": "partial", "text": "half", "held": ""},
        ),
        (TextDelta("ha"), {**UNTOLD, "type": "TextDelta", "text": "ha"}),
        (ReasoningDelta("hm"), {**UNTOLD, "type": "ReasoningDelta", "text": "hm"}),
        (
            ArgumentsDelta(1, "save", '{"kg'),
            {**UNTOLD, "type": "ArgumentsDelta", "position": 1, "name": "save", "text": '{"kg'},
        ),
        (ToolStarted("a", "save"), {**UNTOLD, "type": "ToolStarted", "id": "a", "name": "save"}),
        (
            ToolEnded("a", "save", Status.FAILED, 0.5),
            {**UNTOLD, "type": "ToolEnded", "id": "a", "name": "save", "status": "failed", "seconds": 0.5},
        ),
        (
            ToolNotRun("a", "save", Status.DENIED),
            {**UNTOLD, "type": "ToolNotRun", "id": "a", "name": "save", "status": "denied"},
        ),
        (
            ApprovalAsked("a", "save", "{}", "d", 2, False, 60.0),
            {
                **UNTOLD,
                "type": "ApprovalAsked",
                "id": "a",
                "name": "save",
                "arguments": "{}",
                "digest": "d",
                "approvals": 2,
                "requester_counts": False,
                "within": 60.0,
            },
        ),
        (Gap(3), {**UNTOLD, "type": "Gap", "missed": 3}),
        (
            SoFar(Said(("a",), "b", "c", "d"), n=3),
            {
                **UNTOLD,
                "n": 3,
                "type": "SoFar",
                "said": {"type": "Said", "narration": ["a"], "answer": "b", "partial": "c", "now": "d"},
            },
        ),
        (Ended(outcome_of(END)), {**UNTOLD, "type": "Ended", "outcome": outcome_of(END).to_json()}),
        (
            StepTaken(MOVED),
            {
                **UNTOLD,
                "type": "StepTaken",
                "step": {
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
            },
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_notice_is_a_plain_json_object(notice: Notice, shown: dict[str, object]) -> None:
    assert notice.to_json() == shown
    assert json.loads(json.dumps(shown)) == shown
    assert hash(notice) == hash(notice)


def what_became(run: Run, event: Event, after: Run) -> list[TurnEnded]:
    """
    What became of the words of the turn that a run waited for, read off the run after it.
    """
    if run.state is not State.CALL_MODEL or event_goes_on(run, event, after):
        return []
    said = event.turn.text if isinstance(event, TurnReceived) else event.heard if isinstance(event, GivesUp) else ""
    whole = "".join(piece.text for piece in run.held) + said
    kind, text, held = TurnKind.NARRATION, whole, ""
    if after.state in ENDS:
        kind = TurnKind.PARTIAL
    elif after.state is State.CALL_MODEL:
        held = "".join(piece.text for piece in after.held)
        kind, text = TurnKind.DISCARDED, whole.removeprefix(held)
    elif isinstance(after.entry, ModelTurn):
        kind = TurnKind.ANSWER
    return [TurnEnded(kind, text, held, call=run.calls, attempt=run.attempt)]


def event_goes_on(run: Run, event: Event, after: Run) -> bool:
    paused = isinstance(event, TurnReceived) and event.turn.stop is Stop.PAUSED and run.reason is None
    waits_on = isinstance(event, DeadlinePassed) and run.reason is not None
    return (paused and after.state not in ENDS) or waits_on


def test_the_text_of_a_turn_is_narration_an_answer_partial_or_discarded() -> None:
    kinds: set[TurnKind] = set()
    for tried in everything_tried():
        if tried.row is not None:
            event = evolve(tried.event, heard="half a") if isinstance(tried.event, GivesUp) else tried.event
            after, _ = step(tried.run, event)
            seen = list(turn_ended(tried.run, event, after))
            assert seen == what_became(tried.run, event, after)
            kinds |= {each.kind for each in seen}
    assert kinds == set(TurnKind)


@given(walks())
def test_only_an_answer_is_ever_called_one(walk: Walk) -> None:
    for run, event in walk.steps:
        after, _ = step(run, event)
        answers = [each for each in turn_ended(run, event, after) if each.kind is TurnKind.ANSWER]
        assert len(answers) == (isinstance(event, TurnReceived) and isinstance(after.entry, ModelTurn))


@given(walks(), st.integers(0, 40))
def test_what_is_told_adds_up_to_the_outcome_from_any_point(walk: Walk, point: int) -> None:
    notices: list[Notice] = []
    run = None
    for before, event in walk.steps:
        run, _ = step(before, event)
        if isinstance(event, TurnReceived):
            notices += [TextDelta(word) for word in event.turn.text.split()]
        notices += turn_ended(before, event, run)
    if run is not None and run.outcome is not None:
        outcome = outcome_of(run)
        notices.append(Ended(outcome))
        missed = reduce(told, notices[:point], Said())
        assert reduce(told, [SoFar(missed), *notices[point:]], Said()) == Said(
            outcome.narration, outcome.answer, outcome.partial
        )
