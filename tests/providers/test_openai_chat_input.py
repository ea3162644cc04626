"""
What is sent to Chat Completions for each entry.
"""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.media import OF_RESULTS
from rodada.providers.openai_chat_dialect import Dialect
from rodada.providers.openai_chat_input import (
    called,
    entry_messages,
    pairing_fault,
    turn_message,
)
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import InvalidValue, ProviderRejected
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    Media,
    ModelTurn,
    Piece,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from support.whole_fields import chat_fields

WEATHER = ToolDeclaration("weather", "Tells the weather.", '{"type":"object","properties":{"city":{"type":"string"}}}')
THINKING = Dialect(echoed=("reasoning_content",))
PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png", "shot.png")
PDF = Media.of(b"%PDF-1.7", "application/pdf", "log.pdf")


def message(text: str) -> UserMessage:
    return UserMessage("u", (Text(text),))


def conversation(*entries: Entry) -> Conversation:
    return Conversation("c", entries)


def call(call_id: str, name: str = "weather", arguments: str = "{}", **more: JsonValue) -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def said(content: JsonValue, *calls: JsonObject, **more: JsonValue) -> JsonObject:
    asked: JsonObject = {"tool_calls": [*calls]} if calls else {}
    return {"role": "assistant", "content": content, **asked, **more}


def request(request_id: str, name: str = "weather", raw: str = "{}") -> ToolRequest:
    return ToolRequest(request_id, name, raw, request_id)


def came(native: JsonObject, *requests: ToolRequest, text: str = "") -> ModelTurn:
    """
    A turn that this wire sent.
    """
    piece = Piece(dump_json(native), dump_json(native))
    return ModelTurn(Stop.WHOLE, text=text, requests=requests, native=(piece,), wire="openai_chat")


def done(turn: ModelTurn) -> Exchange:
    return Exchange(turn, tuple(ToolResult.of(each, Status.SUCCEEDED, f"of {each.id}") for each in turn.requests))


def result(call_id: str, text: str | None = None) -> JsonObject:
    return {"role": "tool", "tool_call_id": call_id, "content": f"of {call_id}" if text is None else text}


def test_a_message_of_the_person_is_one_message() -> None:
    assert entry_messages(message("How much?")) == [{"role": "user", "content": "How much?"}]


def test_p9_content_and_calls_are_echoed_as_they_came() -> None:
    native = said("Looking.\n", call("call_1", arguments='{ "city":"Oslo" }'), call("call_2"))
    turn = came(native, request("call_1", raw='{ "city":"Oslo" }'), request("call_2"), text="Looking.\n")
    assert entry_messages(done(turn)) == [native, result("call_1"), result("call_2")]


def test_no_other_field_is_sent_back() -> None:
    native = said(
        None, call("call_1", index=0, extra_content={"a": 1}), refusal=None, annotations=[], reasoning_content="Hm."
    )
    assert turn_message(came(native, request("call_1"))) == said(None, call("call_1"))


def test_fields_that_the_dialect_names_are_sent_back_as_they_came() -> None:
    native = said(None, call("call_1", extra_content={"google": {"thought_signature": "s"}}), reasoning_content="Hm.")
    dialect = Dialect(echoed=("reasoning_content", "extra_content"))
    assert turn_message(came(native, request("call_1")), dialect) == native


@pytest.mark.parametrize("received", [None, ""])
def test_where_reasoning_is_wanted_back_a_turn_without_any_has_a_blank(received: str | None) -> None:
    # One server refuses its absence, another one an empty text.
    turns = [
        came(said(None, call("a"), reasoning_content=received), request("a")),
        ModelTurn(Stop.WHOLE, requests=(request("b"),), wire="anthropic"),
        ModelTurn(Stop.WHOLE, text="Done."),
    ]
    assert [turn_message(turn, THINKING)["reasoning_content"] for turn in turns] == [" ", " ", " "]


