"""
The Chat Completions wire: what it renders, what it refuses, and how it plays servers that deviate from OpenAI.
"""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import cast, get_args

import pytest

from rodada.providers.loopback import Call, Deviation, Loopback, Received, Reply, Script, Turn, Usage
from rodada.providers.loopback.json_values import objs
from support.loopback_client import HEADERS, Break, Client, Json, broken, client

MODEL, OTHER = "gpt-4.1", "other"
PATH = "/v1/chat/completions"
PARAMETERS: Json = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
TOOLS: list[Json] = [
    {"type": "function", "function": {"name": name, "description": "Adds.", "parameters": PARAMETERS, "strict": True}}
    for name in ("add", "save")
]
FIRST: Json = {
    "model": MODEL,
    "messages": [{"role": "system", "content": "You count."}, {"role": "user", "content": "How much?"}],
    "tools": TOOLS,
    "tool_choice": "auto",
    "store": False,
}
# What OpenAI gives and does not take back.
OUTPUT_ONLY = ("annotations", "refusal")


def tool_loop(received: Received) -> Reply:
    """
    Two calls after the first user message, one after their results, else an answer.
    """
    results = [each for each in objs(received.body.get("messages")) if each.get("role") == "tool"]
    if not results:
        return Turn("Let me see.", [Call("add", {"a": 1}), Call("save", {})], reasoning=True)
    return Turn("", [Call("add", {"a": 2})], reasoning=True) if len(results) == 2 else Turn("Done.")


@contextmanager
def serving(script: Script, *deviations: Deviation) -> Generator[Client]:
    with (
        Loopback(script, chat_deviations={OTHER: deviations}) as server,
        client(server, PATH, HEADERS["openai"]) as one,
    ):
        yield one


def echo(reply: Json) -> Json:
    """
    The message of a reply as it is sent back.
    """
    return {key: value for key, value in reply["choices"][0]["message"].items() if key not in OUTPUT_ONLY}


def results(message: Json) -> list[Json]:
    """
    The messages that answer a turn.
    """
    return [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in message.get("tool_calls", [])]


@pytest.fixture(scope="module")
def wire() -> Generator[Client]:
    with serving(tool_loop) as one:
        yield one


@pytest.fixture(scope="module")
def valid(wire: Client) -> Json:
    """
    0 system, 1 user, 2 two calls, 3 and 4 results, 5 a call, 6 its result.
    """
    body = broken(FIRST, lambda _: None)
    for _ in range(2):
        message = echo(wire.post(body).body)
        body["messages"] += [message, *results(message)]
    return body


def at(place: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["messages"][place])


def call(place: int = 0) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["messages"][2]["tool_calls"][place])


def function(body: Json) -> Json:
    return cast(Json, call()(body)["function"])


def put(where: Callable[[Json], Json], **fields: object) -> Break:
    return lambda body: where(body).update(fields)


def lacking(where: Callable[[Json], Json], key: str) -> Break:
    return lambda body: where(body).pop(key)


def whole(body: Json) -> Json:
    return body


def drop(*places: int) -> Break:
    def change(body: Json) -> None:
        body["messages"] = [each for place, each in enumerate(body["messages"]) if place not in places]

    return change


def insert(place: int, made: object) -> Break:
    return lambda body: body["messages"].insert(place, made)


def move(source: int, target: int) -> Break:
    return lambda body: body["messages"].insert(target, body["messages"].pop(source))


def tool(**fields: object) -> Break:
    return lambda body: body["tools"][0]["function"].update(fields)


def both(*changes: Break) -> Break:
    def change(body: Json) -> None:
        for each in changes:
            each(body)

    return change


def same_id_twice(body: Json) -> None:
    name = body["messages"][2]["tool_calls"][0]["id"]
    body["messages"][5]["tool_calls"][0]["id"] = body["messages"][6]["tool_call_id"] = name


def same_result_twice(body: Json) -> None:
    body["messages"].append(dict(body["messages"][6]))


USER: Json = {"role": "user", "content": "By the way."}
ALIEN: Json = {"role": "tool", "tool_call_id": "call_alien", "content": "x"}
NO_IMAGE: Json = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}


def image(**fields: object) -> Json:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", **fields}}


def file(**fields: object) -> Json:
    return {"type": "file", "file": fields}


