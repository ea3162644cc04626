"""
The OpenAI Responses wire: what it renders, and what it refuses.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import cast

import pytest
from attrs import evolve

from rodada.providers.loopback import Body, Call, Loopback, Received, Reply, Script, Turn, Usage
from rodada.providers.loopback.json_values import objs
from support.loopback_client import HEADERS, Break, Client, Json, Reaction, broken, client

MODEL = "gpt-5.6"
PARAMETERS: Json = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
TOOLS: list[Json] = [
    {"type": "function", "name": name, "description": "Adds.", "parameters": PARAMETERS, "strict": True}
    for name in ("add", "save")
]
FIRST: Json = {
    "model": MODEL,
    "instructions": "You count.",
    "input": [{"role": "user", "content": "How much?"}],
    "tools": TOOLS,
    "tool_choice": "auto",
    "store": False,
    "include": ["reasoning.encrypted_content"],
}


def tool_loop(received: Received) -> Reply:
    """
    Two calls after the first user message, one after their outputs, else an answer.
    """
    outputs = [item for item in objs(received.body.get("input")) if item.get("type") == "function_call_output"]
    if not outputs:
        return Turn("Let me see.", [Call("add", {"a": 1}), Call("save", {})], reasoning=True)
    return Turn("", [Call("add", {"a": 2})], reasoning=True) if len(outputs) == 2 else Turn("Done.")


@contextmanager
def serving(script: Script) -> Generator[Client]:
    with Loopback(script) as server, client(server, "/v1/responses", HEADERS["openai"]) as one:
        yield one


def outputs(turn: Json) -> list[Json]:
    """
    The items that answer a turn.
    """
    return [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "ok"}
        for item in turn["output"]
        if item["type"] == "function_call"
    ]


def play(one: Client, first: Json, rounds: int = 2) -> Json:
    """
    A request after so many rounds of tools, each turn sent back as it came.
    """
    body = broken(first, lambda _: None)
    for _ in range(rounds):
        turn = one.post(body).body
        body["input"] += [*turn["output"], *outputs(turn)]
    return body


@pytest.fixture(scope="module")
def wire() -> Generator[Client]:
    with serving(tool_loop) as one:
        yield one


@pytest.fixture(scope="module")
def valid(wire: Client) -> Json:
    """
    0 user, 1 reasoning, 2 message, 3 and 4 calls, 5 and 6 outputs, 7 reasoning, 8 call, 9 output.
    """
    return play(wire, FIRST)


def item(at: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["input"][at])


def put(where: Callable[[Json], Json], **fields: object) -> Break:
    return lambda body: where(body).update(fields)


def drop(*places: int) -> Break:
    def change(body: Json) -> None:
        body["input"] = [each for at, each in enumerate(body["input"]) if at not in places]

    return change


def without(at: int, *keys: str) -> Break:
    def change(body: Json) -> None:
        for key in keys:
            del body["input"][at][key]

    return change


def insert(at: int, made: object) -> Break:
    return lambda body: body["input"].insert(at, made)


def top(**fields: object) -> Break:
    return lambda body: body.update(fields)


def lacking(key: str) -> Break:
    return lambda body: body.pop(key)


def tool(**fields: object) -> Break:
    return lambda body: body["tools"][0].update(fields)


def both(*changes: Break) -> Break:
    def change(body: Json) -> None:
        for each in changes:
            each(body)

    return change


def move(source: int, target: int) -> Break:
    return lambda body: body["input"].insert(target, body["input"].pop(source))


def again(at: int) -> Break:
    return lambda body: body["input"].insert(at + 1, dict(body["input"][at]))


def encrypted_swapped(body: Json) -> None:
    one, other = body["input"][1], body["input"][7]
    one["encrypted_content"], other["encrypted_content"] = other["encrypted_content"], one["encrypted_content"]


def same_call_id_twice(body: Json) -> None:
    body["input"][8]["call_id"] = body["input"][9]["call_id"] = body["input"][3]["call_id"]


def same_output_twice(body: Json) -> None:
    body["input"].append(dict(body["input"][9]))


def same_item_id_twice(body: Json) -> None:
    body["input"][4]["id"] = body["input"][3]["id"]


USER: Json = {"role": "user", "content": "By the way."}
PART: Json = {"type": "input_text", "text": "Hm."}
SCHEMA_MESSAGE = "Invalid schema for function 'add': "

REFUSED: list[tuple[str, Break, str, str | None]] = [
    (
        "a type that no tool has",
        lambda body: body["tools"].append({"type": "web_searching"}),
        "Invalid value: 'web_searching'. Supported values are: 'function', 'custom', 'web_search'",
        "invalid_value",
    ),
    # calls and outputs
    ("open call", drop(9), "No tool output found for function call call_", None),
    ("open call of two", drop(6), "No tool output found for function call call_", None),
    ("orphan", put(item(9), call_id="call_alien"), "No tool output found for function call", None),
    (
        "orphan beside the output",
        insert(10, {"type": "function_call_output", "call_id": "call_alien", "output": "x"}),
        "No tool call found for function call output with call_id call_alien.",
        None,
    ),
    ("doubled call", same_call_id_twice, "Duplicate function call found with call_id call_", None),
    ("doubled output", same_output_twice, "Duplicate function call output found with call_id call_", None),
    ("row interrupted", insert(6, USER), "No tool output found for function call call_", None),
    ("message between", insert(5, USER), "No tool output found for function call call_", None),
    ("output before its call", move(9, 7), "No tool output found for function call call_", None),
    ("turn dropped", drop(7, 8), "No tool call found for function call output with call_id call_", None),
    # reasoning and ids
    ("reasoning dropped", drop(7), "of type 'function_call' was provided without its required 'reasoning' item", None),
    ("reasoning before a message dropped", drop(1), "of type 'message' was provided without its required", None),
    ("reasoning without its id", without(7, "id"), "was provided without its required 'reasoning' item", None),
    ("reasoning last", drop(8, 9), "of type 'reasoning' was provided without its required following item.", None),
    ("reasoning without what followed", drop(2), "was provided without its required following item.", None),
    ("reasoning after its turn", move(1, 4), "was provided without its required", None),
    ("encrypted content altered", put(item(1), encrypted_content="AAAA"), "could not be", "invalid_encrypted_content"),
    ("encrypted content swapped", encrypted_swapped, "could not be verified", "invalid_encrypted_content"),
    ("status on reasoning", put(item(1), status="completed"), "'input[1].status'.", "unknown_parameter"),
    (
        "summary missing",
        without(1, "summary"),
        "Missing required parameter: 'input[1].summary'",
        "missing_required_parameter",
    ),
    ("item id twice", same_item_id_twice, "Duplicate item found with id fc_", None),
    ("call id of another kind", put(item(3), id="call_1"), "Expected an ID that begins with 'fc'.", "invalid_value"),
    ("message id of another kind", put(item(2), id="1"), "Expected an ID that begins with 'msg'.", "invalid_value"),
    # parameters
    ("model missing", lacking("model"), "Missing required parameter: 'model'.", "missing_required_parameter"),
    ("input missing", lacking("input"), "must be provided", "missing_required_parameter"),
    ("input empty", top(input=[]), "must be provided", "missing_required_parameter"),
    ("input an object", top(input={}), "Invalid type for 'input'", "invalid_type"),
    ("unknown parameter", top(rounds=3), "Unknown parameter: 'rounds'.", "unknown_parameter"),
    ("unknown reasoning option", top(reasoning={"budget": 3}), "'reasoning.budget'.", "unknown_parameter"),
    ("unknown effort", top(reasoning={"effort": "huge"}), "Invalid value: 'huge'.", "invalid_value"),
    ("summary none", top(reasoning={"summary": "none"}), "Invalid value: 'none'.", "invalid_value"),
    ("unknown truncation", top(truncation="middle"), "Invalid value: 'middle'.", "invalid_value"),
    ("unknown include", top(include=["reasoning"]), "Invalid value: 'reasoning'.", "invalid_value"),
    ("options of no stream", top(stream_options={}), "only allowed when 'stream' is enabled", None),
    ("few tokens", top(max_output_tokens=1), "Expected a value >= 16, but got 1 instead.", "integer_below_min_value"),
    ("stream no flag", top(stream="yes"), "Invalid type for 'stream'", "invalid_type"),
    ("options a text", top(stream=True, stream_options="yes"), "Invalid type for 'stream_options'", "invalid_type"),
    (
        "options of the other wire",
        top(stream=True, stream_options={"include_usage": True}),
        "'stream_options.include_usage'.",
        "unknown_parameter",
    ),
    (
        "option no flag",
        top(stream=True, stream_options={"include_obfuscation": 1}),
        "Invalid type for 'stream_options.include_obfuscation'",
        "invalid_type",
    ),
    ("stored response", top(previous_response_id="resp_1"), "'resp_1' not found", "previous_response_not_found"),
    ("background", top(background=True), "Background mode requires 'store' to be true.", None),
    ("tokens a string", top(max_output_tokens="many"), "Invalid type for 'max_output_tokens'", "invalid_type"),
    ("metadata of many", top(metadata={str(n): "" for n in range(17)}), "too many", "object_above_max_properties"),
    ("metadata long", top(metadata={"a": "x" * 513}), "Invalid 'metadata.a'", "string_above_max_length"),
    ("identifier long", top(safety_identifier="x" * 129), "'safety_identifier'", "string_above_max_length"),
    ("metadata a number", top(metadata={"round": 1}), "Invalid type for 'metadata.round'", "invalid_type"),
    # items
    ("unknown item type", insert(10, {"type": "note"}), "Invalid value: 'note'.", "invalid_value"),
    ("unknown key on a call", put(item(3), index=0), "Unknown parameter: 'input[3].index'.", "unknown_parameter"),
    ("is_error", put(item(5), is_error=True), "Unknown parameter: 'input[5].is_error'.", "unknown_parameter"),
    ("status null", put(item(3), status=None), "Invalid type for 'input[3].status'", "invalid_type"),
    ("content of reasoning null", put(item(1), content=None), "Invalid type for 'input[1].content'", "invalid_type"),
    ("the SDK's own name", put(item(3), async_=False), "Unknown parameter: 'input[3].async_'.", "unknown_parameter"),
    ("status unknown", put(item(3), status="failed"), "Invalid value: 'failed'.", "invalid_value"),
    ("output null", put(item(5), output=None), "but got null instead", "invalid_type"),
    ("output an object", put(item(5), output={"a": 1}), "but got an object instead", "invalid_type"),
    ("output of a wrong part", put(item(5), output=[{"type": "text", "text": "x"}]), "'text'", "invalid_value"),
    ("content null", put(item(0), content=None), "Invalid type for 'input[0].content'", "invalid_type"),
    (
        "content missing",
        without(0, "content"),
        "Missing required parameter: 'input[0].content'.",
        "missing_required_parameter",
    ),
    ("role unknown", put(item(0), role="tool"), "Invalid value: 'tool'.", "invalid_value"),
    ("input_text of the assistant", put(item(2), content=[PART]), "Invalid value: 'input_text'.", "invalid_value"),
    (
        "call_id missing",
        without(3, "call_id"),
        "Missing required parameter: 'input[3].call_id'.",
        "missing_required_parameter",
    ),
    ("call_id empty", put(item(3), call_id=""), "Expected a string with minimum length 1", "empty_string"),
    ("call_id long", put(item(3), call_id="c" * 65), "maximum length 64", "string_above_max_length"),
    ("name illegal", put(item(3), name="functions.add"), "string does not match pattern", "invalid_value"),
    ("arguments an object", put(item(3), arguments={}), "Invalid type for 'input[3].arguments'", "invalid_type"),
    ("arguments no JSON", put(item(3), arguments='{"a": '), "the arguments are not valid JSON", "invalid_value"),
    ("item no object", insert(10, "hi"), "Invalid type for 'input[10]'", "invalid_type"),
    ("part no object", put(item(0), content=["hi"]), "Invalid type for 'input[0].content[0]'", "invalid_type"),
    ("id a number", put(item(3), id=3), "Invalid type for 'input[3].id'", "invalid_type"),
    ("id long", put(item(3), id="fc_" + "c" * 62), "maximum length 64", "string_above_max_length"),
    ("call_id a number", put(item(3), call_id=3), "Invalid type for 'input[3].call_id'", "invalid_type"),
    ("name a number", put(item(3), name=3), "Invalid type for 'input[3].name'", "invalid_type"),
    ("arguments huge", put(item(3), arguments="1" * 1_048_577), "maximum length 1048576", "string_above_max_length"),
    ("summary a string", put(item(1), summary="x"), "Invalid type for 'input[1].summary'", "invalid_type"),
    # tools
    ("tool no object", top(tools=["add"]), "Invalid type for 'tools[0]'", "invalid_type"),
    ("tool type missing", lambda body: body["tools"][0].pop("type"), "'tools[0].type'", "missing_required_parameter"),
    (
        "strict schema with a node of no type",
        tool(parameters={**PARAMETERS, "properties": {"a": {}}}),
        "In context=('a'), schema must have a 'type' key.",
        "invalid_function_parameters",
    ),
    (
        "strict schema with an unknown format",
        tool(parameters={**PARAMETERS, "properties": {"a": {"type": "string", "format": "url"}}}),
        "'url' is not a valid format.",
        "invalid_function_parameters",
    ),
    (
        "strict schema with a deep open object",
        tool(parameters={**PARAMETERS, "properties": {"a": {"type": "array", "items": {"type": "object"}}}}),
        "In context=('a', 'items'), 'additionalProperties' is required",
        "invalid_function_parameters",
    ),
    (
        "strict schema with an array of nothing",
        tool(parameters={**PARAMETERS, "properties": {"a": {"type": "array"}}}),
        "array schema missing items",
        "invalid_function_parameters",
    ),
    (
        "schema of an object without properties",
        tool(parameters={"type": "object"}, strict=False),
        "In context=(), object schema missing properties.",
        "invalid_function_parameters",
    ),
    ("choice without tools", lacking("tools"), "Tool choice 'auto' must be specified with 'tools' parameter.", None),
    ("choice none without tools", both(lacking("tools"), top(tool_choice="none")), "Tool choice 'none' must be", None),
    ("choice with empty tools", top(tools=[]), "must be specified with 'tools' parameter.", None),
    ("choice unknown", top(tool_choice="any"), "Invalid value: 'any'.", "invalid_value"),
    ("choice of no tool", top(tool_choice={"type": "function", "name": "x"}), "Tool choice 'x' not found", None),
    ("tools null", top(tools=None), "Invalid type for 'tools'", "invalid_type"),
    ("tool names twice", tool(name="save"), "Duplicate tool name found: 'save'.", None),
    ("tool name illegal", tool(name="add.numbers"), "string does not match pattern", "invalid_value"),
    ("tool name long", tool(name="a" * 65), "maximum length 64", "string_above_max_length"),
    (
        "tool nested",
        top(tools=[{"type": "function", "function": TOOLS[0]}]),
        "'tools[0].name'.",
        "missing_required_parameter",
    ),
    ("tool key unknown", tool(input_schema={}), "'tools[0].input_schema'.", "unknown_parameter"),
    (
        "schema without type",
        tool(parameters={}),
        SCHEMA_MESSAGE + "schema must be a JSON Schema",
        "invalid_function_parameters",
    ),
    (
        "strict schema open",
        tool(parameters={"type": "object"}),
        SCHEMA_MESSAGE + "In context=(), 'additionalProperties' is required to be supplied and to be false.",
        "invalid_function_parameters",
    ),
    (
        "strict schema with an optional",
        tool(parameters={**PARAMETERS, "required": []}),
        "Missing 'a'.",
        "invalid_function_parameters",
    ),
    (
        "strict schema with a union",
        tool(parameters={**PARAMETERS, "properties": {"a": {"oneOf": []}}}),
        "In context=('a'), 'oneOf' is not permitted.",
        "invalid_function_parameters",
    ),
]


@pytest.mark.parametrize(("change", "said", "code"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_what_the_vendor_refuses_is_refused(
    wire: Client, valid: Json, change: Break, said: str, code: str | None
) -> None:
    assert wire.post(valid).status == 200
    reaction = wire.post(broken(valid, change))
    error = reaction.body["error"]
    assert (reaction.status, error["type"], error["code"]) == (400, "invalid_request_error", code)
    assert said in error["message"]
    assert reaction.headers["x-request-id"].startswith("req_")


NOT_FOUND: list[tuple[str, Break, str]] = [
    ("reasoning without encrypted content", without(1, "encrypted_content"), "Item with id 'rs_"),
    ("item reference", insert(10, {"type": "item_reference", "id": "rs_9"}), "Item with id 'rs_9' not found."),
    ("conversation", top(conversation="conv_1"), "Conversation not found."),
]


@pytest.mark.parametrize(("change", "said"), [pytest.param(*case[1:], id=case[0]) for case in NOT_FOUND])
def test_nothing_is_stored(wire: Client, valid: Json, change: Break, said: str) -> None:
    reaction = wire.post(broken(valid, change))
    assert (reaction.status, said in reaction.body["error"]["message"]) == (404, True)


ACCEPTED: list[tuple[str, Break]] = [
    ("tools withheld", top(tool_choice="none")),
    ("other instructions", top(instructions="Stop.")),
    ("outputs in another order", move(5, 6)),
    ("output in parts", put(item(5), output=[PART])),
    ("nulls where they may be", both(put(item(2), phase=None), put(item(5), status=None, id=None))),
    ("a new message", insert(10, USER)),
    ("a system message", insert(10, {"role": "system", "content": [PART]})),
    ("all ids of a turn left out", both(without(7, "id"), without(8, "id"))),
    ("reasoning and ids of a turn left out", both(without(8, "id"), drop(7))),
    ("stored after all", top(store=True)),
    ("no parameters", tool(parameters=None, strict=False)),
    ("a string as input", top(input="How much?")),
    ("no tools at all", both(lacking("tools"), lacking("tool_choice"))),
]


@pytest.mark.parametrize("change", [pytest.param(case[1], id=case[0]) for case in ACCEPTED])
def test_what_the_vendor_accepts_is_accepted(wire: Client, valid: Json, change: Break) -> None:
    reaction = wire.post(broken(valid, change))
    assert (reaction.status, reaction.body.get("error")) == (200, None)


def test_another_server_knows_the_encrypted_content_of_the_first(valid: Json) -> None:
    with serving([Turn("Done.")]) as one:
        assert one.post(broken(valid, encrypted_swapped)).status == 400
        assert one.post(valid).status == 200


def test_a_ready_body_is_remembered_like_a_turn() -> None:
    output: list[Json] = [
        {"type": "reasoning", "id": "rs_a", "summary": [], "encrypted_content": "e"},
        {"type": "function_call", "id": "fc_a", "call_id": "a", "name": "add", "arguments": "{}"},
    ]
    with serving(lambda received: Body({"status": "completed", "output": output})) as one:
        body = play(one, FIRST, rounds=1)
        assert one.post(body).status == 200
        assert one.post(broken(body, drop(1))).status == 400
        assert one.post(broken(body, put(item(1), encrypted_content="f"))).status == 400


def test_hosted_items_are_carried_unread() -> None:
    search: Json = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    with serving([Turn("Done.")]) as one:
        assert one.post(broken(FIRST, insert(1, search))).status == 200


@pytest.mark.parametrize("headers", [{}, {"authorization": "sk-secret"}, {"authorization": "Bearer "}])
def test_no_credentials(headers: dict[str, str]) -> None:
    with Loopback() as server, client(server, "/v1/responses", headers) as one:
        reaction = one.post(FIRST)
    assert (reaction.status, "You didn't provide an API key" in reaction.body["error"]["message"]) == (401, True)


def test_an_unknown_path(wire: Client) -> None:
    reaction = evolve(wire, path="/v1/completions").post(FIRST)
    assert (reaction.status, reaction.body["error"]["message"]) == (404, "Invalid URL (POST /v1/completions)")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"top_p": NaN}', b'{"model": "\\uDFFF"}', b"[" * 100_000])
def test_a_body_that_is_no_json_object(wire: Client, raw: bytes) -> None:
    reaction = wire.post(raw)
    assert (reaction.status, reaction.body["error"]["type"]) == (400, "invalid_request_error")


def answer(turn: Turn, **changes: object) -> Reaction:
    with serving([turn]) as one:
        return one.post({**FIRST, **changes})


@pytest.mark.parametrize(
    ("turn", "status", "reason"),
    [
        (Turn("a"), "completed", None),
        (Turn("a", [Call("add")]), "completed", None),
        (Turn("a", [Call("add")], stop="cut"), "incomplete", "max_output_tokens"),
        (Turn("a", stop="paused"), "completed", None),
        (Turn("a", stop="refused"), "completed", None),
        (Turn("a", stop="unknown"), "incomplete", "a_reason_of_tomorrow"),
        (Turn("a", stop="refused", word="content_filter"), "incomplete", "content_filter"),
    ],
)
def test_each_stop_has_its_status(turn: Turn, status: str, reason: str | None) -> None:
    body = answer(turn).body
    assert (body["status"], body["incomplete_details"]) == (status, reason and {"reason": reason})


def test_a_refusal_is_a_part_of_the_message() -> None:
    (said,) = answer(Turn("No.", stop="refused")).body["output"]
    assert said["content"] == [{"type": "refusal", "refusal": "No."}]


@pytest.mark.parametrize(
    ("turn", "phase"),
    [
        (Turn("a"), "final_answer"),
        (Turn("a", [Call("add")]), "commentary"),
        (Turn("a", stop="paused"), "commentary"),
    ],
)
def test_text_has_its_phase(turn: Turn, phase: str) -> None:
    assert answer(turn).body["output"][0]["phase"] == phase


def test_a_cut_turn_leaves_its_last_item_incomplete() -> None:
    output = answer(Turn("a", [Call("add"), Call("save", '{"a": ')], stop="cut")).body["output"]
    assert [(each["type"], each["status"]) for each in output] == [
        ("message", "completed"),
        ("function_call", "completed"),
        ("function_call", "incomplete"),
    ]
    assert output[2]["arguments"] == '{"a": '


def test_the_whole_response() -> None:
    usage = Usage(input=100, output=30, cached=40, cache_write=10, reasoning=5)
    turn = Turn("Hm.", [Call("add", {"a": 1}, id="call_x")], reasoning=True, usage=usage)
    reaction = answer(turn, max_output_tokens=500)
    encrypted = reaction.body["output"][0]["encrypted_content"]
    assert reaction.body == {
        "id": "resp_00000004",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": "You count.",
        "max_output_tokens": 500,
        "model": MODEL,
        "output": [
            {"id": "rs_00000001", "type": "reasoning", "summary": [], "encrypted_content": encrypted},
            {
                "id": "msg_00000002",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Hm.", "annotations": [], "logprobs": []}],
                "phase": "commentary",
            },
            {
                "id": "fc_00000003",
                "type": "function_call",
                "call_id": "call_x",
                "name": "add",
                "arguments": '{"a":1}',
                "status": "completed",
            },
        ],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": "medium", "summary": None},
        "service_tier": "default",
        "store": False,
        "tool_choice": "auto",
        "tools": TOOLS,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 10},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 130,
        },
        "metadata": {},
    }
    assert reaction.headers["x-request-id"] == "req_00000005"


def test_a_summary_comes_when_it_is_asked_for() -> None:
    output = answer(Turn("a", reasoning=True), reasoning={"summary": "auto"}).body["output"]
    assert output[0]["summary"] == [{"type": "summary_text", "text": "Thought about it."}]


def test_a_malformed_turn_cannot_be_said() -> None:
    reaction = answer(Turn("", stop="malformed"))
    assert (reaction.status, reaction.body["error"]["type"]) == (500, "server_error")
    assert "the openai wire has no form" in reaction.body["error"]["message"]


def test_a_search_of_the_server_is_an_item_of_the_turn_where_it_was_declared() -> None:
    with serving([Turn("Found.", search="done", reasoning=True), Turn("Hi.", search="done")]) as one:
        turn = one.post({**FIRST, "tools": [*TOOLS, {"type": "web_search"}]}).body
        assert one.post(FIRST).status == 500
    assert [each["type"] for each in turn["output"]] == ["reasoning", "web_search_call", "message"]
