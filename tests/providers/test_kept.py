"""
What is made of a value is made once, and is gone with the value.
"""

import gc
from weakref import ref

import pytest
from attrs import frozen

from rodada.providers.kept import Kept, encoded
from rodada.statemachine.errors import ProviderRejected
from rodada.statemachine.jsontext import JsonValue


@frozen
class Source:
    text: str


@frozen(eq=False)
class Made:
    text: str


def test_of_each_value_it_is_made_once_and_given_in_their_order() -> None:
    asked: list[str] = []

    def make(source: Source) -> Made:
        asked.append(source.text)
        return Made(source.text.upper())

    kept = Kept(make)
    a, b, c = map(Source, "abc")
    assert ["A", "B"] == [made.text for made in kept.of((a, b))]
    assert ["C", "A", "B", "A"] == [made.text for made in kept.of((c, a, b, a))]
    assert [] == kept.of(())
    assert ["a", "b", "c"] == asked


def test_equal_values_are_told_apart() -> None:
    """
    To find out that they are equal costs as much as to make it anew.
    """
    kept = Kept[Source, Made](lambda source: Made(source.text))
    one, other = Source("a"), Source("a")
    assert kept.of((one,))[0] is not kept.of((other,))[0]


def test_what_was_made_is_gone_with_its_value_though_others_live() -> None:
    kept = Kept[Source, Made](lambda source: Made(source.text))
    sources = [Source("a"), Source("b")]
    first, second = (ref(made) for made in kept.of(sources))
    assert (True, True) == (first() is not None, second() is not None)
    del sources[0]
    assert (None, "b") == (first(), second().text)  # type: ignore[union-attr]
    assert ["b", "c"] == [made.text for made in kept.of((*sources, Source("c")))]


def test_what_was_made_is_gone_with_who_kept_it_though_its_values_live() -> None:
    source = Source("a")
    kept = Kept[Source, Made](lambda source: Made(source.text))
    made = ref(kept.of((source,))[0])
    del kept
    gc.collect()
    assert made() is None


def test_what_cannot_be_made_is_not_kept() -> None:
    given: list[Made] = []
    kept = Kept[Source, Made](lambda source: given.pop())
    source = Source("a")
    with pytest.raises(IndexError):
        kept.of((source,))
    given.append(Made("later"))
    assert "later" == kept.of((source,))[0].text


def test_objects_are_encoded_as_they_stand_within_an_array() -> None:
    assert '{"a":"é"},{"b":[1,null]}'.encode() == encoded("wire", [{"a": "é"}, {"b": [1, None]}])
    assert b"" == encoded("wire", [])


@pytest.mark.parametrize(
    ("value", "why"), [("\ud800", "UnicodeEncodeError"), (float("nan"), "ValueError"), ("deep", "RecursionError")]
)
def test_what_no_json_can_hold_is_refused_by_name(value: JsonValue, why: str) -> None:
    if value == "deep":
        for _ in range(100_000):
            value = [value]
    with pytest.raises(ProviderRejected, match=f"^wire: the request cannot be sent: {why}$"):
        encoded("wire", [{"a": value}])