UNANSWERED = "The following tool_call_ids did not have response messages: call_"
ORPHAN = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
ALONE = "is only allowed when 'tools' are specified"
NULL = "Invalid value for 'content': expected a string, got null."

REFUSED: list[tuple[str, Break, str, str | None]] = [
    # calls and results
    ("open call", drop(6), UNANSWERED, None),
    ("open call of two", drop(4), UNANSWERED, None),
    ("orphan", put(at(6), tool_call_id="call_alien"), UNANSWERED, None),
    ("orphan beside the result", insert(7, ALIEN), ORPHAN, None),
    ("orphan after the person", insert(2, ALIEN), ORPHAN, None),
    ("turn dropped", drop(5), ORPHAN, None),
    ("result twice", same_result_twice, ORPHAN, None),
    ("id twice", same_id_twice, "Duplicate value for 'tool_call_id' of 'call_", None),
    ("message between", insert(3, USER), UNANSWERED, None),
    ("row interrupted", insert(4, USER), UNANSWERED, None),
    ("result before its call", move(6, 5), UNANSWERED, None),
    # parameters
    ("model missing", lacking(whole, "model"), "Missing required parameter: 'model'.", "missing_required_parameter"),
    ("messages missing", lacking(whole, "messages"), "parameter: 'messages'.", "missing_required_parameter"),
    ("messages empty", put(whole, messages=[]), "Invalid 'messages': empty array.", "empty_array"),
    ("messages a text", put(whole, messages="hi"), "Invalid type for 'messages'", "invalid_type"),
    ("unknown parameter", put(whole, rounds=3), "Unknown parameter: 'rounds'.", "unknown_parameter"),
    ("parameter of the other wire", put(whole, max_output_tokens=99), "'max_output_tokens'.", "unknown_parameter"),
    ("both limits", put(whole, max_tokens=9, max_completion_tokens=9), "at the same time is not supported", None),
    ("no tokens", put(whole, max_completion_tokens=0), "Expected a value >= 1", "integer_below_min_value"),
    ("tokens a text", put(whole, max_tokens="9"), "Invalid type for 'max_tokens'", "invalid_type"),
    ("unknown effort", put(whole, reasoning_effort="huge"), "Invalid value: 'huge'.", "invalid_value"),
    ("stream no flag", put(whole, stream="yes"), "Invalid type for 'stream'", "invalid_type"),
    (
        "option of a stream unknown",
        put(whole, stream=True, stream_options={"include_tokens": True}),
        "'stream_options.include_tokens'.",
        "unknown_parameter",
    ),
    (
        "option of a stream no flag",
        put(whole, stream=True, stream_options={"include_usage": "yes"}),
        "Invalid type for 'stream_options.include_usage'",
        "invalid_type",
    ),
    ("options of no stream", put(whole, stream_options={}), "only allowed when 'stream' is enabled", None),
    ("metadata of many", put(whole, metadata={str(n): "" for n in range(17)}), "too", "object_above_max_properties"),
    ("metadata a number", put(whole, metadata={"a": 1}), "Invalid type for 'metadata.a'", "invalid_type"),
    # messages
    ("message no object", insert(7, "hi"), "Invalid type for 'messages[7]'", "invalid_type"),
    ("role missing", lacking(at(1), "role"), "'messages[1].role'", "missing_required_parameter"),
    ("role unknown", put(at(1), role="model"), "Invalid value: 'model'.", "invalid_value"),
    ("unknown key", put(at(2), reasoning_content="Hm."), "'messages[2].reasoning_content'.", "unknown_parameter"),
    ("annotations", put(at(2), annotations=[]), "'messages[2].annotations'.", "unknown_parameter"),
    ("is_error", put(at(3), is_error=True), "'messages[3].is_error'.", "unknown_parameter"),
    ("content null", put(at(1), content=None), NULL, None),
    ("content missing", lacking(at(1), "content"), "'messages[1].content'", "missing_required_parameter"),
    ("content null without calls", insert(7, {"role": "assistant", "content": None}), NULL, None),
    ("content missing without calls", insert(7, {"role": "assistant"}), NULL, None),
    ("content an object", put(at(1), content={}), "Invalid type for 'messages[1].content'", "invalid_type"),
    ("content no part", put(at(1), content=[]), "Invalid 'messages[1].content': empty array.", "empty_array"),
    ("part no object", put(at(1), content=["hi"]), "Invalid type for 'messages[1].content[0]'", "invalid_type"),
    ("part without text", put(at(1), content=[{"type": "text"}]), "content[0].text'", "missing_required_parameter"),
    ("part of the other wire", put(at(1), content=[{"type": "input_text"}]), "'input_text'.", "invalid_value"),
    ("result null", put(at(3), content=None), NULL, None),
    ("result an object", put(at(3), content={"a": 1}), "Invalid type for 'messages[3].content'", "invalid_type"),
    ("image in a result", put(at(3), content=[NO_IMAGE]), "Supported values are: 'text'.", "invalid_value"),
    ("no image", put(at(1), content=[NO_IMAGE]), "You uploaded an unsupported image.", "invalid_image_format"),
    ("detail unknown", put(at(1), content=[image(detail="fine")]), "Invalid value: 'fine'.", "invalid_value"),
    ("image of another key", put(at(1), content=[image(size=1)]), "image_url.size'.", "unknown_parameter"),
    ("image no object", put(at(1), content=[{"type": "image_url", "image_url": ""}]), "[0].image_url'", "invalid_type"),
    ("file without a name", put(at(1), content=[file()]), "file.filename'", "missing_required_parameter"),
    ("file of nothing", put(at(1), content=[file(filename="a.pdf")]), "Expected a base64-encoded", "invalid_value"),
    ("file key unknown", put(at(1), content=[file(file_id="f", x=1)]), "file.x'.", "unknown_parameter"),
    ("file no object", put(at(1), content=[{"type": "file", "file": ""}]), "[0].file'", "invalid_type"),
    ("no calls", put(at(2), tool_calls=[]), "Invalid 'messages[2].tool_calls': empty array.", "empty_array"),
    ("calls null", put(at(2), tool_calls=None), "Invalid type for 'messages[2].tool_calls'", "invalid_type"),
    ("call no object", put(at(2), tool_calls=["a"]), "'messages[2].tool_calls[0]'", "invalid_type"),
    ("index on a call", put(call(), index=0), "'messages[2].tool_calls[0].index'.", "unknown_parameter"),
    ("call without an id", lacking(call(), "id"), "tool_calls[0].id'", "missing_required_parameter"),
    ("call with an empty id", put(call(), id=""), "Expected a string with minimum length 1", "empty_string"),
    ("call with a long id", put(call(), id="c" * 65), "maximum length 64", "string_above_max_length"),
    ("id a number", put(call(), id=3), "Invalid type for 'messages[2].tool_calls[0].id'", "invalid_type"),
    ("result without an id", lacking(at(3), "tool_call_id"), "[3].tool_call_id'", "missing_required_parameter"),
    ("call without a type", lacking(call(), "type"), "tool_calls[0].type'", "missing_required_parameter"),
    ("call of another type", put(call(), type="tool"), "Invalid value: 'tool'.", "invalid_value"),
    ("call without a function", lacking(call(), "function"), "[0].function'", "missing_required_parameter"),
    ("name illegal", put(function, name="functions.add"), "string does not match pattern", "invalid_value"),
    ("name long", put(function, name="a" * 65), "maximum length 64", "string_above_max_length"),
    ("arguments an object", put(function, arguments={}), "function.arguments'", "invalid_type"),
    ("arguments missing", lacking(function, "arguments"), "function.arguments'", "missing_required_parameter"),
    ("arguments no JSON", put(function, arguments='{"a'), "Unterminated string", "invalid_value"),
    ("arguments blank", put(function, arguments=""), "Invalid 'messages[2].tool_calls[0]", "invalid_value"),
    ("arguments a list", put(function, arguments="[1]"), "the arguments are no JSON object", "invalid_value"),
    ("parsed arguments", put(function, parsed_arguments={}), "parsed_arguments'.", "unknown_parameter"),
    # tools
    ("no tools", put(whole, tools=[]), "Invalid 'tools': empty array.", "empty_array"),
    ("tools null", put(whole, tools=None), "Invalid type for 'tools'", "invalid_type"),
    ("choice without tools", lacking(whole, "tools"), f"'tool_choice' {ALONE}", None),
    ("choice none without tools", both(lacking(whole, "tools"), put(whole, tool_choice="none")), ALONE, None),
    (
        "parallel without tools",
        both(lacking(whole, "tools"), lacking(whole, "tool_choice"), put(whole, parallel_tool_calls=False)),
        f"'parallel_tool_calls' {ALONE}",
        None,
    ),
    ("choice unknown", put(whole, tool_choice="any"), "Invalid value: 'any'.", "invalid_value"),
    ("choice of no tool", put(whole, tool_choice={"type": "function", "function": {"name": "x"}}), "'x' not", None),
    ("tool flat", put(whole, tools=[{"type": "function", "name": "a"}]), "'tools[0].name'.", "unknown_parameter"),
    ("tool of nothing", put(whole, tools=[{"type": "function"}]), "[0].function'", "missing_required_parameter"),
    ("tool without a type", put(whole, tools=[{"name": "add"}]), "'tools[0].type'", "missing_required_parameter"),
    ("tool no object", put(whole, tools=["add"]), "Invalid type for 'tools[0]'", "invalid_type"),
    (
        "tool without a name",
        lambda body: body["tools"][0]["function"].pop("name"),
        ".name'",
        "missing_required_parameter",
    ),
    ("tool names twice", tool(name="save"), "Duplicate tool name found: 'save'.", None),
    ("tool name illegal", tool(name="add.numbers"), "string does not match pattern", "invalid_value"),
    ("tool name long", tool(name="a" * 65), "maximum length 64", "string_above_max_length"),
    ("tool key unknown", tool(input_schema={}), "function.input_schema'.", "unknown_parameter"),
    ("schema without type", tool(parameters={}), "schema must be a JSON Schema", "invalid_function_parameters"),
    (
        "strict schema of an open object",
        tool(parameters={"type": "object"}),
        "'additionalProperties' is required",
        "invalid_function_parameters",
    ),
    (
        "schema of an object without properties",
        tool(parameters={"type": "object"}, strict=False),
        "object schema missing properties",
        "invalid_function_parameters",
    ),
]


