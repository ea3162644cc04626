"""
Schemas for Gemini: documented keywords alone, and no type that must hold itself.
"""

from rodada.providers.google_schema import wire_schema
from rodada.statemachine.jsontext import JsonObject


def test_a_schema_is_cut_down_to_what_is_documented() -> None:
    schema: JsonObject = {
        "type": "object",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {
            "pattern": {"type": "string", "pattern": "^a", "minLength": 1, "default": "a"},
            "kind": {"const": "x", "title": "Kind"},
            "flag": {"const": True, "type": "boolean"},
            "node": {"$ref": "#/$defs/Node", "title": "N", "description": "d"},
            "many": {"type": "array", "items": {"type": "integer", "exclusiveMinimum": 0}, "uniqueItems": True},
            "one": {"anyOf": [{"type": "null"}, {"type": "number", "multipleOf": 2}]},
        },
        "$defs": {"Node": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 3}}},
        "additionalProperties": False,
        "required": ["kind"],
    }
    assert wire_schema(schema) == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "default": "a"},
            "kind": {"title": "Kind", "enum": ["x"]},
            "flag": {"type": "boolean"},
            "node": {"$ref": "#/$defs/Node", "description": "d"},
            "many": {"type": "array", "items": {"type": "integer"}},
            "one": {"anyOf": [{"type": "null"}, {"type": "number"}]},
        },
        "$defs": {"Node": {"type": "object", "additionalProperties": {"type": "string"}}},
        "additionalProperties": False,
        "required": ["kind"],
    }


def test_choices_that_are_neither_texts_nor_numbers_are_left_to_our_own_validation() -> None:
    assert wire_schema({"enum": ["x", None]}) == {}
    assert wire_schema({"enum": ["x", 1, 2.5]}) == {"enum": ["x", 1, 2.5]}
    assert wire_schema({"type": "boolean", "enum": [True, False]}) == {"type": "boolean"}


def ring(*required: str) -> JsonObject:
    return {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "required": ["a"],
        "$defs": {
            "A": {
                "type": "object",
                "properties": {"b": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]}, "n": {"$ref": "#/$defs/N"}},
                "required": [*required, "n"],
            },
            "B": {
                "type": "object",
                "properties": {"many": {"type": "array", "items": {"$ref": "#/$defs/A"}}},
                "required": ["many"],
            },
            "N": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        },
    }


def test_a_property_that_leads_back_to_its_own_type_is_not_required() -> None:
    expected = ring()
    definitions = expected["$defs"]
    assert isinstance(definitions, dict)
    assert isinstance(definitions["B"], dict)
    del definitions["B"]["required"]

    assert wire_schema(ring("b")) == wire_schema(ring()) == expected
