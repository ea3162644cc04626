"""
Stored contents of generateContent.
"""

import pytest
from google.genai import types

from rodada.providers.google import from_messages, to_messages
from rodada.statemachine import (
    Conversation,
    Exchange,
    Media,
    MediaLink,
    ModelTurn,
    Part,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from rodada.statemachine.errors import AmbiguousResult, UnreadableMessages
from rodada.statemachine.jsontext import JsonObject, JsonValue
from support.imports import kinds, told

PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png")
SHOT: JsonObject = {"inlineData": {"mimeType": "image/png", "data": PNG.data}}


LINK: JsonObject = {"fileData": {"mimeType": "image/png", "fileUri": "https://host/a"}}


def user(*parts: JsonValue) -> JsonObject:
    return {"role": "user", "parts": [*parts]}


def model(*parts: JsonValue) -> JsonObject:
    return {"role": "model", "parts": [*parts]}


def text(words: str, **more: JsonValue) -> JsonObject:
    return {"text": words, **more}


def call(name: str, id: str | None = None, **more: JsonValue) -> JsonObject:
    named: JsonObject = {} if id is None else {"id": id}
    return {"functionCall": {**named, "name": name, "args": {"n": 1}}, **more}


def answer(name: str, id: str | None = None, *media: JsonValue, **response: JsonValue) -> JsonObject:
    named: JsonObject = {} if id is None else {"id": id}
    shown: JsonObject = {"parts": [*media]} if media else {}
    return {"functionResponse": {**named, "name": name, "response": response or {"output": "ok"}, **shown}}


HI = user(text("hi"))


def test_a_history_comes_in_and_goes_out_as_it_stands() -> None:
    stored = [
        HI,
        model(text("hm", thought=True), text("Let me see."), call("f", "a", thoughtSignature="YWJj"), call("g", "b")),
        user(answer("f", "a", output="1"), answer("g", "b", error="no")),
        model(text("It is one."), text("", thoughtSignature="ZGVm")),
        user(text("And in "), SHOT, LINK),
        model(text("Nice.")),
    ]
    found = from_messages(stored)

    lines = [
        "U hi",
        "X Let me see. a=1 b=no",
        "T It is one.",
        "U And in \n[image/png, 8 bytes]\n[image/png, at https://host/a]",
        "T Nice.",
    ]
    assert (lines, []) == (told(found.conversation), kinds(found))
    assert stored == to_messages(found.conversation)


def test_both_spellings_of_the_fields_are_read() -> None:
    stored: list[JsonObject] = [
        HI,
        model({"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": "YWJj", "thought": None}),
        user({"function_response": {"name": "f", "response": {"a_b": 1}}}),
        user({"inline_data": {"mime_type": "image/png", "data": PNG.data}}),
    ]
    found = from_messages(stored)

    assert (["U hi", 'X call_1_0={"a_b":1}', "U [image/png, 8 bytes]"], []) == (told(found.conversation), kinds(found))
    spelled: JsonObject = {"functionCall": {"name": "f", "args": {"a_b": 1}}, "thoughtSignature": "YWJj"}
    assert model(spelled) == to_messages(found.conversation)[1]


def test_objects_of_the_sdk_and_their_bytes_are_read() -> None:
    asked = types.Part(function_call=types.FunctionCall(name="f", args={"n": None}), thought_signature=b"\xff\xfe")
    shown = types.Part(inline_data=types.Blob(mime_type="image/png", data=PNG.bytes))
    stored: list[object] = [
        types.Content(role="user", parts=[types.Part(text="hi"), shown]),
        types.Content(role="model", parts=[asked]),
        {"role": "user", "parts": [types.Part(function_response=types.FunctionResponse(name="f", response={"x": 1}))]},
        {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG.bytes}}]},
    ]
    found = from_messages(stored)

    lines = ["U hi\n[image/png, 8 bytes]", 'X call_1_0={"x":1}', "U [image/png, 8 bytes]"]
    assert (lines, []) == (told(found.conversation), kinds(found))
    sent: JsonObject = {"functionCall": {"name": "f", "args": {"n": None}}, "thoughtSignature": "__4="}
    assert model(sent) == to_messages(found.conversation)[1]


@pytest.mark.parametrize("role", ["user", "function", "tool"])
def test_responses_stood_under_three_roles(role: str) -> None:
    found = from_messages([HI, model(call("f")), {**user(answer("f")), "role": role}])

    assert (["U hi", "X call_1_0=ok"], []) == (told(found.conversation), kinds(found))
    assert user(answer("f")) == to_messages(found.conversation)[2]


def test_without_a_role_it_is_guessed_as_the_sdk_does() -> None:
    stored: list[JsonObject] = [{"parts": [text("hi")]}, {"parts": [call("f")]}, {"parts": [answer("f")]}]

    assert ["U hi", "X call_1_0=ok"] == told(from_messages(stored).conversation)


