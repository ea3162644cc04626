"""
A call through the Gemini SDK whose contents are bytes that are ready, and whose reply may be read as it comes, byte by
byte.

The SDK encodes all contents again in every call, so that a call costs more the longer its conversation is. Its own
stream gives models that lost what they do not know, and lazy generators that keep the socket open when they are left
between two events (google-genai 3.6.1). So it makes a call with other contents, as it does without streaming, and only
the last steps are others.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol, cast

from attrs import frozen

from rodada.providers.google_wire import WIRE
from rodada.providers.history import History
from rodada.providers.sse import read_on
from rodada.statemachine.errors import ProviderRejected

if TYPE_CHECKING:
    from google.genai.models import AsyncModels
    from google.genai.types import HttpResponse

# What is used inside the SDK: its classes' client, and two steps of that.
CLIENT, BUILD, SEND = "_api_client", "_build_request", "_async_request"
PLAIN = "BaseApiClient"
METHOD = "generate_content"  # a tracer may put its own into the models
WHOLE, STREAMED = ":generateContent", ":streamGenerateContent?alt=sse"

Chunks = AsyncIterator[bytes]
Read = Callable[[Mapping[str, str], Chunks], Awaitable[str]]


class _Request(Protocol):
    """
    A request that is not sent yet.
    """

    data: object


class _Opened(Protocol):
    """
    A reply whose body is not read yet, or that is read whole.
    """

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def response_stream(self) -> object: ...


class _OfHttpx(Protocol):
    def aiter_bytes(self) -> Chunks: ...

    async def aclose(self) -> None: ...


class _OfAiohttp(Protocol):
    @property
    def content(self) -> "_Content": ...

    def close(self) -> None: ...


class _Content(Protocol):
    def iter_any(self) -> Chunks: ...


def sends_as_told(models: object) -> bool:
    """
    Whether they are the SDK's own, and the client behind them sends bodies without a look into them; the SDK has
    others, which record.
    """
    from google.genai.models import AsyncModels

    client: object = getattr(models, CLIENT, None)
    own = type(models) is AsyncModels and METHOD not in vars(models)
    return own and type(client).__name__ == PLAIN and _is_known(client)


def through(models: object, *, contents: History | None = None, read: Read | None = None) -> "AsyncModels":
    """
    The SDK's models, for one call of `generate_content`.

    Args:
        models: of the SDK.
        contents: that are sent in the place of the contents that the method is given.
        read: what makes the body of the reply's headers, in lower case, and bytes: the call streams, and however it
            ends, the connection is closed or free for the next call. None reads the reply whole.

    Raises:
        ProviderRejected: this version of the SDK is made in another way.
    """
    from google.genai.models import AsyncModels

    client: object = getattr(models, CLIENT, None)
    if not _is_known(client):
        raise ProviderRejected(WIRE, "this version of google-genai cannot be read as a stream: use stream=False")
    return AsyncModels(_Inner(client, contents, read))  # type: ignore[arg-type]  # it stands in for the SDK's own


def _is_known(client: object) -> bool:
    return hasattr(client, BUILD) and hasattr(client, SEND)


@frozen
class _Inner:
    """
    The SDK's inner client, but for how a request is sent and how its reply is read.
    """

    _client: object
    _contents: History | None
    _read: Read | None

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    async def async_request(
        self, http_method: str, path: str, request_dict: dict[str, object], http_options: object = None
    ) -> "HttpResponse":
        """
        As the SDK's own.
        """
        from google.genai.types import HttpResponse

        build = cast(Callable[..., "_Request"], getattr(self._client, BUILD))
        send = cast(Callable[..., Awaitable[_Opened]], getattr(self._client, SEND))
        asked = path if self._read is None else path.replace(WHOLE, STREAMED)
        request = build(http_method, asked, request_dict, http_options)
        if self._contents is not None:
            request.data = _with_contents(cast("Mapping[str, object]", request.data), self._contents)
        opened = await send(http_request=request, http_options=http_options, stream=self._read is not None)
        if self._read is None:
            return HttpResponse(headers=dict(opened.headers), body=_whole(opened.response_stream))
        return await _streamed(opened, self._read)


def _with_contents(data: Mapping[str, object], contents: History) -> bytes:
    others = json.dumps({name: value for name, value in data.items() if name != contents.name}).encode()
    comma = b", " if len(others) > len("{}") else b""
    return contents.between(others[:-1] + comma + f'"{contents.name}": '.encode(), b"}")


def _whole(stream: object) -> str:
    body: list[str] = cast("list[str]", stream)
    return body[0] if body else ""


async def _streamed(opened: "_Opened", read: Read) -> "HttpResponse":
    from google.genai.types import HttpResponse

    headers = {name.lower(): value for name, value in opened.headers.items()}
    body = await _read_all(opened.response_stream, lambda chunks: read(headers, chunks))
    return HttpResponse(headers=dict(headers), body=body)


async def _read_all(stream: object, read: Callable[[Chunks], Awaitable[str]]) -> str:
    if hasattr(stream, "aiter_bytes"):
        reply = cast(_OfHttpx, stream)
        try:
            return await _let_go(reply.aiter_bytes(), read)
        finally:
            await reply.aclose()
    other = cast(_OfAiohttp, stream)  # a given client may use it
    try:
        return await _let_go(other.content.iter_any(), read)
    finally:
        other.close()


async def _let_go(chunks: Chunks, read: Callable[[Chunks], Awaitable[str]]) -> str:
    try:
        return await read(chunks)
    finally:
        await read_on(chunks, 0)
