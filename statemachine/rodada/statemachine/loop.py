"""
The loop that users touch: a provider, tools, limits; `run`, `start` and `run_sync` answer one message.
"""

import warnings
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType, TracebackType
from typing import Any, Generic, Self, Unpack, overload

from attrs import Factory, evolve, field, frozen
from typing_extensions import TypeVar

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.drivers.background import run_in_background
from rodada.statemachine.drivers.clock import SystemClock
from rodada.statemachine.drivers.ports import Ports
from rodada.statemachine.errors import InvalidValue, NotSupported
from rodada.statemachine.identity import new_id
from rodada.statemachine.limits import Limits
from rodada.statemachine.live import LiveRun
from rodada.statemachine.loop_options import LoopOptions, RunOptions, check_options, message_parts, must_be
from rodada.statemachine.messages import Part, UserMessage
from rodada.statemachine.outcome import Outcome, T_co
from rodada.statemachine.output import Output
from rodada.statemachine.ports import AnyTool, Clock, Closable, History, Provider, Reserving, Streaming
from rodada.statemachine.prices import Price
from rodada.statemachine.remembering import Remembering
from rodada.statemachine.run import Origin, check_priced, new_run
from rodada.statemachine.toolbox import ToolList
from rodada.statemachine.wording import ENGLISH, Wording

T = TypeVar("T", default=object)


def _tool_list(tools: "Iterable[AnyTool] | ToolList") -> ToolList:
    if isinstance(tools, AnyTool):
        raise InvalidValue("tools", "one tool was given alone: give a list, such as tools=[it]")
    if isinstance(tools, ToolList):
        return tools
    must_be("tools", tools, Iterable)
    return ToolList(tools)


def _price_list(given: Iterable[Price]) -> tuple[Price, ...]:
    must_be("ToolLoop.prices", given, Iterable)
    prices = tuple(given)
    for price in prices:
        must_be("ToolLoop.prices", price, Price)
    for name, count in Counter(price.model for price in prices).items():
        if count > 1:
            raise InvalidValue("ToolLoop.prices", f"{name!r:.80} has {count} prices")
    return prices


def _with_parallel(tools: ToolList, parallel: bool) -> ToolList:
    return tools if tools.parallel == parallel else ToolList(tools.tools, parallel)


def _output(kind: object) -> Output | None:
    if kind is None:
        return None
    from rodada.statemachine.output_types import output_of

    return output_of(kind)


