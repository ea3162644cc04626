"""
What watchers of a run see, as plain values. A watcher sees; it cannot steer, nor slow the run down.
"""

import enum
from typing import assert_never

from attrs import evolve, frozen

from rodada.statemachine.events import Event, GivesUp, TurnReceived
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import Exchange, ModelTurn, Status
from rodada.statemachine.notice import Notice, TextDelta
from rodada.statemachine.outcome import Outcome
from rodada.statemachine.run import Run
from rodada.statemachine.states import State
from rodada.statemachine.step import Step


class TurnKind(enum.Enum):
    """
    What the text of a turn was: said between rounds, the answer, text that is no answer, or dropped and asked again.
    """

    NARRATION = "narration"
    ANSWER = "answer"
    PARTIAL = "partial"
    DISCARDED = "discarded"


@frozen
class StepTaken(Notice):
    """
    The run took a step.
    """

    step: Step


@frozen
class TurnEnded(Notice):
    """
    A turn ended, with a reply or without one.

    Attributes:
        kind: what its text was.
        text: the whole of it, what was said before its pauses included; of a discarded one what was dropped.
        held: of a discarded one, what was said before its pauses and stays said.
    """

    kind: TurnKind
    text: str
    held: str = ""


@frozen
class ToolStarted(Notice):
    """
    A call was started.
    """

    id: str
    name: str


@frozen
class ToolEnded(Notice):
    """
    A started call has its result, after `seconds`.
    """

    id: str
    name: str
    status: Status
    seconds: float


@frozen
class ToolNotRun(Notice):
    """
    A request was answered and its call never started: it was withheld, or denied.
    """

    id: str
    name: str
    status: Status


@frozen
class ApprovalAsked(Notice):
    """
    A request waits for a decision.

    Attributes:
        id: of the request.
        name: of the tool.
        arguments: their text.
        digest: of the arguments; give it back with a decision, so that it is one on these.
        approvals: how many distinct people must approve.
        requester_counts: whether the run's own actor may be one of them.
        within: seconds in which they may; None is without end.
    """

    id: str
    name: str
    arguments: str
    digest: str = ""
    approvals: int = 1
    requester_counts: bool = True
    within: float | None = None


@frozen
class Gap(Notice):
    """
    So many notices were left out: the watcher was too slow, or came back too late. `SoFar` follows.
    """

    missed: int


@frozen
class Said:
    """
    What a run has said.

    Attributes:
        narration, answer, partial: as on `Outcome`.
        now: of the turn that is being said.
    """

    narration: tuple[str, ...] = ()
    answer: str = ""
    partial: str = ""
    now: str = ""


@frozen
class SoFar(Notice):
    """
    What was said until here, so that a watcher who missed notices can go on.
    """

    said: Said


@frozen
class Ended(Notice):
    """
    The run has ended; nothing follows.
    """

    outcome: Outcome

    def to_json(self) -> JsonObject:
        """
        Of the outcome, its own form.
        """
        told: JsonObject = {"type": "Ended", "n": self.n, "call": self.call, "attempt": self.attempt}
        return {**told, "outcome": self.outcome.to_json()}


def told(said: Said, notice: Notice) -> Said:
    """
    What a run has said after one more notice: folded over all of them, or over those that follow any `SoFar`, it gives
    `narration`, `answer` and `partial` of the outcome.
    """
    match notice:
        case SoFar():
            return notice.said
        case TextDelta():
            return evolve(said, now=said.now + notice.text)
        case TurnEnded():
            return _turn_told(said, notice)
        case Ended():
            return evolve(said, answer=notice.outcome.answer)  # the engine's own words are no turn
        case _:
            return said


def _turn_told(said: Said, turn: TurnEnded) -> Said:
    match turn.kind:
        case TurnKind.NARRATION:
            more = (turn.text,) if turn.text.strip() else ()
            return evolve(said, narration=(*said.narration, *more), now="")
        case TurnKind.ANSWER:
            return evolve(said, answer=turn.text, now="")
        case TurnKind.PARTIAL:
            return evolve(said, partial=turn.text, now="")
        case TurnKind.DISCARDED:
            return evolve(said, now=turn.held)
        case _:
            assert_never(turn.kind)


def never_run(before: Run, after: Run) -> tuple[ToolNotRun, ...]:
    """
    The requests that a step answered without a call (fault F113).
    """
    entry = after.entry
    if not isinstance(entry, Exchange) or entry is before.entry:
        return ()
    answered = zip(entry.turn.requests, entry.results, strict=True)
    return tuple(
        ToolNotRun(request.id, request.name, result.status)
        for request, result in answered
        if result.status in (Status.NOT_EXECUTED, Status.DENIED)
    )


def turn_ended(before: Run, event: Event, after: Run) -> tuple[TurnEnded, ...]:
    """
    What became of the turn that a run waited for, where a step ended it; a pause does not.
    """
    if before.state is not State.CALL_MODEL or len(after.held) > len(before.held):
        return ()
    if after.state is State.CALL_MODEL and after.calls == before.calls:
        return ()
    return (evolve(_end_of_turn(before, event, after), call=before.calls, attempt=before.attempt),)


def _end_of_turn(before: Run, event: Event, after: Run) -> TurnEnded:
    if after.turn is not None:
        return TurnEnded(TurnKind.NARRATION, after.turn.text)
    if isinstance(after.entry, Exchange):
        return TurnEnded(TurnKind.NARRATION, after.entry.turn.text)
    if isinstance(after.entry, ModelTurn):
        return TurnEnded(TurnKind.ANSWER, after.entry.text)
    if after.outcome is not None:
        return TurnEnded(TurnKind.PARTIAL, after.outcome.partial)
    kept = len(after.held)  # of a call that the deadline ended nothing stays said
    return TurnEnded(TurnKind.DISCARDED, _text(before.held[kept:]) + _said(event), _text(after.held))


def _text(pieces: tuple[ModelTurn, ...]) -> str:
    return "".join(piece.text for piece in pieces)


def _said(event: Event) -> str:
    match event:
        case TurnReceived():
            return event.turn.text
        case GivesUp():
            return event.heard
        case _:
            return ""
