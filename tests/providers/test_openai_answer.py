"""
An answer is asked for strictly of OpenAI wherever it can be: by the rules of the server that refuses others.
"""

import json
from typing import Any

import pytest

from rodada.providers.loopback.openai_responses.strict import schema_fault
from rodada.providers.openai_answer import json_schema
from rodada.statemachine.jsontext import JsonValue


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def asked(schema: dict[str, Any]) -> dict[str, Any]:
    return dict[str, Any](json_schema(json.dumps(schema)))


TEXT: dict[str, Any] = {"type": "string"}
STRICT: dict[str, dict[str, Any]] = {
    "nothing": an_object(),
    "an optional property": an_object(a=TEXT),
    "nested": an_object(a={"type": "array", "items": an_object(b=TEXT), "uniqueItems": True}),
    "a choice by a mark": an_object(a={"oneOf": [an_object(b=TEXT), an_object(c=TEXT)], "discriminator": {}}),
    "a pattern of another engine": an_object(a={"type": "string", "pattern": "^(?:a)"}),
    "an unknown format": an_object(a={"type": "string", "format": "path"}),
    "a described reference": {
        **an_object(a={"$ref": "#/$defs/A", "description": "The first."}),
        "$defs": {"A": an_object(b=TEXT)},
    },
    "a type that holds itself": {
        **an_object(a={"$ref": "#/$defs/A"}),
        "$defs": {"A": an_object(a={"type": "array", "items": {"$ref": "#/$defs/A"}, "default": []})},
    },
}
LOOSE: dict[str, dict[str, Any]] = {
    "a mapping in it": an_object(a={"type": "object", "additionalProperties": TEXT}),
    "an open object": {**an_object(a=TEXT), "additionalProperties": True},
    "any value": an_object(a={}),
    "a row of two": an_object(a={"type": "array", "prefixItems": [TEXT, TEXT]}),
}


@pytest.mark.parametrize("schema", STRICT.values(), ids=STRICT)
def test_strict_is_said_of_what_can_be_said_strictly(schema: dict[str, Any]) -> None:
    told = asked(schema)
    assert told["strict"] is True
    given: JsonValue = told["schema"]
    assert schema_fault(json.loads(json.dumps(given)), strict=True) is None


@pytest.mark.parametrize("schema", LOOSE.values(), ids=LOOSE)
def test_another_is_asked_for_as_it_stands(schema: dict[str, Any]) -> None:
    assert asked(schema) == {"name": "answer", "schema": schema, "strict": False}


def test_a_mapping_names_its_properties_of_which_there_are_none() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert asked(schema) == {"name": "answer", "schema": {**schema, "properties": {}}, "strict": False}


@pytest.mark.parametrize(
    ("title", "name"), [("Plan", "Plan"), ("Page[Plan]", "Page_Plan__449cd43477a5"), ("", "answer")]
)
def test_the_name_is_the_types_own_in_a_form_that_the_wires_take(title: str, name: str) -> None:
    assert asked({**an_object(), "title": title})["name"] == name
