"""
What the Messages API is asked for is what its own rules take, and what they do not take is told in words.
"""

import json
from typing import Any

import pytest

from rodada.providers.anthropic_answer import MOST_OPTIONAL, MOST_UNIONS, may_be_asked, output_format
from rodada.statemachine.jsontext import JsonObject


def asked(**schema: Any) -> JsonObject:
    """
    What is asked for in the place of one property.
    """
    given = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    told: dict[str, Any] = json.loads(json.dumps(output_format(json.dumps(given))))
    assert (told["type"], told["schema"]["additionalProperties"], told["schema"]["required"]) == (
        "json_schema",
        False,
        ["a"],
    )
    found: JsonObject = told["schema"]["properties"]["a"]
    return found


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 0},
        {"type": "string", "format": "date"},
        {"type": "string", "enum": ["x", "y"]},
        {"const": 3},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
    ],
)
def test_what_the_vendor_holds_models_to_is_asked_for(schema: dict[str, Any]) -> None:
    assert asked(**schema) == schema


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, '{"minimum":1,"maximum":9}'),
        ({"type": "array", "minItems": 2}, '{"minItems":2}'),
        ({"type": "string", "format": "path"}, '{"format":"path"}'),
        ({"type": "array", "enum": [["x"]]}, '{"enum":[["x"]]}'),
        ({"type": "object", "const": {}}, '{"const":{}}'),
        ({"type": "string", "default": "x"}, '{"default":"x"}'),
    ],
)
def test_what_it_does_not_is_told_in_words(schema: dict[str, Any], told: str) -> None:
    assert asked(**schema) == {"type": schema["type"], "description": told}


def test_an_optional_property_stays_optional() -> None:
    schema = '{"type":"object","properties":{"a":{"type":"string"}}}'
    assert "required" not in dict[str, Any](output_format(schema))["schema"]


HELD = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"anyOf": [{"const": 1}, {"enum": ["x"]}]}}}


@pytest.mark.parametrize(
    ("definitions", "may"),
    [
        ({"A": {"type": "string"}}, True),
        ({"A": {"type": "object", "properties": {}}}, True),
        ({"A": {"type": "array", "items": {"$ref": "#/$defs/B"}}, "B": {"type": "number"}}, True),
        ({"A": {"type": "object"}}, False),
        ({"A": {"type": "object", "additionalProperties": {"type": "integer"}}}, False),
        ({"A": {"type": "array", "items": {}}}, False),
        ({"A": {"description": "anything"}}, False),
        ({"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}}, False),
        ({"A": {"anyOf": [{"$ref": "#/$defs/B"}]}, "B": {"type": "array", "items": {"$ref": "#/$defs/A"}}}, False),
    ],
)
def test_open_objects_what_may_be_anything_and_what_holds_itself_cannot_be_asked_for(
    definitions: dict[str, Any], may: bool
) -> None:
    assert may_be_asked(json.dumps({**HELD, "$defs": definitions})) is may


def properties(count: int, schema: JsonObject) -> JsonObject:
    return {f"p{at}": schema for at in range(count)}


@pytest.mark.parametrize(
    ("optional", "unions", "may"), [(MOST_OPTIONAL, MOST_UNIONS, True), (25, 16, False), (24, 17, False)]
)
def test_more_optional_properties_or_unions_than_the_vendor_compiles_cannot_be_asked_for(
    optional: int, unions: int, may: bool
) -> None:
    inner: JsonObject = {"type": "object", "properties": properties(optional, {"type": "integer"})}
    either = properties(unions, {"anyOf": [{"type": "integer"}, {"type": "null"}]})
    schema = {"type": "object", "properties": {**either, "inner": inner}, "required": [*either, "inner"]}
    assert may_be_asked(json.dumps(schema)) is may
