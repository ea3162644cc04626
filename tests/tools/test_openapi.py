"""
Gemini's own schema notation as JSON Schema.
"""

from rodada.tools.openapi import json_schema


def test_types_nullability_and_counts_become_those_of_json_schema() -> None:
    assert json_schema(
        {
            "type": "OBJECT",
            "properties": {
                "nullable": {"type": "STRING", "nullable": True},
                "any_of": {"any_of": [{"type": "NUMBER"}, {"type": "STRING"}], "nullable": True},
                "kind": {"type": "STRING", "enum": ["A", "B"], "nullable": True},
                "many": {
                    "type": "ARRAY",
                    "items": {"type": "INTEGER", "nullable": False},
                    "min_items": "1",
                    "maxItems": 2,
                },
            },
            "property_ordering": ["kind"],
        }
    ) == {
        "type": "object",
        "properties": {
            "nullable": {"type": ["string", "null"]},
            "any_of": {"anyOf": [{"anyOf": [{"type": "number"}, {"type": "string"}]}, {"type": "null"}]},
            "kind": {"type": ["string", "null"], "enum": ["A", "B", None]},
            "many": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        },
        "propertyOrdering": ["kind"],
    }


def test_json_schema_stays_as_it_is() -> None:
    schema = {"type": ["object"], "properties": {"a": {"type": "string", "description": "ANY"}}, "minProperties": 1}
    assert json_schema(schema) == schema  # type: ignore[arg-type]
    assert json_schema(None) is None
