"""
Entries to messages and replies to turns: pure functions, whole values compared, no server.
"""

import json
import typing
from typing import cast

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers import anthropic_wire
from rodada.providers.anthropic_history import AnthropicHistory
from rodada.providers.anthropic_models import Traits
from rodada.providers.anthropic_output import STOPS, NotAMessage, stop_of, turn_of, usage_of
from rodada.providers.anthropic_wire import LEGAL, blocks_of, legal, messages_of, pairing_fault, to_messages, tool_of
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonError, JsonObject, JsonValue, dump_json, parse_json
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
    Usage,
    UserMessage,
)
from rodada.statemachine.request import ModelRequest, ToolDeclaration

NEW, OLD = Traits.of("claude-opus-5-5"), Traits.of("claude-sonnet-4-5")
LOOK = ToolDeclaration("look", "Look it up.")
THOUGHT: JsonObject = {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}
REDACTED: JsonObject = {"type": "redacted_thinking", "data": "aGlkZGVu"}
SAID: JsonObject = {"type": "text", "text": "Let me look.", "citations": None}
ASKED: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"b": 1, "a": [2.5, None]}}


def user(text: str = "hi") -> UserMessage:
    return UserMessage("u", (Text(text),))


def called(request_id: str = "toolu_1", name: str = "look", raw: str = "{}") -> ToolRequest:
    return ToolRequest(request_id, name, raw)


def foreign(*requests: ToolRequest, text: str = "", stop: Stop = Stop.WHOLE) -> ModelTurn:
    return ModelTurn(stop, text, requests, wire="openai", native=(Piece('{"type":"reasoning"}', None),))


def answered(turn: ModelTurn, *texts: str, status: Status = Status.SUCCEEDED) -> Exchange:
    said = texts or ("ok",) * len(turn.requests)
    pairs = zip(turn.requests, said, strict=True)
    return Exchange(turn, tuple(ToolResult.of(request, status, text) for request, text in pairs))


def asking(
    *entries: Entry,
    tools: tuple[ToolDeclaration, ...] = (LOOK,),
    start: int = 0,
    selected: int = 0,
    held: tuple[ModelTurn, ...] = (),
    instructions: str = "",
    guidance: str = "",
    tools_allowed: bool = True,
) -> ModelRequest:
    conversation = Conversation("c", entries or (user(),))
    return ModelRequest(
        conversation=conversation,
        start=start,
        selected=selected,
        held=held,
        instructions=instructions,
        guidance=guidance,
        tools=tools,
        tools_allowed=tools_allowed,
    )


def body_of(request: ModelRequest, traits: Traits) -> JsonObject:
    messages = AnthropicHistory(traits).of(request).value
    return {"messages": messages, **anthropic_wire.body_of(request, traits)}


def sent_for(request: ModelRequest, traits: Traits = NEW) -> list[JsonObject]:
    return cast(list[JsonObject], body_of(request, traits)["messages"])


def reply(*blocks: JsonObject, word: str = "end_turn", **fields: object) -> str:
    message = {"type": "message", "id": "msg_1", "model": "claude-opus-5-5-20260901", "role": "assistant"}
    return json.dumps({**message, "content": [*blocks], "stop_reason": word, **fields})


def received(*blocks: JsonObject, word: str = "tool_use", request: ModelRequest | None = None) -> ModelTurn:
    return turn_of(reply(*blocks, word=word), request or asking())


def uses(messages: list[JsonObject]) -> list[list[object]]:
    return [[block["id"] for block in blocks(message) if block["type"] == "tool_use"] for message in messages]


def blocks(message: JsonObject) -> list[JsonObject]:
    return cast(list[JsonObject], message["content"])


# Replies