@pytest.mark.parametrize(
    ("change", "message", "code"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED]
)
def test_a_broken_request_is_refused_in_the_words_of_the_vendor(
    wire: Client, valid: Json, change: Break, message: str, code: str | None
) -> None:
    reaction = wire.post(broken(valid, change))
    error = reaction.body["error"]
    assert reaction.status == 400
    assert message in error["message"]
    assert (error["type"], error["code"]) == ("invalid_request_error", code)


ACCEPTED: list[tuple[str, Break]] = [
    ("itself", lambda body: None),
    ("content missing beside calls", lacking(at(2), "content")),
    ("content empty", put(at(2), content="")),
    ("content in parts", put(at(2), content=[{"type": "text", "text": "Let me see."}])),
    ("result in parts", put(at(3), content=[{"type": "text", "text": "ok"}])),
    ("results in another order", move(4, 3)),
    ("another message of the person", insert(7, USER)),
    ("developer", put(at(0), role="developer")),
    ("an answer", insert(7, {"role": "assistant", "content": "Done."})),
    ("a refusal", insert(7, {"role": "assistant", "content": None, "refusal": "No."})),
    ("no choice", lacking(whole, "tool_choice")),
    ("choice none", put(whole, tool_choice="none")),
    ("choice of a tool", put(whole, tool_choice={"type": "function", "function": {"name": "add"}})),
    ("no tools at all", both(lacking(whole, "tools"), lacking(whole, "tool_choice"))),
    ("parallel", put(whole, parallel_tool_calls=False)),
    ("old limit", put(whole, max_tokens=1)),
    ("an image", put(at(1), content=[image(detail="low")])),
    ("a file", put(at(1), content=[file(filename="a.pdf", file_data="data:application/pdf;base64,JVBERi0xLjc=")])),
    ("an image elsewhere", put(at(1), content=[{"type": "image_url", "image_url": {"url": "https://example.com/a"}}])),
]


