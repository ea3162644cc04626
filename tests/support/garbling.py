"""
Replies that are garbled on their way: their bytes and their values changed, lost, doubled or in another order.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, TypeAlias, cast

from attrs import frozen
from hypothesis import strategies as st

from rodada.providers.loopback.json_values import Json

Pieces: TypeAlias = tuple[bytes, ...]
Path: TypeAlias = tuple[str | int, ...]
Kind: TypeAlias = Literal["put", "remove", "flip", "cut", "drop", "double", "swap", "insert"]

# JSON texts where another value should stand; some are no JSON at all.
COMMON = ("null", "true", "-1", '""', '"x"', "[]", "{}", '[{"type": "text", "text": "x"}]')
ODD = (
    *COMMON,
    *("false", "0", "7", "1.5", "1e308", "1e999", "NaN", "-Infinity", "9" * 5000),
    *('" \\n"', '"\\ud83d"', '"\\u0000"', '"\\u2028"', '"' + "z" * 300 + '"', '"{}"', '"[1"', '"{\\"n\\": 1}"'),
    *("[[]]", "[null]", '{"a": 1}', '{"a": 1, "a": 2}'),
    *("[" * 300 + "]" * 300, '{"a":' * 300 + "1" + "}" * 300, "{", "]", ""),
    *('"tool_use"', '"function_call"', '"thinking"', '"error"', '"STOP"', '"tool_calls"', '"completed"', '"end_turn"'),
)
INSERTED = (
    *(b"data: [DONE]\n\n", b"data: null\n\n", b"data: []\n\n", b'data: ""\n\n', b"data: 7\n\n", b"data:\n\n"),
    *(b"data: {}\n\n", b'data: {"error": {"message": 5}}\n\n', b'data: {"type": "error"}\n\n', b"\xff\xfe\n\n"),
    *(b"event: error\ndata: {\n\n", b"\n\n\n", b"\r\r", b"<html>", b"data: " + b"[" * 100_000 + b"\n\n", b"\x00"),
)
HOLE = "@@a hole@@"


@frozen
class Garble:
    """
    One change; `a` and `b` choose where, `odd` what.
    """

    kind: Kind
    a: int = 0
    b: int = 0
    odd: int = 0

    def __call__(self, pieces: Pieces) -> Pieces:
        """
        The pieces with the change.
        """
        at, further = self.a % len(pieces), self.b % len(pieces)
        match self.kind:
            case "put" | "remove":
                changed = _put(pieces[at], self.b, ODD[self.odd % len(ODD)] if self.kind == "put" else None)
                return (*pieces[:at], changed, *pieces[at + 1 :])
            case "flip":
                return (*pieces[:at], _flipped(pieces[at], self.b, 1 << self.odd % 8), *pieces[at + 1 :])
            case "cut":
                return (*pieces[:at], pieces[at][: self.b % (len(pieces[at]) + 1)])
            case "drop":
                return (*pieces[:at], *pieces[at + 1 :]) or (b"",)
            case "double":
                return (*pieces[: further + 1], pieces[at], *pieces[further + 1 :])
            case "swap":
                swapped = list(pieces)
                swapped[at], swapped[further] = swapped[further], swapped[at]
                return tuple(swapped)
            case "insert":
                return (*pieces[:at], INSERTED[self.odd % len(INSERTED)], *pieces[at:])


def every_put(pieces: Pieces, odd: range) -> Iterator[Garble]:
    """
    Every value of the pieces replaced by each of some odd texts.
    """
    for at, piece in enumerate(pieces):
        places = range(len(list(_paths(_value_in(piece)))))
        yield from (Garble("put", at, place, which) for place in places for which in odd)


numbers = st.integers(0, 10_000)
OFTEN: tuple[Kind, ...] = ("put",) * 6  # there are far more ways to do it
KINDS: tuple[Kind, ...] = (*OFTEN, "remove", "flip", "cut", "drop", "double", "swap", "insert")
garbles = st.lists(st.builds(Garble, st.sampled_from(KINDS), numbers, numbers, numbers), min_size=1, max_size=3)


def garbled(pieces: Pieces, changes: list[Garble]) -> Pieces:
    """
    The pieces with all changes, one after the other.
    """
    for change in changes:
        pieces = change(pieces)
    return pieces


def in_chunks(pieces: Pieces, cut_at: list[int]) -> list[bytes]:
    """
    The same bytes as they may come.
    """
    sent = b"".join(pieces)
    places = sorted({0, len(sent), *(cut % (len(sent) + 1) for cut in cut_at)})
    return [sent[start:end] for start, end in pairwise(places)]


def _flipped(piece: bytes, at: int, bit: int) -> bytes:
    where = at % len(piece) if piece else 0
    return piece[:where] + bytes([piece[where] ^ bit]) + piece[where + 1 :] if piece else piece


def _put(piece: bytes, at: int, odd: str | None) -> bytes:
    """
    The piece with another text in the place of one of its values; None takes the value out.
    """
    value = _value_in(piece)
    paths = list(_paths(value))
    if not paths:
        return piece
    changed = json.dumps(_with_hole(value, paths[at % len(paths)], odd is not None))
    head, _, rest = piece.partition(b"{")
    behind = rest[len(rest.rstrip()) :]
    return head + changed.replace(json.dumps(HOLE), odd or "").encode() + behind


def _value_in(piece: bytes) -> Json:
    """
    The value of an event, or of a body; None where there is none.
    """
    _, found, rest = piece.partition(b"{")
    try:
        return cast(Json, json.loads(found + rest))
    except ValueError:
        return None


def _inner(value: Json) -> list[tuple[str | int, Json]]:
    if isinstance(value, dict):
        return [*value.items()]
    return [*enumerate(value)] if isinstance(value, list) else []


def _paths(value: Json, before: Path = ()) -> Iterator[Path]:
    for key, each in _inner(value):
        yield (*before, key)
        yield from _paths(each, (*before, key))


def _with_hole(value: Json, path: Path, stays: bool) -> Json:
    """
    The value with a hole at a place, or without what is there.
    """
    key, rest = path[0], path[1:]
    kept = [each for each in _inner(value) if stays or rest or each[0] != key]
    made = [(at, each if at != key else _with_hole(each, rest, stays) if rest else HOLE) for at, each in kept]
    return [each for _, each in made] if isinstance(value, list) else {str(at): each for at, each in made}
