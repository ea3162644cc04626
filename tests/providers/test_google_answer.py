"""
Gemini is asked for JSON that fulfils a schema in the part of the language that it documents.
"""

import pytest

from rodada.providers.google_answer import typed_answer
from rodada.statemachine.jsontext import JsonObject, dump_json


def test_the_type_is_a_setting_of_the_generation() -> None:
    schema = dump_json(
        {
            "type": "object",
            "title": "Plan",
            "properties": {
                "kind": {"type": "string", "const": "week"},
                "days": {"type": "integer", "exclusiveMinimum": 0, "default": 3},
                "goal": {"$ref": "#/$defs/Goal", "description": "The first."},
            },
            "required": ["kind"],
            "$defs": {"Goal": {"type": "object", "properties": {"kg": {"type": "number", "minimum": 1}}}},
        }
    )
    goal = {"type": "object", "properties": {"kg": {"type": "number", "minimum": 1}}, "additionalProperties": False}
    assert typed_answer(schema) == {
        "responseMimeType": "application/json",
        "responseJsonSchema": {
            "$defs": {"Goal": goal},
            "type": "object",
            "title": "Plan",
            "properties": {
                "kind": {"type": "string", "enum": ["week"]},
                "days": {"type": "integer", "default": 3, "description": '{"exclusiveMinimum":0}'},
                "goal": {"anyOf": [{"$ref": "#/$defs/Goal"}], "description": "The first."},
            },
            "required": ["kind"],
            "additionalProperties": False,
        },
    }


@pytest.mark.parametrize("choices", [{"const": True}, {"const": None}, {"enum": ["a", None]}, {"enum": [1, False]}])
def test_choices_that_the_vendor_does_not_know_are_told_in_words(choices: JsonObject) -> None:
    schema = dump_json({"type": "object", "properties": {"a": choices}, "required": ["a"]})
    made = typed_answer(schema)["responseJsonSchema"]
    assert isinstance(made, dict)
    assert made["properties"] == {"a": {"description": dump_json(choices)}}
