"""
What is sent to the Responses API for each entry.
"""

import pytest

from rodada.providers.openai_request import legal_name
from rodada.providers.openai_responses_input import (
    entry_items,
    output_of,
    pairing_fault,
    to_messages,
    turn_items,
)
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import ProviderRejected
from rodada.statemachine.jsontext import JsonObject, dump_json
from rodada.statemachine.messages import (
    Entry,
    Exchange,
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
from support.whole_fields import responses_fields

WEATHER = ToolDeclaration("weather", "Tells the weather.", '{"type":"object","properties":{"city":{"type":"string"}}}')


def message(text: str) -> UserMessage:
    return UserMessage("u", (Text(text),))


def conversation(*entries: Entry) -> Conversation:
    return Conversation("c", entries)


def native(*items: JsonObject) -> tuple[Piece, ...]:
    return tuple(Piece(dump_json(item), None if item["type"] == "reasoning" else dump_json(item)) for item in items)


def call(call_id: str, name: str = "weather", arguments: str = "{}", **more: str) -> JsonObject:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def reasoning(name: str, **more: str) -> JsonObject:
    return {"id": name, "type": "reasoning", "summary": [], "encrypted_content": f"sealed-{name}", **more}


def asked(*items: JsonObject, requests: tuple[ToolRequest, ...] = (), text: str = "") -> ModelTurn:
    return ModelTurn(Stop.WHOLE, text=text, requests=requests, native=native(*items), wire="openai_responses")


def request(request_id: str, name: str = "weather", raw: str = "{}") -> ToolRequest:
    return ToolRequest(request_id, name, raw, request_id)


def done(turn: ModelTurn) -> Exchange:
    return Exchange(turn, tuple(ToolResult.of(each, Status.SUCCEEDED, f"of {each.id}") for each in turn.requests))


def output(call_id: str, text: str | None = None) -> JsonObject:
    return {"type": "function_call_output", "call_id": call_id, "output": text or f"of {call_id}"}


def test_user_message_is_one_message_item() -> None:
    assert entry_items(message("How much?")) == [{"type": "message", "role": "user", "content": "How much?"}]


def test_received_items_are_echoed_in_order_with_unknown_items_and_fields() -> None:
    items: tuple[JsonObject, ...] = (
        reasoning("rs_1"),
        {"type": "thing_of_tomorrow", "id": "x", "deep": {"n": 1.0, "list": [None, True]}},
        call("call_1", arguments='{ "city":"Oslo" }', id="fc_1", field_of_tomorrow="kept"),
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [], "phase": "commentary"},
    )
    exchange = done(asked(*items, requests=(request("call_1", raw='{ "city":"Oslo" }'),)))
    assert entry_items(exchange) == [*items, output("call_1")]
    assert [list(item) for item in entry_items(exchange)[:4]] == [list(item) for item in items]


def test_null_and_output_only_fields_are_left_out() -> None:
    turn = asked(
        {**reasoning("rs_1", status="completed"), "content": None},
        call("call_1", created_by="model") | {"status": None},
        requests=(request("call_1"),),
    )
    assert turn_items(turn) == [reasoning("rs_1"), call("call_1")]


def test_a_null_field_stays_that_the_wire_demands() -> None:
    ran: JsonObject = {"outputs": None, "code": "1 + 1", "type": "code_interpreter_call", "id": "ci_1"}
    drawn: JsonObject = {"result": None, "type": "image_generation_call", "id": "ig_1"}
    turn = asked({**ran, "status": None}, {"type": "image_generation_call", "id": "ig_1"})
    assert turn_items(turn) == [ran, drawn]
    assert [*turn_items(turn)[0]] == [*ran]


def test_turn_of_another_wire_is_made_of_its_text_and_requests() -> None:
    turn = ModelTurn(
        Stop.WHOLE,
        text="Looking.",
        requests=(request("toolu_1", raw='{"city":"Oslo"}'),),
        native=(Piece('{"type":"tool_use"}', None),),
        wire="anthropic",
    )
    assert entry_items(done(turn)) == [
        {"type": "message", "role": "assistant", "content": "Looking."},
        call("toolu_1", arguments='{"city":"Oslo"}'),
        output("toolu_1", "of toolu_1"),
    ]


