"""
What each vendor is told of every kind of signature that people write. Validation is always ours, whatever it is.
"""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from rodada.providers import openai_chat_input
from rodada.providers.anthropic_wire import tool_of
from rodada.providers.google_wire import frame
from rodada.providers.loopback import Call, Turn, WireName
from rodada.providers.openai_responses_input import request_fields
from rodada.statemachine import Conversation, RunStatus, ToolLoop, UserMessage
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.messages import Text
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from rodada.tools import adopt, tool
from support.signatures import ROWS
from support.stage import WIRES, set_stage

# Strict to OpenAI: everything is required and closed, on every level, and says nothing that strict does not know.
STRICT = {
    "plain",
    "optional",
    "enums",
    "union",
    "closed",
    "times",
    "annotated",
    "patterned",
    "partly",
    "method",
    "of_class",
    "in_async",
    "mixed",
    "named_like_pydantic",
    "callable",
}

EMPTY = {"nothing", "of_lambda"}

# What Gemini is told where it is not our own schema.
GEMINI: Mapping[str, Mapping[str, Any]] = {
    "literal": {
        "properties": {
            "a": {"enum": ["x", "y"], "type": "string"},
            "b": {"default": 3, "type": "integer", "enum": [3]},
        },
        "required": ["a"],
    },
    "tagged": {
        "$defs": {
            "Cat": {
                "properties": {"kind": {"type": "string", "enum": ["cat"]}},
                "required": ["kind"],
                "title": "Cat",
                "type": "object",
            },
            "Dog": {
                "properties": {"kind": {"type": "string", "enum": ["dog"]}, "age": {"type": "integer"}},
                "required": ["kind", "age"],
                "title": "Dog",
                "type": "object",
            },
        },
        "properties": {"a": {"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]}},
        "required": ["a"],
    },
    "recursive_required": {
        "$defs": {
            "Chain": {
                "properties": {"links": {"items": {"$ref": "#/$defs/Chain"}, "type": "array"}},
                "title": "Chain",
                "type": "object",
            }
        },
        "properties": {"a": {"anyOf": [{"$ref": "#/$defs/Chain"}, {"type": "null"}]}},
        "required": ["a"],
    },
    "collections": {
        "properties": {
            "a": {"items": {"type": "integer"}, "type": "array"},
            "b": {"items": {"type": "string"}, "type": "array"},
            "c": {
                "maxItems": 2,
                "minItems": 2,
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "type": "array",
            },
            "d": {"additionalProperties": {"type": "number"}, "type": "object"},
            "e": {"items": {"type": "integer"}, "type": "array"},
        },
        "required": ["a", "b", "c", "d", "e"],
    },
    "constrained": {
        "properties": {"a": {"maximum": 9, "minimum": 1, "type": "integer"}, "b": {"type": "string"}},
        "required": ["a", "b"],
    },
    "patterned": {"properties": {"a": {"type": "string"}}, "required": ["a"]},
    "mixed": {
        "$defs": {"Mixed": {"title": "Mixed"}},
        "properties": {"a": {"$ref": "#/$defs/Mixed"}, "b": {"enum": ["s", 2]}, "c": {"type": "integer"}},
        "required": ["a", "b", "c"],
    },
    "keyed": {
        "$defs": {"Size": {"enum": ["s", "l"], "title": "Size", "type": "string"}},
        "properties": {
            "a": {"additionalProperties": {"type": "string"}, "type": "object"},
            "b": {"additionalProperties": {"type": "integer"}, "type": "object"},
        },
        "required": ["a", "b"],
    },
}


def declared(name: str) -> ToolDeclaration:
    return tool(name=name)(ROWS[name].function).declaration


def asking(name: str) -> ModelRequest:
    conversation = Conversation("c", (UserMessage("u", (Text("hi"),)),))
    return ModelRequest(conversation=conversation, tools=(declared(name),))


def only(value: JsonValue) -> JsonObject:
    assert isinstance(value, list)
    (found,) = value
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", ROWS)
def test_anthropic_is_told_the_schema_as_it_is(name: str) -> None:
    assert tool_of(declared(name)) == {
        "name": name,
        "description": declared(name).description,
        "input_schema": declared(name).schema_object,
    }


@pytest.mark.parametrize("name", ROWS)
def test_f105_openai_is_told_the_schema_as_it_is_and_whether_it_is_strict(name: str) -> None:
    sent = only(request_fields(asking(name))["tools"])

    assert (sent["parameters"], sent["strict"]) == (declared(name).schema_object, name in STRICT)


@pytest.mark.parametrize("name", ROWS)
def test_both_wires_of_openai_are_told_the_same(name: str) -> None:
    function = only(openai_chat_input.request_fields(asking(name))["tools"])["function"]
    assert only(request_fields(asking(name))["tools"]) == {"type": "function", **cast("JsonObject", function)}


@pytest.mark.parametrize("name", ROWS)
def test_gemini_is_told_what_it_documents(name: str) -> None:
    sent = only(only(frame(asking(name))["tools"])["functionDeclarations"])
    ours = declared(name).schema_object
    expected = {"type": "object", "additionalProperties": False, **GEMINI[name]} if name in GEMINI else ours

    assert sent == ({"name": name} if name in EMPTY else {"name": name, "parametersJsonSchema": expected})


def test_f109_a_tool_without_parameters_has_the_form_that_each_vendor_takes() -> None:
    empty: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}

    assert tool_of(declared("nothing"))["input_schema"] == empty
    assert only(request_fields(asking("nothing"))["tools"])["parameters"] == empty
    assert only(frame(asking("nothing"))["tools"]) == {"functionDeclarations": [{"name": "nothing"}]}


@pytest.mark.parametrize("wire", WIRES)
def test_f109_a_declaration_of_a_host_that_names_no_properties_is_taken_by_every_vendor(wire: WireName) -> None:
    tools = adopt([{"name": "now", "input_schema": {"type": "object"}}], {"now": lambda: "noon"})

    with set_stage() as stage:
        stage.server.play([Turn(calls=[Call("now")]), Turn("done")])
        outcome = stage.run(ToolLoop(stage.provider(wire), tools=tools).run("What time is it?"))
        assert stage.server.refusals == ()

    assert [(each.status.value, each.text) for each in outcome.calls] == [("succeeded", "noon")]


@pytest.mark.parametrize("wire", WIRES)
def test_every_signature_is_taken_by_the_server_and_called_through_the_real_sdk(wire: WireName) -> None:
    tools = [tool(name=name)(row.function) for name, row in ROWS.items()]
    calls = [Call(name, dict(row.sent)) for name, row in ROWS.items()]

    with set_stage() as stage:
        stage.server.play([Turn(calls=calls), Turn("done")])
        outcome = stage.run(ToolLoop(stage.provider(wire), tools=tools).run("all of them"))
        assert stage.server.refusals == ()

    assert outcome.status is RunStatus.COMPLETED
    assert [(each.name, each.status.value) for each in outcome.calls] == [(name, "succeeded") for name in ROWS]
