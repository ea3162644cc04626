"""
Stored input items of the Responses API.
"""

import pytest
from openai.types.responses import ResponseFunctionToolCall, ResponseReasoningItem

from rodada.providers.openai_responses import from_messages, to_messages
from rodada.statemachine import Exchange, Media, MediaLink, Part, Status, Text, UserMessage
from rodada.statemachine.errors import AmbiguousResult, UnreadableMessages
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from support.imports import kinds, told

PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png")
HI: JsonObject = {"type": "message", "role": "user", "content": "hi"}
THOUGHT: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}


def call(call_id: str | None, **more: JsonValue) -> JsonObject:
    named: JsonObject = {} if call_id is None else {"call_id": call_id}
    return {"type": "function_call", **named, "name": "f", "arguments": "{}", **more}


def output(call_id: str | None, given: JsonValue = "ok") -> JsonObject:
    named: JsonObject = {} if call_id is None else {"call_id": call_id}
    return {"type": "function_call_output", **named, "output": given}


def says(text: str, **more: JsonValue) -> JsonObject:
    content: list[JsonValue] = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, **more}


def user(*parts: JsonValue) -> JsonObject:
    return {"type": "message", "role": "user", "content": [*parts]}


def image(url: str) -> JsonObject:
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def test_a_history_comes_in_and_goes_out_as_it_stands() -> None:
    stored = [
        HI,
        THOUGHT,
        says("Let me see.", id="msg_1", phase="commentary"),
        call("a", id="fc_1", status="completed"),
        call("b", id="fc_2", status="completed"),
        output("a", "1"),
        output("b", '{"error":{"status":"denied","message":"no"}}'),
        says("It is one.", id="msg_2", phase="final_answer"),
        user({"type": "input_text", "text": "And in "}, image(f"data:image/png;base64,{PNG.data}")),
        {"type": "message", "role": "assistant", "content": "Nice."},
    ]
    found = from_messages(stored)

    lines = ["U hi", "X Let me see. a=1 b=no", "T It is one.", "U And in \n[image/png, 8 bytes]", "T Nice."]
    assert (lines, []) == (told(found.conversation), kinds(found))
    assert stored == to_messages(found.conversation)


def test_hidden_reasoning_stays_out_of_the_stored_conversation() -> None:
    found = from_messages([HI, THOUGHT, says("so", id="msg_1")])

    assert [HI, says("so")] == to_messages(found.conversation.without_reasoning())


def test_objects_of_the_sdk_are_read_among_dicts() -> None:
    thought = ResponseReasoningItem(id="rs_1", type="reasoning", summary=[], encrypted_content="x", status=None)
    asked = ResponseFunctionToolCall.model_validate({**call("a", id="fc_1"), "async": True, "status": None})
    found = from_messages([HI, thought, asked, output("a")])

    assert (["U hi", "X a=ok"], []) == (told(found.conversation), kinds(found))
    assert [HI, THOUGHT, call("a", id="fc_1", **{"async": True}), output("a")] == to_messages(found.conversation)


def test_what_only_answers_say_is_no_change() -> None:
    answer: JsonObject = {**call("a"), "parsed_arguments": {}, "created_by": "x", "status": "completed", "id": None}
    found = from_messages([HI, {**THOUGHT, "status": "completed"}, answer, output("a")])

    assert [] == kinds(found)
    assert [HI, THOUGHT, call("a", status="completed"), output("a")] == to_messages(found.conversation)


def test_a_message_may_leave_its_type_out() -> None:
    stored: list[JsonObject] = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "so"}]

    assert ["U hi", "T so"] == told(from_messages(stored).conversation)


def test_f004_an_interrupted_call_is_closed_straight_behind_its_turn() -> None:
    found = from_messages([HI, THOUGHT, call("a"), call("b"), output("b"), {"role": "user", "content": "again"}])

    assert ["U hi", "X a=outcome_unknown b=ok", "U again"] == told(found.conversation)
    assert ["2 open_call a"] == kinds(found)
    kinds_sent = [item["type"] for item in to_messages(found.conversation)]
    outputs = ["function_call_output"] * 2
    assert ["message", "reasoning", "function_call", "function_call", *outputs, "message"] == kinds_sent


def test_items_of_the_vendors_own_tools_stay_in_their_turn() -> None:
    searched: JsonObject = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    found = from_messages([HI, searched, says("so")])

    assert [] == kinds(found)
    assert [HI, searched, says("so")] == to_messages(found.conversation)


