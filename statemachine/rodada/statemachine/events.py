"""
Events: facts from outside, the only thing that moves a run. An event that exists is legal in itself; whether it
fits a run is the table's business.
"""

from datetime import UTC, datetime
from typing import TypeAlias

from attrs import field, frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import clean_text
from rodada.statemachine.messages import ModelTurn, Status, ToolResult
from rodada.statemachine.plan import Plan

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class Failure:
    """
    Why something outside did not work, as plain facts; `message` is content.

    Attributes:
        error: class name of the error.
        message: one line for people, free of secrets.
        retryable: whether the same may succeed later.
        provider, status, code, request_id: as on `ProviderError`.
    """

    error: str
    message: str = field(converter=clean_text)
    retryable: bool = False
    provider: str = ""
    status: int | None = None
    code: str | None = None
    request_id: str | None = None


def _in_utc(_owner: object, _attribute: object, value: datetime) -> None:
    if value.utcoffset() is None or value.utcoffset() != EPOCH.utcoffset():
        raise InvalidValue("Event.at", f"needs a time in UTC, got {value!r}")


@frozen(kw_only=True)
class Event:
    """
    What every event has.

    Attributes:
        at: when it happened, in UTC.
        mono_ms: milliseconds since the run began, by a clock that never goes back.
    """

    at: datetime = field(default=EPOCH, validator=_in_utc)
    mono_ms: int = 0


@frozen
class TurnReceived(Event):
    """
    The model replied to call number `call`; `plan` is how the requests of the turn may run.
    """

    call: int
    turn: ModelTurn
    plan: Plan = Plan()

    def __attrs_post_init__(self) -> None:
        if self.plan.ids != tuple(request.id for request in self.turn.requests):
            raise InvalidValue("TurnReceived", f"the plan must name the turn's requests in order, not {self.plan.ids}")


@frozen(kw_only=True)
class GivesUp(Event):
    """
    An event that may end a model call without its turn.

    Attributes:
        heard: what that call had said until then, where it streams; content.
    """

    heard: str = field(default="", converter=clean_text)


@frozen
class CallFailed(GivesUp):
    """
    Call number `call` gave no turn; another try would wait `wait_ms` first.
    """

    call: int
    failure: Failure
    wait_ms: int = 0


@frozen
class ToolFinished(Event):
    """
    A started call has its result: it succeeded, failed, or was cut off (promise P5).
    """

    result: ToolResult

    def __attrs_post_init__(self) -> None:
        if self.result.status in (Status.NOT_EXECUTED, Status.DENIED):
            raise InvalidValue("ToolFinished", f"a started call cannot be {self.result.status.value}")


@frozen
class ApprovalDecided(Event):
    """
    Somebody decided on a request that waits for approval.

    Attributes:
        id: the request.
        yes: approved, or denied.
        by: who, by the host's own authentication, never taken from the model; "" is the engine itself, which denies.
        via: through which channel.
        reason: their words.
    """

    id: str
    yes: bool
    by: str = field(converter=clean_text)
    via: str = field(default="", converter=clean_text)
    reason: str = field(default="", converter=clean_text)


@frozen
class HistoryAppended(Event):
    """
    The entry in hand is stored.
    """


@frozen
class AppendFailed(Event):
    """
    The entry in hand could not be stored.
    """

    failure: Failure


@frozen
class DeadlinePassed(GivesUp):
    """
    The time for work is over; what is left is kept for the closing call.
    """


@frozen
class CancelRequested(GivesUp):
    """
    Somebody wants the run to stop; `detail` is the host's reason.
    """

    detail: str = field(default="", converter=clean_text)


AnyEvent: TypeAlias = (
    TurnReceived
    | CallFailed
    | ToolFinished
    | ApprovalDecided
    | HistoryAppended
    | AppendFailed
    | DeadlinePassed
    | CancelRequested
)
EVENTS: tuple[type[Event], ...] = (
    TurnReceived,
    CallFailed,
    ToolFinished,
    ApprovalDecided,
    HistoryAppended,
    AppendFailed,
    DeadlinePassed,
    CancelRequested,
)