def test_f021_f022_calls_without_ids_get_their_own_and_are_sent_without() -> None:
    turns = [model(call("w"), call("w")), user(answer("w", output="A"), answer("w", output="B"))]
    found = from_messages([HI, *turns, *turns])

    assert (["U hi", "X call_1_0=A call_1_1=B", "X call_2_0=A call_2_1=B"], []) == (
        told(found.conversation),
        kinds(found),
    )
    assert [HI, *turns, *turns] == to_messages(found.conversation)


def test_f010_f018_a_missing_response_is_made_up_for() -> None:
    found = from_messages([HI, model(call("f"), call("g")), user(answer("f")), model(text("so"))])

    assert ["U hi", "X call_1_0=ok call_1_1=outcome_unknown", "T so"] == told(found.conversation)
    assert ["1 open_call g"] == kinds(found)


def test_responses_are_told_apart_by_name() -> None:
    found = from_messages([HI, model(call("f"), call("g")), user(answer("g", output="G"), answer("f", output="F"))])

    assert ["U hi", "X call_1_0=F call_1_1=G"] == told(found.conversation)
    assert ["2 moved_result g"] == kinds(found)


def test_f025_fewer_responses_than_calls_of_one_name() -> None:
    with pytest.raises(AmbiguousResult) as caught:
        from_messages([HI, model(call("w"), call("w")), user(answer("w"))])
    assert (2, "[2].parts[0]") == (caught.value.index, caught.value.path)


def test_f019_text_among_the_responses_comes_after_them() -> None:
    found = from_messages([HI, model(call("f"), call("g")), user(answer("f"), text("note"), answer("g"))])

    assert ["U hi", "X call_1_0=ok call_1_1=ok", "U note"] == told(found.conversation)
    assert ["2 moved_result g"] == kinds(found)


