"""
A call through the Gemini SDK whose reply is read as it comes, byte by byte.

The SDK's own stream gives models that lost what they do not know, and lazy generators that keep the socket open when
they are left between two events (google-genai 3.6.1). So it makes the call as it does without streaming, and only the
last step is another one.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Protocol, cast

from attrs import frozen

from rodada.providers.google_wire import WIRE
from rodada.providers.sse import read_on
from rodada.statemachine.errors import ProviderRejected

if TYPE_CHECKING:
    from google.genai.models import AsyncModels
    from google.genai.types import HttpResponse

# What is used inside the SDK: its classes' client, and two steps of that.
CLIENT, BUILD, SEND = "_api_client", "_build_request", "_async_request"
WHOLE, STREAMED = ":generateContent", ":streamGenerateContent?alt=sse"

Chunks = AsyncIterator[bytes]
Read = Callable[[Mapping[str, str], Chunks], Awaitable[str]]


class _Opened(Protocol):
    """
    A reply whose body is not read yet.
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


def read_by(read: Read, models: object) -> "AsyncModels":
    """
    The SDK's models, for one call of `generate_content`: it streams, and its body is what `read` makes of the reply's
    headers, in lower case, and bytes. However it ends, the connection is closed or free for the next call.

    Raises:
        ProviderRejected: this version of the SDK is made in another way.
    """
    from google.genai.models import AsyncModels

    client: object = getattr(models, CLIENT, None)
    if not (hasattr(client, BUILD) and hasattr(client, SEND)):
        raise ProviderRejected(WIRE, "this version of google-genai cannot be read as a stream: use stream=False")
    return AsyncModels(_Streaming(client, read))  # type: ignore[arg-type]  # it stands in for the SDK's own


@frozen
class _Streaming:
    """
    The SDK's inner client, but what is asked of it whole it asks for as a stream.
    """

    _client: object
    _read: Read

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    async def async_request(
        self, http_method: str, path: str, request_dict: dict[str, object], http_options: object = None
    ) -> "HttpResponse":
        """
        As the SDK's own.
        """
        from google.genai.types import HttpResponse

        build = cast(Callable[..., object], getattr(self._client, BUILD))
        send = cast(Callable[..., Awaitable[_Opened]], getattr(self._client, SEND))
        request = build(http_method, path.replace(WHOLE, STREAMED), request_dict, http_options)
        opened = await send(http_request=request, http_options=http_options, stream=True)
        headers = {name.lower(): value for name, value in opened.headers.items()}
        body = await _read_all(opened.response_stream, lambda chunks: self._read(headers, chunks))
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