def test_a_custom_tool_call_and_its_output() -> None:
    custom: JsonObject = {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "free text"}
    answer: JsonObject = {"type": "custom_tool_call_output", "call_id": "a", "output": "ok"}
    found = from_messages([HI, custom, answer])

    assert (["U hi", "X a=ok"], []) == (told(found.conversation), kinds(found))
    assert [HI, custom, answer] == to_messages(found.conversation)


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("so", (Text("so"),)),
        ([{"type": "input_text", "text": "so"}, image(f"data:image/png;base64,{PNG.data}")], (Text("so"), PNG)),
        (None, ()),
        ({"n": 1}, (Text('{"n":1}'),)),
        (7, (Text("7"),)),
    ],
)
def test_what_an_output_may_hold(given: JsonValue, parts: tuple[Part, ...]) -> None:
    entry = from_messages([HI, call("a"), output("a", given)]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert parts == entry.results[0].content


def test_a_status_is_read_back_where_media_stand_behind_it() -> None:
    text: JsonObject = {"type": "input_text", "text": '{"error":{"status":"failed","message":"half"}}'}
    given: JsonValue = [text, image(f"data:image/png;base64,{PNG.data}")]
    entry = from_messages([HI, call("a"), output("a", given)]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert (Status.FAILED, (Text("half"), PNG)) == (entry.results[0].status, entry.results[0].content)


@pytest.mark.parametrize(
    ("part", "link"),
    [
        (image("https://host/a.png"), MediaLink("https://host/a.png")),
        (image("https://host/a"), MediaLink("https://host/a", "image/*")),
        ({"type": "input_file", "file_url": "https://host/a"}, MediaLink("https://host/a", "application/pdf")),
    ],
)
def test_what_is_at_an_address_is_a_link_to_it(part: JsonObject, link: MediaLink) -> None:
    found = from_messages([user(part)])

    (message,) = found.conversation.entries
    assert isinstance(message, UserMessage)
    assert ([], (link,)) == (kinds(found), message.content)
    assert [part] == to_messages(found.conversation)[0]["content"]


@pytest.mark.parametrize(
    ("item", "changes"),
    [
        ({"role": "developer", "content": "Be kind."}, ["1 system_text"]),
        (
            {"role": "system", "content": [image("u")], "at": 1},
            ["1 unknown_fields at", "1 system_text", "1 unknown_part input_image"],
        ),
        (call("a", arguments="{"), ["1 unreadable_arguments", "1 open_call a"]),
        ({"type": "item_reference", "id": "msg_1"}, ["1 unknown_part item_reference"]),
        ({"type": "computer_call", "call_id": "a"}, ["1 unknown_part computer_call"]),
        ({"type": "web_search_call"}, ["1 unknown_part web_search_call"]),
        (THOUGHT, ["1 blank"]),
        (call("a", name=""), ["1 unknown_part a call without a name"]),
        ({"role": "assistant", "content": []}, ["1 blank"]),
        ({"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}, ["1 unknown_part compaction", "1 blank"]),
        (user(image("http://example.com/a.png")), ["1 told_in_words input_image"]),
        (user({"type": "input_text", "text": "so"}, {"type": "input_audio"}), ["1 unknown_part input_audio"]),
        (says("so", at="noon"), ["1 unknown_fields at"]),
        ({"role": "assistant", "content": [{"type": "input_text", "text": "so"}]}, []),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]}, []),
        ({"role": "assistant", "content": [{"type": "audio"}]}, ["1 unknown_part audio"]),
        (
            {"role": "user", "content": [{"type": "input_image", "image_url": "u", "detail": "low"}]},
            ["1 told_in_words input_image"],
        ),
    ],
)
def test_what_has_no_place_is_named(item: JsonObject, changes: list[str]) -> None:
    assert changes == kinds(from_messages([HI, item]))


def test_an_item_of_the_vendors_tools_that_is_stored_twice_stands_once() -> None:
    searched: JsonObject = {"type": "web_search_call", "id": "ws_1"}
    found = from_messages([HI, searched, searched, says("so")])

    assert ["2 unknown_part web_search_call"] == kinds(found)


PAINTED: JsonObject = {"type": "image_generation_call", "id": "ig_1", "status": "completed"}
SEARCHED: JsonObject = {"type": "web_search_call", "id": "ws_1"}


@pytest.mark.parametrize("left_out", [PAINTED, SEARCHED, says("", content=[])])
def test_where_something_is_left_out_nothing_stays_that_its_reasoning_binds(left_out: JsonObject) -> None:
    found = from_messages([HI, SEARCHED, says("so"), HI, says("it"), THOUGHT, left_out, call("a", id="fc_1")])

    assert [HI, SEARCHED, says("so"), HI, says("it"), call("a")] == to_messages(found.conversation)[:-1]
    assert "5 unbound_part reasoning" in kinds(found)


def test_hidden_reasoning_that_is_left_out_is_named_and_not_told() -> None:
    found = from_messages([HI, THOUGHT, PAINTED, says("so", id="msg_1")])

    assert {"1 unbound_part reasoning": "", "2 unknown_part image_generation_call": dump_json(PAINTED)} == dict(
        zip(kinds(found), [each.content for each in found.report], strict=True)
    )


def test_what_the_vendors_tools_gave_is_in_the_report_where_no_words_follow() -> None:
    found = from_messages([HI, THOUGHT, SEARCHED])

    assert ["1 blank", "2 unknown_part web_search_call"] == kinds(found)
    assert ["", dump_json(SEARCHED)] == [each.content for each in found.report]


def test_f025_an_output_without_an_id() -> None:
    assert ["2 paired_result f"] == kinds(from_messages([HI, call("a"), output(None)]))
    with pytest.raises(AmbiguousResult):
        from_messages([HI, call("a"), call("b"), output(None)])


def test_a_message_of_the_person_keeps_its_order() -> None:
    text: JsonObject = {"type": "input_text", "text": "so"}
    (message,) = from_messages([user(image(f"data:image/png;base64,{PNG.data}"), text)]).conversation.entries

    assert isinstance(message, UserMessage)
    assert (PNG, Text("so")) == message.content


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (None, "messages: expected a list of messages, found null (openai_responses)"),
        (
            [{"role": "tool"}],
            "[0].role: expected user, assistant, system or developer, found 'tool' (openai_responses)",
        ),
        ([user(7)], "[0].content[0]: expected an object, found a number (openai_responses)"),
        ([HI, output(7)], "[1].call_id: expected a string, found a number (openai_responses)"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        ([call(7)], "[0].call_id: expected a string, found a number (openai_responses)"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(messages: list[object], told: str) -> None:
    with pytest.raises(UnreadableMessages) as caught:
        from_messages(messages)
    assert told == str(caught.value)
