"""
A streamed answer of the Responses API gives the turn that the same call without streaming gives, or one clear error.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import cast

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.loopback import Body, Broken, Call, Drop, Failure, Hang, Loopback, Raw, Reply, Turn
from rodada.providers.loopback.frames import frame
from rodada.providers.loopback.openai_responses.stream import frames
from rodada.providers.openai_responses import OpenAIResponses
from rodada.providers.openai_responses_stream import StreamedResponse
from rodada.statemachine import (
    ArgumentsDelta,
    Conversation,
    Delta,
    Limits,
    ModelTurn,
    ReasoningDelta,
    Stop,
    Text,
    TextDelta,
    ToolLoop,
)
from rodada.statemachine.errors import (
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderTooLarge,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_json
from rodada.statemachine.messages import Usage as OurUsage
from rodada.statemachine.messages import UserMessage
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from rodada.tools import tool
from support.streams import cuts, data_of, stream_of

KEY = "sk-secret-0123456789"
TOOLS = (ToolDeclaration("look", "Look it up."), ToolDeclaration("goal", "Saves a goal."))
ASKING = ModelRequest(
    conversation=Conversation("c", (UserMessage("u", (Text("How much?"),)),)), tools=TOOLS, stream=True, seconds=30
)
WHOLE = evolve(ASKING, stream=False)

texts = st.text(st.characters(codec="utf-8"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts, lambda each: st.lists(each, max_size=3), max_leaves=4
)
parts = st.one_of(
    st.fixed_dictionaries({"type": st.just("output_text"), "text": texts, "annotations": st.just([])}),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": texts}),
    st.fixed_dictionaries({"type": st.just("part_of_tomorrow"), "more": values}),
)
summaries = st.lists(st.fixed_dictionaries({"type": st.just("summary_text"), "text": texts}), max_size=2)
statuses = st.sampled_from(["completed", "incomplete"])
items = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("message"), "id": texts, "status": statuses, "content": st.lists(parts, max_size=3)}
    ),
    st.fixed_dictionaries(
        {"type": st.just("reasoning"), "id": texts, "summary": summaries, "encrypted_content": texts}
    ),
    st.fixed_dictionaries({"type": st.just("function_call"), "call_id": texts, "name": texts, "arguments": texts}),
    st.fixed_dictionaries({"type": st.just("custom_tool_call"), "call_id": texts, "name": texts, "input": texts}),
    st.fixed_dictionaries({"type": st.just("item_of_tomorrow"), "more": values}),
)
responses = st.fixed_dictionaries(
    {
        "id": texts,
        "status": st.sampled_from(["completed", "incomplete", "failed"]),
        "error": st.none() | st.fixed_dictionaries({"code": texts, "message": texts}),
        "incomplete_details": st.none() | st.fixed_dictionaries({"reason": texts}),
        "output": st.lists(items, max_size=4),
        "usage": st.none() | st.fixed_dictionaries({"input_tokens": st.integers(0, 9)}),
    }
)


def put_together(sent: bytes, cut_at: list[int]) -> tuple[StreamedResponse, list[Delta]]:
    streamed, heard = StreamedResponse(), list[Delta]()
    for each in data_of(sent, cut_at):
        heard += streamed.add(cast(JsonObject, parse_json(each)))
    return streamed, heard


def written(heard: list[Delta]) -> dict[int, tuple[str, str]]:
    found: dict[int, tuple[str, str]] = {}
    for each in heard:
        if isinstance(each, ArgumentsDelta):
            found[each.position] = (each.name, found.get(each.position, ("", ""))[1] + each.text)
    return found


def said(heard: list[Delta]) -> str:
    return "".join(each.text for each in heard if isinstance(each, TextDelta))


@given(responses, cuts)
def test_any_response_is_put_together_as_it_would_have_come_whole(response: JsonObject, cut_at: list[int]) -> None:
    streamed, heard = put_together(b"".join(frames(response)), cut_at)
    assert streamed.whole
    assert streamed.body == response
    output = cast("list[JsonObject]", response["output"])
    calls = [item for item in output if str(item["type"]) in ("function_call", "custom_tool_call")]
    whole = [(item["name"], item.get("arguments", item.get("input"))) for item in calls]
    assert written(heard) == {at: each for at, each in enumerate(whole) if each[1]}
    told = ["".join(str(part.get("text", part.get("refusal", ""))) for part in content(item)) for item in output]
    assert said(heard) == "\n\n".join(filter(None, told))


def content(item: JsonObject) -> list[JsonObject]:
    return cast("list[JsonObject]", item["content"]) if item["type"] == "message" else []


@given(responses, cuts, st.sampled_from([None, "short", "absent"]))
def test_items_of_a_response_that_ends_without_them_are_those_that_came_before(
    response: JsonObject, cut_at: list[int], lack: str | None
) -> None:
    lacking: JsonObject = {**response, "output": None}
    if lack == "short":
        lacking["output"] = cast("list[JsonValue]", response["output"])[:-1]
    elif lack == "absent":
        del lacking["output"]
    last = frame({"type": "response.completed", "response": lacking})
    streamed, _ = put_together(b"".join([*frames(response)[:-1], last]), cut_at)
    assert streamed.body == response


@given(responses, st.integers(0, 200))
def test_a_response_that_was_cut_is_never_whole(response: JsonObject, kept: int) -> None:
    sent = frames(response)
    assert not put_together(b"".join(sent[: min(kept, len(sent) - 1)]), [])[0].whole


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | texts,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from(["type", "name", "output"]), each),
    max_leaves=6,
)
odd_events = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                *("response.output_item.added", "response.output_item.done", "response.output_text.delta"),
                *("response.reasoning_summary_text.delta", "response.function_call_arguments.delta"),
                *("response.completed", "response.failed", "response.of_tomorrow"),
            ]
        )
    },
    optional=dict.fromkeys(("output_index", "summary_index", "item", "delta", "response"), anything),
)


@given(st.lists(odd_events, max_size=6))
def test_events_of_any_form_are_taken_or_garbled(sent: list[JsonObject]) -> None:
    streamed = StreamedResponse()
    with contextlib.suppress(ProviderGarbled):
        for event in sent:
            streamed.add(event)
        assert isinstance(streamed.body, dict)


def asked(
    reply: Reply, request: ModelRequest = ASKING, options: Mapping[str, object] | None = None
) -> tuple[ModelTurn, list[Delta], Loopback]:
    heard: list[Delta] = []

    async def ask(url: str) -> ModelTurn:
        provider = OpenAIResponses("gpt-5.6", api_key=KEY, base_url=url, options=options)
        try:
            return await provider.ask(request, heard.append)
        finally:
            await provider.aclose()

    with Loopback([reply]) as server:
        return asyncio.run(ask(server.base_url("openai"))), heard, server


SPOKEN = Turn("Let me look it up.", [Call("look", {"at": [1, 2], "ação": "é"}), Call("goal")], reasoning=True)


def test_the_turn_is_the_one_that_comes_without_streaming() -> None:
    whole = asked(SPOKEN, WHOLE)[0]
    streamed, heard, server = asked(SPOKEN)
    assert streamed == whole
    assert server.requests()[0]["stream"] is True
    assert said(heard) == "Let me look it up."
    assert written(heard) == {0: ("look", '{"at":[1,2],"a\\u00e7\\u00e3o":"\\u00e9"}'), 1: ("goal", "{}")}


def test_a_summary_of_reasoning_is_heard_where_the_host_asked_for_it() -> None:
    def reasoned(options: Mapping[str, object]) -> str:
        heard = asked(SPOKEN, options=options)[1]
        return "".join(each.text for each in heard if isinstance(each, ReasoningDelta))

    assert reasoned({}) == ""
    assert reasoned({"reasoning": {"summary": "auto"}}) == "Thought about it."


def failure_of(reply: Reply, request: ModelRequest = ASKING) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        asked(reply, request)
    assert KEY not in str(caught.value)
    return caught.value


FRAMES_OF_SPOKEN = 26


def test_a_stream_with_its_last_event_is_whole() -> None:
    assert asked(Broken(SPOKEN, FRAMES_OF_SPOKEN, "end"))[0].stop is Stop.WHOLE


@pytest.mark.parametrize("then", ["end", "drop"])
@pytest.mark.parametrize("kept", range(FRAMES_OF_SPOKEN))
def test_a_stream_without_its_end_is_a_lost_connection(kept: int, then: str) -> None:
    error = failure_of(Broken(SPOKEN, kept, "end" if then == "end" else "drop"))
    assert (type(error), error.retryable) == (ProviderUnreachable, True)


FAILURES = [
    (Failure(500, "Not now."), ProviderOverloaded, True),
    (Failure(429, "Not now.", code="rate_limit_exceeded"), ProviderOverloaded, True),
    (Failure(429, "Not now.", code="insufficient_quota"), ProviderQuota, False),
    (Failure(400, "Not now.", code="context_length_exceeded"), ProviderTooLarge, False),
    (Failure(400, "Not now.", code="invalid_prompt"), ProviderRejected, False),
]


@pytest.mark.parametrize(("failure", "expected", "retryable"), FAILURES)
def test_an_error_within_the_stream_is_the_error_it_would_have_been_before(
    failure: Failure, expected: type[ProviderError], retryable: bool
) -> None:
    error = failure_of(Broken(SPOKEN, 5, failure))
    assert (type(error), error.retryable, error.request_id) == (expected, retryable, "req_00000001")
    assert "Not now." in str(error)
    before = failure_of(failure)
    assert (type(error), error.retryable) == (type(before), before.retryable)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_an_error_before_the_stream_is_the_same_as_without_streaming(status: int) -> None:
    error, whole = failure_of(Failure(status, "Not now.")), failure_of(Failure(status, "Not now."), WHOLE)
    assert (type(error), str(error)) == (type(whole), str(whole))


RESPONSE: JsonObject = {
    "id": "resp_1",
    "status": "completed",
    "model": "gpt-5.6",
    "output": [{"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Fine."}]}],
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
SENT = frames(RESPONSE)


@pytest.mark.parametrize(
    ("told", "expected", "code"),
    [
        ({"type": "error", "code": None, "message": f"Not {KEY}."}, ProviderOverloaded, None),
        ({"type": "error", "code": "invalid_prompt", "message": "No."}, ProviderRejected, "invalid_prompt"),
        ({"type": "error", "error": {"type": "server_error", "message": KEY}}, ProviderOverloaded, "server_error"),
        ({"type": "error", "error": {"code": 429, "message": "Slow."}}, ProviderOverloaded, None),
        ({"type": "error", "error": "Slow."}, ProviderOverloaded, None),
        ({"type": "error", "code": "429", "message": "Slow."}, ProviderOverloaded, None),
        ({"error": {"code": "insufficient_quota"}}, ProviderQuota, "insufficient_quota"),
        (
            {"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error"}}},
            ProviderOverloaded,
            "server_error",
        ),
        (
            {"type": "response.failed", "response": {"status": "failed", "error": {"code": "bio_policy"}}},
            ProviderRejected,
            "bio_policy",
        ),
    ],
)
def test_an_error_in_whatever_form_is_ours(told: JsonObject, expected: type[ProviderError], code: str | None) -> None:
    error = failure_of(stream_of(*SENT[:4], frame(told)))
    assert (type(error), error.code) == (expected, code)


@pytest.mark.parametrize(
    "sent",
    [
        [b"data: {\n\n"],
        [b"data: [1]\n\n"],
        [b'data: {"a": NaN}\n\n'],
        [b'data: {"a": 1, "a": 2}\n\n'],
        [b"data: \xff\n\n"],
        [b"data: " + b"[" * 99_999 + b"\n\n"],
        [frame({"type": "response.output_item.added", "output_index": 0, "item": []})],
        [frame({"type": "response.output_item.done", "output_index": 0})],
        [*SENT[:-1], frame({"type": "response.completed"})],
        [*SENT[:-1], frame({"type": "response.completed", "response": {}})],
        [*SENT[:-1], frame({"type": "response.completed", "response": {**RESPONSE, "status": "in_progress"}})],
        [*SENT[:-1], frame({"type": "response.completed", "response": {**RESPONSE, "output": [{}]}})],
    ],
)
def test_what_is_no_stream_of_a_response_is_garbled(sent: list[bytes]) -> None:
    assert type(failure_of(stream_of(*sent))) is ProviderGarbled


@pytest.mark.parametrize(
    "sent",
    [
        [frame({"type": "response.of_tomorrow"}), *SENT],
        [frame({"type": "keepalive"}), frame({}), *SENT],
        [b": a comment\nretry: 5\n", *SENT],
        [b"".join(SENT).replace(b"\n", b"\r\n")],
        [*SENT, b"data: [DONE]\n\n"],
        [*SENT, b"data: {broken\n\n"],
        [*SENT, frame({"type": "error", "code": "too_late"})],
    ],
)
def test_what_a_stream_may_hold_beside_is_left_out(sent: list[bytes]) -> None:
    assert asked(stream_of(*sent))[0].text == "Fine."


def test_a_stream_that_says_it_is_done_before_its_end_is_a_lost_connection() -> None:
    assert type(failure_of(stream_of(*SENT[:-1], b"data: [DONE]\n\n", SENT[-1]))) is ProviderUnreachable


def test_a_whole_reply_to_a_call_that_wants_a_stream_is_taken() -> None:
    body = Raw(json.dumps(RESPONSE).encode(), headers={"content-type": "application/json"})
    assert asked(body)[0] == asked(Body(RESPONSE), WHOLE)[0]


@pytest.mark.parametrize("page", [b"<html>", b"", b"[]"])
def test_a_page_in_place_of_a_stream_is_garbled(page: bytes) -> None:
    assert type(failure_of(Raw(page, headers={"content-type": "text/html"}))) is ProviderGarbled


def test_halves_of_a_character_in_two_events_are_one_and_a_lone_half_is_mended() -> None:
    said_half: JsonObject = {"type": "response.output_text.delta", "output_index": 0, "delta": "\ud83d"}
    message: JsonObject = {"type": "message", "content": [{"type": "output_text", "text": "\ud83d"}]}
    turn, heard, _ = asked(
        stream_of(
            frame(said_half),
            frame({"type": "response.completed", "response": {**RESPONSE, "output": [message]}}),
        )
    )
    assert (turn.text, said(heard)) == ("\ufffd", "\ufffd")


@pytest.mark.parametrize("raw", ['{"a": 1', '{"a": NaN}', "[1]", '{"a": 1, "a": 2}', '{"a": "\n"}'])
def test_f096_arguments_that_are_no_json_are_kept_and_told(raw: str) -> None:
    turn, heard, _ = asked(Turn(calls=[Call("look", raw)]))
    [request] = turn.requests
    assert (turn.stop, request.raw, request.arguments) == (Stop.WHOLE, raw, None)
    assert written(heard) == {0: ("look", raw)}


def test_f047_a_cut_call_is_handed_over_as_cut() -> None:
    turn = asked(Turn(calls=[Call("look", '{"content": "abc')], stop="cut"))[0]
    assert (turn.stop, [each.raw for each in turn.requests]) == (Stop.CUT, ['{"content": "abc'])


def test_f097_of_two_reports_of_usage_the_last_one_counts() -> None:
    early: JsonObject = {"type": "response.created", "response": {**RESPONSE, "usage": {"output_tokens": 1}}}
    turn = asked(stream_of(frame(early), *SENT[1:]))[0]
    assert turn.usage == OurUsage(input_tokens=1, output_tokens=2)


@pytest.mark.parametrize("usage", [None, {}, {"output_tokens": None}])
def test_f098_without_usage_nothing_is_counted(usage: JsonValue) -> None:
    assert asked(Body({**RESPONSE, "usage": usage}))[0].usage == OurUsage()


def test_a_stream_that_says_nothing_any_more_ends_with_the_time_of_the_call() -> None:
    hurried = evolve(ASKING, seconds=0.2)
    for reply in (Broken(SPOKEN, 5, "hang"), Hang()):
        assert type(failure_of(reply, hurried)) is ProviderTimeout


def test_a_cancel_closes_the_connection_at_once() -> None:
    async def scene(server: Loopback) -> None:
        provider = OpenAIResponses("gpt-5.6", api_key=KEY, base_url=server.base_url("openai"))
        heard = asyncio.Event()
        call = asyncio.create_task(provider.ask(ASKING, lambda delta: heard.set()))
        await heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(server.wait_for, lambda: server.hung_up == 1)
        await provider.aclose()

    with Loopback([Broken(SPOKEN, 12, "hang")]) as server:
        asyncio.run(scene(server))


def test_one_connection_serves_call_after_call() -> None:
    async def scene(server: Loopback) -> None:
        provider = OpenAIResponses("gpt-5.6", api_key=KEY, base_url=server.base_url("openai"))
        for _ in range(3):
            await provider.ask(ASKING, lambda delta: None)
        await provider.aclose()

    with Loopback([Turn("Fine."), Body(RESPONSE), stream_of(*SENT, b"data: [DONE]\n\n")]) as server:
        asyncio.run(scene(server))
        assert server.connections == 1


def test_unreadable_reasoning_is_left_out_of_a_second_request_as_without_streaming() -> None:
    refused = Failure(400, "The encrypted content could not be verified.", code="invalid_encrypted_content")

    async def scene(server: Loopback) -> ModelTurn:
        provider = OpenAIResponses("gpt-5.6", api_key=KEY, base_url=server.base_url("openai"))
        try:
            return await provider.ask(ASKING, lambda delta: None)
        finally:
            await provider.aclose()

    with Loopback([Broken(SPOKEN, 2, refused), Turn("Fine.")]) as server:
        assert asyncio.run(scene(server)).text == "Fine."


def run(script: list[Reply]) -> tuple[list[str], str, list[str], Loopback]:
    """
    What a run of a streaming loop did: calls of the tool, its answer, and the words as they were heard.
    """
    done: list[str] = []

    @tool(writes="notes")
    def note(text: str) -> str:
        """
        Writes it down.
        """
        done.append(text)
        return "ok"

    async def scene(server: Loopback) -> tuple[str, list[str]]:
        provider = OpenAIResponses("gpt-5.6", api_key=KEY, base_url=server.base_url("openai"))
        heard: list[str] = []
        loop = ToolLoop(provider, tools=[note], stream=True, limits=Limits(max_attempts=2))
        async with loop, loop.start("Note it.") as live:
            async for event in live.events():
                heard += [event.text] if isinstance(event, TextDelta) else []
            return (await live.outcome()).answer, heard

    with Loopback(script) as server:
        answer, heard = asyncio.run(scene(server))
    return done, answer, heard, server


def test_p2_a_stream_that_never_gets_whole_fails_the_run_without_an_answer() -> None:
    done, answer, _, _ = run([Broken(Turn("Hel"), 6, "drop"), Drop()])
    assert (done, answer) == ([], "")