def test_a_reply_becomes_a_turn() -> None:
    usage = {"input_tokens": 5, "output_tokens": 7}
    turn = turn_of(reply(THOUGHT, SAID, ASKED, word="tool_use", usage=usage), asking())
    assert turn == ModelTurn(
        stop=Stop.WHOLE,
        text="Let me look.",
        requests=(ToolRequest("toolu_1", "look", '{"b":1,"a":[2.5,null]}', "toolu_1"),),
        stop_word="tool_use",
        usage=Usage(input_tokens=5, output_tokens=7),
        native=(
            Piece(dump_json(THOUGHT), None),
            Piece(dump_json(SAID), dump_json(SAID)),
            Piece(dump_json(ASKED), dump_json(ASKED)),
        ),
        wire="anthropic",
        model="claude-opus-5-5-20260901",
        response_id="msg_1",
    )


def test_the_stop_map_knows_every_word_of_the_sdk() -> None:
    from anthropic.types import StopReason

    assert set(STOPS) == set(typing.get_args(StopReason))


@pytest.mark.parametrize(
    ("word", "content", "stop"),
    [
        ("end_turn", [SAID], Stop.WHOLE),
        ("end_turn", [], Stop.WHOLE),
        ("end_turn", [ASKED], Stop.MALFORMED),
        ("stop_sequence", [SAID], Stop.WHOLE),
        ("stop_sequence", [SAID, ASKED], Stop.WHOLE),
        ("tool_use", [ASKED], Stop.WHOLE),
        ("tool_use", [SAID], Stop.MALFORMED),
        ("tool_use", [{"type": "server_tool_use", "id": "s"}], Stop.PAUSED),
        ("max_tokens", [ASKED], Stop.CUT),
        ("model_context_window_exceeded", [SAID], Stop.CUT),
        ("pause_turn", [SAID], Stop.PAUSED),
        ("end_turn", [SAID, {"type": "tool_result", "tool_use_id": "t", "content": "80"}], Stop.MALFORMED),
        ("pause_turn", [{"type": "text", "text": " "}], Stop.MALFORMED),
        ("pause_turn", [], Stop.MALFORMED),
        ("pause_turn", [ASKED], Stop.MALFORMED),
        ("refusal", [ASKED], Stop.REFUSED),
        ("compaction", [SAID], Stop.UNKNOWN),
        ("of_tomorrow", [ASKED], Stop.UNKNOWN),
    ],
)
def test_every_stop_has_its_meaning_and_only_a_turn_that_may_ask_asks(
    word: str, content: list[JsonObject], stop: Stop
) -> None:
    assert stop_of(word, content) is stop
    turn = received(*content, word=word)
    may_ask = word in ("tool_use", "max_tokens") and ASKED in content
    assert (turn.stop, turn.stop_word, len(turn.requests)) == (stop, word, int(may_ask))


def test_an_answer_with_a_request_that_is_not_to_be_run_is_sent_back_as_its_text() -> None:
    turn = received(SAID, ASKED, word="stop_sequence")
    assert messages_of(turn) == [{"role": "assistant", "content": [{"type": "text", "text": "Let me look."}]}]


def test_a_cut_turn_hands_its_requests_over_and_they_can_be_echoed() -> None:
    broken: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": '{"a":'}
    turn = received(broken, word="max_tokens")
    assert [(request.raw, request.arguments) for request in turn.requests] == [('"{\\"a\\":"', None)]
    assert blocks_of(turn) == [{**broken, "input": {}}]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "[]",
        "{}",
        '{"type":"error","error":{}}',
        reply(word="end_turn", content=None),
        reply(word="end_turn", content=["text"]),
        reply(word="end_turn", content=[{"text": "no type"}]),
        reply(word="end_turn", stop_reason=None),
        reply({"type": "tool_use", "id": "x", "input": {}}, word="tool_use"),
        reply(SAID)[:-1] + ',"usage":NaN}',
    ],
)
def test_what_is_no_message_is_refused(body: str) -> None:
    with pytest.raises((JsonError, NotAMessage)):
        turn_of(body, asking())


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({"input_tokens": None, "cache_read_input_tokens": 5}, Usage(cached_input_tokens=5)),
        ({"input_tokens": 3, "output_tokens": 4}, Usage(input_tokens=3, output_tokens=4)),
        ({"input_tokens": 2**53 - 1, "cache_read_input_tokens": 1}, Usage(cached_input_tokens=1)),
        (
            {
                "input_tokens": 3,
                "cache_read_input_tokens": 50,
                "cache_creation_input_tokens": 7,
                "output_tokens": 20,
                "output_tokens_details": {"thinking_tokens": 12},
            },
            Usage(60, 50, 7, 20, 12),
        ),
    ],
)
def test_usage_counts_all_input_and_tells_its_parts(told: JsonValue, usage: Usage) -> None:
    assert usage_of(told) == usage