@pytest.mark.parametrize(
    ("response", "status", "text"),
    [
        ({"output": "so"}, Status.SUCCEEDED, "so"),
        ({"error": "no"}, Status.FAILED, "no"),
        ({"error": {"code": 1}}, Status.FAILED, '{"error":{"code":1}}'),
        ({"result": "so"}, Status.SUCCEEDED, '{"result":"so"}'),
        ({"output": "so", "error": "no"}, Status.SUCCEEDED, '{"output":"so","error":"no"}'),
        ({}, Status.SUCCEEDED, "{}"),
        (None, Status.SUCCEEDED, ""),
    ],
)
def test_what_a_response_says(response: JsonValue, status: Status, text: str) -> None:
    given: JsonObject = {"functionResponse": {"name": "f", "response": response}}
    entry = from_messages([HI, model(call("f")), user(given)]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert (status, text) == (entry.results[0].status, entry.results[0].told)


@pytest.mark.parametrize(
    ("told", "parts"),
    [
        ("before\n[image/png, 8 bytes]\nafter", (Text("before"), PNG, Text("after"))),
        ("[plot.png: image/png, 8 bytes]", (Media.of(PNG.bytes, "image/png", "plot.png"),)),
        ("no line", (Text("no line"), PNG)),
        ("[image/png, 9 bytes]", (Text("[image/png, 9 bytes]"), PNG)),
        ("", (PNG,)),
    ],
)
def test_media_in_a_response_go_where_its_text_tells_of_them(told: str, parts: tuple[Part, ...]) -> None:
    entry = from_messages([HI, model(call("f")), user(answer("f", None, SHOT, output=told))]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert parts == entry.results[0].content


@pytest.mark.parametrize(
    ("args", "sent", "changes"),
    [('{"n":1}', {"n": 1}, []), ("{", {}, ["1 unreadable_arguments"]), ([1], {}, ["1 unreadable_arguments"])],
)
def test_args_that_are_no_object(args: JsonValue, sent: JsonObject, changes: list[str]) -> None:
    """
    Those that are stored as their text are read; what cannot be an object is named, and stays in the call.
    """
    asked: JsonObject = {"functionCall": {"name": "f", "args": args}}
    found = from_messages([HI, model(asked), user(answer("f"))])

    assert changes == kinds(found)
    assert model({"functionCall": {"name": "f", "args": sent}}) == to_messages(found.conversation)[1]


def test_what_stands_behind_a_response_under_the_wrong_role_was_said_after_it() -> None:
    found = from_messages([HI, model(call("f"), answer("f"), text("so"))])

    assert ["1 moved_result f"] == kinds(found)
    assert [HI, model(call("f")), user(answer("f")), model(text("so"))] == to_messages(found.conversation)


def test_signatures_hold_for_the_model_that_gave_them() -> None:
    stored = [HI, model(text("so", thoughtSignature="YWJj"))]
    known = from_messages(stored, model="gemini-3-flash").conversation
    unknown = from_messages(stored).conversation

    assert stored == to_messages(known, model="gemini-3-flash")
    assert [HI, model(text("so"))] == to_messages(known, model="gemini-3.6-flash")
    assert stored == to_messages(unknown, model="gemini-3.6-flash")
    assert [HI, model(text("so"))] == to_messages(unknown.without_reasoning())


def test_thoughts_are_no_text() -> None:
    turn = from_messages([HI, model(text("hm", thought=True), text("so"))]).conversation.entries[1]

    assert isinstance(turn, ModelTurn)
    assert "so" == turn.text


@pytest.mark.parametrize(
    ("content", "changes"),
    [
        (user({"fileData": {"fileUri": "gs://x/a"}}), ["1 told_in_words fileData"]),
        (user({"fileData": {"fileUri": "http://x/a", "mimeType": "image/png"}}), ["1 told_in_words fileData"]),
        (user({"fileData": {"fileUri": "https://x/a", "mimeType": "image/*"}}), ["1 told_in_words fileData"]),
        (user(text("so"), {"executableCode": {}}), ["1 unknown_part executableCode"]),
        (user(text("so"), {}), ["1 unknown_part"]),
        (user(text("so"), {"text": "a", "inlineData": {}}), ["1 unknown_part"]),
        (user(text("so"), {"inlineData": {"data": "?"}}), ["1 unknown_part broken base64"]),
        (user(text("so", at=1)), ["1 unknown_fields at"]),
        ({**user(text("so")), "at": 1}, ["1 unknown_fields at"]),
        ({"role": "system", "parts": [text("Be kind.")]}, ["1 system_text"]),
        ({"role": "system", "parts": [SHOT]}, ["1 system_text", "1 unknown_part"]),
        (model({**call("f"), "function_call": {"name": "g"}}), ["1 unknown_fields function_call", "1 open_call f"]),
        (user(), ["1 blank"]),
        (model(), ["1 blank"]),
        (model(text("hm", thought=True)), ["1 blank"]),
        (model(text("so"), {"thoughtSignature": "YWJj"}), ["1 unknown_part"]),
        (model(text("so", thoughtSignature="?")), ["1 unknown_fields thoughtSignature"]),
        (model(text("so"), {"functionCall": {"args": {}}}), ["1 unknown_part a call without a name"]),
        (model(text("so"), {"inlineData": {"mimeType": "image/png", "data": "bm8="}}), ["1 unknown_part inlineData"]),
        (model(text("so"), {"fileData": {"mimeType": "image/png"}}), ["1 unknown_part fileData"]),
        (model(text("so"), LINK), []),
        (model(text("so"), {"executableCode": {"code": "1"}}, SHOT), []),
    ],
)
def test_what_has_no_place_is_named(content: JsonObject, changes: list[str]) -> None:
    assert changes == kinds(from_messages([HI, content]))


def test_links_behind_the_results_go_back_into_them() -> None:
    line = "\n[image/png, at https://host/a; shown after the results]\n"
    stored = [HI, model(call("f", "a")), user(answer("f", "a", output=f"see{line}so"), LINK)]
    found = from_messages(stored)

    exchange = found.conversation.entries[1]
    assert isinstance(exchange, Exchange)
    assert (Text("see"), MediaLink("https://host/a", "image/png"), Text("so")) == exchange.results[0].content
    assert ([], stored) == (kinds(found), to_messages(found.conversation))


def test_a_response_that_holds_an_image_gets_its_links_back_too() -> None:
    link, shot = MediaLink("https://host/a", "image/png", "x"), Media.of(PNG.bytes, "image/png", "y")
    request = ToolRequest("a", "f", "{}", wire_id="a")
    turn = ModelTurn(Stop.WHOLE, requests=(request,))
    for parts in ((Text("see"), shot, link, Text("so")), (link, shot), (shot, link), (link, shot, link, shot)):
        results = (ToolResult.with_parts(request, Status.SUCCEEDED, parts),)
        before = Conversation("c", (UserMessage("m", (Text("hi"),)), Exchange(turn, results)))
        found = from_messages(to_messages(before))

        (_, exchange) = found.conversation.entries
        assert isinstance(exchange, Exchange)
        assert (parts, []) == (exchange.results[0].content, kinds(found))


def test_a_message_of_the_person_keeps_its_order() -> None:
    (message,) = from_messages([user(SHOT, text("so"))]).conversation.entries

    assert isinstance(message, UserMessage)
    assert (PNG, Text("so")) == message.content


REFUSED: list[tuple[object, str]] = [
    ("hi", "messages: expected a list of messages, found a string (google)"),
    (["hi"], "[0]: expected an object, found a string (google)"),
    (
        [{"role": "assistant", "parts": []}],
        "[0].role: expected user, model, function, tool or system, found 'assistant' (google)",
    ),
    ([{"role": "user", "parts": text("so")}], "[0].parts: expected a list, found an object (google)"),
    ([user({"text": 7})], "[0].parts[0].text: expected a string, found a number (google)"),
    (
        [HI, model({"functionCall": {"name": 7}})],
        "[1].parts[0].functionCall.name: expected a string, found a number (google)",
    ),
]


@pytest.mark.parametrize(("contents", "told"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(contents: list[object], told: str) -> None:
    with pytest.raises(UnreadableMessages) as caught:
        from_messages(contents)
    assert told == str(caught.value)
