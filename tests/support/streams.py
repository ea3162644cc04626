"""
Streams as bytes that come in any chunks.
"""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

from hypothesis import strategies as st

from rodada.providers.loopback import Raw
from rodada.providers.sse import event_data

cuts = st.lists(st.integers(0, 10_000), max_size=20)  # where a stream is cut into chunks


def data_of(sent: bytes, cut_at: list[int]) -> list[str]:
    """
    The data of the events, read from bytes that came in chunks.
    """
    return asyncio.run(_all(_chunks(sent, cut_at)))


def _chunks(sent: bytes, cut_at: list[int]) -> list[bytes]:
    places = sorted({0, len(sent), *(cut % (len(sent) + 1) for cut in cut_at)})
    return [sent[start:end] for start, end in pairwise(places)]


async def _all(chunks: list[bytes]) -> list[str]:
    async def come() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [each async for each in event_data(come())]


def stream_of(*sent: bytes) -> Raw:
    """
    A streamed reply of these events.
    """
    return Raw(b"".join(sent), headers={"content-type": "text/event-stream"})
