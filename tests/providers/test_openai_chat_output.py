"""
What a body of Chat Completions becomes.
"""

from typing import Any, TypeAlias, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat.chat_completion import Choice
from openai.types.chat.chat_completion_chunk import Choice as ChunkChoice

from rodada.providers.openai_chat_output import STOPS, read_turn
from rodada.providers.openai_request import legal_name
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import ProviderError, ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.messages import (
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
from support.whole_fields import chat_fields

ASKING = ModelRequest(conversation=Conversation("c", (UserMessage("u", (Text("a"),)),)))


def call(call_id: JsonValue = "call_1", arguments: JsonValue = '{"a":1}', name: str = "f") -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(content: JsonValue = None, *calls: JsonObject, **more: JsonValue) -> JsonObject:
    asked: JsonObject = {"tool_calls": [*calls]} if calls else {}
    return {"role": "assistant", "content": content, **asked, **more}


def body(message: JsonValue, finish: JsonValue = "stop", **more: JsonValue) -> JsonObject:
    choice: JsonObject = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "chatcmpl-1", "model": "m", "choices": [choice], **more}


def turn(message: JsonValue, finish: JsonValue = "stop", **more: JsonValue) -> ModelTurn:
    return read_turn(body(message, finish, **more), ASKING)


def ending(told: ModelTurn) -> tuple[Stop, str, str, int]:
    return told.stop, told.stop_word, told.text, len(told.requests)


def raws(told: ModelTurn) -> list[str]:
    return [each.raw for each in told.requests]


def test_whole_turn_keeps_the_message_and_says_what_came() -> None:
    message = said("Looking.", call(), refusal=None, annotations=[])
    bare = {key: value for key, value in message.items() if key != "annotations"}
    usage: JsonObject = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "total_tokens": 130,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    assert turn(message, "tool_calls", usage=usage) == ModelTurn(
        stop=Stop.WHOLE,
        stop_word="tool_calls",
        text="Looking.",
        requests=(ToolRequest("call_1", "f", '{"a":1}', "call_1"),),
        usage=Usage(100, 60, 5, 30, 20),
        native=(Piece(dump_json(message), dump_json(bare)),),
        wire="openai_chat",
        model="m",
        response_id="chatcmpl-1",
    )


def test_p10_what_is_stored_without_reasoning_has_none() -> None:
    message = said(
        [{"type": "thinking", "thinking": [{"type": "text", "text": "secret"}]}, {"type": "text", "text": "Looking."}],
        {**call(), "extra_content": {"google": {"thought_signature": "secret"}}},
        reasoning_content="secret",
        reasoning_details=[{"text": "secret"}],
    )
    told = turn(message)
    (piece,) = told.native
    assert piece == Piece(dump_json(message), dump_json(said("Looking.", call())))
    assert "secret" not in told.text


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", Stop.WHOLE),
        ("length", Stop.CUT),
        ("max_tokens", Stop.CUT),
        ("model_length", Stop.CUT),
        ("content_filter", Stop.REFUSED),
        ("a_reason_of_tomorrow", Stop.UNKNOWN),
        ("", Stop.UNKNOWN),
        (None, Stop.UNKNOWN),
        (7, Stop.UNKNOWN),
    ],
)
def test_stops_of_a_text(finish: JsonValue, stop: Stop) -> None:
    assert ending(turn(said("So."), finish)) == (stop, finish if isinstance(finish, str) else "", "So.", 0)


def test_every_stop_that_the_sdk_knows_is_mapped() -> None:
    assert {*get_args(Choice.model_fields["finish_reason"].annotation)} <= STOPS.keys()
    options = get_args(ChunkChoice.model_fields["finish_reason"].annotation)
    assert {word for option in options for word in get_args(option)} <= STOPS.keys()


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call"])
def test_calls_decide_and_not_the_stop(finish: str) -> None:
    assert ending(turn(said(None, call()), finish)) == (Stop.WHOLE, finish, "", 1)


