"""
Values as text: any value has a text, or a reason why it has none; nothing else leaves the function.
"""

import asyncio
import collections
import dataclasses
import enum
import io
import pathlib
import threading
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel, SecretStr

from rodada.tools import ToolError
from rodada.tools.value_text import BLANK, NOTHING, Unshowable, result_text
from support.hostile_values import Odd, Unstrippable


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Set:
    reps: int
    kg: Decimal


@attrs.frozen
class Goal:
    name: str
    sets: tuple[Set, ...]


class Account(BaseModel):
    owner: str
    pin: SecretStr
    tags: set[str]


class Level(enum.IntEnum):
    HIGH = 3


class Mood(enum.Enum):
    GOOD = "good"


class Plain:
    pass


class Spoken:
    def __str__(self) -> str:
        return "spoken"


class Named(str):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ('{"a": 1}', '{"a": 1}'),
        (Named("named"), "named"),
        (None, NOTHING),
        ("", BLANK),
        (" \n", BLANK),
        (b"", BLANK),
        (True, "true"),
        (3, "3"),
        (3.5, "3.5"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        ([1, float("inf"), None], '[1,"Infinity",null]'),
        (Decimal("1.10"), "1.10"),
        (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00Z"),
        (date(2026, 1, 2), "2026-01-02"),
        (time(3, 4), "03:04:00"),
        (timedelta(hours=1, seconds=1), "PT1H1S"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (b"caf\xc3\xa9", "café"),
        (b"\xff\x00", "base64:/wA="),
        (bytearray(b"a"), "a"),
        (memoryview(b"a"), "a"),
        (Level.HIGH, "3"),
        (Mood.GOOD, "good"),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        ({"b", 1, None}, '["b",1,null]'),
        ((1, "a"), '[1,"a"]'),
        (range(3), "[0,1,2]"),
        (collections.deque([1]), "[1]"),
        ({"k": 1}.values(), "[1]"),
        ({"k": 1}.keys(), '["k"]'),
        ({"k": 1}.items(), '[["k",1]]'),
        ({"é": {"a": 1}}, '{"é":{"a":1}}'),
        ({1: "a", None: "b", False: "c", (1, 2): "d"}, '{"1":"a","null":"b","false":"c","[1,2]":"d"}'),
        ({Mood.GOOD: 1, date(2026, 1, 2): 2}, '{"good":1,"2026-01-02":2}'),
        (Point(1, 2), '{"x":1,"y":2}'),
        (Goal("squat", (Set(5, Decimal("100.5")),)), '{"name":"squat","sets":[{"reps":5,"kg":"100.5"}]}'),
        (
            [Account(owner="ana", pin=SecretStr("1234"), tags={"b", "a"})],
            '[{"owner":"ana","pin":"**********","tags":["a","b"]}]',
        ),
        (RootModel[list[int]]([1, 2]), "[1,2]"),
        (RootModel[str]("a"), "a"),
        (Plain(), "<Plain>"),
        (Spoken(), "spoken"),
        ([Plain(), Spoken()], '["<Plain>","spoken"]'),
        ([ValueError("postgres://u:pw@host")], '["ValueError"]'),
        (Goal, str(Goal)),
        (2 + 3j, "(2+3j)"),
    ],
)
def test_each_kind_of_value_has_its_form(value: object, text: str) -> None:
    assert result_text(value) == text


def test_f038_odd_values_also_as_keys_have_a_form() -> None:
    value = {datetime(2026, 1, 2, 3, 4, 5): Decimal("1.10"), "b": {2, 1}, "o": object(), b"k": b"\xff"}
    assert result_text(value) == '{"2026-01-02T03:04:05":"1.10","b":[1,2],"o":"<object>","k":"base64:/w=="}'


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("postgres://u:pw@host")


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("postgres://u:pw@host")


class Stopping:
    def __str__(self) -> str:
        raise asyncio.CancelledError


class BrokenMap(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class Endless(collections.UserList[Any]):
    def __iter__(self) -> Iterator[Any]:
        while True:
            yield "x" * 100_000


def holding_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def doubling() -> list[Any]:
    value: list[Any] = ["x"]
    for _ in range(60):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Broken(), "turning it into text raised RuntimeError"),
        ({"a": [Broken()]}, "turning it into text raised RuntimeError"),
        (Unspeakable(), "turning it into text raised RuntimeError"),
        (Stopping(), "turning it into text raised CancelledError"),
        (BrokenMap(), "turning it into text raised KeyError"),
        ([10**5000], "turning it into text raised ValueError"),
        (holding_itself(), "it is nested too deeply, or holds itself"),
        (Endless(), "its text would have more than 20000000 characters"),
        ({"1": "a", 1: "b"}, "two of its keys are shown alike, as '1'"),
        ((n for n in range(3)), "it is a generator, which is not read yet: return a list, or a text"),
        (map(str, [1]), "it is a map, which is not read yet: return a list, or a text"),
        ([iter([1])], "it is a list_iterator, which is not read yet: return a list, or a text"),
        (io.StringIO("x"), "it is a StringIO, which is not read yet: return a list, or a text"),
    ],
)
def test_f038_what_has_no_text_form_gives_a_reason(value: object, reason: str) -> None:
    with pytest.raises(Unshowable) as caught:
        result_text(value)
    assert str(caught.value) == reason