def test_ids_that_are_missing_or_repeated_are_made_and_echoed_alike_in_turn_and_result() -> None:
    first = received(ASKED)
    nameless: JsonObject = {"type": "tool_use", "name": "look", "input": {}}
    again = received(ASKED, nameless, ASKED, request=asking(user(), answered(first)))
    assert [request.wire_id for request in again.requests] == ["toolu_1", None, "toolu_1"]
    body = body_of(asking(user(), answered(first), answered(again)), NEW)
    sent = cast(list[JsonObject], body["messages"])
    ids = [request.id for request in again.requests]
    assert len({"toolu_1", *ids}) == 4
    assert [block["id"] for block in blocks(sent[3])] == ids
    assert [block["tool_use_id"] for block in blocks(sent[4])] == ids
    assert pairing_fault(body["messages"]) is None


def test_a_request_is_told_under_the_name_that_the_host_declared() -> None:
    declared = ToolDeclaration("my.tool/é", "")
    wire_name = cast(str, tool_of(declared)["name"])
    turn = received({**ASKED, "name": wire_name}, request=asking(tools=(declared,)))
    assert LEGAL.fullmatch(wire_name)
    assert turn.requests[0].name == "my.tool/é"
    assert blocks_of(turn) == [{**ASKED, "name": wire_name}]


def test_f064_anthropic_a_call_written_as_text_is_text() -> None:
    words = '<invoke name="look"><parameter name="a">1</parameter></invoke>'
    turn = received({"type": "text", "text": words}, word="end_turn")
    assert (turn.text, turn.requests, turn.stop) == (words, (), Stop.WHOLE)


# Echo


def test_blocks_go_back_as_they_came_unknown_ones_and_fields_too() -> None:
    unknown: JsonObject = {"zeta": {"k": [1, 2.50, "é\u2028", None]}, "type": "block_of_tomorrow", "id": "b"}
    call: JsonObject = {"type": "tool_use", **ASKED, "caller": {"type": "direct"}, "new_field": 0.1}
    turn = received(THOUGHT, unknown, SAID, REDACTED, call)
    assert json.dumps(blocks_of(turn)) == json.dumps([THOUGHT, unknown, SAID, REDACTED, call])


def test_without_reasoning_the_rest_stays_in_its_order() -> None:
    turn = received(THOUGHT, SAID, {"type": "of_tomorrow", "signature": "x"}, REDACTED, ASKED)
    assert blocks_of(turn, bare=True) == [SAID, ASKED]


def test_a_blank_text_block_is_left_out_because_the_wire_refuses_it() -> None:
    blank: JsonObject = {"type": "text", "text": " \n"}
    assert blocks_of(received(THOUGHT, blank, ASKED)) == [THOUGHT, ASKED]


