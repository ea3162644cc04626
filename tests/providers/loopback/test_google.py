"""
The Gemini wire: what it renders, and what it refuses.
"""

import base64
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import cast

import pytest
from attrs import evolve

from rodada.providers.loopback import Body, Broken, Call, Failure, Loopback, Received, Reply, Script, Turn, Usage
from rodada.providers.loopback.json_values import objs
from support.loopback_client import HEADERS, Break, Client, Json, Reaction, broken, client

MODEL = "gemini-3.6-flash"
PATH = f"/v1beta/models/{MODEL}:generateContent"
SCHEMA: Json = {"type": "object", "properties": {"a": {"type": "integer"}}}
DECLARATIONS: list[Json] = [
    {"name": name, "description": "Adds.", "parametersJsonSchema": SCHEMA} for name in ("add", "save")
]
FIRST: Json = {
    "contents": [{"role": "user", "parts": [{"text": "How much?"}]}],
    "systemInstruction": {"role": "user", "parts": [{"text": "You count."}]},
    "tools": [{"functionDeclarations": DECLARATIONS}],
    "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    "generationConfig": {"maxOutputTokens": 500},
}


def tool_loop(received: Received) -> Reply:
    """
    Two calls after the first user content, one after the second, else an answer.
    """
    contents = objs(received.body.get("contents"))
    if len(contents) == 1:
        return Turn("Let me see.", [Call("add", {"a": 1}), Call("save", {})], reasoning=True)
    return Turn("", [Call("add", {"a": 2})], reasoning=True) if len(contents) == 3 else Turn("Done.")


@contextmanager
def serving(script: Script, *, ids: bool = True, path: str = PATH) -> Generator[Client]:
    with Loopback(script, google_ids=ids) as server, client(server, path, HEADERS["google"]) as one:
        yield one


def responses(turn: Json) -> Json:
    """
    The user content that answers a turn.
    """
    calls = [part["functionCall"] for part in turn["parts"] if "functionCall" in part]
    return {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    **{key: call[key] for key in ("id", "name") if key in call},
                    "response": {"output": 1},
                }
            }
            for call in calls
        ],
    }


def play(one: Client, first: Json, rounds: int = 2) -> Json:
    """
    A request after so many rounds of tools, each turn sent back as it came.
    """
    body = broken(first, lambda _: None)
    for _ in range(rounds):
        turn = one.post(body).body["candidates"][0]["content"]
        body["contents"] += [turn, responses(turn)]
    return body


@pytest.fixture(scope="module")
def wire() -> Generator[Client]:
    with serving(tool_loop) as one:
        yield one


@pytest.fixture(scope="module")
def valid(wire: Client) -> Json:
    """
    A request of two rounds: user, text and two calls, responses, a call, its response.
    """
    return play(wire, FIRST)


def content(at: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["contents"][at])


def part(at: int, index: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["contents"][at]["parts"][index])


def call(at: int, index: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["contents"][at]["parts"][index]["functionCall"])


def response(at: int, index: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["contents"][at]["parts"][index]["functionResponse"])


def config(body: Json) -> Json:
    return cast(Json, body["toolConfig"]["functionCallingConfig"])


def declaration(body: Json) -> Json:
    return cast(Json, body["tools"][0]["functionDeclarations"][0])


def put(where: Callable[[Json], Json], **fields: object) -> Break:
    return lambda body: where(body).update(fields)


def lacking(where: Callable[[Json], Json], key: str) -> Break:
    return lambda body: where(body).pop(key)


def whole(body: Json) -> Json:
    return body


def drop(at: int) -> Break:
    return lambda body: body["contents"].pop(at)


def insert(at: int, made: object) -> Break:
    return lambda body: body["contents"].insert(at, made)


def cut(at: int, index: int) -> Break:
    return lambda body: body["contents"][at]["parts"].pop(index)


def add(at: int, index: int, made: object) -> Break:
    return lambda body: body["contents"][at]["parts"].insert(index, made)


def both(*changes: Break) -> Break:
    def change(body: Json) -> None:
        for each in changes:
            each(body)

    return change


def split(body: Json) -> None:
    body["contents"][2:3] = [{"role": "user", "parts": [each]} for each in body["contents"][2]["parts"]]