class Shelf:
    def __repr__(self) -> str:
        return f"Shelf({Plain()!r})"

    def take(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (holding_itself, "<function holding_itself>"),
        (len, "<built-in function len>"),
        (threading.Lock(), "<unlocked _thread.lock object>"),
        (Shelf(), f"Shelf(<{__name__}.Plain object>)"),
        ([Shelf().take], f'["<bound method Shelf.take of Shelf(<{__name__}.Plain object>)>"]'),
        ("read at 0x7f00", "read at 0x7f00"),
    ],
)
def test_f038_no_text_holds_an_address_which_would_be_another_one_in_a_replay(value: object, text: str) -> None:
    assert result_text(value) == text


def test_a_class_that_cannot_be_compared_and_a_text_that_cannot_be_stripped_are_values_like_others() -> None:
    class Shown:
        def __str__(self) -> str:
            return Unstrippable("shown")

    with pytest.raises(Unshowable, match="raised ValueError"):
        result_text(Odd())
    assert result_text(Shown()) == "shown"


def test_a_small_value_that_shows_as_a_huge_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rodada.tools.value_text.LARGEST", 100_000)
    with pytest.raises(Unshowable, match="its text would have more than 100000 characters"):
        result_text(doubling())


def test_a_coroutine_is_closed_and_refused() -> None:
    async def later() -> int:
        return 1

    with pytest.raises(Unshowable, match="it is a coroutine that nobody awaited"):
        result_text({"a": later()})


def test_keyboard_interrupt_is_nobodys_result() -> None:
    class Interrupted:
        def __str__(self) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        result_text(Interrupted())


def test_f039_lone_surrogates_are_replaced_wherever_they_stand() -> None:
    assert result_text("a\udc97b") == "a\ufffdb"
    assert result_text({"\ud835": ["\udc97"]}) == '{"\ufffd":["\ufffd"]}'


def _iterator(values: list[int]) -> Any:
    return iter(values)


ANY: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.binary()
    | st.decimals()
    | st.datetimes()
    | st.timedeltas()
    | st.complex_numbers()
    | st.sampled_from([Broken(), Plain(), Stopping(), ToolError("x"), Mood.GOOD, Point(1, 2), int, BrokenMap()])
    | st.just([1]).map(_iterator),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.one_of(st.none(), st.integers(), st.text(), st.dates(), st.floats()), inner, max_size=3)
        | st.builds(Set, inner, inner)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(ANY)
def test_any_value_gives_a_text_that_every_wire_can_send_or_a_reason(value: object) -> None:
    try:
        text = result_text(value)
    except Unshowable as error:
        text = str(error)
    assert text.strip()
    assert text.encode("utf-8").decode("utf-8") == text