def test_lone_surrogates_are_mended() -> None:
    turn = turn_of(reply({**ASKED, "input": {"\ud83d": "\udc00x"}}, word="tool_use"), asking())
    assert blocks_of(turn) == [{**ASKED, "input": {"\ufffd": "\ufffdx"}}]
    asked = blocks_of(foreign(called(raw='{"a":"\\ud800"}')))
    assert asked == [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": "\ufffd"}}]
    json.dumps(body_of(asking(instructions="\ud800"), NEW), ensure_ascii=False).encode()


@pytest.mark.parametrize("raw", ["", "{bad", "[1]", '"x"', "null", "3", '{"a":1e999}', '{"a":NaN}', '{"a":1,"a":2}'])
def test_arguments_that_are_no_object_are_echoed_as_an_empty_one(raw: str) -> None:
    assert blocks_of(foreign(called(raw=raw)))[0]["input"] == {}


@pytest.mark.parametrize("depth", [100, 101, 400])
def test_a_turn_keeps_its_thought_however_deep_its_arguments_are(depth: int) -> None:
    deep = parse_json('{"n":' * depth + "1" + "}" * depth)
    turn = received(THOUGHT, {**ASKED, "input": deep})
    assert blocks_of(turn) == [THOUGHT, {**ASKED, "input": deep if depth == 100 else {}}]


@pytest.mark.parametrize("piece", ["", "{}", "[1]", "{bad", dump_json({**ASKED, "type": "text", "text": "x"})])
def test_pieces_that_do_not_fit_the_turn_are_replaced_by_what_it_says(piece: str) -> None:
    turn = evolve(received(SAID, ASKED), native=(Piece(piece, piece),))
    assert blocks_of(turn) == [{"type": "text", "text": "Let me look."}, ASKED]


def test_a_turn_of_another_wire_is_built_from_its_text_and_requests() -> None:
    turn = foreign(called("call_1", raw='{"q": [1]}'), called("call_2"), text="Hm.")
    assert messages_of(answered(turn, "one", "two")) == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Hm."},
                {"type": "tool_use", "id": "call_1", "name": "look", "input": {"q": [1]}},
                {"type": "tool_use", "id": "call_2", "name": "look", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "call_2", "content": "two"},
            ],
        },
    ]


def test_f024_anthropic_ids_and_names_of_other_wires_are_mapped_alike_and_stay_distinct() -> None:
    ids = ["functions.write:0", "functions_write:0", "x" * 65, "x" * 66, "é", legal("é")]
    turn = foreign(*(called(each, f"tool {each}") for each in ids))
    asked, results = (blocks(message) for message in messages_of(answered(turn)))
    sent = [block["id"] for block in asked]
    assert sent == [block["tool_use_id"] for block in results]
    assert len(set(sent)) == len(ids)
    assert all(LEGAL.fullmatch(str(block[key])) for block in asked for key in ("id", "name"))
    assert [request.id for request in turn.requests] == ids


