"""
Ports that wait until a test lets them go on.
"""

import asyncio
from typing import Literal

from rodada.statemachine import (
    Entry,
    Kind,
    ModelRequest,
    ModelTurn,
    PlannedCall,
    Status,
    Stop,
    TextDelta,
    ToolDeclaration,
    ToolRequest,
    ToolResult,
    Usage,
    Watch,
)
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.scheduling import EVERYTHING, Touches


class HeldProvider:
    """
    A model that answers when the test says so.

    Attributes:
        requests: what it was asked, in order.
        replies: the future of each call.
        given_up: calls that were cancelled.
    """

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.replies: list[asyncio.Future[ModelTurn]] = []
        self.given_up: list[int] = []
        self.watches: list[Watch] = []

    @property
    def streams(self) -> bool:
        """
        What the test lets it murmur.
        """
        return True

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        self.requests.append(request)
        self.watches.append(watch)
        reply: asyncio.Future[ModelTurn] = asyncio.get_running_loop().create_future()
        self.replies.append(reply)
        try:
            return await reply
        except asyncio.CancelledError:
            self.given_up.append(request.call)
            raise

    def murmur(self, *texts: str, call: int = 0) -> None:
        """
        Say some text of a call, the newest one or another, before it is answered.
        """
        for text in texts:
            self.watches[call - 1](TextDelta(text))

    def say(self, text: str, usage: Usage = Usage()) -> None:
        """
        Answer the newest call.
        """
        self.replies[-1].set_result(ModelTurn(Stop.WHOLE, text, usage=usage))

    def call(self, *names: str, text: str = "", usage: Usage = Usage()) -> None:
        """
        Ask for tools in reply to the newest call.
        """
        ids = self.requests[-1].request_ids((None,) * len(names))
        requests = tuple(ToolRequest(request_id, name, "{}") for request_id, name in zip(ids, names, strict=True))
        self.replies[-1].set_result(ModelTurn(Stop.WHOLE, text, requests, usage=usage))

    def fail(self, error: Exception) -> None:
        """
        Fail the newest call.
        """
        self.replies[-1].set_exception(error)


class HeldCall:
    """
    A call that ends when the test says so.

    Attributes:
        cancels: how often it was asked to end.
        stubborn: whether it ignores that.
        thread: whether something of it goes on after it was left.
    """

    def __init__(self, request: ToolRequest, *, stubborn: bool, thread: bool) -> None:
        self.request = request
        self.cancels = 0
        self.began = False
        self.stubborn = stubborn
        self.thread = thread
        self.end: asyncio.Future[ToolResult] = asyncio.get_running_loop().create_future()

    @property
    def alive(self) -> bool:
        return self.thread and not self.end.done()

    async def run(self) -> ToolResult:
        self.began = True
        while True:
            try:
                return await asyncio.shield(self.end)
            except asyncio.CancelledError:
                self.cancels += 1
                if not self.stubborn:
                    raise

    def finish(self, text: str = "done", status: Status = Status.SUCCEEDED) -> None:
        """
        End it with a result.
        """
        self.end.set_result(ToolResult.of(self.request, status, text))


class HeldTool:
    """
    A tool whose calls wait for the test. Fits `AnyTool`.

    Attributes:
        calls: started and refused ones, in order.
    """

    def __init__(
        self,
        name: str,
        kind: Kind = Kind.WRITE,
        *,
        stubborn: bool = False,
        thread: bool = False,
        approvals: int = 0,
        within_ms: int | None = None,
        requester_counts: bool = True,
        own_seconds: float | Literal["usual"] | None = "usual",
        writes: str = "",
        declared: bool = True,
    ) -> None:
        self.declaration = ToolDeclaration(name, "waits")
        self.calls: list[HeldCall] = []
        self._kind = kind
        self._stubborn = stubborn
        self._thread = thread
        self._approvals = approvals
        self._within_ms = within_ms
        self._requester_counts = requester_counts
        self._own_seconds = own_seconds
        self._touches = Touches(writes=frozenset(filter(None, [writes]))) if declared else EVERYTHING
        self.declared = declared
        self.settings: list[CallSetting] = []

    def planned(self, request: ToolRequest) -> PlannedCall | None:
        return PlannedCall(request.id, self._kind, self._approvals, self._requester_counts, within_ms=self._within_ms)

    def seconds(self, usual: float | None) -> float | None:
        own = self._own_seconds
        return usual if isinstance(own, str) else own

    def touches(self, request: ToolRequest) -> Touches:
        return self._touches

    def call(self, request: ToolRequest, setting: CallSetting) -> HeldCall:
        self.settings.append(setting)
        self.calls.append(HeldCall(request, stubborn=self._stubborn, thread=self._thread))
        return self.calls[-1]


class HeldHistory:
    """
    A store that stores when the test says so.

    Attributes:
        appends: conversation id, position and entries of each append.
        done: the future of each.
    """

    def __init__(self) -> None:
        self.appends: list[tuple[str, int, tuple[Entry, ...]]] = []
        self.done: list[asyncio.Future[None]] = []

    async def append(self, conversation_id: str, after: int, entries: tuple[Entry, ...]) -> None:
        self.appends.append((conversation_id, after, entries))
        self.done.append(asyncio.get_running_loop().create_future())
        await self.done[-1]