def test_a_dialect_cannot_name_a_field_that_is_sent_in_any_case() -> None:
    with pytest.raises(InvalidValue, match="tool_calls"):
        Dialect(echoed=("tool_calls",))


def test_a_dialect_asks_for_types_always_without_tools_or_never() -> None:
    with pytest.raises(InvalidValue, match="takes always or without_tools or never, got 'sometimes'"):
        Dialect(json_schema="sometimes")  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_content_that_says_nothing_stands_beside_calls_alone(content: str | None) -> None:
    assert turn_message(came(said(content, call("a")), request("a"))) == said(content, call("a"))
    assert turn_message(came(said(content), text="")) == said("")


def test_missing_content_beside_calls_is_null() -> None:
    native: JsonObject = {"role": "assistant", "tool_calls": [call("a")]}
    assert turn_message(came(native, request("a"))) == said(None, call("a"))


def test_content_in_parts_is_echoed_where_it_is_text_and_told_as_text_elsewhere() -> None:
    texts: JsonValue = [{"type": "text", "text": "Look"}, {"type": "text", "text": "ing."}]
    thought: JsonValue = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Looking."}]
    assert turn_message(came(said(texts), text="Looking.")) == said(texts)
    assert turn_message(came(said(thought), text="Looking.")) == said("Looking.")


def test_turn_of_another_wire_is_made_of_its_text_and_requests() -> None:
    turn = ModelTurn(
        Stop.WHOLE,
        text="Looking.",
        requests=(request("toolu_1", raw='{"city":"Oslo"}'), request("toolu_2")),
        native=(Piece('{"type":"tool_use"}', None),),
        wire="anthropic",
    )
    assert entry_messages(done(turn)) == [
        said("Looking.", call("toolu_1", arguments='{"city":"Oslo"}'), call("toolu_2")),
        result("toolu_1"),
        result("toolu_2"),
    ]


def test_a_stored_answer_is_its_text() -> None:
    assert turn_message(ModelTurn(Stop.WHOLE, text="Done.")) == said("Done.")


def test_a_message_that_does_not_match_the_requests_is_not_echoed() -> None:
    assert turn_message(came(said("So.", call("a"), call("b")), request("a"), text="So.")) == said("So.", call("a"))
    assert turn_message(came(said("So.", call("a")), text="So.")) == said("So.")


def test_a_call_of_the_first_years_goes_back_in_the_form_of_today() -> None:
    native = said(None, function_call={"name": "weather", "arguments": "{}"})
    turn = came(native, ToolRequest("call_1_0", "weather", "{}"))
    assert entry_messages(done(turn)) == [said(None, call("call_1_0")), result("call_1_0")]


@pytest.mark.parametrize("raw", ["", " ", '{"city', "[1]", '"x"', "null", "3", '{"a":NaN}'])
def test_f026_f027_f049_arguments_that_are_no_object_go_back_as_an_empty_one(raw: str) -> None:
    turn = came(said(None, call("a", arguments=raw)), request("a", raw=raw))
    assert turn_message(turn) == said(None, call("a"))
    assert turn.requests[0].raw == raw


def test_f039_half_characters_in_arguments_are_mended_and_nothing_else_is() -> None:
    whole = '{"city": "\\ud83d\\ude00"}'
    for raw, sent in ((whole, whole), ('{"city": "\\ud83d"}', '{"city":"\ufffd"}')):
        turn = came(said(None, call("a", arguments=raw)), request("a", raw=raw))
        assert turn_message(turn) == said(None, call("a", arguments=sent))
        assert turn.requests[0].raw == raw


def test_f028_arguments_encoded_twice_are_no_object() -> None:
    twice = json.dumps('{"x":1}')
    assert turn_message(came(said(None, call("a", arguments=twice)), request("a", raw=twice))) == said(None, call("a"))


