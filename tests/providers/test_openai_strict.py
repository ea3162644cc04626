"""
Strict is said to OpenAI only of a schema that fulfils every rule on every level.
"""

from typing import Any

import pytest

from rodada.providers.loopback.openai_responses.strict import schema_fault
from rodada.providers.openai_strict import DEEPEST, MOST_PROPERTIES, may_be_strict
from rodada.statemachine.jsontext import JsonValue, dump_json


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def nested(depth: int) -> dict[str, Any]:
    return closed(a={"type": "integer"}) if depth == 2 else closed(a=nested(depth - 1))


def choices(count: int, length: int) -> list[str]:
    return [f"{at:0{length}}" for at in range(count)]


TEXT: dict[str, Any] = {"type": "string"}

FULFIL: dict[str, dict[str, Any]] = {
    "nothing": closed(),
    "texts": closed(a=TEXT, b={"type": "string", "format": "date", "pattern": "^[0-9-]+$"}),
    "bounds": closed(a={"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
    "choices": closed(a={"enum": ["x", "y"], "type": "string", "title": "T", "description": "d"}),
    "nullable": closed(a={"anyOf": [TEXT, {"type": "null"}]}, b={"type": ["string", "null"]}),
    "nested": closed(a={"type": "array", "items": closed(b=TEXT)}),
    "recursive": {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": closed(a={"$ref": "#/$defs/A"})}},
    "deepest": nested(DEEPEST),
    "the most choices": closed(a={"enum": choices(250, 9)}, b={"enum": choices(250, 90)}, c={"enum": [*range(500)]}),
    "the longest choices": closed(a={"enum": choices(251, 59)}),
}

DO_NOT: dict[str, dict[str, Any]] = {
    "no object": TEXT,
    "a union at the root": {**closed(a=TEXT), "anyOf": [closed(a=TEXT)]},
    "open": {"type": "object", "properties": {}},
    "no required": {"type": "object", "properties": {}, "additionalProperties": False},
    "an optional": {**closed(a=TEXT, b=TEXT), "required": ["a"]},
    "an open object inside": closed(a={"type": "object", "properties": {}, "required": []}),
    "an open definition": {**closed(a={"$ref": "#/$defs/A"}), "$defs": {"A": {"type": "object"}}},
    "an open choice": closed(a={"anyOf": [{"type": "object"}, {"type": "null"}]}),
    "an open item": closed(a={"type": "array", "items": {"type": "object"}}),
    "a nullable open object": closed(a={"type": ["object", "null"]}),
    "any names": closed(a={"type": "object", "additionalProperties": TEXT, "properties": {}, "required": []}),
    "no type": closed(a={}),
    "an object without its type": closed(a={"properties": {}, "required": [], "additionalProperties": False}),
    "no items": closed(a={"type": "array"}),
    "a tuple": closed(a={"type": "array", "items": TEXT, "prefixItems": [TEXT]}),
    "a set": closed(a={"type": "array", "items": TEXT, "uniqueItems": True}),
    "one of": closed(a={"oneOf": [TEXT], "type": "string"}),
    "a default": closed(a={"type": "string", "default": "x"}),
    "a length": closed(a={"type": "string", "maxLength": 3}),
    "a format": closed(a={"type": "string", "format": "binary"}),
    "a look-around": closed(a={"type": "string", "pattern": "^(?!x)"}),
    "a back reference": closed(a={"type": "string", "pattern": r"(.)\1"}),
    "words beside a reference": {
        **closed(a={"$ref": "#/$defs/A", "description": "d"}),
        "$defs": {"A": closed()},
    },
    "a foreign reference": closed(a={"$ref": "https://example.org/a"}),
    "too many choices": closed(a={"enum": choices(500, 9)}, b={"enum": choices(501, 9)}),
    "choices too long": closed(a={"enum": choices(251, 60)}),
    "too much to name": closed(**{"p" * 60_000: {"const": "x" * 60_001}}),
    "too deep": nested(DEEPEST + 1),
    "too many": closed(**{f"p{at}": TEXT for at in range(MOST_PROPERTIES + 1)}),
}


@pytest.mark.parametrize("schema", FULFIL.values(), ids=FULFIL)
def test_f105_a_schema_that_fulfils_the_rules_is_strict_and_the_server_takes_it(schema: JsonValue) -> None:
    assert may_be_strict(dump_json(schema))
    assert schema_fault(schema, strict=True) is None


@pytest.mark.parametrize("schema", DO_NOT.values(), ids=DO_NOT)
def test_f105_a_schema_that_breaks_one_rule_is_not_strict(schema: JsonValue) -> None:
    assert not may_be_strict(dump_json(schema))
