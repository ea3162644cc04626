"""
Server-sent events, as the vendors send them: the data of each event as text.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator

PATIENCE = 1.0  # seconds


async def event_data(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """
    The data of each whole event; an event that was cut off is none. Lines end in LF or CRLF: a lone CR, which the
    standard allows too, no vendor sends, and a library that splits a text at everything that Unicode calls a line end
    would break JSON in two.

    Raises:
        UnicodeDecodeError: an event is no UTF-8.
    """
    rest = b""
    data: list[bytes] = []
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            kept = line.removesuffix(b"\r")
            if kept.startswith(b"data:"):
                data.append(kept[5:].removeprefix(b" "))
            elif not kept and data:
                yield b"\n".join(data).decode()
                data = []


async def read_on(events: AsyncIterator[str]) -> None:
    """
    Read what follows the last event of a reply that is whole, so that its connection can be used again. A server that
    keeps it open gets no patience, and what goes wrong now changes nothing.
    """
    with contextlib.suppress(Exception):
        async with asyncio.timeout(PATIENCE):
            async for _ in events:
                pass