@pytest.mark.parametrize("change", [each[1] for each in ACCEPTED], ids=[each[0] for each in ACCEPTED])
def test_a_good_request_is_taken(wire: Client, valid: Json, change: Break) -> None:
    reaction = wire.post(broken(valid, change))
    assert (reaction.status, reaction.body.get("error")) == (200, None)


def reply(turn: Turn, *deviations: Deviation, **more: object) -> Json:
    """
    What a turn is in the words of a server that deviates so.
    """
    with serving([turn], *deviations) as one:
        reaction = one.post({**FIRST, "model": OTHER, **more})
        assert reaction.status == 200, reaction.body
        return reaction.body


def test_a_turn_in_openais_own_form() -> None:
    usage = Usage(input=100, output=50, cached=60, reasoning=40)
    assert reply(Turn("Hm.", [Call("add", {"a": 1}), Call("save", "{", "x")], reasoning=True, usage=usage)) == {
        "id": "chatcmpl-00000001",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": OTHER,
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Hm.",
                    "refusal": None,
                    "annotations": [],
                    "tool_calls": [
                        {
                            "id": "call_00000002",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a":1}'},
                        },
                        {"id": "x", "type": "function", "function": {"name": "save", "arguments": "{"}},
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 60, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 40, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_00000001",
    }


def test_stops_have_their_words() -> None:
    turns = {
        "stop": Turn("So."),
        "tool_calls": Turn("", [Call("add")]),
        "length": Turn("So", [Call("add")], stop="cut"),
        "a_reason_of_tomorrow": Turn("So.", stop="unknown"),
        "content_filter": Turn("So", word="content_filter"),
    }
    assert {word: reply(turn)["choices"][0]["finish_reason"] for word, turn in turns.items()} == {
        word: word for word in turns
    }
    refused = reply(Turn("No.", stop="refused"))["choices"][0]
    assert (refused["message"]["content"], refused["message"]["refusal"], refused["finish_reason"]) == (
        None,
        "No.",
        "stop",
    )


@pytest.mark.parametrize("stop", ["paused", "malformed"])
def test_a_stop_without_a_word_is_a_fault_of_the_script(stop: str) -> None:
    with serving([Turn("So.", stop=stop)]) as one:  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        reaction = one.post(FIRST)
    assert (reaction.status, f"the stop '{stop}'" in reaction.body["error"]["message"]) == (500, True)


@pytest.mark.parametrize(
    ("path", "headers", "status", "told"),
    [
        (PATH, {}, 401, "You didn't provide an API key"),
        (f"{PATH}/chatcmpl-1", HEADERS["openai"], 404, "Invalid URL (POST /v1/chat/completions/chatcmpl-1)"),
    ],
)
def test_wrong_doors(path: str, headers: dict[str, str], status: int, told: str) -> None:
    with Loopback() as server, client(server, path, headers) as one:
        reaction = one.post(FIRST)
    assert (reaction.status, told in reaction.body["error"]["message"]) == (status, True)


# Deviations

ASKED = Turn("", [Call("add", {"a": 1}), Call("save")], reasoning=True)
DEVIATED: dict[Deviation, Callable[[Json, Json], object]] = {
    "ids_missing": lambda body, call: "id" not in call,
    "ids_null": lambda body, call: call["id"] is None,
    "ids_empty": lambda body, call: call["id"] == "",
    "ids_same": lambda body, call: call["id"] == "call_0",
    "types_missing": lambda body, call: "type" not in call,
    "arguments_as_objects": lambda body, call: call["function"]["arguments"] in ({"a": 1}, {}),
    "arguments_null": lambda body, call: call["function"]["arguments"] in ('{"a":1}', None),
    "stop_beside_calls": lambda body, call: body["choices"][0]["finish_reason"] == "stop",
    "usage_missing": lambda body, call: "usage" not in body,
    "usage_in_part": lambda body, call: len(body["usage"]) == 3,
    "content_missing": lambda body, call: "content" not in body["choices"][0]["message"],
    "two_choices": lambda body, call: len(body["choices"]) == 2,
    "index_on_calls": lambda body, call: "index" in call,
    "reasoning_shown": lambda body, call: "Thought" in body["choices"][0]["message"]["reasoning_content"],
    "reasoning_wanted": lambda body, call: "Thought" in body["choices"][0]["message"]["reasoning_content"],
}


@pytest.mark.parametrize("name", DEVIATED)
def test_each_deviation_is_played_and_by_nobody_else(name: Deviation) -> None:
    for body, expected in ((reply(ASKED, name), True), (reply(ASKED), False)):
        calls = body["choices"][0]["message"]["tool_calls"]
        found = [_is_so(name, body, call) for call in calls]
        assert all(found) is expected


def _is_so(name: Deviation, body: Json, call: Json) -> bool:
    try:
        return bool(DEVIATED[name](body, call))
    except KeyError:
        return False


def _fragments(name: Deviation | None = None) -> list[Json]:
    """
    Of the stream of a turn with two calls, the fragments of the calls, and the chunks beside them.
    """
    deviations = () if name is None else (name,)
    with serving([ASKED], *deviations) as one:
        sent = one.stream({**FIRST, "model": OTHER})
    return [
        fragment
        for each in sent
        if each != "[DONE]"
        for choice in json.loads(each)["choices"]
        for fragment in choice["delta"].get("tool_calls", ())
    ]


STREAMED: dict[Deviation, Callable[[list[Json]], bool]] = {
    "indexes_zero": lambda sent: {each["index"] for each in sent} == {0},
    "indexes_missing": lambda sent: not any("index" in each for each in sent),
    "names_repeated": lambda sent: all("name" in each["function"] for each in sent),
    "calls_in_one_chunk": lambda sent: [each["function"]["arguments"] for each in sent] == ['{"a":1}', "{}"],
}


@pytest.mark.parametrize("name", STREAMED)
def test_each_deviation_of_a_stream_is_played_and_by_nobody_else(name: Deviation) -> None:
    assert (STREAMED[name](_fragments(name)), STREAMED[name](_fragments())) == (True, False)


def test_a_stream_without_its_last_word_is_played() -> None:
    with serving([ASKED], "done_missing") as one:
        assert "[DONE]" not in one.stream({**FIRST, "model": OTHER})


def test_usage_so_far_is_played() -> None:
    with serving([Turn("So.")], "usage_in_every_chunk") as one:
        *sent, _ = one.stream({**FIRST, "model": OTHER, "stream_options": {"include_usage": True}})
    assert [json.loads(each)["usage"]["completion_tokens"] for each in sent] == [0, 1, 2, 20]


def test_content_in_parts_is_played() -> None:
    assert reply(Turn("So."), "content_in_parts")["choices"][0]["message"]["content"] == [
        {"type": "text", "text": "So."}
    ]


def test_a_call_of_the_first_years_is_played() -> None:
    choice = reply(ASKED, "function_call")["choices"][0]
    assert choice["finish_reason"] == "function_call"
    assert choice["message"]["function_call"] == {"name": "add", "arguments": '{"a":1}'}
    assert "tool_calls" not in choice["message"]


THOUGHT: Json = {"role": "assistant", "content": "So.", "reasoning_content": "Hm."}
WISHES: list[tuple[Deviation, Json, Json, str]] = [
    ("max_tokens_only", {"max_tokens": 9}, {"max_completion_tokens": 9}, "Unknown parameter: 'max_completion_tokens'"),
    (
        "reasoning_wanted",
        {"messages": [USER, THOUGHT, USER]},
        {"messages": [USER, {**THOUGHT, "reasoning_content": ""}, USER]},
        "Missing `reasoning_content` field in the assistant message at message index 1.",
    ),
    (
        "reasoning_shown",
        {"messages": [USER, THOUGHT, USER]},
        {"messages": [{**USER, "reasoning_content": ""}]},
        "Unknown",
    ),
    (
        "stream_options_unknown",
        {"stream": False},
        {"stream": True, "stream_options": {"include_usage": True}},
        "Unknown parameter: 'stream_options'",
    ),
    (
        "json_schema_unknown",
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": PARAMETERS}}},
        "This response_format type is unavailable now",
    ),
    (
        "short_ids_wanted",
        {"messages": [USER]},
        {
            "messages": [
                USER,
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
            ]
        },
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
    ),
]


@pytest.mark.parametrize(("name", "good", "bad", "told"), WISHES)
def test_what_other_servers_want_is_wanted(name: Deviation, good: Json, bad: Json, told: str) -> None:
    assert reply(Turn("So."), name, **good)["choices"]
    with serving([Turn("So.")], name) as one:
        reaction = one.post({**FIRST, "model": OTHER, **bad})
    assert (reaction.status, told in reaction.body["error"]["message"]) == (400, True)


ALONE_TESTED = ("content_in_parts", "function_call", "done_missing", "usage_in_every_chunk")


def test_every_deviation_is_tested() -> None:
    tested = {*DEVIATED, *STREAMED, *(each[0] for each in WISHES), *ALONE_TESTED}
    assert tested == {*get_args(Deviation)}
