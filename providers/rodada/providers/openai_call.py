"""
One call of OpenAI's SDK, on either of its wires: the body of the answer, whether it came whole or as a stream.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from attrs import field, frozen

from rodada.providers.history import History
from rodada.providers.json_body import read_body, sendable
from rodada.providers.openai_client import left_out, sends_as_told
from rodada.providers.openai_failures import from_sdk, told_error
from rodada.providers.ready_bytes import sending
from rodada.providers.request_size import check_size
from rodada.providers.served import served_by
from rodada.providers.sse import PATIENCE, event_data, read_on
from rodada.statemachine.errors import LoopError, ProviderError, ProviderGarbled, ProviderUnreachable
from rodada.statemachine.jsontext import JsonError, JsonObject, parse_json
from rodada.statemachine.messages import ModelTurn
from rodada.statemachine.notice import Delta
from rodada.statemachine.ports import Watch

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.resources.chat.completions import AsyncCompletions
    from openai.resources.responses import AsyncResponses

DONE = "[DONE]"  # the data of the last event on Chat Completions; servers send it on the other wire too
EVENTS = "text/event-stream"
ERROR = b"error:"  # a field that llama.cpp put in the place of the standard's up to September 2025


class RawAnswer(Protocol):
    """
    An HTTP answer that the SDK has not looked into.
    """

    @property
    def content(self) -> bytes:
        """
        The body.
        """
        ...

    @property
    def request_id(self) -> str | None:
        """
        The vendor's id of the request.
        """
        ...


class OpenAnswer(Protocol):
    """
    An HTTP answer whose body is still to come.
    """

    @property
    def headers(self) -> Mapping[str, str]:
        """
        Its headers; names in any case.
        """
        ...

    @property
    def request_id(self) -> str | None:
        """
        The vendor's id of the request.
        """
        ...

    def iter_bytes(self) -> AsyncIterator[bytes]:
        """
        The body as it comes.
        """
        ...


class Assembly(Protocol):
    """
    A body as far as its events came. Nothing of it may be used before it is whole.
    """

    @property
    def whole(self) -> bool:
        """
        Whether all that it must have came.
        """
        ...

    @property
    def ended(self) -> bool:
        """
        Whether nothing may follow that belongs to it.
        """
        ...

    def add(self, event: JsonObject) -> tuple[Delta, ...]:
        """
        Take one more event, and give what of it can be heard.

        Raises:
            ProviderGarbled: it is not what the wire promises; events of unknown types are left out.
        """
        ...

    @property
    def body(self) -> JsonObject:
        """
        What the same call gives without streaming.
        """
        ...


Resource: TypeAlias = "AsyncResponses | AsyncCompletions"
Create: TypeAlias = Callable[..., Awaitable[RawAnswer]]
Opening: TypeAlias = Callable[..., AbstractAsyncContextManager[OpenAnswer]]
EXTRA = "extra_body"


@frozen
class Call:
    """
    One call as it is to be made.

    Attributes:
        wire: its name in errors.
        client: of the SDK.
        resource: of the SDK, whose `create` is called.
        arguments: of that method; an empty list stands for the history in their `extra_body`.
        history: of the body.
        most: bytes of its body, as in `Limits.max_request_bytes`.
        model: that is asked for.
        read: the turn that a body holds.
    """

    wire: str
    client: "AsyncOpenAI" = field(repr=False)
    resource: Resource = field(repr=False)
    arguments: Mapping[str, object] = field(repr=False)
    history: History
    most: int | None
    model: str
    read: Callable[[JsonObject], ModelTurn]

    @property
    def secret(self) -> str:
        """
        The key, which no message may show.
        """
        return self.client.api_key

    def placed(self, **more: object) -> tuple[Resource, Mapping[str, object]]:
        """
        What is called, and with what arguments and these, so that the history is sent.

        Raises:
            ProviderTooLarge: it must not be sent.
        """
        arguments = {**self.arguments, **more}
        check_size(self.wire, arguments, self.most, self.history.size)
        if sends_as_told(self.client):
            return sending(self.history, self.resource, self.client, left_out()), arguments
        # Beside the typed arguments, for the SDK walks those piece by piece: a history costs more there than all else.
        extra = cast("Mapping[str, object]", arguments[EXTRA])
        return self.resource, {**arguments, EXTRA: {**extra, self.history.name: self.history.value}}


async def whole_turn(call: Call) -> ModelTurn:
    """
    The turn of an answer that comes whole.

    Raises:
        ProviderError: no turn came.
    """
    with _failures_of_sdk(call):
        resource, arguments = call.placed()
        answer = await cast(Create, resource.with_raw_response.create)(**arguments)
    with _named(answer.request_id):
        return _served(call, read_body(call.wire, answer.content), answer.request_id)


async def streamed_turn(call: Call, assembly: Assembly, watch: Watch) -> ModelTurn:
    """
    The same turn of an answer that streams; its pieces go to `watch` as they come. A server that does not stream may
    answer whole.

    Raises:
        ProviderError: no turn came.
    """
    with _failures_of_sdk(call):
        resource, arguments = call.placed(stream=True)
        opening = cast(Opening, resource.with_streaming_response.create)
        async with opening(**arguments) as answer:
            with _named(answer.request_id):
                body = await _body(call, answer, assembly, watch)
    with _named(answer.request_id):
        return _served(call, body, answer.request_id)


def _served(call: Call, body: JsonObject, request_id: str | None) -> ModelTurn:
    return served_by(call.read(body), call.client.base_url, call.model, request_id)


async def _body(call: Call, answer: OpenAnswer, assembly: Assembly, watch: Watch) -> JsonObject:
    aside: list[bytes] = []
    events = event_data(answer.iter_bytes(), aside)
    try:
        async for data in events:
            if data.strip() == DONE:
                break
            for delta in assembly.add(_event(call, data)):
                watch(delta)
            if assembly.ended:
                break
    except UnicodeDecodeError:
        raise ProviderGarbled(call.wire, "an event is no UTF-8") from None
    finally:
        await read_on(events, PATIENCE if assembly.whole else 0)
    return sendable(call.wire, assembly.body) if assembly.whole else _body_aside(call, answer, b"\n".join(aside))


def _body_aside(call: Call, answer: OpenAnswer, said: bytes) -> JsonObject:
    """
    The body that came in the place of a stream, or an error behind the events of one. What the headers call it is not
    asked: servers and gateways between name it anything.
    """
    try:
        body = read_body(call.wire, said.removeprefix(ERROR))
    except ProviderGarbled:
        if EVENTS not in answer.headers.get("content-type", "").lower():
            raise
        raise ProviderUnreachable(call.wire, "the stream ended before the answer was whole") from None
    return {"error": body} if said.startswith(ERROR) else body


def _event(call: Call, data: str) -> JsonObject:
    try:
        event = parse_json(data)
    except JsonError:
        raise ProviderGarbled(call.wire, "an event is no JSON") from None
    if not isinstance(event, dict):
        raise ProviderGarbled(call.wire, "an event is no JSON object")
    failure = told_error(call.wire, event, call.secret)
    if failure is not None:
        raise failure
    return event


@contextmanager
def _failures_of_sdk(call: Call) -> Generator[None]:
    try:
        yield
    except LoopError:
        raise
    except Exception as error:  # noqa: BLE001 (always raised again, but without its text, which may hold secrets)
        raise from_sdk(call.wire, error, call.secret) from None


@contextmanager
def _named(request_id: str | None) -> Generator[None]:
    try:
        yield
    except ProviderError as error:
        error.request_id = error.request_id or request_id
        raise