def test_f023_ids_that_were_ours_stand_on_both_sides_and_good_ones_are_left_alone() -> None:
    native = said(None, call("x"), call("x"), call(""))
    turn = came(native, request("x"), request("call_1_1"), request("call_1_2"))
    assert entry_messages(done(turn)) == [
        said(None, call("x"), call("call_1_1"), call("call_1_2")),
        *(result(each) for each in ("x", "call_1_1", "call_1_2")),
    ]


IDS = st.text(min_size=1, max_size=90)


@given(st.lists(IDS, min_size=1, max_size=4, unique=True), st.booleans(), st.booleans())
def test_f024_foreign_ids_are_mapped_to_legal_ones_alike_on_both_sides(
    ids: list[str], short: bool, native: bool
) -> None:
    requests = [request(each) for each in ids]
    turn = came(said(None, *map(call, ids)), *requests) if native else ModelTurn(Stop.WHOLE, requests=tuple(requests))
    exchange = done(turn)
    first, *rest = entry_messages(exchange, Dialect(short_ids=short))
    sent = [str(each["id"]) for each in called(first)]
    assert [each["tool_call_id"] for each in rest] == sent
    assert len({*sent}) == len(sent)
    assert [each.id for each in exchange.results] == ids
    legal = "[a-zA-Z0-9]{9}" if short else ".{1,64}" if native else "[a-zA-Z0-9_-]{1,40}"
    assert all(re.fullmatch(legal, each, re.DOTALL) for each in sent)


def test_a_name_that_the_wire_refuses_is_mended_in_call_and_declaration_alike() -> None:
    odd = ToolDeclaration("notes.read all", "")
    asked = ModelRequest(
        conversation=conversation(message("a"), done(came(said(None, call("a")), request("a", odd.name)))), tools=(odd,)
    )
    text = dump_json(chat_fields(asked))
    assert "notes.read all" not in text
    assert len({*re.findall(r'"name":"(notes[^"]*)"', text)}) == 1


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.SUCCEEDED])
def test_every_status_but_success_is_said_in_the_text(status: Status) -> None:
    asked = ModelTurn(Stop.WHOLE, requests=(request("a"),))
    told = entry_messages(Exchange(asked, (ToolResult.of(asked.requests[0], status, "no"),)))[1]
    assert told == result("a", f'{{"error":{{"status":"{status.value}","message":"no"}}}}')


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_result_is_never_blank(text: str) -> None:
    asked = ModelTurn(Stop.WHOLE, requests=(request("a"),))
    told = entry_messages(Exchange(asked, (ToolResult.of(asked.requests[0], Status.SUCCEEDED, text),)))[1]
    assert told == result("a", dump_json(text))


def image(media: Media) -> JsonObject:
    return {"type": "image_url", "image_url": {"url": f"data:{media.media_type};base64,{media.data}"}}


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def test_images_are_sent_in_their_places_and_files_are_told() -> None:
    parts = (Text("Look:"), PNG, Text(" "), PDF)
    told = "\n[log.pdf: application/pdf, 8 bytes; not shown: this API does not take it]\n"
    assert entry_messages(UserMessage("u", parts)) == [
        {"role": "user", "content": [text("Look:"), image(PNG), text(told)]}
    ]


def test_files_are_sent_where_the_dialect_says_so() -> None:
    part = {"type": "file", "file": {"filename": "log.pdf", "file_data": f"data:application/pdf;base64,{PDF.data}"}}
    assert entry_messages(UserMessage("u", (PDF,)), Dialect(files=True)) == [{"role": "user", "content": [part]}]


def test_a_model_that_sees_no_images_is_told_of_them() -> None:
    told = "Look:\n[shot.png: image/png, 8 bytes; not shown: this API does not take it]\n"
    assert entry_messages(UserMessage("u", (Text("Look:"), PNG)), Dialect(images=False)) == [
        {"role": "user", "content": told}
    ]


