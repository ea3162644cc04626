"""
What a body of the Responses API becomes.
"""

from typing import get_args

import pytest
from openai.types.responses.response import IncompleteDetails
from openai.types.responses.response_status import ResponseStatus

from rodada.providers.openai_request import legal_name
from rodada.providers.openai_responses_output import INCOMPLETE_STOPS, NOT_AN_ANSWER, read_turn
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import ProviderError, ProviderGarbled, ProviderOverloaded
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.messages import ModelTurn, Piece, Stop, Text, ToolRequest, Usage, UserMessage
from rodada.statemachine.request import ModelRequest, ToolDeclaration

ASKING = ModelRequest(conversation=Conversation("c", (UserMessage("u", (Text("a"),)),)))


def say(text: str, phase: str | None = None) -> JsonObject:
    content: list[JsonValue] = [{"type": "output_text", "text": text}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": content, "phase": phase}


def call(call_id: JsonValue = "call_1", arguments: JsonValue = '{"a":1}', **more: JsonValue) -> JsonObject:
    return {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": "f", "arguments": arguments, **more}


def body(*items: JsonObject, status: str = "completed", reason: str | None = None, **more: JsonValue) -> JsonObject:
    details: JsonObject = {} if reason is None else {"incomplete_details": {"reason": reason}}
    return {"id": "resp_1", "model": "gpt-5.6", "status": status, "output": [*items], **details, **more}


def turn(*items: JsonObject, status: str = "completed", reason: str | None = None) -> ModelTurn:
    return read_turn(body(*items, status=status, reason=reason), ASKING)


def ending(told: ModelTurn) -> tuple[Stop, str, str, int]:
    return told.stop, told.stop_word, told.text, len(told.requests)


def test_whole_turn_keeps_every_item_and_says_what_came() -> None:
    thought: JsonObject = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "sealed"}
    future: JsonObject = {"type": "thing_of_tomorrow", "id": "x", "n": 1.0}
    told = turn(thought, say("Looking.", "commentary"), future, call())
    bare_call = {key: value for key, value in call().items() if key != "id"}
    bare_note = {key: value for key, value in say("Looking.", "commentary").items() if key != "id"}
    assert told == ModelTurn(
        stop=Stop.WHOLE,
        stop_word="completed",
        text="Looking.",
        requests=(ToolRequest("call_1", "f", '{"a":1}', "call_1"),),
        native=(
            Piece(dump_json(thought), None),
            Piece(dump_json(say("Looking.", "commentary")), dump_json(bare_note)),
            Piece(dump_json(future), None),  # its id, which it cannot lose, binds it to the thought
            Piece(dump_json(call()), dump_json(bare_call)),
        ),
        wire="openai_responses",
        model="gpt-5.6",
        response_id="resp_1",
    )


def test_every_status_that_the_sdk_knows_has_a_meaning() -> None:
    assert {*get_args(ResponseStatus)} == {*NOT_AN_ANSWER, "completed", "failed", "incomplete"}


def test_every_incomplete_reason_that_the_sdk_knows_has_a_stop() -> None:
    annotation = IncompleteDetails.model_fields["reason"].annotation
    known = {word for option in get_args(annotation) for word in get_args(option)}
    assert known == {*INCOMPLETE_STOPS}


@pytest.mark.parametrize(
    ("reason", "stop", "requests"),
    [
        ("max_output_tokens", Stop.CUT, 1),
        ("content_filter", Stop.REFUSED, 0),
        ("max_messages", Stop.UNKNOWN, 0),
        ("steered", Stop.UNKNOWN, 0),
        ("a_reason_of_tomorrow", Stop.UNKNOWN, 0),
    ],
)
def test_incomplete_turns_end_by_their_reason(reason: str, stop: Stop, requests: int) -> None:
    told = turn(say("Half"), call(), status="incomplete", reason=reason)
    assert ending(told) == (stop, reason, "Half", requests)


def test_incomplete_without_a_reason_is_unknown() -> None:
    assert ending(turn(call(), status="incomplete")) == (Stop.UNKNOWN, "incomplete", "", 0)


def test_unknown_status_is_unknown_and_asks_for_nothing() -> None:
    assert ending(turn(call(), status="of_tomorrow")) == (Stop.UNKNOWN, "of_tomorrow", "", 0)


def test_unfinished_call_in_a_completed_turn_is_cut() -> None:
    assert ending(turn(call(status="incomplete"))) == (Stop.CUT, "completed", "", 1)


def test_refusal_is_refused_and_shown() -> None:
    refusal: JsonObject = {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]}
    assert ending(turn(refusal, call())) == (Stop.REFUSED, "refusal", "I cannot.", 0)


def test_commentary_alone_is_no_answer() -> None:
    assert ending(turn(say("Wait.", "commentary"))) == (Stop.MALFORMED, "commentary", "Wait.", 0)


def test_commentary_is_no_part_of_the_answer_beside_it() -> None:
    told = turn(say("Wait.", "commentary"), say("Sunny.", "final_answer"))
    assert ending(told) == (Stop.WHOLE, "completed", "Sunny.", 0)


def test_messages_of_one_turn_are_paragraphs() -> None:
    assert turn(say("One."), say("Two.")).text == "One.\n\nTwo."


def test_turn_without_anything_is_whole_and_says_nothing() -> None:
    assert ending(turn()) == (Stop.WHOLE, "completed", "", 0)


def test_f064_openai_call_written_as_text_is_text() -> None:
    text = '<invoke name="f"><parameter name="a">1</parameter></invoke>'
    assert ending(turn(say(text))) == (Stop.WHOLE, "completed", text, 0)


