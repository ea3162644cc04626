"""
The format of an answer on each wire: what the server takes, and what it refuses as the vendors do.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import pytest

from rodada.providers.loopback import Deviation, Loopback, Turn, WireName
from support.loopback_client import HEADERS, Client, Json, client

CLOSED: Json = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
FUNCTION: Json = {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}}
PATHS: Mapping[WireName, str] = {
    "anthropic": "/v1/messages",
    "openai": "/v1/responses",
    "openai_chat": "/v1/chat/completions",
    "google": "/v1beta/models/gemini-3.6-flash:generateContent",
}


OLD: tuple[Deviation, ...] = ("json_schema_unknown",)


@contextmanager
def serving(wire: WireName, path: str = "") -> Generator[Client]:
    server = Loopback(lambda _: Turn("{}"), chat_deviations={"old": OLD})
    with server, client(server, path or PATHS[wire], HEADERS[wire]) as one:
        yield one


def with_property(**schema: object) -> Json:
    return {**CLOSED, "properties": {"a": schema}}


def properties(count: int, **schema: object) -> Json:
    return {**CLOSED, "properties": {f"p{at}": schema for at in range(count)}, "required": []}


CITING = {"type": "web_fetch_20260318", "name": "web_fetch", "citations": {"enabled": True}}


def anthropic(format: object) -> Json:
    messages = [{"role": "user", "content": "How much?"}]
    return {"model": "claude-opus-5-5", "max_tokens": 100, "messages": messages, "output_config": {"format": format}}


def openai(format: object) -> Json:
    return {"model": "gpt-5.6", "input": "How much?", "text": {"format": format}}


def openai_chat(format: object, model: str = "gpt-4.1") -> Json:
    return {"model": model, "messages": [{"role": "user", "content": "How much?"}], "response_format": format}


def google(tools: bool = False, **config: object) -> Json:
    declared: Json = {"tools": [{"functionDeclarations": [{"name": "add", "description": "Adds."}]}]} if tools else {}
    contents = [{"role": "user", "parts": [{"text": "How much?"}]}]
    return {"contents": contents, "generationConfig": config, **declared}


def of_schema(schema: object, **more: object) -> Json:
    return {"type": "json_schema", "schema": schema, **more}


def named(schema: object, **more: object) -> Json:
    return of_schema(schema, name="Plan", strict=True, **more)


def nested(schema: object, **more: object) -> Json:
    return {"type": "json_schema", "json_schema": {"name": "Plan", "strict": True, "schema": schema, **more}}


TAKEN: list[tuple[WireName, Json]] = [
    ("anthropic", anthropic(None)),
    ("anthropic", anthropic(of_schema(CLOSED))),
    ("anthropic", anthropic(of_schema(with_property(type="array", items={"type": "string"}, minItems=1)))),
    ("anthropic", anthropic(of_schema({**with_property(**{"$ref": "#/$defs/A"}), "$defs": {"A": {"enum": ["x"]}}}))),
    ("openai", openai(None)),
    ("openai", openai({"type": "text"})),
    ("openai", openai({"type": "json_object"})),
    ("openai", openai(named(CLOSED, description="A plan."))),
    ("openai", openai(of_schema({"type": "object", "properties": {}}, name="Plan", strict=False))),
    ("openai_chat", openai_chat(None)),
    ("openai_chat", openai_chat({"type": "json_object"})),
    ("openai_chat", openai_chat({"type": "json_object"}, model="old")),
    ("openai_chat", openai_chat(nested(CLOSED))),
    ("google", google(responseMimeType="application/json")),
    ("google", google(tools=True, responseMimeType="application/json", responseJsonSchema=CLOSED)),
]

OTHER_TYPES = "Supported values are: 'json_object', 'json_schema', 'text'."
UNCLOSED = "In context=(), 'additionalProperties' is required to be supplied and to be false."
CIRCLE = {**with_property(**{"$ref": "#/$defs/A"}), "$defs": {"A": with_property(**{"$ref": "#/$defs/A"})}}
REFUSED: list[tuple[WireName, Json, str]] = [
    ("anthropic", anthropic("json"), "output_config.format: Input should be a valid dictionary"),
    ("anthropic", anthropic({**of_schema(CLOSED), "name": "Plan"}), "output_config.format.name: Extra inputs"),
    ("anthropic", anthropic({"type": "json", "schema": CLOSED}), "type: Input should be 'json_schema'"),
    ("anthropic", anthropic({"type": "json_schema"}), "output_config.format.schema: Field required"),
    ("anthropic", anthropic(of_schema({"type": "object"})), "must be explicitly set to false"),
    (
        "anthropic",
        anthropic(of_schema(with_property(type="integer", minimum=1))),
        "property 'minimum' is not supported",
    ),
    ("anthropic", anthropic(of_schema(with_property(type="array", minItems=2))), "values other than 0 or 1"),
    ("anthropic", anthropic(of_schema(with_property(type="string", format="path"))), "format 'path' is not supported"),
    ("anthropic", anthropic(of_schema(with_property(description="any"))), "Schema type is missing"),
    (
        "anthropic",
        anthropic(of_schema(with_property(**{"$ref": "#/$defs/A", "description": "x"}))),
        "A schema with $ref must have no other keys",
    ),
    ("anthropic", anthropic(of_schema(CIRCLE)), "Circular reference detected in schema definitions"),
    ("anthropic", anthropic(of_schema(properties(25, type="integer"))), "too many optional parameters (25)"),
    ("anthropic", anthropic(of_schema(properties(17, anyOf=[]))), "too many parameters with union types (17)"),
    (
        "anthropic",
        {**anthropic(of_schema(CLOSED)), "tools": [CITING]},
        "citations cannot be enabled together with an output format",
    ),
    ("openai", openai("json"), "Invalid type for 'text.format'"),
    ("openai", openai({"schema": CLOSED}), "Missing required parameter: 'text.format.type'."),
    ("openai", openai({"type": "yaml"}), OTHER_TYPES),
    ("openai", openai(of_schema(CLOSED)), "Missing required parameter: 'text.format.name'."),
    ("openai", openai(of_schema(CLOSED, name="My plan")), "Invalid 'text.format.name'"),
    ("openai", openai(of_schema(CLOSED, name="x" * 65)), "Invalid 'text.format.name'"),
    ("openai", openai({"type": "json_schema", "name": "Plan"}), "Missing required parameter: 'text.format.schema'."),
    ("openai", openai(named(CLOSED, json_schema={})), "Unknown parameter: 'text.format.json_schema'."),
    ("openai", openai(named({"type": "array"})), "Invalid schema for response_format 'Plan': schema must be a JSON"),
    ("openai", openai(named({"type": "object", "properties": {}})), f"response_format 'Plan': {UNCLOSED}"),
    ("openai", openai(named(with_property(enum=[*range(1001)]))), "Expected at most 1000 enum values in total"),
    ("openai", openai(named(with_property(enum=["x" * 60] * 251))), "Expected at most 15000 characters in enum values"),
    ("openai_chat", openai_chat({"type": "yaml"}), OTHER_TYPES),
    ("openai_chat", openai_chat({"type": "json_schema"}), "Missing required parameter: 'response_format.json_schema'."),
    ("openai_chat", openai_chat({**nested(CLOSED), "strict": True}), "Unknown parameter: 'response_format.strict'."),
    ("openai_chat", openai_chat(nested(CLOSED), model="old"), "This response_format type is unavailable now"),
    ("openai_chat", openai_chat(nested({"type": "object", "properties": {}})), f"response_format 'Plan': {UNCLOSED}"),
    ("google", google(responseJsonSchema=CLOSED), "needs the response mime type 'application/json'"),
    (
        "google",
        google(responseMimeType="application/json", responseJsonSchema=CLOSED, responseSchema={"type": "OBJECT"}),
        "only one of response_schema and response_json_schema may be set",
    ),
    (
        "google",
        google(responseMimeType="application/json", responseJsonSchema={"type": "array"}),
        "response_json_schema: the schema must be of type object",
    ),
]


@pytest.mark.parametrize(("wire", "body"), TAKEN)
def test_a_format_that_the_vendor_knows_is_taken(wire: WireName, body: Json) -> None:
    with serving(wire) as one:
        assert one.post(body).status == 200


@pytest.mark.parametrize(("wire", "body", "told"), REFUSED)
def test_another_is_refused(wire: WireName, body: Json, told: str) -> None:
    with serving(wire) as one:
        reaction = one.post(body)
    assert reaction.status == 400
    assert told in reaction.body["error"]["message"]


def test_a_schema_that_openai_cannot_hold_a_model_to_is_told_by_its_code_and_place() -> None:
    told: Callable[[Json], tuple[str | None, str | None]] = lambda body: (body["code"], body["param"])  # noqa: E731
    with serving("openai") as responses, serving("openai_chat") as chat:
        flat = responses.post(openai(named({"type": "array"}))).body["error"]
        deep = chat.post(openai_chat(nested({"type": "array"}))).body["error"]
    assert [told(flat), told(deep)] == [("invalid_json_schema", "text.format.schema"), (None, "response_format")]


@pytest.mark.parametrize(("model", "tools", "status"), [("2.5", True, 400), ("2.5", False, 200), ("3.6", True, 200)])
def test_before_gemini_3_json_goes_with_no_function(model: str, tools: bool, status: int) -> None:
    with serving("google", f"/v1beta/models/gemini-{model}-flash:generateContent") as one:
        reaction = one.post(google(tools=tools, responseMimeType="application/json"))
    assert reaction.status == status
    assert status == 200 or "'application/json' is unsupported" in reaction.body["error"]["message"]