def test_answer_without_pieces_is_made_of_its_text() -> None:
    assert turn_items(ModelTurn(Stop.WHOLE, text="Done.")) == [
        {"type": "message", "role": "assistant", "content": "Done."}
    ]


def test_pieces_that_do_not_match_the_requests_are_not_echoed() -> None:
    turn = asked(call("call_1"), text="Done.")
    assert turn_items(turn) == [{"type": "message", "role": "assistant", "content": "Done."}]


def test_reasoning_alone_is_not_echoed() -> None:
    assert turn_items(asked(reasoning("rs_1"), text="Done.")) == [
        {"type": "message", "role": "assistant", "content": "Done."}
    ]


def test_reasoning_after_the_last_item_is_left_out() -> None:
    turn = asked(reasoning("rs_1"), call("call_1"), reasoning("rs_2"), requests=(request("call_1"),))
    assert turn_items(turn) == [reasoning("rs_1"), call("call_1")]


def test_turn_whose_reasoning_nobody_can_decrypt_is_sent_in_its_bare_form() -> None:
    turn = asked({"id": "rs_1", "type": "reasoning", "summary": []}, call("call_1"), requests=(request("call_1"),))
    assert turn_items(turn) == [call("call_1")]


def test_reasoning_in_plain_text_is_echoed_to_the_server_that_sent_it() -> None:
    plain: JsonObject = {"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text"}]}
    turn = asked(plain, call("call_1"), requests=(request("call_1"),))
    assert turn_items(turn) == [plain, call("call_1")]


def test_bare_form_has_no_reasoning() -> None:
    turn = asked(reasoning("rs_1"), call("call_1"), requests=(request("call_1"),))
    assert turn_items(turn, bare=True) == [call("call_1")]


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("", "{}"),
        ('{"a": ', "{}"),
        ("[1]", "{}"),
        ('{"a": NaN}', "{}"),
        ('{"a":"' + "x" * 1_048_576 + '"}', "{}"),
        ('{"a": "\\ud83d\\ude00"}', '{"a": "\\ud83d\\ude00"}'),
        ('{"a": "\\uD83D", "\\ude00": 1}', '{"a":"\ufffd","\ufffd":1}'),
    ],
    ids=["object", "empty", "cut", "list", "no JSON value", "too long", "escapes", "half characters"],
)
def test_f026_f039_arguments_that_no_wire_takes_are_mended_in_what_is_echoed(raw: str, sent: str) -> None:
    turn = asked(call("call_1", arguments=raw), requests=(request("call_1", raw=raw),))
    assert turn_items(turn) == [call("call_1", arguments=sent)]


def test_what_cannot_lose_a_repeated_id_stands_once() -> None:
    def searched(name: str) -> JsonObject:
        return {"type": "web_search_call", "id": name, "status": "completed"}

    def said(**more: str) -> JsonObject:
        return {"type": "message", "role": "assistant", "content": "ok", **more}

    first = asked(searched("ws_1"), said(id="msg_1"), text="ok")
    again = asked(searched("ws_1"), searched("ws_2"), searched("ws_2"), said(id="msg_2"), text="ok")
    assert to_messages(conversation(message("hi"), first, message("more"), again))[1:] == [
        *(searched("ws_1"), said(id="msg_1")),
        {"type": "message", "role": "user", "content": "more"},
        *(searched("ws_2"), said()),
    ]


def test_foreign_ids_are_mapped_for_call_and_output_alike_and_distinct() -> None:
    ids = ("functions.write:0", "functions_write:0", "x" * 64, "x" * 65)
    turn = ModelTurn(Stop.WHOLE, requests=tuple(request(each) for each in ids), wire="openai_chat")
    items = entry_items(done(turn))
    sent = [str(item["call_id"]) for item in items]
    assert sent[:4] == sent[4:]
    assert len({*sent}) == 4
    assert sent[2] == "x" * 64
    assert all(len(each) <= 64 for each in sent)
    assert [each.id for each in turn.requests] == [*ids]