def test_f065_openai_blank_closing_text_is_no_word() -> None:
    assert not turn(say(" \n", "final_answer")).has_words


def test_call_that_nobody_here_can_answer_makes_the_turn_malformed() -> None:
    told = turn({"type": "computer_call", "id": "cu_1", "call_id": "call_9"}, call())
    assert ending(told) == (Stop.MALFORMED, "computer_call", "", 0)


@pytest.mark.parametrize(
    "item", [{"type": "function_call_output", "call_id": "call_1", "output": "80"}, {**say("Hi."), "role": "user"}]
)
def test_what_only_we_may_say_makes_the_turn_malformed(item: JsonObject) -> None:
    told = turn(call(), item)
    assert (told.stop, told.stop_word, told.requests) == (Stop.MALFORMED, item["type"], ())


def test_hosted_call_that_is_answered_is_kept() -> None:
    told = turn({"type": "shell_call", "call_id": "s"}, {"type": "shell_call_output", "call_id": "s"}, say("Done."))
    assert ending(told) == (Stop.WHOLE, "completed", "Done.", 0)


def test_custom_call_is_a_request() -> None:
    told = turn({"type": "custom_tool_call", "id": "ctc_1", "call_id": "a", "name": "shell", "input": "ls"})
    assert told.requests == (ToolRequest("a", "shell", "ls", "a"),)


def test_ids_that_are_missing_empty_or_repeated_are_made() -> None:
    told = turn(call("x"), call("x"), call(""), call(None))
    assert [(each.id, each.wire_id) for each in told.requests] == [
        ("x", "x"),
        ("call_1_1", "x"),
        ("call_1_2", None),
        ("call_1_3", None),
    ]


def test_arguments_of_other_servers_become_text() -> None:
    told = turn(call("a", {"b": 1}), call("b", None), call("c", "[1"))
    assert [each.raw for each in told.requests] == ['{"b":1}', "", "[1"]


def test_declared_name_comes_back_for_the_legal_one_that_was_sent() -> None:
    asking = ModelRequest(conversation=ASKING.conversation, tools=(ToolDeclaration("fs.read", ""),))
    told = read_turn(body(call() | {"name": legal_name("fs.read")}), asking)
    assert [each.name for each in told.requests] == ["fs.read"]


def test_usage_counts_parts_inside_the_whole() -> None:
    told: JsonObject = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 40},
        "total_tokens": 150,
    }
    assert read_turn(body(usage=told), ASKING).usage == Usage(100, 60, 30, 50, 40)


def test_reasoning_that_a_server_counts_beside_the_output_is_a_part_of_it() -> None:
    told: JsonObject = {"input_tokens": 21, "output_tokens": 0, "total_tokens": 81}
    assert read_turn(body(usage=told), ASKING).usage == Usage(input_tokens=21, output_tokens=60)


@pytest.mark.parametrize(
    "told",
    [
        *(None, {}, {"input_tokens": None, "input_tokens_details": None}, "many"),
        {"input_tokens": -1, "output_tokens": True, "output_tokens_details": {"reasoning_tokens": "2"}},
    ],
)
def test_usage_that_is_not_told_is_none(told: JsonValue) -> None:
    assert read_turn(body(usage=told), ASKING).usage == Usage()


@pytest.mark.parametrize("status", sorted(NOT_AN_ANSWER))
def test_unfinished_response_is_garbled(status: str) -> None:
    with pytest.raises(ProviderGarbled, match=status):
        turn(call(), status=status)


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        ("server_error", "ProviderOverloaded", True),
        ("rate_limit_exceeded", "ProviderOverloaded", True),
        ("vector_store_timeout", "ProviderOverloaded", True),
        (None, "ProviderOverloaded", True),
        ("invalid_prompt", "ProviderRejected", False),
        ("code_of_tomorrow", "ProviderRejected", False),
        ("context_length_exceeded", "ProviderTooLarge", False),
        ("insufficient_quota", "ProviderQuota", False),
    ],
)
def test_failed_response_is_an_error_by_its_code(code: str | None, kind: str, retryable: bool) -> None:
    error: JsonObject = {"code": code, "message": "No."}
    bodies: tuple[JsonObject, ...] = (body(status="failed", error=error), {"error": error}, {"type": "error", **error})
    for each in bodies:
        with pytest.raises(ProviderError) as caught:
            read_turn(each, ASKING)
        told = caught.value
        assert (type(told).__name__, told.retryable, told.code, told.message) == (kind, retryable, code, "No.")


@pytest.mark.parametrize("code", [None, 401, "401", "invalid_api_key"])
def test_p10_failed_response_does_not_show_the_key(code: JsonValue) -> None:
    error: JsonObject = {"message": "Incorrect API key provided: sk-secret.", "code": code}
    bodies: tuple[JsonObject, ...] = (body(status="failed", error=error), {"error": error})
    for each in bodies:
        with pytest.raises(ProviderError) as caught:
            read_turn(each, ASKING, secret="sk-secret")
        assert caught.value.message == "Incorrect API key provided: ***."


def test_response_that_failed_without_a_reason_is_overloaded() -> None:
    with pytest.raises(ProviderOverloaded, match="the response failed"):
        read_turn(body(status="failed"), ASKING)


@pytest.mark.parametrize(
    "wrong",
    [
        {"output": []},
        {"status": "completed"},
        {"status": "completed", "output": None},
        {"status": "completed", "output": ["text"]},
        {"status": "completed", "output": [{"id": "x"}]},
    ],
)
def test_body_of_another_form_is_garbled(wrong: JsonObject) -> None:
    with pytest.raises(ProviderGarbled):
        read_turn(wrong, ASKING)