def interleaved(body: Json) -> None:
    text, first, second = body["contents"][1]["parts"]
    one, two = body["contents"][2]["parts"]
    body["contents"][1:3] = [
        {"role": "model", "parts": [text, first]},
        {"role": "user", "parts": [one]},
        {"role": "model", "parts": [second]},
        {"role": "user", "parts": [two]},
    ]


def same_id_twice(body: Json) -> None:
    again = body["contents"][1]["parts"][1]["functionCall"]["id"]
    call(3, 0)(body)["id"] = response(4, 0)(body)["id"] = again


def foreign_id(body: Json) -> None:
    call(3, 0)(body)["id"] = response(4, 0)(body)["id"] = "made-up"


def ids_left_out(body: Json) -> None:
    del call(3, 0)(body)["id"]
    del response(4, 0)(body)["id"]


def calls_swapped(body: Json) -> None:
    parts = body["contents"][1]["parts"]
    parts[1], parts[2] = parts[2], parts[1]


def signature_moved(body: Json) -> None:
    parts = body["contents"][1]["parts"]
    parts[2]["thoughtSignature"] = parts[1].pop("thoughtSignature")


def signatures_swapped(body: Json) -> None:
    one, other = part(1, 1)(body), part(3, 0)(body)
    one["thoughtSignature"], other["thoughtSignature"] = other["thoughtSignature"], one["thoughtSignature"]


def openapi(schema: object) -> Break:
    return both(lacking(declaration, "parametersJsonSchema"), put(declaration, parameters=schema))


