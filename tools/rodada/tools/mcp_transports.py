"""
The two ways to an MCP server, over the official SDK: a process on its standard streams, or streamable HTTP. Beneath the
SDK they note how far each request got. Imports the SDK: only on first use.
"""

import logging
import os
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Generic, Self, TextIO, TypeAlias, TypeVar

import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from rodada.tools.mcp_delivery import noted

T = TypeVar("T")
LARGEST_EVENT = 64 * 1024 * 1024
CONNECT_SECONDS = 30.0
UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol, httpx2.ProxyError)

# The SDK logs what servers send amiss; without this line Python would print it on the terminal of a host that has not
# configured logging.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class _Stream:
    """
    A stream around one of the SDK's.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def aclose(self) -> None:
        """
        Close the stream.
        """
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Receiving(_Stream, Generic[T]):
    """
    A read stream that tells when it has ended.
    """

    def __init__(self, inner: Any, ended: Callable[[], None]) -> None:
        super().__init__(inner)
        self._ended = ended

    async def receive(self) -> T:
        """
        The next message.
        """
        message: T = await self._inner.receive()
        return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        try:
            message: T = await self._inner.__anext__()
        except BaseException:
            self._ended()
            raise
        return message


class Sending(_Stream, Generic[T]):
    """
    A write stream that notes what was handed to it.
    """

    async def send(self, item: T, /) -> None:
        """
        Hand a message to the server's pipe. One that is cancelled on the way may have left.
        """
        try:
            await self._inner.send(item)
        except Exception:
            raise
        except BaseException:
            noted().sent = True
            raise
        noted().sent = True


Streams: TypeAlias = tuple[Any, Any]
Transport: TypeAlias = AbstractAsyncContextManager[Streams]


@asynccontextmanager
async def over_stdio(
    command: str,
    args: tuple[str, ...],
    env: Mapping[str, str],
    cwd: str | None,
    stderr: TextIO | None,
    ended: Callable[[], None],
) -> AsyncGenerator[Streams]:
    """
    A process of our own. It gets the few environment variables that the SDK holds to be safe, and `env`.
    """
    parameters = StdioServerParameters(command=command, args=list(args), env=dict(env), cwd=cwd)
    with _errors_to(stderr) as errors:
        async with stdio_client(parameters, errlog=errors) as (read, write):
            yield Receiving[SessionMessage | Exception](read, ended), Sending[SessionMessage](write)


@contextmanager
def _errors_to(stderr: TextIO | None) -> Generator[TextIO]:
    if stderr is not None:
        yield stderr
    else:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            yield nowhere


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str], auth: httpx2.Auth | None) -> AsyncGenerator[Streams]:
    """
    Streamable HTTP. How long an answer may take is the loop's to say, so reading has no time limit here.
    """
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    async with (
        NotingClient(headers=dict(headers), auth=auth, timeout=timeout) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=LARGEST_EVENT) as streams,
    ):
        yield streams


class NotingClient(httpx2.AsyncClient):
    """
    An HTTP client that notes how each request fared, and lets no failure of one request end the SDK's connection as a
    whole: it becomes the answer 503 to that request.
    """

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """
        Send a request.
        """
        note = noted()
        note.sent, note.status = True, None
        try:
            response = await super().send(request, **options)
        except Exception as error:
            if request.method != "POST":
                raise
            note.sent = isinstance(error, httpx2.TransportError) and not isinstance(error, UNSENT)
            note.broken = type(error).__name__
            return httpx2.Response(503, request=request)
        note.status = response.status_code
        return response
