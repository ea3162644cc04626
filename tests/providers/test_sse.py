"""
Server-sent events as bytes in any chunks become the data of each event.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given

from rodada.providers.sse import event_data
from support.streams import cuts, data_of

MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data:a\n\ndata:  b\n\n", ["a", " b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b": a comment\nevent: e\nid: 1\nretry: 5\ndata: a\n\n\n\n", ["a"]),
        (MARK + b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: " + MARK + b"\n\n", ["\ufeff"]),
        ("data: ação \u2028\n\n".encode(), ["ação \u2028"]),
        (b"data:\n\ndata: \n\ndata: a\n\n", ["a"]),
        (b"data:\ndata:\n\ndata: a\n\n", ["\n", "a"]),
        (b"data: a\n\ndata: cut off", ["a"]),
        (b"data: a\n\ndata: cut off\n", ["a"]),
        (b"", []),
    ],
)
@given(cuts)
def test_whatever_the_chunks_the_data_of_each_event_is_told(
    sent: bytes, expected: list[str], cut_at: list[int]
) -> None:
    assert data_of(sent, cut_at) == expected


def test_what_is_no_utf_8_is_an_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        data_of(b"data: \xff\n\n", [])


def test_lines_that_are_no_field_of_an_event_are_told_aside() -> None:
    async def aside() -> list[bytes]:
        async def come() -> AsyncIterator[bytes]:
            yield b'event: e\nid: 1\nretry: 5\n: a comment\ndata: a\n\n{"error":\r\n1'
            yield b"}"

        others: list[bytes] = []
        assert [each async for each in event_data(come(), others)] == ["a"]
        return others

    assert asyncio.run(aside()) == [b'{"error":', b"1}"]