@pytest.mark.parametrize("finish", ["content_filter", "a_reason_of_tomorrow", None])
def test_a_stop_that_is_refused_or_unknown_never_runs_a_tool(finish: str | None) -> None:
    assert turn(said("So.", call()), finish).requests == ()


@pytest.mark.parametrize("finish", ["tool_calls", "function_call"])
def test_calls_that_are_announced_and_not_there_are_a_flaw(finish: str) -> None:
    assert ending(turn(said("Let me look."), finish)) == (Stop.MALFORMED, finish, "Let me look.", 0)


@pytest.mark.parametrize("arguments", ["{}", '{"path":"f"}', '{"path":"f'])
def test_f047_f048_f050_a_cut_turn_keeps_its_calls_whatever_their_arguments(arguments: str) -> None:
    told = turn(said(None, call(arguments=arguments)), "length")
    assert (ending(told), raws(told)) == ((Stop.CUT, "length", "", 1), [arguments])


def test_f056_what_a_filter_left_is_no_answer() -> None:
    assert ending(turn(said("I am sorry"), "content_filter")) == (Stop.REFUSED, "content_filter", "I am sorry", 0)


def test_a_refusal_is_told_and_runs_nothing() -> None:
    told = turn(said(None, call(), refusal="I cannot."), "stop")
    assert ending(told) == (Stop.REFUSED, "refusal", "I cannot.", 0)


def test_f064_calls_written_as_text_are_text() -> None:
    written = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert ending(turn(said(written))) == (Stop.WHOLE, "stop", written, 0)


@pytest.mark.parametrize(
    ("arguments", "raw"),
    [("", ""), (None, ""), ({}, "{}"), ({"a": 1}, '{"a":1}'), ([1], "[1]"), ('{"a', '{"a'), ("null", "null"), (3, "3")],
)
def test_f026_f027_f029_arguments_come_as_text_whatever_they_are(arguments: JsonValue, raw: str) -> None:
    assert raws(turn(said(None, call(arguments=arguments)))) == [raw]


def test_missing_arguments_are_none() -> None:
    assert raws(turn(said(None, {"id": "a", "type": "function", "function": {"name": "f"}}))) == [""]


@pytest.mark.parametrize("missing", [None, "", 3])
def test_f021_calls_without_ids_get_ours(missing: JsonValue) -> None:
    told = turn(said(None, call(missing), call(missing), call("good")))
    assert [(each.id, each.wire_id) for each in told.requests] == [
        ("call_1_0", None),
        ("call_1_1", None),
        ("good", "good"),
    ]


def test_f023_the_same_id_twice_and_an_empty_one_are_three_calls() -> None:
    told = turn(said(None, call("x", '{"a":1}'), call("x", '{"a":2}'), call("", '{"a":3}')))
    assert [(each.id, each.wire_id, each.raw) for each in told.requests] == [
        ("x", "x", '{"a":1}'),
        ("call_1_1", "x", '{"a":2}'),
        ("call_1_2", None, '{"a":3}'),
    ]


def test_a_call_without_a_type_is_a_function_and_index_zero_on_each_is_nothing() -> None:
    bare: JsonObject = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    told = turn(said(None, bare, {**bare, "id": "b"}))
    assert [(each.id, each.name) for each in told.requests] == [("a", "f"), ("b", "f")]


def test_a_call_of_the_first_years_is_a_call_without_an_id() -> None:
    message = said(None, function_call={"name": "f", "arguments": "{}"})
    told = turn(message, "function_call")
    assert told.requests == (ToolRequest("call_1_0", "f", "{}"),)


def test_calls_win_over_a_call_of_the_first_years() -> None:
    told = turn(said(None, call(), function_call={"name": "old", "arguments": "{}"}))
    assert [each.name for each in told.requests] == ["f"]