def test_own_id_with_strange_characters_is_echoed_as_it_came() -> None:
    turn = asked(call("functions.write:0"), requests=(request("functions.write:0"),))
    assert turn_items(turn) == [call("functions.write:0")]


def test_call_under_another_id_than_it_came_with_loses_the_reasoning_before_it() -> None:
    turn = asked(reasoning("rs_1"), call("x"), requests=(ToolRequest("call_3_0", "weather", "{}", "x"),))
    assert turn_items(turn) == [call("call_3_0")]


@pytest.mark.parametrize(
    "items",
    [
        (call("call_1", id="call_1"),),
        (call("call_1", id="fc_" + "x" * 62),),
        (call("call_1", id="fc_1"), {"type": "message", "id": "fc_1", "role": "assistant", "content": "a"}),
    ],
    ids=["prefix", "length", "twice"],
)
def test_turn_with_an_illegal_item_id_is_sent_without_ids(items: tuple[JsonObject, ...]) -> None:
    turn = asked({**reasoning("rs_1")}, *items, requests=(request("call_1"),))
    fields = responses_fields(ModelRequest(conversation=conversation(message("a"), done(turn))))
    sent = fields["input"]
    assert isinstance(sent, list)
    assert not any("id" in item for item in sent if isinstance(item, dict))


def test_item_id_that_was_sent_before_is_left_out_of_the_later_turn() -> None:
    first = asked(call("call_1", id="fc_1"), requests=(request("call_1"),))
    second = asked(call("call_2", id="fc_1"), requests=(request("call_2"),))
    fields = responses_fields(ModelRequest(conversation=conversation(message("a"), done(first), done(second))))
    assert fields["input"] == [
        *entry_items(message("a")),
        call("call_1", id="fc_1"),
        output("call_1"),
        call("call_2"),
        output("call_2"),
    ]


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.SUCCEEDED])
def test_every_status_but_success_is_an_error_in_the_text(status: Status) -> None:
    result = ToolResult.of(request("a"), status, 'no "such" city')
    assert output_of(result) == ('{"error":{"status":"' + status.value + '","message":"no \\"such\\" city"}}')


@pytest.mark.parametrize(
    ("text", "sent"), [("12 kg", "12 kg"), ("", '""'), (" \n", '" \\n"'), ('{"error": 1}', '{"error": 1}')]
)
def test_success_is_plain_and_never_empty(text: str, sent: str) -> None:
    assert output_of(ToolResult.of(request("a"), Status.SUCCEEDED, text)) == sent


def test_no_tools_means_no_tools_and_no_tool_choice() -> None:
    assert responses_fields(ModelRequest(conversation=conversation(message("a")))) == {
        "input": entry_items(message("a"))
    }


def test_tools_are_declared_flat_and_strict_only_where_the_schema_fulfils_it() -> None:
    asking = ModelRequest(
        conversation=conversation(message("a")),
        tools=(WEATHER, ToolDeclaration("fs.read", "")),
        instructions="Be kind.",
    )
    assert responses_fields(asking) == {
        "input": entry_items(message("a")),
        "instructions": "Be kind.",
        "tools": [
            {
                "type": "function",
                "name": "weather",
                "description": "Tells the weather.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
                "strict": False,
            },
            {
                "type": "function",
                "name": legal_name("fs.read"),
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            },
        ],
        "tool_choice": "auto",
    }


def test_f062_openai_closing_call_declares_the_tools_and_allows_none() -> None:
    asking = ModelRequest(conversation=conversation(message("a")), tools=(WEATHER,), instructions="Be kind.")
    closing = ModelRequest(
        conversation=conversation(message("a")),
        tools=(WEATHER,),
        instructions="Be kind.",
        guidance="Stop now.",
        tools_allowed=False,
    )
    changed = {"tool_choice": "none", "instructions": "Be kind.\n\nStop now."}
    assert responses_fields(closing) == responses_fields(asking) | changed


