"""
Stored messages of Chat Completions.
"""

import pytest
from openai.types.chat import ChatCompletionMessage

from rodada.providers.openai_chat import Dialect, from_messages, to_messages
from rodada.statemachine import Exchange, Media, MediaLink, Part, Status, UserMessage
from rodada.statemachine.errors import AmbiguousResult, UnreadableMessages
from rodada.statemachine.jsontext import JsonObject, JsonValue
from support.imports import kinds, told

PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png")
PDF = Media.of(b"%PDF-1.7\n", "application/pdf", "log.pdf")
HI: JsonObject = {"role": "user", "content": "hi"}


def call(id: str | None, name: str = "f", arguments: JsonValue = '{"n":1}') -> JsonObject:
    named: JsonObject = {} if id is None else {"id": id}
    return {**named, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: JsonValue, content: JsonValue = None, **more: JsonValue) -> JsonObject:
    return {"role": "assistant", "content": content, **more, "tool_calls": [*calls]}


def says(content: JsonValue, **more: JsonValue) -> JsonObject:
    return {"role": "assistant", "content": content, **more}


def tool(id: str | None, content: JsonValue = "ok", **more: JsonValue) -> JsonObject:
    named: JsonObject = {} if id is None else {"tool_call_id": id}
    return {"role": "tool", **named, "content": content, **more}


def user(*parts: JsonValue) -> JsonObject:
    return {"role": "user", "content": [*parts]}


def url(address: str) -> JsonObject:
    return {"type": "image_url", "image_url": {"url": address}}


def test_a_history_comes_in_and_goes_out_as_it_stands() -> None:
    failed = '{"error":{"status":"outcome_unknown","message":"cut off"}}'
    stored = [
        HI,
        asks(call("a"), call("b"), content="Let me see."),
        tool("a", "1"),
        tool("b", failed),
        says("It is one."),
        user({"type": "text", "text": "And in "}, url(f"data:image/png;base64,{PNG.data}")),
        says("Nice."),
    ]
    found = from_messages(stored)

    lines = [
        *("U hi", "X Let me see. a=1 b=outcome_unknown", "T It is one."),
        *("U And in \n[image/png, 8 bytes]", "T Nice."),
    ]
    assert (lines, []) == (told(found.conversation), kinds(found))
    assert stored == to_messages(found.conversation)


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.SUCCEEDED])
def test_a_status_is_read_back_from_the_text_that_tells_it(status: Status) -> None:
    told = f'{{"error":{{"status":"{status.value}","message":"no \\"way\\""}}}}'
    entry = from_messages([HI, asks(call("a")), tool("a", told)]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert (status, 'no "way"') == (entry.results[0].status, entry.results[0].told)


@pytest.mark.parametrize(
    "text",
    ['{"error":"no"}', '{"error":{"status":"broken","message":"no"}}', '{"error":{"message":"no"}}', "[1]", '"x"'],
)
def test_other_texts_are_results_as_they_stand(text: str) -> None:
    entry = from_messages([HI, asks(call("a")), tool("a", text)]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert (Status.SUCCEEDED, text) == (entry.results[0].status, entry.results[0].told)


def test_objects_of_the_sdk_are_read_among_dicts() -> None:
    message = ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call("a")]}
    )
    found = from_messages([HI, message, tool("a")])

    assert (["U hi", "X a=ok"], []) == (told(found.conversation), kinds(found))
    assert asks(call("a")) == to_messages(found.conversation)[1]


def test_instructions_are_handed_to_the_host() -> None:
    stored: list[JsonObject] = [
        {"role": "system", "content": "Be kind."},
        HI,
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        says("so"),
    ]
    found = from_messages(stored)

    assert (["U hi", "T so"], ["0 system_text", "2 system_text"]) == (told(found.conversation), kinds(found))
    assert "Be kind.\n\nBe brief." == found.instructions


def test_fields_that_some_servers_want_back_are_kept_for_them() -> None:
    found = from_messages([HI, says("so", reasoning_content="hm")])

    assert [] == kinds(found)
    dialect = Dialect(echoed=("reasoning_content",))
    assert says("so", reasoning_content="hm") == to_messages(found.conversation, dialect=dialect)[1]
    assert says("so") == to_messages(found.conversation)[1]
    assert "hm" not in str(found.conversation.to_json())


def test_the_calls_of_the_wires_first_years() -> None:
    stored: list[JsonObject] = [
        HI,
        says(None, function_call={"name": "f", "arguments": "{}"}),
        {"role": "function", "name": "f", "content": "ok"},
    ]
    found = from_messages(stored)

    assert ["U hi", "X call_1_0=ok"] == told(found.conversation)
    assert ["1 new_id f", "2 paired_result f"] == kinds(found)


