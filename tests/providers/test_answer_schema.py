"""
The schema of an answer in a vendor's part of the language: closed where it may be, and told in words where it is not
known.
"""

import copy
from typing import Any

import pytest

from rodada.providers.answer_schema import AnswerDialect, answer_schema, are_plain
from rodada.statemachine.jsontext import JsonObject, JsonValue

KNOWN = ("type", "anyOf", "$ref", "$defs", "title", "description", "properties", "required", "additionalProperties")
FEW = AnswerDialect(lambda key, _: key in (*KNOWN, "items"))
ALL = AnswerDialect(FEW.takes, all_required=True)
TEXT: dict[str, Any] = {"type": "string"}


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def closed(**properties: Any) -> dict[str, Any]:
    return {**an_object(**properties), "additionalProperties": False}


SAME: dict[str, dict[str, Any]] = {
    "a closed object": closed(a=TEXT),
    "one that says that it is open": {**an_object(a=TEXT), "additionalProperties": True},
    "a mapping": {"type": "object", "additionalProperties": TEXT},
    "any object": {"type": "object"},
    "a reference": {"$ref": "#/$defs/A"},
}
MADE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "objects are closed on every level": (
        {**an_object(a={"type": "array", "items": an_object(b=an_object())}), "$defs": {"A": an_object()}},
        {**closed(a={"type": "array", "items": closed(b=closed())}), "$defs": {"A": closed()}},
    ),
    "what a mapping holds is closed, and the mapping is not": (
        {"type": "object", "additionalProperties": an_object(a=TEXT)},
        {"type": "object", "additionalProperties": closed(a=TEXT)},
    ),
    "what is not known is told in words": (
        {"type": "string", "minLength": 2, "pattern": "^a"},
        {"type": "string", "description": '{"minLength":2,"pattern":"^a"}'},
    ),
    "behind the words that are there": (
        {"type": "integer", "description": "Days.", "minimum": 1, "default": None},
        {"type": "integer", "description": 'Days.\n\n{"minimum":1,"default":null}'},
    ),
    "a choice by a mark is a choice": (
        {"oneOf": [an_object(a=TEXT), TEXT], "discriminator": {"propertyName": "a"}},
        {"anyOf": [closed(a=TEXT), TEXT]},
    ),
    "of two choices one is told": (
        {"oneOf": [TEXT], "anyOf": [TEXT]},
        {"anyOf": [TEXT], "description": '{"oneOf":[{"type":"string"}]}'},
    ),
    "nothing stands beside a reference": (
        {"$ref": "#/$defs/A", "description": "The first.", "default": 1},
        {"anyOf": [{"$ref": "#/$defs/A"}], "description": 'The first.\n\n{"default":1}'},
    ),
    "properties may have any name": (
        an_object(properties=TEXT, default=TEXT, oneOf=TEXT),
        closed(properties=TEXT, default=TEXT, oneOf=TEXT),
    ),
}


@pytest.mark.parametrize("schema", SAME.values(), ids=SAME)
def test_what_says_all_that_it_must_stays_as_it_is(schema: dict[str, Any]) -> None:
    assert answer_schema(schema, FEW) == schema


@pytest.mark.parametrize(("schema", "made"), MADE.values(), ids=MADE)
def test_a_schema_is_said_in_what_the_vendor_knows(schema: dict[str, Any], made: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    assert answer_schema(schema, FEW) == made
    assert schema == before


def test_where_all_must_be_required_all_is_on_every_level() -> None:
    schema: JsonObject = {**an_object(a=TEXT, b=an_object(c={"type": "integer", "default": 3})), "required": ["a"]}
    inner = {**closed(c={"type": "integer", "description": '{"default":3}'}), "required": ["c"]}
    assert answer_schema(schema, ALL) == {**closed(a=TEXT, b=inner), "required": ["a", "b"]}


PLAIN: list[tuple[JsonValue, bool]] = [
    (["a", 1, None], True),
    ("a", True),
    ([["a"]], False),
    ([{}], False),
    ({}, False),
]


@pytest.mark.parametrize(("choices", "plain"), PLAIN)
def test_choices_are_plain_where_none_holds_others(choices: JsonValue, plain: bool) -> None:
    assert are_plain(choices) is plain
