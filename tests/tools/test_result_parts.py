"""
What a tool returned, as parts: media stand where they were returned, everything else is a text, and none is blank.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.media_types import type_of_bytes
from rodada.statemachine.messages import Media, Part, Text, plain_text
from rodada.tools import ToolResultParts
from rodada.tools.result_parts import FAILED, MOST_MEDIA_BYTES, returned_parts
from rodada.tools.value_text import BLANK, NOTHING, Unshowable
from support import words
from support.hostile_values import Odd, Unstrippable

PNG = b"\x89PNG\r\n\x1a\n"
SHOT = Media.of(PNG, "image/png", "shot.png")


def parts_of(value: object) -> tuple[Part, ...]:
    returned = returned_parts(value)
    assert not returned.failed
    return returned.parts


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0JFIF", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"GIF87a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
    ],
)
def test_bytes_that_tell_what_they_are_become_media(data: bytes, media_type: str) -> None:
    for value in (data, bytearray(data), memoryview(data)):
        assert parts_of(value) == (Media.of(data, media_type),)


@given(st.binary(max_size=16).filter(lambda data: type_of_bytes(data) is None))
def test_other_bytes_stay_text(data: bytes) -> None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        assert plain_text(parts_of(data)).startswith("base64:")
    else:
        assert parts_of(data) == (Text(text if text.strip() else BLANK),)


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (SHOT, (SHOT,)),
        ([SHOT], (SHOT,)),
        (("seen", SHOT), (Text("seen"), SHOT)),
        (["seen", {"kg": 80}, SHOT, SHOT, None], (Text('seen\n{"kg":80}'), SHOT, SHOT, Text(NOTHING))),
        ([PNG, Text("a")], (Media.of(PNG, "image/png"), Text("a"))),
        (["a", "b"], (Text('["a","b"]'),)),
        (Text("a"), (Text("a"),)),
        ({"shot": SHOT}, (Text('{"shot":"[shot.png: image/png, 8 bytes]"}'),)),
        ([[SHOT]], (Text('[["[shot.png: image/png, 8 bytes]"]]'),)),
        (ToolResultParts([]), (Text(BLANK),)),
        (ToolResultParts(["", SHOT, " \n"]), (SHOT,)),
        (ToolResultParts(["a", SHOT, Text("b")]), (Text("a"), SHOT, Text("b"))),
        (ToolResultParts("whole"), (Text("whole"),)),
        (ToolResultParts(SHOT), (SHOT,)),
    ],
)
def test_media_stand_among_texts_in_the_order_in_which_they_were_returned(
    value: object, parts: tuple[Part, ...]
) -> None:
    assert parts_of(value) == parts


class Poster(Media):
    """
    A host's own class.
    """


@pytest.mark.parametrize("parts", [[None], [b"a"], 7, [["a"]], [Poster.of(PNG)], Poster.of(PNG)])
def test_parts_of_a_result_are_texts_and_media(parts: Any) -> None:
    with pytest.raises((InvalidValue, TypeError)):
        ToolResultParts(parts)


def test_a_failure_that_tells_nothing_says_that() -> None:
    assert returned_parts(ToolResultParts("", failed=True)) == ToolResultParts(FAILED, failed=True)


def test_media_beyond_the_bound_are_told_in_a_sentence() -> None:
    large, rest = Media.of(bytes(MOST_MEDIA_BYTES - 8), "image/png"), Media.of(b"123456789", "image/png")
    assert parts_of([large, rest, SHOT]) == (
        large,
        Text("[image/png, 9 bytes] was left out: a result may hold 10000000 bytes of media.\n"),
        SHOT,
    )


def test_a_class_that_cannot_be_compared_and_a_text_that_cannot_be_stripped_are_values_like_others() -> None:
    with pytest.raises(Unshowable, match="raised ValueError"):
        returned_parts(Odd())
    assert returned_parts(ToolResultParts([Unstrippable("told")])).parts == (Text("told"),)


@given(st.recursive(words.parts | st.text() | st.binary(), st.lists, max_leaves=8))
def test_any_value_gives_parts_of_which_none_is_blank(value: object) -> None:
    parts = parts_of(value)
    assert parts
    assert all(not isinstance(part, Text) or part.text.strip() for part in parts)
