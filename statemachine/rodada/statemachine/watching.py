"""
What watchers of a run see, as plain values. A watcher sees; it cannot steer, nor slow the run down.
"""

import enum
from typing import TypeAlias

from attrs import frozen

from rodada.statemachine.codec import encode
from rodada.statemachine.events import TurnReceived
from rodada.statemachine.jsontext import JsonValue
from rodada.statemachine.messages import Exchange, ModelTurn, Status
from rodada.statemachine.outcome import Outcome
from rodada.statemachine.run import Run
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
class TurnEnded:
    """
    Model call number `call` gave a turn.
    """

    call: int
    kind: TurnKind
    text: str


@frozen
class ToolStarted:
    """
    A call was started.
    """

    id: str
    name: str


@frozen
class ToolEnded:
    """
    A started call has its result, after `seconds`.
    """

    id: str
    name: str
    status: Status
    seconds: float


@frozen
class ApprovalAsked:
    """
    A request waits for a decision.
    """

    id: str
    name: str
    arguments: str


@frozen
class Gap:
    """
    The watcher was too slow: so many notices were left out.
    """

    missed: int


@frozen
class Ended:
    """
    The run has ended; nothing follows.
    """

    outcome: Outcome


Notice: TypeAlias = Step | TurnEnded | ToolStarted | ToolEnded | ApprovalAsked | Gap | Ended


def notice_json(notice: Notice) -> JsonValue:
    """
    A notice as a JSON value; of an end, the outcome's own form.
    """
    return {"type": "Ended", "outcome": notice.outcome.to_json()} if isinstance(notice, Ended) else encode(notice)


def turn_ended(event: TurnReceived, after: Run) -> TurnEnded:
    """
    What became of a turn's text.
    """
    return TurnEnded(event.call, _kind(after), event.turn.text)


def _kind(after: Run) -> TurnKind:
    if after.turn is not None or isinstance(after.entry, Exchange):
        return TurnKind.NARRATION
    if isinstance(after.entry, ModelTurn):
        return TurnKind.ANSWER
    return TurnKind.PARTIAL if after.outcome is not None else TurnKind.DISCARDED
