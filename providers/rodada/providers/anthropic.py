"""
Claude models over the Anthropic Messages API.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, cast

from rodada.providers.anthropic_answer import cites, may_be_asked, output_format
from rodada.providers.anthropic_client import (
    AnyClient,
    checked_client,
    left_out,
    new_client,
    secret_of,
    sends_as_told,
    sends_events,
    timeout_of,
)
from rodada.providers.anthropic_failures import from_sdk, told_in_stream
from rodada.providers.anthropic_history import AnthropicHistory
from rodada.providers.anthropic_import import from_messages
from rodada.providers.anthropic_models import Traits
from rodada.providers.anthropic_output import NotAMessage, said_before, turn_of, turn_of_message
from rodada.providers.anthropic_stream import StreamedMessage
from rodada.providers.anthropic_wire import FIELD, WIRE, body_of, server_tool_fault, to_messages
from rodada.providers.clients import LoopClients
from rodada.providers.construction import check_arguments, checked_options, fields_of_option, find_key, need_sdk
from rodada.providers.failures import short
from rodada.providers.history import History
from rodada.providers.ready_bytes import sending
from rodada.providers.request_size import check_size
from rodada.providers.served import served_by
from rodada.providers.server_tools import TOOLS_ELSEWHERE, checked_server_tools, names_of
from rodada.providers.sse import PATIENCE, event_data, read_on
from rodada.providers.told_type import in_words
from rodada.statemachine.errors import (
    ProviderError,
    ProviderGarbled,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonError, JsonValue, parse_json
from rodada.statemachine.messages import ModelTurn
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest

if TYPE_CHECKING:
    import httpx2
    from anthropic.resources import AsyncMessages

__all__ = ["Anthropic", "from_messages", "to_messages"]

NAME = "Anthropic"
KEY_VARIABLES = ("ANTHROPIC_API_KEY",)
CACHE = {"type": "ephemeral"}
ELSEWHERE = {
    "model": "give it as the first argument",
    "messages": "they are the conversation",
    "system": "use ToolLoop(instructions=...)",
    "tools": TOOLS_ELSEWHERE,
    "tool_choice": "the loop sets it in each call, and a forced choice would never let the model answer",
    "max_tokens": "use max_output_tokens=...",
    "stream": "use ToolLoop(stream=...)",
    "timeout": "use Limits(call_seconds=...)",
}


class _Reply(Protocol):
    """
    What is used of the SDK's raw response.
    """

    @property
    def http_response(self) -> "httpx2.Response": ...

    @property
    def request_id(self) -> str | None: ...


class _StreamedReply(_Reply, Protocol):
    """
    The same of a reply that is not read yet.
    """

    async def read(self) -> bytes: ...

    def iter_bytes(self) -> AsyncIterator[bytes]: ...


_Opening = AbstractAsyncContextManager[_StreamedReply]


class Anthropic:
    """
    A Claude model on the Messages API.

    Args:
        model: for example "claude-opus-5-5". A name that tells no version is taken for one of the newest.
        api_key: else the environment variable ANTHROPIC_API_KEY.
        base_url: root of the API, else ANTHROPIC_BASE_URL, else the vendor's.
        client: a ready `AsyncAnthropic`, or the async client of a cloud that serves Claude: `AsyncAnthropicBedrock`
            (which cannot stream), `AsyncAnthropicBedrockMantle`, `AsyncAnthropicVertex`, `AsyncAnthropicFoundry`,
            `AsyncAnthropicAWS`, `AsyncAnthropicGoogleCloud`. It is used, without its retries, and never closed.
        max_output_tokens: the most that one turn may have, thinking included.
        options: further arguments of `messages.create`, such as `{"thinking": {...}}`, in every call as they are.
            `cache_control` is there without being asked for, so that what was sent before is read from the vendor's
            cache; `{"cache_control": None}` leaves it out. One thing is mended: manual thinking ("enabled") is
            switched off in calls whose latest turn has no thinking to start with, since it would be refused.
        server_tools: declarations of tools that the vendor runs itself, such as
            `{"type": "web_search_20260318", "name": "web_search"}`, sent as they stand behind those of the loop. They
            are never run here and cost no round.

    Raises:
        MissingExtra: the SDK is not installed.
        MissingKey: no key and no client.
        InvalidValue: an argument that cannot be, a sync client, a key or an address beside a client, or an option that
            is set elsewhere, or a server tool that is none.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: "AnyClient | None" = None,
        max_output_tokens: int = 16_000,
        options: Mapping[str, object] | None = None,
        server_tools: Iterable[Mapping[str, object]] | None = None,
    ) -> None:
        need_sdk("anthropic", "anthropic", "anthropic")
        check_arguments(NAME, model, base_url, max_output_tokens)
        self.model = model
        self._traits = Traits.of(model)
        self._history = AnthropicHistory(self._traits)
        self._max_output_tokens = max_output_tokens
        self._options = _cached(checked_options(NAME, options or {}, ELSEWHERE))
        self._extra = cast("Mapping[str, object]", self._options.get("extra_body") or {})
        self._output_config = fields_of_option(NAME, self._options, "output_config")
        self._server_tools = checked_server_tools(NAME, server_tools, server_tool_fault)
        self._takes_formats = not any(map(cites, self._server_tools))
        given = None if client is None else checked_client(NAME, client, api_key, base_url)
        self._key = find_key(NAME, api_key, KEY_VARIABLES) if given is None else secret_of(given)
        self._streams = given is None or sends_events(given)
        self._clients = LoopClients["AnyClient"](NAME, lambda: new_client(self._key, base_url), given)

    def __repr__(self) -> str:
        return f"{NAME}({self.model!r})"

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        """
        One request, one turn.

        Raises:
            ProviderError: no turn came.
            WrongEventLoop: the client that was given belongs to another event loop.
        """
        history = self._history.of(request)
        call = self._call(request, history)
        client = self._clients.here()
        if client.is_closed():
            raise ProviderRejected(WIRE, "the client that was given is closed")
        messages: AsyncMessages = client.messages
        if sends_as_told(client):
            messages = sending(history, messages, client, left_out())
        else:
            call[FIELD] = history.value
        if request.stream:
            turn, request_id = await self._streamed(messages, call, request, watch)
            return served_by(turn, client.base_url, self.model, request_id)
        reply = await self._send(messages, call, request.seconds)
        try:
            turn = turn_of(reply.http_response.content.decode(), request)
            return served_by(turn, client.base_url, self.model, reply.request_id)
        except (JsonError, NotAMessage, UnicodeDecodeError, RecursionError) as error:
            raise self._garbled(error, reply) from None

    @property
    def streams(self) -> bool:
        """
        Whether it can: always, but over an `AsyncAnthropicBedrock`.
        """
        return self._streams

    @property
    def reserved_names(self) -> frozenset[str]:
        """
        Names of tools that the vendor runs itself.
        """
        return names_of(self._server_tools)

    async def aclose(self) -> None:
        """
        Close the client that was made for this event loop.
        """
        await self._clients.aclose(lambda client: client.close())

    def _call(self, request: ModelRequest, history: History) -> dict[str, object]:
        """
        The arguments of the SDK's method, with an empty history.
        """
        schema = request.output_schema or request.lifted_schema
        # Changed in the closing call, the instructions would no longer be those to which the turn's thoughts are bound.
        told = schema is not None and not (self._takes_formats and may_be_asked(schema))
        asked = in_words(request, also_lifted=self._traits.system_role) if told else request
        body = body_of(asked, self._traits, self._server_tools)
        call = {**self._options, "model": self.model, "max_tokens": self._max_output_tokens, FIELD: [], **body}
        if asked.output_schema is not None:
            typed = {**self._output_config, "format": output_format(asked.output_schema)}
            call["extra_body"] = {**self._extra, "output_config": typed}  # where nothing else can take its place
        if _is_manual(call.get("thinking")) and not self._history.thinks_first(request):
            call["thinking"] = {"type": "disabled"}
        if request.stream:
            call["stream"] = True
        check_size(WIRE, call, request.max_request_bytes, history.size)
        return call

    def _garbled(self, error: Exception, reply: _Reply) -> ProviderGarbled:
        told = f"the reply is no message: {short(str(error), self._key)}"
        return ProviderGarbled(WIRE, told, status=reply.http_response.status_code, request_id=reply.request_id)

    async def _streamed(
        self, messages: "AsyncMessages", call: dict[str, object], request: ModelRequest, watch: Watch
    ) -> tuple[ModelTurn, str | None]:
        create = cast(Callable[..., _Opening], messages.with_streaming_response.create)
        try:
            async with (
                asyncio.timeout(request.seconds),
                create(**call, timeout=timeout_of(request.seconds)) as reply,
            ):
                return await self._put_together(reply, request, watch), reply.request_id
        except TimeoutError:
            raise ProviderTimeout(WIRE, f"no whole answer within {request.seconds} s") from None
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001
            # not chained: see `_send`
            raise from_sdk(error, self._key) from None

    async def _put_together(self, reply: _StreamedReply, request: ModelRequest, watch: Watch) -> ModelTurn:
        try:
            if "text/event-stream" not in reply.http_response.headers.get("content-type", ""):
                return turn_of((await reply.read()).decode(), request)
            streamed = StreamedMessage(said_before(request))
            events = event_data(reply.iter_bytes())
            try:
                async for data in events:
                    self._take(streamed, parse_json(data), reply, watch)
                    if streamed.whole:
                        break
            finally:
                await read_on(events, PATIENCE if streamed.whole else 0)
            if not streamed.whole:
                told = "the stream ended before the message was whole"
                raise ProviderUnreachable(WIRE, told, request_id=reply.request_id)
            return turn_of_message(streamed.message, request, streamed.broken)
        except (JsonError, NotAMessage, UnicodeDecodeError, RecursionError) as error:
            raise self._garbled(error, reply) from None

    def _take(self, streamed: StreamedMessage, event: JsonValue, reply: _StreamedReply, watch: Watch) -> None:
        if not isinstance(event, dict):
            raise NotAMessage("an event is no object")
        if event.get("type") == "error":
            raise told_in_stream(event, reply.http_response.headers, reply.request_id, self._key)
        delta = streamed.add(event)
        if delta is not None:
            watch(delta)

    async def _send(self, messages: "AsyncMessages", call: dict[str, object], seconds: float | None) -> _Reply:
        create = cast(Callable[..., Awaitable[_Reply]], messages.with_raw_response.create)
        try:
            async with asyncio.timeout(seconds):
                return await create(**call, timeout=timeout_of(seconds))
        except TimeoutError:
            raise ProviderTimeout(WIRE, f"no answer within {seconds} s") from None
        except Exception as error:  # noqa: BLE001
            # whatever the SDK raises; not chained, for its exceptions hold the request with key and content
            raise from_sdk(error, self._key) from None


def _cached(options: dict[str, object]) -> dict[str, object]:
    """
    With the vendor's automatic cache, unless the host has said something of it.
    """
    if options.get("cache_control", CACHE) is not None:
        return {"cache_control": CACHE, **options}
    return {name: value for name, value in options.items() if name != "cache_control"}


def _is_manual(thinking: object) -> bool:
    return isinstance(thinking, Mapping) and cast(Mapping[str, object], thinking).get("type") == "enabled"