@frozen(eq=False)
class ToolLoop(Generic[T_co]):
    """
    The tool-use loop of a model. One loop serves any number of runs at once and changes nothing that it is given.

    Attributes:
        provider: the model.
        tools: what it may ask for.
        instructions: system instructions.
        limits: of each run.
        parallel: run together what is independent, by what the tools say they read and write.
        stream: tell watchers what the model says while it says it.
        wording: the engine's own texts.
        prices: what models cost, for `Limits.max_cost` and `Outcome.cost`.
        history: where entries are stored; None when the caller keeps them, on the outcome.
        clock: time, for tests.
        output_type: the type that an answer shall have, such as a pydantic model, a dataclass or a TypedDict; None
            when any text will do. An answer that has not is malformed: it is asked for once more.

    Raises:
        InvalidValue: duplicate tool names, one that the provider runs itself, or something that is no tool or no
            provider, or a type for which no JSON object can stand.
        NotSupported: streaming of a provider that cannot stream.
    """

    provider: Provider
    tools: ToolList = field(default=ToolList(()), converter=_tool_list, kw_only=True)
    instructions: str = field(default="", kw_only=True)
    limits: Limits = field(default=Limits(), kw_only=True)
    parallel: bool = field(default=False, kw_only=True)
    stream: bool = field(default=False, kw_only=True)
    wording: Wording = field(default=ENGLISH, kw_only=True)
    prices: tuple[Price, ...] = field(default=(), kw_only=True, converter=_price_list)
    history: History | None = field(default=None, kw_only=True)
    clock: Clock = field(factory=SystemClock, kw_only=True)
    output_type: type[T_co] | None = field(default=None, kw_only=True)
    _toolbox: ToolList = field(
        init=False, repr=False, default=Factory(lambda self: _with_parallel(self.tools, self.parallel), takes_self=True)
    )

    _typed: Output | None = field(
        init=False, repr=False, default=Factory(lambda self: _output(self.output_type), takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        _must_ask("ToolLoop.provider", self.provider)
        must_be("ToolLoop.limits", self.limits, Limits)
        must_be("ToolLoop.instructions", self.instructions, str)
        must_be("ToolLoop.wording", self.wording, Wording)
        check_priced(self.limits, self.prices)
        if self.history is not None and not callable(getattr(self.history, "append", None)):
            raise InvalidValue("ToolLoop.history", f"{self.history!r:.120} has no `append` to call")
        _refuse_streaming(self.provider, self.stream)
        _refuse_reserved(self.provider, self.tools)
        if self.parallel:
            _warn_of_undeclared(self.tools)

    @overload
    def start(
        self, message: str | Iterable[Part], *, output_type: type[T], asks: bool = True, **options: Unpack[RunOptions]
    ) -> LiveRun[T]: ...
    @overload
    def start(
        self,
        message: str | Iterable[Part],
        *,
        output_type: None = None,
        asks: bool = True,
        **options: Unpack[RunOptions],
    ) -> LiveRun[T_co]: ...
    def start(
        self,
        message: str | Iterable[Part],
        *,
        output_type: type[object] | None = None,
        asks: bool = True,
        **options: Unpack[RunOptions],
    ) -> LiveRun[Any]:
        """
        A run to be owned by an `async with` block, where it can be watched, cancelled and approved. What is given
        beside the message holds for this run only. With `asks=False` nobody can be asked in it, as in `run`: a call
        that needs approval is denied, whether or not somebody watches.

        Raises:
            InvalidValue: a blank message, an option that no run has, or tools or an output type as in `ToolLoop`.
            NotSupported: streaming of a provider that cannot stream.
        """
        return self._begun(message, output_type, options, asks=asks)

    def _begun(
        self, message: str | Iterable[Part], output_type: type[object] | None, options: RunOptions, *, asks: bool
    ) -> LiveRun[Any]:
        check_options(options)
        provider = _used.get().get(self, self.provider)
        stream = options.get("stream", self.stream)
        _refuse_streaming(provider, stream)
        run = new_run(
            new_id("run"),
            UserMessage(new_id("message"), message_parts(message)),
            options.get("conversation") or Conversation(),
            limits=options.get("limits") or self.limits,
            origin=options.get("origin") or Origin(),
            wording=self.wording,
            prices=self.prices,
        )
        tools, instructions = options.get("tools"), options.get("instructions")
        toolbox = self._toolbox if tools is None else _with_parallel(_tool_list(tools), self.parallel)
        _refuse_reserved(provider, toolbox)
        ports = Ports(
            provider=provider,
            toolbox=Remembering(toolbox),
            context=options.get("context"),
            asks=asks,
            history=self.history,
            instructions=self.instructions if instructions is None else instructions,
            clock=self.clock,
            stream=stream,
            output=self._typed if output_type is None else _output(output_type),
        )
        return LiveRun(run, ports)

    @overload
    async def run(
        self, message: str | Iterable[Part], *, output_type: type[T], **options: Unpack[RunOptions]
    ) -> Outcome[T]: ...
    @overload
    async def run(
        self, message: str | Iterable[Part], *, output_type: None = None, **options: Unpack[RunOptions]
    ) -> Outcome[T_co]: ...
    async def run(
        self, message: str | Iterable[Part], *, output_type: type[object] | None = None, **options: Unpack[RunOptions]
    ) -> Outcome[Any]:
        """
        Answer one message. The awaiting task owns the run: its cancellation cancels the run, which settles first;
        the outcome is then on the CancelledError, as `error.outcome`. Nobody can be asked in it: a call that needs
        approval is denied; use `start` where somebody can.

        Raises:
            ConversationBusy: another run is answering on this conversation.
            UnexpectedEvent: a fault in the table or in a port.
            InvalidValue, NotSupported: as in `start`.
        """
        async with self._begun(message, output_type, options, asks=False) as live:
            return await live.outcome()

    @overload
    def run_sync(
        self, message: str | Iterable[Part], *, output_type: type[T], **options: Unpack[RunOptions]
    ) -> Outcome[T]: ...
    @overload
    def run_sync(
        self, message: str | Iterable[Part], *, output_type: None = None, **options: Unpack[RunOptions]
    ) -> Outcome[T_co]: ...
    def run_sync(self, message: str | Iterable[Part], **options: Any) -> Outcome[Any]:
        """
        The same without an event loop, from any thread: all such runs share one loop in the background.

        Raises:
            RunningLoop: an event loop runs in this thread; use `await loop.run(...)` there.
            ConversationBusy, UnexpectedEvent, InvalidValue, NotSupported: as in `run`.
        """
        return run_in_background(self.run(message, **options))

    @overload
    def evolve(self, *, output_type: type[T] | None, **changes: Unpack[LoopOptions]) -> "ToolLoop[T]": ...
    @overload
    def evolve(self, **changes: Unpack[LoopOptions]) -> "ToolLoop[T_co]": ...
    def evolve(self, **changes: Any) -> "ToolLoop[Any]":
        """
        A new loop that differs in what is given.

        Raises:
            InvalidValue, NotSupported: as in `ToolLoop`.
        """
        return evolve(self, **changes)

    @contextmanager
    def using(self, *, provider: Provider) -> Generator[None]:
        """
        A block in which another model answers in the place of this loop's own, for tests of code that holds the loop.
        It holds for runs that are started in the block's own context: other threads and tasks that were there before
        are not in it.

        Raises:
            InvalidValue: it is no provider.
        """
        _must_ask("using(provider=...)", provider)
        before = _used.set({**_used.get(), self: provider})
        try:
            yield
        finally:
            _used.reset(before)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """
        Close what the provider made for the running event loop.
        """
        if isinstance(self.provider, Closable):
            await self.provider.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """
        Close what the provider made for `run_sync`.

        Raises:
            RunningLoop: an event loop runs in this thread; use `await loop.aclose()` there.
        """
        run_in_background(self.aclose())


_used: ContextVar[Mapping[ToolLoop, Provider]] = ContextVar("rodada_used_providers", default=MappingProxyType({}))


def _must_ask(what: str, provider: object) -> None:
    if isinstance(provider, type) or not callable(getattr(provider, "ask", None)):
        raise InvalidValue(what, f"{provider!r:.120} has no `ask` to call: give a provider")


def _refuse_streaming(provider: Provider, stream: bool) -> None:
    if stream and not (isinstance(provider, Streaming) and provider.streams):
        raise NotSupported(f"stream=True: {provider!r:.120} cannot stream; its turns come whole")


def _refuse_reserved(provider: Provider, tools: ToolList) -> None:
    reserved = provider.reserved_names if isinstance(provider, Reserving) else frozenset[str]()
    for tool in tools.tools:
        if tool.declaration.name in reserved:
            told = (
                f"{tool.declaration.name!r} is the name of a server tool of {provider!r:.120}: give yours another name"
            )
            raise InvalidValue("ToolLoop.tools", told)


def _warn_of_undeclared(tools: ToolList) -> None:
    names = [tool.declaration.name for tool in tools.tools if not tool.declared]
    if names:
        told = ", ".join(names)
        warnings.warn(f"parallel=True, but {told} say neither reads= nor writes=: each runs alone", stacklevel=4)