def test_f013_openai_results_stand_in_one_row_after_their_turn() -> None:
    turn = asked(call("a"), call("b"), call("c"), requests=(request("a"), request("b"), request("c")))
    kinds = [item["type"] for item in entry_items(done(turn))]
    assert kinds == ["function_call"] * 3 + ["function_call_output"] * 3


def test_f014_openai_results_stand_in_request_order() -> None:
    turn = asked(call("a"), call("b"), requests=(request("a"), request("b")))
    assert entry_items(done(turn))[2:] == [output("a"), output("b")]


def test_f015_f019_openai_guidance_stands_in_the_instructions_alone() -> None:
    exchange = done(asked(call("a"), requests=(request("a"),)))
    asking = ModelRequest(conversation=conversation(message("a"), exchange), guidance="Stop now.", tools_allowed=False)
    assert responses_fields(asking) == {
        "input": [*entry_items(message("a")), *entry_items(exchange)],
        "instructions": "Stop now.",
    }


def test_f011_openai_first_item_of_a_selection_is_the_users() -> None:
    exchange = done(asked(call("a"), requests=(request("a"),)))
    answer = ModelTurn(Stop.WHOLE, text="Sunny.")
    whole = conversation(message("old"), exchange, answer, message("new"))
    assert responses_fields(ModelRequest(conversation=whole, start=3, selected=3)) == {
        "input": entry_items(message("new"))
    }


def test_custom_call_is_answered_in_its_own_form() -> None:
    custom: JsonObject = {"type": "custom_tool_call", "call_id": "a", "name": "shell", "input": "ls -l"}
    turn = asked(custom, requests=(request("a", "shell", "ls -l"),))
    assert entry_items(done(turn)) == [
        custom,
        {"type": "custom_tool_call_output", "call_id": "a", "output": "of a"},
    ]


USER: JsonObject = {"type": "message", "role": "user", "content": "a"}
NOTE: JsonObject = {"type": "message", "role": "assistant", "content": "a"}


@pytest.mark.parametrize(
    "items",
    [
        [call("a")],
        [call("a"), USER, output("a")],
        [call("a"), call("b"), output("a")],
        [call("a"), call("b"), output("b"), output("a")],
        [call("a"), call("b"), output("a"), NOTE, output("b")],
        [call("a"), output("a"), output("a")],
        [output("a")],
        [call("a"), call("a"), output("a"), output("a")],
        [call("a"), output("a"), USER, call("a"), output("a")],
        [call("a"), {"type": "custom_tool_call_output", "call_id": "a"}],
    ],
    ids=["open", "user between", "one missing", "order", "split", "twice", "orphan", "doubled", "reused", "kind"],
)
def test_f017_f018_openai_broken_pairs_are_seen_before_sending(items: list[JsonObject]) -> None:
    assert pairing_fault(items) is not None


def test_whole_pairs_pass() -> None:
    items = [USER, call("a"), NOTE, call("b"), output("a"), output("b"), call("c"), output("c"), NOTE, USER]
    assert pairing_fault(items) is None


def test_broken_pairs_are_never_sent() -> None:
    doubled = ModelTurn(Stop.WHOLE, requests=(request("x"),), native=native(call("x")), wire="openai_responses")
    held = ModelRequest(conversation=conversation(message("a")), held=(doubled,))
    with pytest.raises(ProviderRejected, match="call x has no output"):
        responses_fields(held)


def test_conversation_stored_without_reasoning_is_sent_without_it_and_without_the_ids_bound_to_it() -> None:
    bare = dump_json(call("call_1"))
    turn = ModelTurn(
        Stop.WHOLE,
        requests=(request("call_1"),),
        native=(Piece(dump_json(reasoning("rs_1")), None), Piece(dump_json(call("call_1", id="fc_1")), bare)),
        wire="openai_responses",
    )
    stored = Conversation.from_json(conversation(message("a"), done(turn)).to_json())
    assert responses_fields(ModelRequest(conversation=stored)) == {
        "input": [*entry_items(message("a")), call("call_1"), output("call_1")]
    }