@pytest.mark.parametrize(
    ("alien", "word"),
    [
        ({"id": "a", "type": "custom", "custom": {"name": "f", "input": "x"}}, "custom"),
        ({"id": "a"}, "a call of no kind"),
    ],
)
def test_a_call_of_another_kind_spoils_the_turn(alien: JsonObject, word: str) -> None:
    assert ending(turn(said("So.", call(), alien), "tool_calls")) == (Stop.MALFORMED, word, "So.", 0)


@pytest.mark.parametrize("calls", [None, [], {}, "no"])
def test_a_list_of_calls_that_is_none_asks_for_nothing(calls: JsonValue) -> None:
    assert ending(turn(said("So.", tool_calls=calls))) == (Stop.WHOLE, "stop", "So.", 0)


def test_a_name_that_was_mended_is_the_tool_again() -> None:
    odd = ToolDeclaration("notes.read all", "")
    asked = ModelRequest(conversation=ASKING.conversation, tools=(odd,))
    told = read_turn(body(said(None, call(name=legal_name(odd.name)))), asked)
    assert told.requests[0].name == odd.name


def test_content_in_parts_is_their_text() -> None:
    parts: JsonValue = [{"type": "text", "text": "Look"}, {"type": "image"}, {"type": "text", "text": "ing."}, 3]
    assert turn(said(parts)).text == "Looking."


@pytest.mark.parametrize("content", [None, "", 3, {}])
def test_content_that_is_no_text_says_nothing(content: JsonValue) -> None:
    assert ending(turn(said(content))) == (Stop.WHOLE, "stop", "", 0)


@pytest.mark.parametrize("usage", [None, {}, [], "many", {"prompt_tokens": -1, "completion_tokens": True}])
def test_f098_usage_that_is_not_told_is_unknown_and_not_zero(usage: JsonValue) -> None:
    assert turn(said("So."), usage=usage).usage == Usage()
    assert turn(said("So.")).usage == Usage()


def test_f098_usage_in_part_is_what_is_told() -> None:
    told = turn(said("So."), usage={"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": None})
    assert told.usage == Usage(input_tokens=7, output_tokens=3)


