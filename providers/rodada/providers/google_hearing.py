"""
A streamed reply of generateContent being read: its events to the body of the reply, or one clear error.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from typing import Self

from attrs import field, frozen

from rodada.providers.failures import short
from rodada.providers.google_failures import request_id_of, told_in_stream
from rodada.providers.google_output import as_object, held_parts, said_before
from rodada.providers.google_raw import Chunks
from rodada.providers.google_stream import StreamedReply
from rodada.providers.google_wire import WIRE
from rodada.providers.sse import PATIENCE, event_data
from rodada.statemachine.errors import ProviderError, ProviderGarbled, ProviderUnreachable
from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_json
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest


@frozen
class Hearing:
    """
    Who hears one reply.
    """

    _streamed: StreamedReply
    _watch: Watch = field(repr=False)
    _key: str = field(repr=False)

    @classmethod
    def of(cls, request: ModelRequest, watch: Watch, key: str) -> Self:
        """
        The reply to a request, heard by `watch`; `key` stands in no error.
        """
        asked = sum("functionCall" in part for part in held_parts(request))
        return cls(StreamedReply(asked, said_before(request)), watch, key)

    async def __call__(self, headers: Mapping[str, str], chunks: Chunks) -> str:
        """
        The body, as it comes without streaming.

        Raises:
            ProviderError: the stream told an error, ended too soon, or is not what the wire promises.
        """
        if "text/event-stream" not in headers.get("content-type", ""):
            return b"".join([chunk async for chunk in chunks]).decode()
        others: list[bytes] = []
        try:
            async with aclosing(event_data(chunks, others)) as events:
                await self._take(events, headers)
        except (ValueError, RecursionError) as error:
            told = short(f"the stream is not what the wire promises ({error})", self._key)
            raise ProviderGarbled(WIRE, told, request_id=request_id_of(headers)) from None
        if not self._streamed.whole:
            raise self._lost(others, headers)
        return json.dumps(self._streamed.body)

    async def _take(self, events: AsyncIterator[str], headers: Mapping[str, str]) -> None:
        """
        Take all events. When the reply is whole, a server that keeps the connection open gets no patience, and what
        goes wrong then changes nothing.
        """
        async for data in events:
            self._hear(parse_json(data), headers)
            if self._streamed.whole:
                break
        with suppress(Exception):
            async with asyncio.timeout(PATIENCE):
                async for data in events:
                    self._hear(parse_json(data), headers)

    def _hear(self, event: JsonValue, headers: Mapping[str, str]) -> None:
        chunk = as_object(event, "an event")
        if "error" in chunk:
            raise told_in_stream(chunk, headers, self._key)
        for delta in self._streamed.add(chunk):
            self._watch(delta)

    def _lost(self, lines: list[bytes], headers: Mapping[str, str]) -> ProviderError:
        """
        Why a stream ended before its end: an error may come as JSON behind the events, and not as one of them.
        """
        chunk = _plain_error(lines)
        if chunk is not None:
            return told_in_stream(chunk, headers, self._key)
        told = "the stream ended before the turn was whole"
        return ProviderUnreachable(WIRE, told, request_id=request_id_of(headers))


def _plain_error(lines: list[bytes]) -> JsonObject | None:
    with suppress(ValueError, RecursionError):
        told = parse_json(b"\n".join(lines).decode())
        last = told[-1] if isinstance(told, list) and told else told
        return last if isinstance(last, dict) and "error" in last else None
    return None
