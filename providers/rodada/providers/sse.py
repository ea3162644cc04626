"""
Server-sent events, as the vendors send them: the data of each event as text.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

PATIENCE = 1.0  # seconds
FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")  # the last one is a comment
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


async def event_data(chunks: AsyncIterable[bytes], others: list[bytes] | None = None) -> AsyncGenerator[str, None]:
    """
    The data of each whole event; an event that was cut off is none, nor is one of empty data, which servers send to
    keep a connection open. Lines end in LF or CRLF: a lone CR, which the standard allows too, no vendor sends, and a
    library that splits a text at everything that Unicode calls a line end would break JSON in two. Lines that are
    no field of an event are added to `others`, the last one also where it has no end.

    Raises:
        UnicodeDecodeError: an event is no UTF-8.
    """
    mark = BYTE_ORDER_MARK
    line: list[bytes] = []  # as far as it came: joined once, for a long one comes in thousands of chunks
    data: list[bytes] = []
    aside: list[bytes] = [] if others is None else others
    async for chunk in chunks:
        end, *further = chunk.split(b"\n")
        line.append(end)
        for begin in further:
            kept = b"".join(line).removeprefix(mark).removesuffix(b"\r")
            line, mark = [begin], b""
            if kept.startswith(b"data:"):
                data.append(kept[5:].removeprefix(b" "))
            elif kept:
                aside += _said_aside(kept)
            else:
                event, data = b"\n".join(data), []
                if event:
                    yield event.decode()
    aside += _said_aside(b"".join(line).removeprefix(mark))


def _said_aside(line: bytes) -> list[bytes]:
    return [line] if line and not line.startswith(FIELDS) else []


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
