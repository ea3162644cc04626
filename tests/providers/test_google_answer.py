"""
Gemini is asked for JSON that fulfils a schema in the part of the language that it documents.
"""

from rodada.providers.google_answer import typed_answer
from rodada.statemachine.jsontext import dump_json


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
