"""
JSON by the strict reading, texts that every wire can encode, digests that know no key order.
"""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import (
    JsonError,
    JsonObject,
    JsonValue,
    canonical_json,
    clean_json,
    clean_text,
    digest_arguments,
    digest_text,
    dump_json,
    parse_json,
    parse_object,
)
from rodada.statemachine.messages import Text, told_text
from support import words

surrogates = st.text(st.characters(categories=["Cs"]) | st.sampled_from("aé😀"), max_size=6)


@given(surrogates | words.words)
def test_a_clean_text_can_be_encoded_and_is_clean_already(text: str) -> None:
    clean = clean_text(text)
    clean.encode("utf-8")
    assert clean_text(clean) == clean


@given(st.text())
def test_a_text_without_lone_surrogates_is_left_as_it_is(text: str) -> None:
    assert clean_text(text) == text


@pytest.mark.parametrize(("text", "clean"), [("a\ud800b", "a\ufffdb"), ("\udc00", "\ufffd"), ("\ud83d\ude00", "😀")])
def test_a_lone_surrogate_is_replaced_and_a_pair_is_one_character(text: str, clean: str) -> None:
    assert clean_text(text) == clean


def test_clean_json_mends_half_characters_escaped_or_not_and_leaves_all_else_as_it_stands() -> None:
    for kept in ('{ "a": "\\ud83d\\ude00" }', '{"a": "\\\\ud83d"}', "{bad \\ud83d", "[1]", ""):
        assert clean_json(kept) == kept
    assert clean_json('{"a": "\ud83d"}') == '{"a": "\ufffd"}'
    assert clean_json('{"a": "\\uD83D", "b":1}') == '{"a":"\ufffd","b":1}'


def test_a_clean_text_is_no_text_of_another_class() -> None:
    class Markup(str):
        def __radd__(self, other: str) -> str:
            return other.upper() + self

        def isascii(self) -> bool:
            raise AssertionError

    assert {type(clean_text(Markup(text))) for text in ("a", "é", "\ud800")} == {str}
    assert told_text([Text("a"), Text(Markup("b"))]) == "ab"


def test_what_is_no_text_is_refused_in_words() -> None:
    with pytest.raises(InvalidValue, match="text: takes a str, got a NoneType"):
        clean_text(None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@given(words.json_values)
def test_what_is_dumped_is_parsed_to_the_same(value: JsonValue) -> None:
    assert parse_json(dump_json(value)) == value
    assert parse_json(canonical_json(value)) == value


@given(words.words)
def test_a_text_is_parsed_to_what_json_says_or_refused_with_a_typed_error(text: str) -> None:
    try:
        value = parse_json(text)
    except JsonError:
        return
    assert value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("NaN", "NaN is no JSON value"),
        ("[Infinity]", "Infinity is no JSON value"),
        ("-Infinity", "-Infinity is no JSON value"),
        ("1e999", "1e999 is too large a number"),
        ('{"a":1,"a":2}', "key 'a' stands twice in one object"),
        ('{"b":{"a":1,"a":1}}', "key 'a' stands twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "Exceeds the limit"),
        ("{'a':1}", "Expecting property name"),
        ("{} {}", "Extra data"),
        ("[1,]", "Expecting value|trailing comma"),
        ("", "Expecting value"),
    ],
)
def test_what_is_no_strict_json_is_refused(text: str, why: str) -> None:
    with pytest.raises(JsonError, match=why):
        parse_json(text)
    assert parse_object(text) is None or not text


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_blank_arguments_are_the_empty_object(text: str) -> None:
    assert parse_object(text) == {}


@pytest.mark.parametrize("text", ["1", "[]", "null", '"{}"', "{", "x"])
def test_what_is_no_object_gives_none(text: str) -> None:
    assert parse_object(text) is None


@given(words.json_objects, st.randoms(use_true_random=False))
def test_a_digest_knows_neither_key_order_nor_blanks(value: JsonObject, chance: random.Random) -> None:
    keys = list(value)
    chance.shuffle(keys)
    shuffled: JsonObject = {key: value[key] for key in keys}
    assert canonical_json(shuffled) == canonical_json(value)
    assert digest_arguments(json.dumps(shuffled, indent=2)) == digest_arguments(dump_json(value))


@given(words.json_objects, words.json_objects)
def test_different_arguments_have_different_digests(one: JsonObject, other: JsonObject) -> None:
    same_text = canonical_json(one) == canonical_json(other)
    assert (digest_arguments(dump_json(one)) == digest_arguments(dump_json(other))) == same_text


def test_arguments_that_are_no_object_are_digested_as_text() -> None:
    assert digest_arguments("{") == digest_text("{")
    assert digest_arguments("[1, 2]") != digest_arguments("[1,2]")
    assert digest_arguments("") == digest_arguments("{}")


def test_a_digest_is_sha_256_in_hex_and_takes_any_text() -> None:
    assert digest_text("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert len(digest_text("\ud800")) == 64


def test_text_is_kept_as_it_is_and_not_escaped() -> None:
    assert dump_json({"b": "é", "a": [1, 2]}) == '{"b":"é","a":[1,2]}'
    assert canonical_json({"b": "é", "a": [1, 2]}) == '{"a":[1,2],"b":"é"}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_json(float("nan"))


@pytest.mark.parametrize(("depth", "taken"), [(100, True), (101, False), (5000, False)])
def test_an_object_nested_deeper_than_every_wire_takes_is_none(depth: int, taken: bool) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    assert taken == (parse_object(nested) is not None)


def test_brackets_in_texts_are_no_nesting() -> None:
    value: JsonObject = {"a": '[{"' * 500}
    assert value == parse_object(json.dumps(value))