@given(st.sets(st.text(max_size=70), min_size=2, max_size=5))
def test_legal_forms_are_legal_and_never_shared(names: set[str]) -> None:
    forms = {legal(name) for name in [*names, *map(legal, names)]}
    assert all(LEGAL.fullmatch(form) for form in forms)
    assert len({legal(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["look", "toolu_01A-b", "x" * 64, "a__xyz"])
def test_a_legal_name_is_left_alone(name: str) -> None:
    assert legal(name) == name


# Results


@pytest.mark.parametrize(
    ("status", "text", "block"),
    [
        (Status.SUCCEEDED, "42", {"content": "42"}),
        (Status.SUCCEEDED, "", {}),
        (Status.SUCCEEDED, " \n", {}),
        (Status.SUCCEEDED, "Error: no such file", {"content": "Error: no such file"}),
        (Status.FAILED, "no", {"content": "no", "is_error": True}),
        (Status.FAILED, "", {"content": "failed", "is_error": True}),
        (Status.NOT_EXECUTED, "limit", {"content": "limit", "is_error": True}),
        (Status.DENIED, "by ana", {"content": "by ana", "is_error": True}),
        (Status.OUTCOME_UNKNOWN, " ", {"content": "outcome_unknown", "is_error": True}),
    ],
)
def test_a_result_says_what_is_true_of_its_call(status: Status, text: str, block: JsonObject) -> None:
    sent = messages_of(answered(foreign(called()), text, status=status))[1]
    assert sent == {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", **block}]}


def test_a_result_names_the_toolset_of_its_request() -> None:
    turn = received({**ASKED, "toolset_name": "browser"})
    assert blocks(messages_of(answered(turn))[1])[0]["toolset_name"] == "browser"


def test_f013_anthropic_results_in_one_message() -> None:
    turn = foreign(called("a"), called("b"), called("c"))
    sent = messages_of(answered(turn))
    assert [message["role"] for message in sent] == ["assistant", "user"]
    assert [block["tool_use_id"] for block in blocks(sent[1])] == ["a", "b", "c"]


def test_f014_anthropic_results_in_request_order_whatever_finished_first() -> None:
    turn = foreign(called("a"), called("b"))
    slow, fast = (ToolResult.of(request, Status.SUCCEEDED, request.id * 3) for request in turn.requests)
    with pytest.raises(InvalidValue):
        Exchange(turn, (fast, slow))
    sent = messages_of(Exchange(turn, (slow, fast)))[1]
    assert [(block["tool_use_id"], block["content"]) for block in blocks(sent)] == [("a", "aaa"), ("b", "bbb")]


@pytest.mark.parametrize("traits", [NEW, OLD])
def test_f015_anthropic_guidance_never_stands_among_results(traits: Traits) -> None:
    request = asking(user(), answered(foreign(called())), guidance="Stop now.", tools_allowed=False)
    sent = sent_for(request, traits)
    assert [block["type"] for message in sent[2:3] for block in blocks(message)] == ["tool_result"]
    assert "Stop now." not in json.dumps(sent[:3])


def test_f016_anthropic_a_message_never_stands_between_a_turn_and_its_results() -> None:
    request = asking(user(), answered(foreign(called())), user("and another thing"))
    sent = sent_for(request)
    assert [message["role"] for message in sent] == ["user", "assistant", "user", "user"]
    assert sent[3] == {"role": "user", "content": "and another thing"}
    assert pairing_fault([*sent]) is None


RESULT: JsonObject = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
OTHER: JsonObject = {**RESULT, "tool_use_id": "toolu_2"}
WORDS: JsonObject = {"type": "text", "text": "note"}


@pytest.mark.parametrize(
    "after",
    [
        [],
        [[WORDS]],
        [[WORDS, RESULT]],
        [[RESULT, RESULT]],
        [[OTHER]],
        [[RESULT, OTHER]],
        [[WORDS], [RESULT]],
        [[RESULT], [RESULT]],
    ],
)
def test_f017_f018_anthropic_a_history_with_a_broken_pair_is_found_before_it_is_sent(
    after: list[list[JsonObject]],
) -> None:
    turn: JsonObject = {"role": "assistant", "content": [ASKED]}
    answers: list[JsonObject] = [{"role": "user", "content": [*content]} for content in after]
    assert pairing_fault([turn, *answers]) is not None


def test_an_id_that_two_turns_share_is_found_before_it_is_sent() -> None:
    turn: JsonObject = {"role": "assistant", "content": [ASKED]}
    results: JsonObject = {"role": "user", "content": [RESULT, WORDS]}
    assert pairing_fault([turn, results]) is None
    assert pairing_fault([turn, results, turn, results]) == "request ids ['toolu_1'] are used twice"


def test_f018_anthropic_any_result_text_converts() -> None:
    ugly = "\x00\ud800 \u202e{'a': NaN}" + "x" * 100_000
    sent = messages_of(answered(foreign(called("a"), called("b")), ugly, "fine"))
    assert len(blocks(sent[1])) == 2
    json.dumps(sent, ensure_ascii=False).encode()


def test_f020_anthropic_results_stay_contiguous_whatever_one_holds() -> None:
    turn = foreign(called("shot"), called("b"))
    parts = ToolResult("shot", Status.SUCCEEDED, (Text("two "), Text("parts")))
    sent = messages_of(Exchange(turn, (parts, ToolResult.of(turn.requests[1], Status.SUCCEEDED, "b"))))[1]
    assert [(block["type"], block["content"]) for block in blocks(sent)] == [
        ("tool_result", "two parts"),
        ("tool_result", "b"),
    ]


# The whole body


def test_a_body_has_messages_system_tools_and_choice() -> None:
    assert body_of(asking(instructions="Be brief."), NEW) == {
        "messages": [{"role": "user", "content": "hi"}],
        "system": "Be brief.",
        "tools": [{"name": "look", "description": "Look it up.", "input_schema": {"type": "object", "properties": {}}}],
        "tool_choice": {"type": "auto"},
    }


def test_no_tools_no_choice_not_even_in_the_closing_call() -> None:
    plain: JsonObject = {"messages": [{"role": "user", "content": "hi"}]}
    assert body_of(asking(tools=(), instructions=" "), NEW) == plain
    assert body_of(asking(tools=(), tools_allowed=False), NEW) == plain


def test_unions_at_the_root_of_a_schema_are_left_out() -> None:
    schema = '{"type":"object","properties":{"a":{"anyOf":[{"type":"null"}]}},"anyOf":[{"required":["a"]}]}'
    kept = {"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}]}}}
    assert tool_of(ToolDeclaration("look", "", schema))["input_schema"] == kept


CLOSING = asking(user(), answered(foreign(called())), instructions="Be.", guidance="Stop.", tools_allowed=False)


def test_f062_anthropic_the_closing_call_keeps_its_tools_and_withholds_them() -> None:
    usual = body_of(evolve(CLOSING, guidance="", tools_allowed=True), NEW)
    closing = body_of(CLOSING, NEW)
    guidance: JsonObject = {"role": "system", "content": "Stop."}
    assert closing["messages"] == [*cast(list[JsonObject], usual["messages"]), guidance]
    assert closing == {**usual, "messages": closing["messages"], "tool_choice": {"type": "none"}}


def test_guidance_goes_to_the_top_where_the_model_knows_no_system_messages() -> None:
    usual = body_of(evolve(CLOSING, guidance=""), OLD)
    assert body_of(CLOSING, OLD) == {**usual, "system": "Be.\n\nStop."}
    assert body_of(evolve(CLOSING, instructions=""), OLD) == {**usual, "system": "Stop."}


def test_f063_anthropic_no_call_forces_a_tool() -> None:
    requests = [asking(), CLOSING, asking(user(), answered(foreign(called())))]
    choices = [cast(JsonObject, body_of(each, NEW)["tool_choice"])["type"] for each in requests]
    assert choices == ["auto", "none", "auto"]


def test_bound_thinking_goes_back_in_the_active_turn_alone() -> None:
    old = received(THOUGHT, ASKED)
    new = received({**THOUGHT, "signature": "bmV3"}, {**ASKED, "id": "toolu_2"})
    request = asking(user(), answered(old), user("more"), answered(new), start=2)
    for traits, kept in (
        (NEW, [["toolu_1"], ["bmV3", "toolu_2"]]),
        (OLD, [["c2lnbmVk", "toolu_1"], ["bmV3", "toolu_2"]]),
    ):
        sent = sent_for(request, traits)
        marks = [[block.get("signature") or block["id"] for block in blocks(sent[at])] for at in (1, 4)]
        assert marks == kept


def test_f010_f011_anthropic_a_selection_starts_at_the_person_and_the_active_turn_is_whole() -> None:
    old, new = foreign(called("a")), foreign(called("b"))
    request = asking(user(), answered(old), user("more"), answered(new), start=2, selected=2)
    sent = sent_for(request)
    assert sent[0] == {"role": "user", "content": "more"}
    assert uses(sent[1:2]) == [["b"]]
    assert pairing_fault([*sent]) is None


def test_what_was_sent_is_the_beginning_of_what_is_sent_next() -> None:
    turn = received(THOUGHT, ASKED)
    first = body_of(asking(user()), NEW)
    second = body_of(asking(user(), answered(turn)), NEW)
    sent, more = (cast(list[JsonObject], body["messages"]) for body in (first, second))
    assert more[: len(sent)] == sent
    assert {**first, "messages": []} == {**second, "messages": []}


def test_a_paused_turn_is_sent_last_as_received_its_pieces_as_one_message() -> None:
    search: JsonObject = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    pieces = (received(THOUGHT, search, word="pause_turn"), received(SAID, word="pause_turn"))
    sent = sent_for(asking(held=pieces))
    assert sent[1:] == [{"role": "assistant", "content": [THOUGHT, search, SAID]}]


@pytest.mark.parametrize("ids", [{"id": "s"}, {}])
def test_a_tool_of_the_vendor_that_never_ended_stands_in_no_message_before_the_next_one(ids: JsonObject) -> None:
    search: JsonObject = {"type": "server_tool_use", **ids, "name": "web_search", "input": {}}
    stayed_open = (user(), answered(received(SAID, search, ASKED)))
    stored = to_messages(Conversation("c", stayed_open))
    assert blocks(stored[1]) == [SAID, ASKED]
    assert sent_for(asking(*stayed_open, user("more"), start=2))[: len(stored)] == stored


FOUND: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
MCP: JsonObject = {**FOUND, "type": "mcp_tool_result"}


def searched(id: JsonValue = "s", input: JsonValue = None) -> JsonObject:
    return {"type": "server_tool_use", "id": id, "name": "web_search", "input": {} if input is None else input}


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        ([searched(), FOUND, SAID], [searched(), FOUND, SAID]),
        ([{**searched(), "type": "mcp_tool_use"}, MCP, SAID], [{**searched(), "type": "mcp_tool_use"}, MCP, SAID]),
        ([{**searched(), "type": "mcp_tool_use"}, SAID], [SAID]),
        ([FOUND, SAID], [SAID]),
        ([FOUND, searched(), SAID], [SAID]),
        ([searched("s/1"), {**FOUND, "tool_use_id": "s/1"}, SAID], [SAID]),
        ([searched(3), {**FOUND, "tool_use_id": 3}, SAID], [SAID]),
        ([searched(input="q"), FOUND, SAID], [searched(), FOUND, SAID]),
    ],
)
def test_what_a_gateway_made_of_a_tool_of_the_vendor_spoils_no_later_message(
    stored: list[JsonObject], kept: list[JsonObject]
) -> None:
    turn = received(*stored, word="end_turn")
    sent = sent_for(asking(user(), turn, user("more"), start=2))
    assert blocks(sent[1]) == kept
    assert sent[:2] == to_messages(Conversation("c", (user(), turn)))


def test_a_closing_call_leaves_a_paused_turn_out() -> None:
    pieces = (received(SAID, word="pause_turn"),)
    for traits in (NEW, OLD):
        sent = json.dumps(body_of(evolve(CLOSING, held=pieces), traits))
        assert "Let me look." not in sent


def test_manual_thinking_needs_a_thought_at_the_start_of_the_latest_turn() -> None:
    thoughtful = answered(received(THOUGHT, {**ASKED, "id": "toolu_2"}))
    bare, said = answered(foreign(called())), received(SAID, word="end_turn")
    for entries, fits in [
        ((user(),), True),
        ((user(), thoughtful), True),
        ((user(), bare), False),
        ((user(), bare, user()), False),
        ((user(), bare, said, user()), False),
        ((user(), bare, said, user(), said), True),
        ((user(), bare, said, user(), thoughtful), True),
        ((user(), thoughtful, bare), False),
    ]:
        assert AnthropicHistory(OLD).thinks_first(asking(*entries)) is fits
    paused = (received(SAID, word="pause_turn"),)
    assert AnthropicHistory(OLD).thinks_first(asking(user(), bare, said, user(), held=paused))
    assert not AnthropicHistory(OLD).thinks_first(asking(user(), bare, held=paused))