USER: Json = {"role": "user", "parts": [{"text": "By the way."}]}
MODEL_TEXT: Json = {"role": "model", "parts": [{"text": "So"}]}
ORPHAN: Json = {"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {}}}]}
NUMBER = "Please ensure that the number of function response parts is equal to the number of function call parts"
AFTER_CALL = "Please ensure that function response turn comes immediately after a function call turn."
AFTER_USER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
REQUEST = "* GenerateContentRequest."
SKIP = base64.b64encode(b"skip_thought_signature_validator").decode()

REFUSED: list[tuple[str, Break, str]] = [
    (
        "both kinds of tools, without a word of it",
        lambda body: body["tools"].append({"google_search": {}}),
        "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
    ),
    # calls and responses
    ("open call", drop(4), NUMBER),
    ("open call of two", cut(2, 1), NUMBER),
    ("a response too many", add(4, 1, ORPHAN["parts"][0]), NUMBER),
    ("orphan", insert(5, ORPHAN), AFTER_CALL),
    ("orphan id", put(response(4, 0), id="alien"), "functionResponse.id does not match functionCall.id"),
    ("id missing", lacking(response(4, 0), "id"), "functionResponse.id does not match functionCall.id"),
    ("other name", put(response(4, 0), name="save"), "functionResponse.name does not match functionCall.name"),
    ("doubled call", same_id_twice, "Duplicate functionCall.id found in contents."),
    ("doubled response", lambda body: response(2, 1)(body).update(id=response(2, 0)(body)["id"]), "does not match"),
    ("results split", split, NUMBER),
    ("parallel turn interleaved", interleaved, "is missing a thought_signature"),
    ("text among responses", add(2, 1, {"text": "By the way."}), NUMBER),
    ("text before responses", add(2, 0, {"text": "By the way."}), NUMBER),
    ("content between", insert(2, USER), NUMBER),
    ("turn dropped", drop(1), AFTER_CALL),
    ("call turn first", drop(0), AFTER_USER),
    ("call turn after the model", insert(3, MODEL_TEXT), AFTER_USER),
    ("model first", insert(0, MODEL_TEXT), "Please ensure that the first content has the role user."),
    ("model last", insert(5, MODEL_TEXT), "Requests ending with a model turn are not supported."),
    ("foreign id", foreign_id, "functionCall.id does not match the id"),
    ("ids left out", ids_left_out, "functionCall.id does not match the id"),
    # signatures
    ("signature missing", lacking(part(3, 0), "thoughtSignature"), "function call `default_api:add`, position 4."),
    ("signature of an earlier step missing", lacking(part(1, 1), "thoughtSignature"), "position 2."),
    ("signature altered", put(part(3, 0), thoughtSignature="AAAA"), "Corrupted thought signature."),
    ("signature no base64", put(part(3, 0), thoughtSignature="A"), "Base64 decoding failed"),
    ("signature moved", signature_moved, "Invalid thought signature."),
    ("signatures swapped", signatures_swapped, "Invalid thought signature."),
    ("calls swapped", calls_swapped, "is missing a thought_signature"),
    ("arguments altered", put(call(3, 0), args={"a": 9}), "Invalid thought signature."),
    # contents and parts
    ("contents missing", lacking(whole, "contents"), "contents is not specified"),
    ("role function", put(content(4), role="function"), "Role 'function' is not supported. Please use a valid role"),
    ("role tool", put(content(4), role="tool"), "Role 'tool' is not supported. Please use a valid role"),
    ("role missing", lacking(content(4), "role"), "Please use a valid role: user, model."),
    ("no parts", put(content(0), parts=[]), "contents[0].parts: contents.parts must not be empty."),
    ("part without data", add(1, 0, {}), "required oneof field 'data' must have one initialized field"),
    ("part with a thought alone", add(1, 0, {"thought": True}), "required oneof field 'data'"),
    ("part with two data", put(part(0, 0), functionCall={"name": "x"}), "oneof field 'data' is already set"),
    ("text a number", put(part(0, 0), text=3), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 3"),
    ("args a string", put(call(3, 0), args="{}"), "'contents[3].parts[0].function_call.args' (type.googleapis.com"),
    ("response a string", put(response(4, 0), response="1"), "function_response.response' (type.googleapis.com"),
    ("response missing", lacking(response(4, 0), "response"), "the response is not specified"),
    ("response with a reference", put(response(4, 0), response={"a": [{"$ref": "#/x"}]}), "contains a $ref to '#/x'"),
    ("name empty", put(response(4, 0), name=""), "function_response.name: Name cannot be empty."),
    ("call of the user", add(0, 1, {"functionCall": {"name": "x"}}), "must be in a content with the role model."),
    ("unknown field", put(whole, rounds=3), 'Unknown name "rounds": Cannot find field.'),
    ("unknown field in a part", put(part(0, 0), type="text"), "Unknown name \"type\" at 'contents[0].parts[0]'"),
    ("is_error", put(response(4, 0), is_error=True), 'Unknown name "is_error" at'),
    ("parts an object", put(content(0), parts={}), "Invalid value at 'contents[0].parts': expected an array"),
    ("system instruction of data", put(whole, systemInstruction=ORPHAN), "supports text parts only"),
    ("no room", put(lambda body: body["generationConfig"], maxOutputTokens=0), "max_output_tokens must be positive"),
    ("unknown continuation", put(whole, continuationToken="AAAA"), "Invalid continuation token."),
    # tools
    ("config without declarations", lacking(whole, "tools"), "Function calling config is set without"),
    ("config none without declarations", both(lacking(whole, "tools"), put(config, mode="NONE")), "is set without"),
    ("config with empty tools", put(whole, tools=[]), "Function calling config is set without function_declarations."),
    ("mode unknown", put(config, mode="REQUIRED"), 'FunctionCallingConfig.Mode), "REQUIRED"'),
    ("names without a forced call", put(config, allowedFunctionNames=["add"]), "should only be set when"),
    ("names of no tool", put(config, mode="ANY", allowedFunctionNames=["x"]), "'x' is not declared"),
    ("names twice", put(declaration, name="save"), "Duplicate function declaration found: save"),
    ("name illegal", put(declaration, name="add numbers"), "Invalid function name."),
    ("name of a digit", put(declaration, name="1add"), "Invalid function name."),
    ("two schemas", put(declaration, parameters={"type": "OBJECT"}), "must not both be set"),
    ("schema of an array", put(declaration, parametersJsonSchema={"type": "array"}), "must be of type object"),
    ("schema without type", put(declaration, parametersJsonSchema={}), "must be of type object"),
    (
        "schema with a crowded reference",
        put(declaration, parametersJsonSchema={**SCHEMA, "properties": {"a": {"$ref": "#/$defs/a", "type": "string"}}}),
        "must not have 'type' beside it",
    ),
    (
        "OpenAPI schema with a JSON Schema word",
        openapi({"type": "OBJECT", "additionalProperties": False}),
        "Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
    ),
    ("OpenAPI schema without properties", openapi({"type": "OBJECT"}), "should be non-empty for OBJECT type"),
    (
        "OpenAPI type in lower case",
        openapi({"type": "OBJECT", "properties": {"a": {"type": "string"}}}),
        'v1beta.Type), "string"',
    ),
    (
        "OpenAPI root of a string",
        openapi({"type": "STRING"}),
        "parameters.type: parameters schema should be of type OBJECT.",
    ),
    (
        "OpenAPI enum of numbers",
        openapi({"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "enum": [1]}}}),
        "parameters.properties[a].enum: only allowed for STRING type",
    ),
    (
        "OpenAPI array without items",
        openapi({"type": "OBJECT", "properties": {"a": {"type": "ARRAY"}}}),
        "parameters.properties[a].items: missing field.",
    ),
]


@pytest.mark.parametrize(("change", "said"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_what_the_vendor_refuses_is_refused(wire: Client, valid: Json, change: Break, said: str) -> None:
    assert wire.post(valid).status == 200
    reaction = wire.post(broken(valid, change))
    error = reaction.body["error"]
    assert (reaction.status, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert said in error["message"]


def snake(value: object) -> object:
    """
    The same request as the SDK writes some of it: with snake_case names.
    """
    if isinstance(value, list):
        return [snake(each) for each in cast(list[object], value)]
    if not isinstance(value, dict):
        return value
    names = {"functionCall": "function_call", "functionResponse": "function_response"}
    names |= {"thoughtSignature": "thought_signature", "functionDeclarations": "function_declarations"}
    names |= {"systemInstruction": "system_instruction", "parametersJsonSchema": "parameters_json_schema"}
    return {names.get(key, key): snake(inner) for key, inner in cast(Json, value).items()}


def url_safe(body: Json) -> None:
    signed = part(3, 0)(body)
    signed["thoughtSignature"] = base64.urlsafe_b64encode(base64.b64decode(signed["thoughtSignature"])).decode()


ACCEPTED: list[tuple[str, Break]] = [
    ("tools withheld", put(config, mode="NONE")),
    ("another system instruction", put(whole, systemInstruction={"parts": [{"text": "Stop."}]})),
    ("responses in another order", lambda body: body["contents"][2]["parts"].reverse()),
    ("nulls", both(put(part(0, 0), thoughtSignature=None), put(whole, cachedContent=None))),
    ("a url-safe signature", url_safe),
    ("a new message", insert(5, USER)),
    ("a new message, old signatures left out", both(insert(5, USER), lacking(part(3, 0), "thoughtSignature"))),
    (
        "the escape for imported calls",
        both(
            put(content(3), parts=[{"functionCall": {"name": "add"}, "thoughtSignature": SKIP}]),
            lacking(response(4, 0), "id"),
        ),
    ),
    ("a forced call", put(config, mode="ANY", allowedFunctionNames=["add"])),
    ("an OpenAPI schema", openapi({"type": "OBJECT", "properties": {"a": {"type": "STRING", "enum": ["x"]}}})),
    ("no parameters", lacking(declaration, "parametersJsonSchema")),
    ("no tools at all", both(lacking(whole, "tools"), lacking(whole, "toolConfig"))),
]


@pytest.mark.parametrize("change", [pytest.param(case[1], id=case[0]) for case in ACCEPTED])
def test_what_the_vendor_accepts_is_accepted(wire: Client, valid: Json, change: Break) -> None:
    reaction = wire.post(broken(valid, change))
    assert (reaction.status, reaction.body.get("error")) == (200, None)


def test_names_may_be_in_either_case(wire: Client, valid: Json) -> None:
    assert wire.post(cast(Json, snake(valid))).status == 200
    assert wire.post(cast(Json, snake(broken(valid, cut(2, 1))))).status == 400


def test_calls_without_ids_are_paired_by_position() -> None:
    with serving(tool_loop, ids=False) as one:
        body = play(one, FIRST)
        assert "id" not in call(1, 1)(body)
        assert one.post(body).status == 200
        swapped = one.post(broken(body, lambda body: body["contents"][2]["parts"].reverse()))
        invented = one.post(broken(body, put(response(4, 0), id="made-up")))
    assert (swapped.status, invented.status) == (400, 400)


def test_older_models_want_no_signature() -> None:
    with serving(tool_loop, path="/v1/models/gemini-2.5-flash:generateContent") as one:
        body = play(one, FIRST)
        assert one.post(broken(body, lacking(part(3, 0), "thoughtSignature"))).status == 200


def test_a_made_up_id_passes_on_early_models_of_the_third_generation() -> None:
    with serving(tool_loop, path="/v1beta/models/gemini-3-flash-preview:generateContent") as one:
        assert one.post(broken(play(one, FIRST), foreign_id)).status == 200


def test_newer_models_sign_every_turn_that_calls() -> None:
    with serving([Turn("Hm.", [Call("add"), Call("save")])]) as one:
        parts = one.post(FIRST).body["candidates"][0]["content"]["parts"]
    assert ["thoughtSignature" in each for each in parts] == [False, True, False]


def test_a_call_that_was_sent_unsigned_comes_back_unsigned() -> None:
    ready = {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "add"}}]}}]}
    with serving(lambda received: Body(ready)) as one:
        assert one.post(play(one, FIRST, rounds=1)).status == 200


def test_another_server_knows_the_signatures_of_the_first(valid: Json) -> None:
    with serving([Turn("Done.")]) as one:
        assert one.post(broken(valid, signatures_swapped)).status == 400
        assert one.post(valid).status == 200


def test_the_pieces_of_a_paused_turn_come_back_as_one() -> None:
    pieces = [Turn("", [Call("add"), Call("save")], stop="paused"), Turn("", [Call("add")])]
    with serving([*pieces, Turn("Done.")]) as one:
        first = one.post(FIRST).body["candidates"][0]
        second = one.post({**FIRST, "continuationToken": first["continuationToken"]}).body["candidates"][0]
        whole = {"role": "model", "parts": [*first["content"]["parts"], *second["content"]["parts"]]}
        body = {**FIRST, "contents": [*FIRST["contents"], whole, responses(whole)]}
        less = {"role": "model", "parts": whole["parts"][1:]}
        more = {"role": "model", "parts": [*whole["parts"], {"functionCall": {"id": "x", "name": "add"}}]}
        for wrong in (more, {"role": "model", "parts": whole["parts"][::2]}):
            refused = one.post({**FIRST, "contents": [*FIRST["contents"], wrong, responses(wrong)]})
            assert "does not match the id" in refused.body["error"]["message"]
        assert one.post({**body, "contents": [*FIRST["contents"], less, responses(less)]}).status == 400
        assert one.post(body).status == 200


def test_a_paused_turn_is_resumed_with_its_token() -> None:
    with serving([Turn("Hm", stop="paused"), Turn("m.")]) as one:
        (candidate,) = one.post(FIRST).body["candidates"]
        assert candidate["finishReason"] == "CONTINUATION"
        assert one.post({**FIRST, "continuationToken": candidate["continuationToken"]}).status == 200


@pytest.mark.parametrize("key", ["", None])
def test_no_credentials(key: str | None) -> None:
    headers = {} if key is None else {"x-goog-api-key": key}
    with Loopback() as server, client(server, PATH, headers) as one:
        reaction = one.post(FIRST)
    assert (reaction.status, reaction.body["error"]["status"]) == (403, "PERMISSION_DENIED")


STREAM = f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse"


def events(one: Client, body: Json) -> list[Json]:
    one.send(body)
    response = one.connection.getresponse()
    assert (response.status, response.getheader("content-type")) == (200, "text/event-stream; charset=utf-8")
    told = response.read().decode().split("\r\n\r\n")
    assert told.pop() == ""
    return [json.loads(each.removeprefix("data: ")) for each in told]


def parts_of(chunks: list[Json]) -> list[Json]:
    return [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]


def test_a_stream_says_a_text_in_pieces_and_how_it_ended_in_the_last_one() -> None:
    with serving([Turn("Let me look it up.", usage=Usage(100, 20))], path=STREAM) as one:
        chunks = events(one, FIRST)
    assert [part["text"] for part in parts_of(chunks)] == ["Let me ", "look it", " up."]
    assert ["finishReason" in chunk["candidates"][0] for chunk in chunks] == [False, False, True]
    assert [chunk["usageMetadata"]["candidatesTokenCount"] for chunk in chunks] == [1, 1, 20]


def test_a_call_comes_whole_and_the_signature_of_a_text_behind_it() -> None:
    turns = [Turn("Fine.", [Call("add", {"a": 1}), Call("save")]), Turn("Done.", reasoning=True)]
    with serving(turns, path=STREAM) as one:
        said = parts_of(events(one, FIRST))
        assert [sorted(part) for part in said] == [["text"], ["functionCall", "thoughtSignature"], ["functionCall"]]
        turn: Json = {"role": "model", "parts": said}
        answered: Json = {**FIRST, "contents": [*FIRST["contents"], turn, responses(turn)]}
        *text, signed = parts_of(events(one, answered))
    assert (text, sorted(signed), signed["text"]) == ([{"text": "Done."}], ["text", "thoughtSignature"], "")


def test_the_empty_text_that_carries_a_signature_comes_back_as_it_is() -> None:
    with serving([Turn("Fine.", reasoning=True), Turn("Good."), Turn("Good.")], path=STREAM) as one:
        text, signed = parts_of(events(one, FIRST))
        more = {"role": "user", "parts": [{"text": "And now?"}]}

        def echoed(*parts: Json) -> Json:
            return {**FIRST, "contents": [*FIRST["contents"], {"role": "model", "parts": [*parts]}, more]}

        assert events(one, echoed(text, signed))
        moved = one.post(echoed({**text, "thoughtSignature": signed["thoughtSignature"]}))
        assert (moved.status, moved.body["error"]["message"]) == (400, "Invalid thought signature.")


def test_a_blocked_prompt_and_a_body_of_another_form_are_one_event() -> None:
    blocked, other = {"promptFeedback": {"blockReason": "SAFETY"}}, {"what": "is this"}
    with serving([Body(blocked), Body(other)], path=STREAM) as one:
        assert [events(one, FIRST), events(one, FIRST)] == [[blocked], [other]]


def test_a_stream_breaks_off_where_the_script_says_so() -> None:
    turn = Turn("Let me look it up.")
    with serving([Broken(turn, 2, "end"), Broken(turn, 1, Failure(503, "Not now."))], path=STREAM) as one:
        assert len(events(one, FIRST)) == 2
        _, error = events(one, FIRST)
    assert error == {"error": {"code": 503, "message": "Not now.", "status": "UNAVAILABLE"}}


def test_a_stream_is_asked_for_as_events(wire: Client) -> None:
    reaction = evolve(wire, path=STREAM.removesuffix("?alt=sse")).post(FIRST)
    assert (reaction.status, reaction.body["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_a_bad_request_for_a_stream_is_refused_as_any(wire: Client) -> None:
    reaction = evolve(wire, path=STREAM).post({**FIRST, "stream": True})
    assert (reaction.status, reaction.body["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_an_unknown_path(wire: Client) -> None:
    reaction = evolve(wire, path="/v1beta/interactions").post(FIRST)
    assert (reaction.status, reaction.body["error"]["status"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"contents": NaN}', b'{"x": "\\ud800"}', b"[" * 100_000])
def test_a_body_that_is_no_json_object(wire: Client, raw: bytes) -> None:
    reaction = wire.post(raw)
    assert (reaction.status, reaction.body["error"]["status"]) == (400, "INVALID_ARGUMENT")


def answer(turn: Turn, **changes: object) -> Reaction:
    with serving([turn]) as one:
        return one.post({**FIRST, **changes})


@pytest.mark.parametrize(
    ("turn", "word"),
    [
        (Turn("a"), "STOP"),
        (Turn("a", [Call("add")]), "STOP"),
        (Turn("a", stop="cut"), "MAX_TOKENS"),
        (Turn("a", stop="paused"), "CONTINUATION"),
        (Turn(stop="malformed"), "MALFORMED_FUNCTION_CALL"),
        (Turn("a", stop="refused"), "SAFETY"),
        (Turn("a", stop="unknown"), "OTHER"),
        (Turn("a", stop="refused", word="RECITATION"), "RECITATION"),
    ],
)
def test_each_stop_has_its_word(turn: Turn, word: str) -> None:
    assert answer(turn).body["candidates"][0]["finishReason"] == word


def test_the_whole_response() -> None:
    turn = Turn("Hm.", [Call("add", {"a": 1}, id="call-x")], usage=Usage(input=100, output=30, cached=40, reasoning=5))
    body = answer(turn).body
    signature = part(0, 1)({"contents": [body["candidates"][0]["content"]]})["thoughtSignature"]
    assert body == {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm."},
                        {
                            "functionCall": {"id": "call-x", "name": "add", "args": {"a": 1}},
                            "thoughtSignature": signature,
                        },
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 40,
            "candidatesTokenCount": 25,
            "thoughtsTokenCount": 5,
            "totalTokenCount": 130,
            "serviceTier": "standard",
        },
        "modelVersion": MODEL,
        "responseId": "resp_00000002",
    }


def test_thoughts_come_when_they_are_asked_for() -> None:
    thinking = {"thinkingConfig": {"include_thoughts": True}}
    parts = answer(Turn("a", reasoning=True), generationConfig=thinking).body["candidates"][0]["content"]["parts"]
    assert [(each["text"], each.get("thought", False), "thoughtSignature" in each) for each in parts] == [
        ("Let me think about this.", True, False),
        ("a", False, True),
    ]


def test_an_empty_id_is_left_out() -> None:
    parts = answer(Turn("", [Call("add", id="")])).body["candidates"][0]["content"]["parts"]
    assert parts[0]["functionCall"] == {"name": "add", "args": {}}


@pytest.mark.parametrize(("text", "value"), [("", {}), ('{"a": 1}', {"a": 1}), ("[1]", [1])])
def test_argument_text_is_said_as_a_value(text: str, value: object) -> None:
    parts = answer(Turn("", [Call("add", text)])).body["candidates"][0]["content"]["parts"]
    assert parts[0]["functionCall"]["args"] == value


def test_broken_arguments_cannot_be_said() -> None:
    reaction = answer(Turn("", [Call("add", '{"a": ')]))
    assert (reaction.status, reaction.body["error"]["status"]) == (500, "INTERNAL")
    assert "the google wire has no form" in reaction.body["error"]["message"]


def test_a_failure_is_in_the_vendors_envelope() -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"}
    with serving([Failure(429, "Quota exceeded.", details=[retry])]) as one:
        reaction = one.post(FIRST)
    assert (reaction.status, reaction.body) == (
        429,
        {"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": [retry]}},
    )


# Tools of the vendor's own


def mixed(own: Json, **config: object) -> Json:
    return {
        **FIRST,
        "tools": [*FIRST["tools"], own],
        "toolConfig": {"includeServerSideToolInvocations": True, **config},
    }


def kinds(reaction: Reaction) -> list[str]:
    return [next(iter(part)) for part in reaction.body["candidates"][0]["content"]["parts"]]


def test_parts_show_what_the_server_ran_itself() -> None:
    with serving([Turn("80.", search="done")] * 3) as one:
        searched = one.post(mixed({"googleSearch": {}}))
        computed = one.post(mixed({"codeExecution": {}}))
        assert one.post(FIRST).status == 500
    assert kinds(searched) == ["toolCall", "toolResponse", "text"]
    assert kinds(computed) == ["executableCode", "codeExecutionResult", "text"]


def test_older_models_take_one_kind_of_tools_alone() -> None:
    path = "/v1beta/models/gemini-2.5-flash:generateContent"
    with serving([Turn("80.")], path=path) as one:
        both = one.post(mixed({"googleSearch": {}}))
        assert one.post({**FIRST, "tools": [{"googleSearch": {}}], "toolConfig": {}}).status == 200
    assert (both.status, both.body["error"]["message"]) == (
        400,
        "Tool call context circulation is not enabled for models/gemini-2.5-flash",
    )
