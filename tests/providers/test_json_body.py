"""
What of an answer's bytes is read as its body.
"""

import pytest

from rodada.providers.json_body import read_body, told_count, told_output
from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonValue


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>", b"[]", b'"text"', b"\xff{}", b'{"a":NaN}', b'{"a":1e999}', b'{"a":1,"a":2}', b"[" * 99_999],
)
def test_content_that_is_no_object_is_garbled(content: bytes) -> None:
    with pytest.raises(ProviderGarbled):
        read_body("a wire", content)


def test_lone_surrogates_are_mended_so_that_the_turn_can_be_sent_again() -> None:
    assert read_body("a wire", b'{"a":"\\ud800","b":"\\ud83d\\ude00"}') == {"a": "\ufffd", "b": "\U0001f600"}


@pytest.mark.parametrize(
    ("told", "count"),
    [(0, 0), (7, 7), (-1, None), (True, None), (1.5, None), ("7", None), (None, None), (10**400, None)],
)
def test_a_count_of_tokens_that_cannot_be_is_none(told: JsonValue, count: int | None) -> None:
    assert told_count(told) == count


@pytest.mark.parametrize(
    ("told", "read", "total", "output"),
    [
        (20, 100, 120, 20),
        (20, 100, None, 20),
        (20, None, 120, 20),
        (1, 12, 399, 387),  # reasoning beside the output
        (0, 21, 81, 60),
        (None, 3130, 3130, 0),  # what is zero is not told
        (None, 100, None, None),
        (None, 100, 90, None),
        (20, 100, 90, 20),
        (20, 100, "120", 20),
    ],
)
def test_the_output_is_all_that_a_total_has_beyond_the_input(
    told: JsonValue, read: int | None, total: JsonValue, output: int | None
) -> None:
    assert told_output(told, read, total) == output
