"""
What the machine's drivers need from outside, as protocols. Whoever fits one is taken; nothing is registered.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol, TypeAlias, runtime_checkable

from attrs import frozen

from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Entry, ModelTurn, ToolRequest, ToolResult
from rodada.statemachine.notice import Delta
from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from rodada.statemachine.run import Origin
from rodada.statemachine.scheduling import Touches

Watch: TypeAlias = Callable[[Delta], None]


class Provider(Protocol):
    """
    One model on one wire.
    """

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        """
        One request, one turn. Cancelling the coroutine is the only way to stop it, and however it ends nothing of
        it is left open. `watch` takes the pieces of a streamed turn as they come; it never blocks nor raises.

        Raises:
            ProviderError: no turn came; its `retryable` says whether the same request may succeed later.
        """
        ...


@runtime_checkable
class Streaming(Protocol):
    """
    A provider that can stream: a request with `stream` set gives pieces to `watch`, and in the end the same turn.
    """

    @property
    def streams(self) -> bool:
        """
        Whether it can.
        """
        ...


@runtime_checkable
class Reserving(Protocol):
    """
    A provider whose vendor runs some tools itself.
    """

    @property
    def reserved_names(self) -> frozenset[str]:
        """
        Their names, which no tool of a loop may have.
        """
        ...


@runtime_checkable
class Closable(Protocol):
    """
    Something that holds connections.
    """

    async def aclose(self) -> None:
        """
        Close what it made itself.
        """
        ...


def _no_cancel(reason: str) -> None:
    """
    Outside a run there is nothing to cancel.
    """


@frozen(kw_only=True, eq=False)
class CallSetting:
    """
    What surrounds one call of a tool.

    Attributes:
        limits: of the run.
        run_id: of the run; "" outside one.
        call_id: the request's id.
        origin: who the run is for.
        context: the value that the host gave to `run(context=...)`.
        deadline: when the run's time for work is over, in UTC; None when it is unlimited.
        attempt: which start of this call this is; more than 1 only after a crash.
        cancel: asks the whole run to stop, with a reason.
    """

    limits: Limits = Limits()
    run_id: str = ""
    call_id: str = ""
    origin: Origin = Origin()
    context: object = None
    deadline: datetime | None = None
    attempt: int = 1
    cancel: Callable[[str], None] = _no_cancel

    @property
    def idempotency_key(self) -> str:
        """
        The same for every start of this call, and for no other call: `run/call`.
        """
        return f"{self.run_id}/{self.call_id}"


STOPPED = "the run asked this call to end"  # message of the cancel by which a driver ends a call


class ToolCall(Protocol):
    """
    One call of a tool.
    """

    async def run(self) -> ToolResult:
        """
        Run the call, once. Whatever the tool does ends in a result; only a cancel of the coroutine leaves it.
        """
        ...

    @property
    def alive(self) -> bool:
        """
        Whether something of the call still runs, such as a thread that cannot be stopped.
        """
        ...


@runtime_checkable
class Settling(Protocol):
    """
    What a `ToolCall` may say beside.
    """

    @property
    def settles(self) -> bool:
        """
        Whether to cancel it is the right way to let it end: it has not begun, or has a grace of its own. A write that
        is asked to stop is then cancelled at once, and what `run` returns is its result.
        """
        ...


@runtime_checkable
class AnyTool(Protocol):
    """
    One tool; a loop makes its toolbox of several.
    """

    @property
    def declaration(self) -> ToolDeclaration:
        """
        What the model is told.
        """
        ...

    def planned(self, request: ToolRequest) -> PlannedCall | None:
        """
        What kind of call this is and who must approve it; None when it will not pass its checks. No I/O.
        """
        ...

    @property
    def declared(self) -> bool:
        """
        Whether it says which resources it touches; else it conflicts with every other call.
        """
        ...

    def touches(self, request: ToolRequest) -> Touches:
        """
        The resources that a call touches; `EVERYTHING` where nothing was declared. No I/O.
        """
        ...

    def seconds(self, usual: float | None) -> float | None:
        """
        The time limit of a call: the tool's own, or the usual one; None is unlimited.
        """
        ...

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        """
        The call of a request, not yet running. Bad arguments make a call that fails when run.
        """
        ...


class Toolbox(Protocol):
    """
    The tools of a loop.
    """

    @property
    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """
        What the model is told, in a fixed order.
        """
        ...

    def plan(self, requests: tuple[ToolRequest, ...]) -> Plan:
        """
        How the requests of a turn may run. No I/O. Unknown tools and bad arguments need no approval and wait for
        nobody.
        """
        ...

    def seconds(self, request: ToolRequest, usual: float | None) -> float | None:
        """
        The time limit of a call: the tool's own, or the usual one; None is unlimited.
        """
        ...

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        """
        The call of a request, not yet running. An unknown tool or bad arguments make a call that fails when run.
        """
        ...


class History(Protocol):
    """
    Where a conversation's entries are kept.
    """

    async def append(self, conversation_id: str, after: int, entries: tuple[Entry, ...]) -> None:
        """
        Store entries behind the first `after` ones; only when it returns they are stored.
        """
        ...


class Timer(Protocol):
    """
    Something that will happen later, unless it is cancelled.
    """

    def cancel(self) -> None:
        """
        Do not let it happen.
        """
        ...


class Clock(Protocol):
    """
    Time, so that tests can hold it.
    """

    def now(self) -> datetime:
        """
        The time in UTC.
        """
        ...

    def mono(self) -> float:
        """
        Seconds that never go back.
        """
        ...

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """
        Call `callback` on the running event loop after some seconds.
        """
        ...