@pytest.mark.parametrize(
    ("arguments", "raw"), [('{"n":1}', '{"n":1}'), ({"n": 1}, '{"n":1}'), (None, ""), ("{", "{"), ("[1]", "[1]")]
)
def test_arguments_are_kept_as_they_came(arguments: JsonValue, raw: str) -> None:
    entry = from_messages([HI, asks(call("a", arguments=arguments))]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert raw == entry.turn.requests[0].raw


def test_a_call_of_a_custom_tool_is_a_call() -> None:
    custom: JsonObject = {"id": "a", "type": "custom", "custom": {"name": "f", "input": "free text"}}
    entry = from_messages([HI, asks(custom), tool("a")]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert ("f", "free text") == (entry.turn.requests[0].name, entry.turn.requests[0].raw)


def test_f023_calls_without_ids_and_with_the_same_one() -> None:
    found = from_messages([HI, asks(call("x", "f"), call("x", "g"), call("", "h")), tool("x"), tool("x"), tool("")])

    assert ["U hi", "X x=ok call_1_1=ok call_1_2=ok"] == told(found.conversation)
    assert ["1 new_id x", "1 new_id h", "4 paired_result h"] == kinds(found)


def test_f025_results_without_ids_for_two_open_calls() -> None:
    with pytest.raises(AmbiguousResult) as caught:
        from_messages([HI, asks(call("a"), call("b")), tool(None), tool(None)])
    assert (2, "[2]") == (caught.value.index, caught.value.path)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (url(f"data:image/png;base64,{PNG.data}"), PNG),
        ({"type": "image_url", "image_url": f"data:image/png;charset=x;base64,{PNG.data}"}, PNG),
        (
            {"type": "file", "file": {"filename": "log.pdf", "file_data": f"data:application/pdf;base64,{PDF.data}"}},
            PDF,
        ),
        (url("https://host/a.png"), MediaLink("https://host/a.png")),
        (url("https://host/a"), MediaLink("https://host/a", "image/*")),
        ({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}, Media.of(b"RIFF", "audio/wav")),
    ],
)
def test_media(part: JsonObject, expected: Part) -> None:
    (message,) = from_messages([user(part)]).conversation.entries

    assert isinstance(message, UserMessage)
    assert (expected,) == message.content


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (user(url("http://example.com/a.png")), ["1 told_in_words image_url"]),
        (user({"type": "file", "file": {"file_id": "f"}}), ["1 told_in_words file"]),
        (user({"type": "text", "text": "so"}, {"type": "of_tomorrow"}), ["1 unknown_part of_tomorrow"]),
        ({"role": "user", "content": "so", "name": "ana"}, ["1 unknown_fields name"]),
        (
            {"role": "system", "content": [url("u")], "name": "ana"},
            ["1 unknown_fields name", "1 system_text", "1 unknown_part image_url"],
        ),
        (user({**url(f"data:image/png;base64,{PNG.data}"), "cache_control": {}}), ["1 unknown_fields cache_control"]),
        (says("so", refusal="I will not."), ["1 unknown_fields refusal"]),
        (asks(call("a"), function_call={"name": "g"}), ["1 unknown_fields function_call", "1 open_call a"]),
        (says(None), ["1 blank"]),
        (says(""), ["1 blank"]),
        (says([]), ["1 blank"]),
        (says([{"type": "text", "text": "so"}, {"type": "audio"}]), ["1 unknown_part audio"]),
        (asks(call("a", "")), ["1 unknown_part a call without a name", "1 blank"]),
        (asks(content="so"), []),
        (says(None, refusal="I will not."), []),
        (tool("a", [{"type": "text", "text": "so"}]), ["1 orphan_result a"]),
        (says("so", id=7, created=8), []),
    ],
)
def test_what_has_no_place_is_named(message: JsonObject, changes: list[str]) -> None:
    assert changes == kinds(from_messages([HI, message]))


def test_an_object_as_a_result_is_its_json() -> None:
    found = from_messages([HI, asks(call("a")), tool("a", {"n": 1})])

    assert ["U hi", 'X a={"n":1}'] == told(found.conversation)


@pytest.mark.parametrize("arguments", ["{", "[1]"])
def test_arguments_that_are_no_object_are_named(arguments: str) -> None:
    found = from_messages([HI, asks(call("a", arguments=arguments)), tool("a")])

    assert ["1 unreadable_arguments"] == kinds(found)
    assert arguments == found.report[0].content


def test_a_call_without_a_name_takes_nothing_else_with_it() -> None:
    found = from_messages([HI, asks(call("a"), call("b", ""), reasoning_content="hm"), tool("a")])

    assert ["1 unknown_part a call without a name"] == kinds(found)
    dialect = Dialect(echoed=("reasoning_content",))
    assert asks(call("a"), reasoning_content="hm") == to_messages(found.conversation, dialect=dialect)[1]


def test_what_a_recording_says_is_what_the_model_said() -> None:
    found = from_messages([HI, says(None, audio={"id": "audio_1", "transcript": "I say."})])

    assert (["U hi", "T I say."], ["1 unknown_fields audio"]) == (told(found.conversation), kinds(found))


def test_a_refusal_is_what_the_model_said() -> None:
    assert ["U hi", "T I will not."] == told(from_messages([HI, says(None, refusal="I will not.")]).conversation)


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ({}, "messages: expected a list of messages, found an object (openai_chat)"),
        (
            [{"role": "model"}],
            "[0].role: expected system, developer, user, assistant, tool or function, found 'model' (openai_chat)",
        ),
        ([asks(7)], "[0].tool_calls[0]: expected an object, found a number (openai_chat)"),
        ([asks({})], "[0].tool_calls[0].function: expected an object, found null (openai_chat)"),
        ([HI, tool(7)], "[1].tool_call_id: expected a string, found a number (openai_chat)"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(messages: list[object], told: str) -> None:
    with pytest.raises(UnreadableMessages) as caught:
        from_messages(messages)
    assert told == str(caught.value)
