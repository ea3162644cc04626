"""
Server-sent events, as the vendors send them: the data of each event as text.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

PATIENCE = 1.0  # seconds


async def event_data(chunks: AsyncIterable[bytes], others: list[bytes] | None = None) -> AsyncGenerator[str, None]:
    """
    The data of each whole event; an event that was cut off is none. Lines end in LF or CRLF: a lone CR, which the
    standard allows too, no vendor sends, and a library that splits a text at everything that Unicode calls a line end
    would break JSON in two. Lines that are no data are added to `others`, the last one also where it has no end.

    Raises:
        UnicodeDecodeError: an event is no UTF-8.
    """
    rest = b""
    data: list[bytes] = []
    aside: list[bytes] = [] if others is None else others
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            kept = line.removesuffix(b"\r")
            if kept.startswith(b"data:"):
                data.append(kept[5:].removeprefix(b" "))
            elif kept:
                aside.append(kept)
            elif data:
                yield b"\n".join(data).decode()
                data = []
    if rest and not rest.startswith(b"data:"):
        aside.append(rest)


async def read_on(events: AsyncIterator[object], patience: float = PATIENCE) -> None:
    """
    Read what follows the last event of a reply that is whole, so that its connection can be used again. A server that
    keeps it open gets so many seconds, and what goes wrong now changes nothing.

    With none at all it lets go of a reply: generators that are cancelled where they wait close the connection, each
    one within the other, while those that are left between two events wait for the garbage collector.
    """
    with contextlib.suppress(Exception):
        async with asyncio.timeout(patience):
            async for _ in events:
                pass