@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.FAILED])
def test_f020_images_of_results_stand_behind_the_whole_row(status: Status) -> None:
    asked = ModelTurn(Stop.WHOLE, requests=(request("a"), request("b")))
    results = (
        ToolResult.with_parts(asked.requests[0], status, (Text("Here"), PNG)),
        ToolResult.of(asked.requests[1], Status.SUCCEEDED, "of b"),
    )
    _, first, second, behind = entry_messages(Exchange(asked, results))
    assert "[shot.png: image/png, 8 bytes; shown after the results]" in str(first["content"])
    assert (second, behind) == (result("b"), {"role": "user", "content": [text(OF_RESULTS), image(PNG)]})


def test_the_whole_request() -> None:
    asked = ModelRequest(
        conversation=conversation(message("How?"), done(came(said(None, call("a")), request("a")))),
        instructions="Be kind.",
        tools=(WEATHER,),
    )
    assert chat_fields(asked) == {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "How?"},
            said(None, call("a")),
            result("a"),
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "weather",
                    "description": "Tells the weather.",
                    "parameters": WEATHER.schema_object,
                    "strict": False,
                },
            }
        ],
        "tool_choice": "auto",
    }


def test_p4_the_closing_call_declares_tools_forbids_them_and_says_so_in_the_one_system_message() -> None:
    asked = ModelRequest(
        conversation=conversation(message("How?")),
        instructions="Be kind.",
        guidance="Stop.",
        tools=(WEATHER,),
        tools_allowed=False,
    )
    fields = chat_fields(asked)
    assert (len(fields["tools"]) if isinstance(fields["tools"], list) else 0, fields["tool_choice"]) == (1, "none")
    assert fields["messages"] == [
        {"role": "system", "content": "Be kind.\n\nStop."},
        {"role": "user", "content": "How?"},
    ]


def test_without_tools_and_instructions_there_are_messages_alone() -> None:
    fields = chat_fields(ModelRequest(conversation=conversation(message("Hi"))))
    assert fields == {"messages": [{"role": "user", "content": "Hi"}]}


def test_held_pieces_are_sent_last() -> None:
    asked = ModelRequest(conversation=conversation(message("Hi")), held=(ModelTurn(Stop.PAUSED, text="Wait."),))
    assert chat_fields(asked)["messages"] == [{"role": "user", "content": "Hi"}, said("Wait.")]


A, B = result("a"), result("b")
U: JsonObject = {"role": "user", "content": "so"}
AB, ONE = said(None, call("a"), call("b")), said(None, call("a"))


@pytest.mark.parametrize(
    "messages",
    [[U], [U, ONE, A], [U, AB, A, B], [U, AB, A, B, U], [U, ONE, A, said("so"), U, said(None, call("b")), B]],
)
def test_good_pairs(messages: list[JsonObject]) -> None:
    assert pairing_fault(messages) is None


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([U, ONE], "call a has no result"),
        ([U, AB, A], "call b has no result"),
        ([U, AB, B, A], "the result of call b stands in the wrong place"),
        ([U, A], "the result of call a stands in the wrong place"),
        ([U, ONE, U, A], "call a has no result straight after its turn"),
        ([U, AB, A, U, B], "call b has no result straight after its turn"),
        ([U, ONE, A, ONE, A], "id a stands on two calls"),
    ],
)
def test_broken_pairs_are_found(messages: list[JsonObject], fault: str) -> None:
    assert pairing_fault(messages) == fault


def test_a_request_with_broken_pairs_is_not_sent() -> None:
    turn = done(ModelTurn(Stop.WHOLE, requests=(request("x" * 41),)))
    clash = done(ModelTurn(Stop.WHOLE, requests=(request(str(called(turn_message(turn.turn))[0]["id"])),)))
    with pytest.raises(ProviderRejected, match="stands on two calls"):
        chat_fields(ModelRequest(conversation=conversation(message("a"), turn, clash)))
