"""
A provider of each wire whose real SDK talks to no server: what is sent is kept, what comes is given.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import anthropic
import httpx2
import openai
from attrs import define, field
from google.genai import Client
from google.genai.client import DebugConfig
from google.genai.types import HttpOptions

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import WireName
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from support.stage import KEY, AnyProvider

Options = Mapping[str, object]


@define
class Line(httpx2.AsyncBaseTransport):
    """
    A connection that answers with what it is given, and keeps what it was asked.

    Attributes:
        answers: content type and body of each answer to come, in the chunks in which it comes.
        asked: bodies of the requests.
    """

    answers: deque[tuple[str, Sequence[bytes]]] = field(factory=deque[tuple[str, Sequence[bytes]]])
    asked: list[bytes] = field(factory=list[bytes])

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """
        The next answer.
        """
        self.asked.append(await request.aread())
        kind, chunks = self.answers.popleft()
        return httpx2.Response(200, headers={"content-type": kind}, stream=_Chunks(chunks))


class _Chunks(httpx2.AsyncByteStream):
    def __init__(self, chunks: Sequence[bytes]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk


def provider_at(
    http: httpx2.AsyncClient, wire: WireName, model: str, tokens: int | None = None, options: Options | None = None
) -> AnyProvider:
    """
    A model at the end of a line; `tokens` are the most of a turn.
    """
    return _MADE[wire](http, model, tokens, options)


def _anthropic(http: httpx2.AsyncClient, model: str, tokens: int | None, options: Options | None) -> AnyProvider:
    client = anthropic.AsyncAnthropic(api_key=KEY, http_client=http)
    return Anthropic(model, client=client, max_output_tokens=tokens or 16_000, options=options)


def _openai(http: httpx2.AsyncClient, model: str, tokens: int | None, options: Options | None) -> AnyProvider:
    client = openai.AsyncOpenAI(api_key=KEY, http_client=http)
    return OpenAIResponses(model, client=client, max_output_tokens=tokens, options=options)


def _openai_chat(http: httpx2.AsyncClient, model: str, tokens: int | None, options: Options | None) -> AnyProvider:
    client = openai.AsyncOpenAI(api_key=KEY, http_client=http)
    return OpenAIChat(model, client=client, max_output_tokens=tokens, options=options)


def _google(http: httpx2.AsyncClient, model: str, tokens: int | None, options: Options | None) -> AnyProvider:
    settings = HttpOptions(api_version="v1beta", httpx_async_client=http)
    made = Client(enterprise=False, api_key=KEY, debug_config=DebugConfig(client_mode=""), http_options=settings)
    return Google(model, client=made.aio, max_output_tokens=tokens, options=options)


_MADE: Mapping[WireName, Callable[[httpx2.AsyncClient, str, int | None, Options | None], AnyProvider]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_chat": _openai_chat,
    "google": _google,
}