def test_reasoning_that_a_server_counts_beside_the_output_is_a_part_of_it() -> None:
    counts: JsonObject = {"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 399}
    told = turn(said("So."), usage={**counts, "completion_tokens_details": {"reasoning_tokens": 386}})
    assert told.usage == Usage(input_tokens=12, output_tokens=387, reasoning_tokens=386)


def test_of_several_choices_the_first_is_taken() -> None:
    several = body(said("First."))
    several["choices"] = [{"message": said("First."), "finish_reason": "stop"}, {"message": said("Second.")}]
    assert read_turn(several, ASKING).text == "First."


WRONG: list[JsonObject] = [
    {},
    {"choices": None},
    {"choices": []},
    {"choices": ["text"]},
    {"choices": [{"index": 0}]},
    {"choices": [{"message": "text"}]},
    {"choices": [{"message": {}}]},
    {"object": "list", "data": []},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_body_of_another_form_is_garbled(wrong: JsonObject) -> None:
    with pytest.raises(ProviderGarbled):
        read_turn(wrong, ASKING)


@pytest.mark.parametrize(
    ("error", "kind", "retryable", "told"),
    [
        ({"message": "Overloaded", "code": 502}, "ProviderOverloaded", True, "Overloaded"),
        ({"message": "Slow down", "code": 429}, "ProviderOverloaded", True, "Slow down"),
        ({"message": "No", "code": 400, "type": "bad"}, "ProviderRejected", False, "No"),
        ({"message": "No", "code": 400}, "ProviderRejected", False, "No"),
        ({"message": "No", "code": 401}, "ProviderAuthentication", False, "No"),
        ({"message": "Hm", "code": "server_error"}, "ProviderOverloaded", True, "Hm"),
        ({"message": "Long", "code": "context_length_exceeded"}, "ProviderTooLarge", False, "Long"),
        ({"message": "No", "type": "invalid_request_error"}, "ProviderRejected", False, "No"),
        ({"message": "Hm", "code": 7}, "ProviderOverloaded", True, "Hm"),
        ({"message": "Boom", "type": "None", "code": "500"}, "ProviderOverloaded", True, "Boom"),
        ({"message": "Slow down", "type": "throttling_error", "code": "429"}, "ProviderOverloaded", True, "Slow down"),
        ({"message": "No", "code": "400"}, "ProviderRejected", False, "No"),
        ({"message": "No", "code": "3505"}, "ProviderRejected", False, "No"),
        ({"message": "Slow", "type": "rate_limit_error", "code": "tokens"}, "ProviderOverloaded", True, "Slow"),
        ({"message": "Pay", "type": "insufficient_quota", "code": "tokens"}, "ProviderQuota", False, "Pay"),
        ({"message": "Long", "type": "exceed_context_size_error", "code": 400}, "ProviderTooLarge", False, "Long"),
        ("model not loaded", "ProviderOverloaded", True, "model not loaded"),
    ],
)
def test_an_error_inside_an_answer_is_the_error(error: JsonValue, kind: str, retryable: bool, told: str) -> None:
    within: JsonObject = {"choices": [{"message": said(""), "finish_reason": "error", "error": error}]}
    itself: JsonObject = {**error, "object": "error"} if isinstance(error, dict) else {"error": error}
    bodies: tuple[JsonObject, ...] = ({"error": error}, itself, body(said("So."), error=error), within)
    for each in bodies:
        with pytest.raises(ProviderError) as caught:
            read_turn(each, ASKING)
        assert (type(caught.value).__name__, caught.value.retryable, caught.value.message) == (kind, retryable, told)


@pytest.mark.parametrize("status", [None, 401, "401"])
def test_p10_an_error_inside_an_answer_does_not_show_the_key(status: JsonValue) -> None:
    error: JsonObject = {"message": "Incorrect API key provided: sk-secret.", "code": status}
    within: JsonObject = {"choices": [{"message": said(""), "error": error}]}
    bodies: tuple[JsonObject, ...] = ({"error": error}, within, {**error, "object": "error"})
    for each in bodies:
        with pytest.raises(ProviderError) as caught:
            read_turn(each, ASKING, secret="sk-secret")
        assert caught.value.message == "Incorrect API key provided: ***."


NOTHING: dict[str, Any] = {}
Values: TypeAlias = st.SearchStrategy[Any]
WORDS: Values = st.sampled_from(("", "a", "function", "tool_calls", '{"a":1}', '{"a"'))
SCALARS: Values = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False, allow_infinity=False) | WORDS
)
ANYTHING: Values = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4)
)
FUNCTIONS: Values = st.fixed_dictionaries(NOTHING, optional={"name": WORDS | ANYTHING, "arguments": WORDS | ANYTHING})
CALLS: Values = st.lists(
    st.fixed_dictionaries({"function": FUNCTIONS}, optional={"id": WORDS | ANYTHING, "type": ANYTHING}), max_size=3
)
MESSAGES: Values = st.fixed_dictionaries(
    NOTHING,
    optional={"content": ANYTHING, "tool_calls": CALLS | ANYTHING, "function_call": FUNCTIONS, "refusal": ANYTHING},
)


@given(MESSAGES | ANYTHING, ANYTHING, WORDS | st.just("stop") | st.just("length"))
def test_whatever_stands_in_a_body_is_a_turn_that_can_be_sent_back_or_an_error_of_ours(
    message: JsonValue, usage: JsonValue, finish: JsonValue
) -> None:
    try:
        told = read_turn(body(message, finish, usage=usage), ASKING)
    except ProviderError:
        return
    if told.requests:
        results = tuple(ToolResult.of(each, Status.FAILED, "no") for each in told.requests)
        told_on = ASKING.conversation.append(Exchange(told, results))
        for each in (told_on, Conversation.from_json(told_on.to_json())):
            sent = chat_fields(ModelRequest(conversation=each))["messages"]
            assert isinstance(sent, list)
            assert len(sent) == 2 + len(results)
