"""
A streamed reply of Anthropic gives the message that the same call without streaming gives, or one clear error.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.anthropic import Anthropic
from rodada.providers.anthropic_stream import StreamedMessage
from rodada.providers.anthropic_wire import said_in
from rodada.providers.loopback import Body, Broken, Call, Failure, Loopback, Raw, Reply, Turn
from rodada.providers.loopback.anthropic.stream import frames
from rodada.providers.loopback.frames import frame
from rodada.providers.paragraphs import Paragraphs
from rodada.providers.sse import event_data
from rodada.statemachine import ArgumentsDelta, Conversation, Delta, ModelTurn, ReasoningDelta, Stop, Text, TextDelta
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderQuota,
    ProviderTimeout,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_json
from rodada.statemachine.messages import UserMessage
from rodada.statemachine.request import ModelRequest, ToolDeclaration

KEY = "sk-ant-very-secret"
TOOLS = (ToolDeclaration("look", "Look it up."),)
ASKING = ModelRequest(
    conversation=Conversation("c", (UserMessage("u", (Text("How much?"),)),)), tools=TOOLS, stream=True, seconds=30
)

texts = st.text(st.characters(codec="utf-8"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts, lambda each: st.lists(each, max_size=3), max_leaves=4
)
objects: st.SearchStrategy[JsonObject] = st.dictionaries(texts, values, max_size=3)


def block(kind: str, text: str, other: str, fields: JsonObject) -> JsonObject:
    kinds: dict[str, JsonObject] = {
        "text": {"text": text},
        "thinking": {"thinking": text, "signature": other},
        "redacted_thinking": {"data": text},
        "tool_use": {"id": text, "name": other, "input": fields},
        "server_tool_use": {"id": text, "name": other, "input": fields},
        "web_search_tool_result": {"tool_use_id": text, "content": []},
        "block_of_tomorrow": {"more": fields},
    }
    return {"type": kind, **kinds[kind]}


blocks = st.builds(
    block,
    st.sampled_from(
        [
            *("text", "thinking", "redacted_thinking", "tool_use"),
            *("server_tool_use", "web_search_tool_result", "block_of_tomorrow"),
        ]
    ),
    texts,
    texts,
    objects,
)


@st.composite
def messages(draw: st.DrawFn) -> JsonObject:
    return {
        "id": draw(texts),
        "type": "message",
        "content": [*draw(st.lists(blocks, max_size=4))],
        "stop_reason": draw(st.sampled_from(["end_turn", "tool_use", "max_tokens", "word_of_tomorrow"])),
        "stop_sequence": draw(st.none() | texts),
        "stop_details": draw(st.none() | objects),
        "usage": {"input_tokens": draw(st.integers(0, 9)), "output_tokens": draw(st.integers(2, 9))},
    }


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


async def events(data: bytes, cuts: list[int]) -> list[str]:
    async def come() -> AsyncIterator[bytes]:
        for chunk in chunks(data, cuts):
            yield chunk

    return [each async for each in event_data(come())]


def put_together(data: bytes, cuts: list[int]) -> tuple[StreamedMessage, list[Delta]]:
    streamed, heard = StreamedMessage(), list[Delta]()
    for each in asyncio.run(events(data, cuts)):
        delta = streamed.add(cast(JsonObject, parse_json(each)))
        heard += [] if delta is None else [delta]
    return streamed, heard


@given(messages(), st.lists(st.integers(0, 10_000), max_size=20))
def test_any_message_is_put_together_as_it_would_have_come_whole(message: JsonObject, cuts: list[int]) -> None:
    streamed, heard = put_together(b"".join(frames(message)), cuts)
    assert streamed.whole
    assert streamed.message == message
    assert streamed.broken == {}
    said = "".join(each.text for each in heard if isinstance(each, TextDelta))
    content = cast("list[JsonObject]", message["content"])
    assert said == "".join(map(Paragraphs().heard, map(said_in, content)))


@given(messages(), st.integers(0, 200))
def test_a_message_that_was_cut_is_never_whole(message: JsonObject, kept: int) -> None:
    sent = frames(message)
    streamed, _ = put_together(b"".join(sent[: min(kept, len(sent) - 1)]), [])
    assert not streamed.whole


def asked(
    reply: Reply, request: ModelRequest = ASKING, seconds: float | None = None
) -> tuple[ModelTurn, list[Delta], Loopback]:
    heard: list[Delta] = []

    async def ask(url: str) -> ModelTurn:
        provider = Anthropic("claude-opus-5-5", api_key=KEY, base_url=url)
        try:
            return await provider.ask(request, heard.append)
        finally:
            await provider.aclose()

    with Loopback([reply]) as server:
        return asyncio.run(ask(server.base_url("anthropic"))), heard, server


SPOKEN = Turn("Let me look it up.", [Call("look", {"at": [1, 2], "ação": "é"}), Call("look")], reasoning=True)


def test_the_turn_is_the_one_that_comes_without_streaming() -> None:
    whole = asked(SPOKEN, ModelRequest(conversation=ASKING.conversation, tools=TOOLS))[0]
    streamed, heard, server = asked(SPOKEN)
    assert streamed == whole
    assert server.requests()[0]["stream"] is True
    assert "".join(each.text for each in heard if isinstance(each, TextDelta)) == "Let me look it up."
    written = [each for each in heard if isinstance(each, ArgumentsDelta)]
    assert {each.position for each in written} == {0}
    assert json.loads("".join(each.text for each in written)) == {"at": [1, 2], "ação": "é"}


def test_a_summary_of_reasoning_is_heard_where_the_host_asked_for_it() -> None:
    def reasoned(options: dict[str, object]) -> str:
        heard: list[Delta] = []

        async def ask(url: str) -> None:
            provider = Anthropic("claude-opus-5-5", api_key=KEY, base_url=url, options=options)
            await provider.ask(ASKING, heard.append)
            await provider.aclose()

        with Loopback([SPOKEN]) as server:
            asyncio.run(ask(server.base_url("anthropic")))
        return "".join(each.text for each in heard if isinstance(each, ReasoningDelta))

    assert reasoned({}) == ""
    assert reasoned({"thinking": {"type": "adaptive", "display": "summarized"}}) == "Let me think about this."


def failure_of(reply: Reply) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        asked(reply)
    assert KEY not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("then", ["end", "drop"])
@pytest.mark.parametrize("kept", range(18))
def test_a_stream_without_its_end_is_a_lost_connection(kept: int, then: str) -> None:
    error = failure_of(Broken(SPOKEN, kept, "end" if then == "end" else "drop"))
    assert (type(error), error.retryable) == (ProviderUnreachable, True)


@pytest.mark.parametrize(
    ("status", "kind", "expected", "retryable"),
    [
        (529, "", ProviderOverloaded, True),
        (500, "", ProviderOverloaded, True),
        (429, "", ProviderOverloaded, True),
        (401, "", ProviderAuthentication, False),
        (402, "", ProviderQuota, False),
        (500, "an_error_of_tomorrow", ProviderOverloaded, True),
    ],
)
def test_an_error_within_the_stream_is_the_error_it_would_have_been_before(
    status: int, kind: str, expected: type[ProviderError], retryable: bool
) -> None:
    error = failure_of(Broken(SPOKEN, 5, Failure(status, "Not now.", kind=kind)))
    assert (type(error), error.retryable, error.request_id) == (expected, retryable, "req_00000001")
    assert "Not now." in str(error)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
def test_an_error_before_the_stream_is_the_same_as_without_streaming(status: int) -> None:
    error = failure_of(Failure(status, "Not now."))
    with pytest.raises(ProviderError) as whole:
        asked(Failure(status, "Not now."), ModelRequest(conversation=ASKING.conversation, tools=TOOLS))
    assert (type(error), str(error)) == (type(whole.value), str(whole.value))


def stream_of(*sent: bytes) -> Raw:
    return Raw(b"".join(sent), headers={"content-type": "text/event-stream"})


MESSAGE: JsonObject = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5-5",
    "content": [{"type": "text", "text": "Fine."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
SENT = frames(MESSAGE)


@pytest.mark.parametrize(
    "sent",
    [
        [b"data: {\n\n"],
        [b"data: [1]\n\n"],
        [b'data: {"a": NaN}\n\n'],
        [b"data: \xff\n\n"],
        [frame({"type": "message_stop"})],
        [SENT[0], SENT[0]],
        [SENT[0], frame({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}})],
        [*SENT[:3], frame({"type": "content_block_delta", "index": 0, "delta": {"type": "delta_of_tomorrow"}})],
        [SENT[0], frame({"type": "content_block_start", "index": "first", "content_block": {}})],
        [SENT[0], frame({"type": "content_block_start", "index": 0, "content_block": []})],
        [*SENT[:-2], SENT[2], *SENT[-2:]],
        [SENT[0], frame({"type": "message_stop"})],
        [frame({"type": "message_start", "message": []}), *SENT[1:]],
    ],
)
def test_what_is_no_stream_of_a_message_is_garbled(sent: list[bytes]) -> None:
    assert type(failure_of(stream_of(*sent))) is ProviderGarbled


@pytest.mark.parametrize(
    "sent",
    [
        [frame({"type": "event_of_tomorrow"}), *SENT],
        [b": a comment\nretry: 5\n", *SENT],
        [b"".join(SENT).replace(b"\n", b"\r\n")],
        [*SENT, SENT[-1], SENT[-1]],
        [*SENT, b"data: {broken\n\n"],
    ],
)
def test_what_a_stream_may_hold_beside_is_left_out(sent: list[bytes]) -> None:
    assert asked(stream_of(*sent))[0].text == "Fine."


def begun(kind: str, *texts: str) -> list[bytes]:
    """
    A block that begins with the first of its texts, as gateways send it.
    """
    start: JsonObject = {"type": "content_block_start", "index": 0, "content_block": {"type": kind, kind: texts[0]}}
    deltas: list[JsonObject] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: text}}
        for text in texts[1:]
    ]
    return [frame(start), *map(frame, deltas), frame({"type": "content_block_stop", "index": 0})]


@pytest.mark.parametrize("texts", [("Let me ", "look."), ("Let me look.",), ("", "Let me look.")])
def test_the_words_with_which_a_block_begins_are_said_and_heard(texts: tuple[str, ...]) -> None:
    turn, heard, _ = asked(stream_of(SENT[0], *begun("text", *texts), *SENT[-2:]))
    assert turn.text == "Let me look."
    assert heard == [TextDelta(text) for text in texts if text]
    turn, heard, _ = asked(stream_of(SENT[0], *begun("thinking", *texts), *SENT[-2:]))
    assert [parse_json(piece.received) for piece in turn.native] == [{"type": "thinking", "thinking": "Let me look."}]
    assert heard == [ReasoningDelta(text) for text in texts if text]


def test_a_whole_reply_to_a_call_that_wants_a_stream_is_taken() -> None:
    body = Raw(json.dumps(MESSAGE).encode(), headers={"content-type": "application/json"})
    assert asked(body)[0].text == "Fine."


def written(*texts: str, stop: str = "tool_use") -> Raw:
    call: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    message: JsonObject = {**MESSAGE, "content": [call], "stop_reason": stop}
    sent = list(frames(message))
    deltas = [
        frame({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": each}})
        for each in texts
    ]
    return stream_of(*sent[:3], *deltas, *sent[3:])


@pytest.mark.parametrize("raw", ['{"a": 1', '{"a": NaN}', "[1]", '{"a": 1, "a": 2}', '{"a": "\n"}'])
def test_f096_arguments_that_are_no_json_are_kept_and_told_and_sent_back_as_none(raw: str) -> None:
    turn = asked(written(raw[:3], raw[3:]))[0]
    [request] = turn.requests
    assert (turn.stop, request.raw, request.arguments) == (Stop.WHOLE, raw, None)
    assert [cast(JsonObject, parse_json(piece.received))["input"] for piece in turn.native] == [{}]


def test_f047_a_cut_call_is_handed_over_as_cut() -> None:
    turn = asked(written('{"content": "abc', stop="max_tokens"))[0]
    assert turn.stop is Stop.CUT
    assert [each.raw for each in turn.requests] == ['{"content": "abc']


@pytest.mark.parametrize("given", [None, {}, {"output_tokens": None}, {"output_tokens": 7}])
def test_f097_of_cumulative_counts_the_last_one_counts(given: JsonValue) -> None:
    told: JsonObject = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": given}
    first: JsonObject = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}
    turn = asked(stream_of(*SENT[:-2], frame(first), frame(told), SENT[-1]))[0]
    expected = 7 if given == {"output_tokens": 7} else 5
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (1, expected)


def test_f097_what_was_said_of_the_output_at_the_start_counts_no_turn() -> None:
    told: JsonObject = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    turn = asked(stream_of(*SENT[:-2], frame(told), SENT[-1]))[0]
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (1, None)


def test_a_stream_that_says_nothing_any_more_ends_with_the_time_of_the_call() -> None:
    hurried = ModelRequest(conversation=ASKING.conversation, tools=TOOLS, stream=True, seconds=0.2)
    with pytest.raises(ProviderTimeout):
        asked(Broken(SPOKEN, 5, "hang"), hurried)


def test_a_cancel_closes_the_connection_at_once() -> None:
    async def scene(server: Loopback) -> None:
        provider = Anthropic("claude-opus-5-5", api_key=KEY, base_url=server.base_url("anthropic"))
        heard = asyncio.Event()
        call = asyncio.create_task(provider.ask(ASKING, _noted(heard)))
        await heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(server.wait_for, lambda: server.hung_up == 1)
        await provider.aclose()

    with Loopback([Broken(SPOKEN, 8, "hang")]) as server:
        asyncio.run(scene(server))


def _noted(heard: asyncio.Event) -> Callable[[Delta], None]:
    return lambda delta: heard.set()


def test_one_connection_serves_call_after_call() -> None:
    async def scene(server: Loopback) -> None:
        provider = Anthropic("claude-opus-5-5", api_key=KEY, base_url=server.base_url("anthropic"))
        for _ in range(3):
            await provider.ask(ASKING, lambda delta: None)
        await provider.aclose()

    with Loopback([Turn("Fine."), Body(MESSAGE), Turn("Fine.")]) as server:
        asyncio.run(scene(server))
        assert server.connections == 1
