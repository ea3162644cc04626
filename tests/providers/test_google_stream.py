"""
A streamed reply of Gemini gives the body that the same call without streaming gives, or one clear error.
"""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import groupby
from types import SimpleNamespace
from typing import cast

import httpx2
import pytest
from google.genai import Client
from google.genai.client import DebugConfig
from google.genai.types import HttpOptions
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.google import Google
from rodada.providers.google_raw import through
from rodada.providers.google_stream import StreamedReply
from rodada.providers.loopback import Body, Broken, Call, Failure, Loopback, Raw, Reply, Turn
from rodada.providers.loopback.frames import frame
from rodada.providers.loopback.google.stream import frames
from rodada.statemachine import ArgumentsDelta, Conversation, Delta, ModelTurn, ReasoningDelta, Stop, Text, TextDelta
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonError, JsonObject, JsonValue, parse_json
from rodada.statemachine.messages import Exchange, Status, ToolResult, UserMessage
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from support.streams import cuts, data_of, stream_of

KEY = "AIza-very-secret"
MODEL = "gemini-3.8-flash"
TOOLS = (ToolDeclaration("look", "Look it up."),)
OPENING = Conversation("c", (UserMessage("u", (Text("How much?"),)),))


def asking(conversation: Conversation = OPENING, *, stream: bool = True, seconds: float = 30) -> ModelRequest:
    return ModelRequest(conversation=conversation, tools=TOOLS, stream=stream, seconds=seconds)


# The assembler

texts = st.text(st.characters(codec="utf-8"), max_size=30)
values: st.SearchStrategy[JsonValue] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts), lambda each: st.lists(each, max_size=3), max_leaves=4
)
objects = cast("st.SearchStrategy[JsonObject]", st.dictionaries(texts, values, max_size=3))


def maybe(draw: st.DrawFn, key: str, value: st.SearchStrategy[JsonValue]) -> JsonObject:
    return {key: draw(value)} if draw(st.booleans()) else {}


def part_of(key: str, value: st.SearchStrategy[JsonValue], *more: str) -> st.SearchStrategy[JsonObject]:
    """
    Parts with one kind of data, and what else may stand in them.
    """
    beside: dict[str, st.SearchStrategy[JsonValue]] = {
        "thought": st.just(True),
        "thoughtSignature": texts,
        "partMetadata": objects,
    }
    return st.fixed_dictionaries({key: value, **{each: beside[each] for each in more}})


@st.composite
def calls(draw: st.DrawFn) -> JsonObject:
    return {"name": draw(texts), "args": draw(objects), **maybe(draw, "id", texts)}


parts: st.SearchStrategy[JsonObject] = st.one_of(
    part_of("text", texts),
    part_of("text", texts, "thought"),
    part_of("text", texts, "thoughtSignature"),
    part_of("text", texts, "partMetadata"),
    part_of("functionCall", calls()),
    part_of("functionCall", calls(), "thoughtSignature"),
    part_of("kindOfTomorrow", values),
)


def kind(part: JsonObject) -> object:
    """
    One text is said in one part: what may not stand twice in a row.
    """
    return frozenset(part) if set(part) <= {"text", "thought"} else id(part)


@st.composite
def replies(draw: st.DrawFn) -> JsonObject:
    said = [next(run) for _, run in groupby(draw(st.lists(parts, max_size=5)), kind)]
    content: JsonObject = {"role": "model", "parts": [*said]}
    candidate: JsonObject = {
        "finishReason": draw(st.sampled_from(["STOP", "MAX_TOKENS", "WORD_OF_TOMORROW"])),
        **maybe(draw, "content", st.just(content)),
        **maybe(draw, "continuationToken", texts),
        **maybe(draw, "fieldOfTomorrow", objects),
        "index": 0,
    }
    usage: JsonObject = {
        "promptTokenCount": draw(st.integers(0, 9)),
        "candidatesTokenCount": draw(st.integers(2, 9)),
        **maybe(draw, "thoughtsTokenCount", st.integers(0, 9)),
    }
    around = {**maybe(draw, "promptFeedback", st.just({"safetyRatings": []})), **maybe(draw, "responseId", texts)}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": draw(texts), **around}


def put_together(sent: bytes, cut_at: list[int]) -> tuple[StreamedReply, list[Delta]]:
    streamed, heard = StreamedReply(), list[Delta]()
    for each in data_of(sent, cut_at):
        heard += streamed.add(cast(JsonObject, parse_json(each)))
    return streamed, heard


def said(heard: list[Delta], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(each.text for each in heard if isinstance(each, kind))


@given(replies(), cuts)
def test_any_reply_is_put_together_as_it_would_have_come_whole(reply: JsonObject, cut_at: list[int]) -> None:
    streamed, heard = put_together(b"".join(frames(reply)), cut_at)
    assert streamed.whole
    assert streamed.body == reply
    content = cast("list[dict[str, JsonObject]]", reply["candidates"])[0].get("content", {})
    told = [part for part in cast("list[JsonObject]", content.get("parts", [])) if "text" in part]
    assert said(heard, TextDelta) == "".join(str(part["text"]) for part in told if "thought" not in part)
    assert said(heard, ReasoningDelta) == "".join(str(part["text"]) for part in told if "thought" in part)


@given(replies(), st.integers(0, 200))
def test_a_reply_that_was_cut_is_never_whole(reply: JsonObject, kept: int) -> None:
    sent = frames(reply)
    streamed, _ = put_together(b"".join(sent[: min(kept, len(sent) - 1)]), [])
    assert not streamed.whole


@given(replies())
def test_an_end_that_comes_twice_adds_nothing_to_a_reply(reply: JsonObject) -> None:
    sent = frames(reply)
    streamed, heard = put_together(b"".join((*sent, sent[-1], sent[-1])), [])
    assert (streamed.body, heard) == (reply, put_together(b"".join(sent), [])[1])


def test_a_call_is_heard_under_its_place_in_the_turn_with_what_was_asked_before_a_pause() -> None:
    streamed = StreamedReply(asked=2)
    asks: list[JsonValue] = [{"functionCall": {"name": "look", "args": {"é": 1}}}, {"functionCall": {"name": "look"}}]
    heard = [
        *streamed.add({"candidates": [{"content": {"parts": [asks[0]]}}]}),
        *streamed.add({"candidates": [{"content": {"parts": [{"text": "x"}, asks[1]]}}]}),
    ]
    assert heard == [ArgumentsDelta(2, "look", '{"é":1}'), TextDelta("x"), ArgumentsDelta(3, "look", "{}")]


@pytest.mark.parametrize("field", ["partialArgs", "willContinue"])
def test_a_call_in_pieces_is_none(field: str) -> None:
    part: JsonObject = {"functionCall": {"name": "look", field: [{"jsonPath": "$.a"}]}}
    with pytest.raises(JsonError):
        StreamedReply().add({"candidates": [{"content": {"parts": [part]}}]})


def test_nothing_is_taken_of_an_event_that_is_garbled_in_part() -> None:
    streamed = StreamedReply()
    streamed.add({"candidates": [{"content": {"parts": [{"text": "a"}]}}]})
    before = streamed.body
    garbled: list[JsonValue] = [{"parts": [{"text": "b"}, 3]}, {"parts": 3}, 3]
    for broken in garbled:
        chunk: JsonObject = {"modelVersion": "m", "candidates": [{"content": broken, "finishReason": "STOP"}]}
        with pytest.raises(JsonError):
            streamed.add(chunk)
    assert streamed.body == before


# Through the SDK


def asked(reply: Reply, request: ModelRequest | None = None) -> tuple[ModelTurn, list[Delta], Loopback]:
    heard: list[Delta] = []

    async def ask(url: str) -> ModelTurn:
        provider = Google(MODEL, api_key=KEY, base_url=url)
        try:
            return await provider.ask(request or asking(), heard.append)
        finally:
            await provider.aclose()

    with Loopback([reply]) as server:
        return asyncio.run(ask(server.base_url("google"))), heard, server


SPOKEN = Turn("Let me look it up.", [Call("look", {"at": [1, 2], "ação": "é"}, "a"), Call("look", {}, "b")])
FRAMES = 5


def test_the_turn_is_the_one_that_comes_without_streaming() -> None:
    whole = asked(SPOKEN, asking(stream=False))[0]
    streamed, heard, server = asked(SPOKEN)
    assert streamed == whole
    [received] = server.received
    assert (received.path, received.query) == (f"/v1beta/models/{MODEL}:streamGenerateContent", "alt=sse")
    assert said(heard, TextDelta) == "Let me look it up."
    written = {each.position: json.loads(each.text) for each in heard if isinstance(each, ArgumentsDelta)}
    assert written == {0: {"at": [1, 2], "ação": "é"}, 1: {}}


def test_the_body_that_is_sent_is_the_same() -> None:
    assert asked(SPOKEN)[2].requests() == asked(SPOKEN, asking(stream=False))[2].requests()


def test_thoughts_are_heard_where_the_host_asked_for_them() -> None:
    heard: list[Delta] = []

    async def ask(url: str) -> ModelTurn:
        options: dict[str, object] = {"thinking_config": {"include_thoughts": True}}
        provider = Google(MODEL, api_key=KEY, base_url=url, options=options)
        turn = await provider.ask(asking(), heard.append)
        await provider.aclose()
        return turn

    with Loopback([Turn("Fine.", reasoning=True)]) as server:
        turn = asyncio.run(ask(server.base_url("google")))
    assert (turn.text, said(heard, TextDelta), said(heard, ReasoningDelta)) == (
        "Fine.",
        "Fine.",
        "Let me think about this.",
    )


def test_what_was_streamed_goes_back_as_it_came_signature_on_an_empty_text_included() -> None:
    async def scene(url: str) -> None:
        provider = Google(MODEL, api_key=KEY, base_url=url)
        first = await provider.ask(asking(), lambda delta: None)
        results = tuple(ToolResult.of(request, Status.SUCCEEDED, "1") for request in first.requests)
        asked_once = OPENING.append(Exchange(first, results))
        second = await provider.ask(asking(asked_once), lambda delta: None)
        assert [json.loads(piece.received)["text"] for piece in second.native] == ["Done.", ""]
        ended = asked_once.append(second).append(UserMessage("v", (Text("And now?"),)))
        await provider.ask(ModelRequest(conversation=ended, start=3, tools=TOOLS, stream=True), lambda delta: None)
        await provider.aclose()

    with Loopback([SPOKEN, Turn("Done.", reasoning=True), Turn("Good.")]) as server:
        asyncio.run(scene(server.base_url("google")))
        assert server.refusals == ()
        assert len(server.received) == 3


def test_a_field_that_the_sdk_does_not_know_is_kept() -> None:
    part: JsonObject = {"kindOfTomorrow": {"a": 1}, "text": "Fine."}
    reply: JsonObject = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    assert [parse_json(piece.received) for piece in asked(Body(reply))[0].native] == [part]


def test_f097_of_running_counts_the_last_one_counts() -> None:
    streamed, whole = asked(SPOKEN)[0], asked(SPOKEN, asking(stream=False))[0]
    assert (streamed.usage, streamed.usage.output_tokens) == (whole.usage, 20)


def test_a_pause_keeps_its_token() -> None:
    paused, whole = Turn("Hm", stop="paused"), asking(stream=False)
    assert asked(paused)[0] == asked(paused, whole)[0]


def test_a_blocked_prompt_is_refused_as_without_streaming() -> None:
    blocked = Body({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}})
    turn = asked(blocked)[0]
    assert (turn.stop, turn.stop_word) == (Stop.REFUSED, "SAFETY")
    assert turn == asked(blocked, asking(stream=False))[0]


def failure_of(reply: Reply) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        asked(reply)
    assert KEY not in f"{caught.value!r} {caught.value}"
    return caught.value


@pytest.mark.parametrize("then", ["end", "drop"])
@pytest.mark.parametrize("kept", range(FRAMES))
def test_a_stream_without_its_end_is_a_lost_connection(kept: int, then: str) -> None:
    error = failure_of(Broken(SPOKEN, kept, "end" if then == "end" else "drop"))
    assert (type(error), error.retryable) == (ProviderUnreachable, True)


INVALID_KEY: JsonObject = {"reason": "API_KEY_INVALID"}
DAILY: JsonObject = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}


@pytest.mark.parametrize(
    ("status", "details", "expected", "retryable"),
    [
        (503, (), ProviderOverloaded, True),
        (500, (), ProviderOverloaded, True),
        (429, (), ProviderOverloaded, True),
        (429, (DAILY,), ProviderQuota, False),
        (403, (), ProviderAuthentication, False),
        (400, (INVALID_KEY,), ProviderAuthentication, False),
        (400, (), ProviderRejected, False),
    ],
)
def test_an_error_within_the_stream_is_the_error_it_would_have_been_before(
    status: int, details: tuple[JsonObject, ...], expected: type[ProviderError], retryable: bool
) -> None:
    failure = Failure(status, "Not now.", details=details)
    error, before = failure_of(Broken(SPOKEN, 2, failure)), failure_of(failure)
    assert (type(error), error.retryable, error.request_id) == (expected, retryable, "req_00000001")
    assert "Not now." in str(error)
    assert (type(before), str(before)) == (expected, str(error))


def test_an_error_within_the_stream_may_say_how_long_to_wait() -> None:
    wait: JsonObject = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"}
    assert failure_of(Broken(SPOKEN, 2, Failure(429, details=(wait,)))).retry_after == 22


REPLY: JsonObject = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "All is fine."}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2},
}
SENT = frames(REPLY)
REFUSAL: JsonObject = {"error": {"code": 400, "message": "Bad history.", "status": "INVALID_ARGUMENT"}}


@pytest.mark.parametrize(
    "sent",
    [
        [json.dumps(REFUSAL, indent=2).encode()],
        [json.dumps([REFUSAL], indent=2).encode(), b"\n"],
        [b"event: error\r\n", json.dumps(REFUSAL, indent=2).replace("\n", "\r\n").encode()],
        [frame({"trace": "1", **REFUSAL})],
    ],
)
def test_an_error_may_come_behind_the_events_as_plain_json_and_with_its_fields_in_any_order(sent: list[bytes]) -> None:
    error = failure_of(stream_of(SENT[0], *sent))
    assert (type(error), error.code, "Bad history." in str(error)) == (ProviderRejected, "INVALID_ARGUMENT", True)


@pytest.mark.parametrize("error", [None, "no", {}, {"code": "503"}])
def test_an_error_of_an_odd_form_is_one_of_the_server(error: JsonValue) -> None:
    assert type(failure_of(stream_of(SENT[0], frame({"error": error})))) is ProviderOverloaded


@pytest.mark.parametrize(
    "sent",
    [
        [b"data: {\r\n\r\n"],
        [b"data: [1]\r\n\r\n"],
        [b'data: {"a": NaN}\r\n\r\n'],
        [b'data: {"a": 1, "a": 2}\r\n\r\n'],
        [b"data: \xff\r\n\r\n"],
        [b"data: " + b'{"a":' * 100_000 + b"\r\n\r\n"],
        [frame({"candidates": {}}), frame({"candidates": 3})],
        [frame({"candidates": [3]})],
        [frame({"usageMetadata": 3})],
        [frame({"candidates": [{"content": {"parts": [{"functionCall": "look"}]}}]})],
        [frame({"candidates": [{"content": {"parts": [{"functionCall": {}}]}, "finishReason": "STOP"}]})],
    ],
)
def test_what_is_no_stream_of_a_reply_is_garbled(sent: list[bytes]) -> None:
    assert type(failure_of(stream_of(*sent))) is ProviderGarbled


@pytest.mark.parametrize(
    "sent",
    [
        [frame({}), *SENT],
        [b": a comment\nretry: 5\n", *SENT],
        [b"".join(SENT).replace(b"\r\n", b"\n")],
        [*SENT, b"data: {broken\n\n"],
        [*SENT, frame(REFUSAL)],
    ],
)
def test_what_a_stream_may_hold_beside_is_left_out(sent: list[bytes]) -> None:
    assert asked(stream_of(*sent))[0].text == "All is fine."


def test_what_belongs_to_the_turn_is_taken_behind_its_end_too() -> None:
    signed: JsonObject = {"text": "", "thoughtSignature": "c2ln"}
    late: JsonObject = {"candidates": [{"content": {"parts": [signed]}}], "usageMetadata": {"candidatesTokenCount": 7}}
    turn = asked(stream_of(*SENT, frame(late)))[0]
    assert [parse_json(piece.received) for piece in turn.native] == [{"text": "All is fine."}, signed]
    assert (turn.stop, turn.usage.input_tokens, turn.usage.output_tokens) == (Stop.WHOLE, 1, 7)


@pytest.mark.parametrize(("last", "output"), [({}, None), ({"totalTokenCount": 5}, 0), ({"totalTokenCount": 9}, 4)])
def test_a_total_holds_for_its_own_event_only(last: JsonObject, output: int | None) -> None:
    first: JsonObject = {"candidates": [], "usageMetadata": {"promptTokenCount": 5, "totalTokenCount": 5}}
    end = {key: value for key, value in REPLY.items() if key != "usageMetadata"}
    turn = asked(stream_of(frame(first), frame({**end, "usageMetadata": last})))[0]
    assert (turn.usage.input_tokens, turn.usage.output_tokens) == (5, output)


def test_a_whole_reply_to_a_call_that_wants_a_stream_is_taken() -> None:
    body = Raw(json.dumps(REPLY).encode(), headers={"content-type": "application/json"})
    assert asked(body)[0].text == "All is fine."


def test_a_stream_that_says_nothing_any_more_ends_with_the_time_of_the_call() -> None:
    with pytest.raises(ProviderTimeout):
        asked(Broken(SPOKEN, 2, "hang"), asking(seconds=0.2))


# Letting go


def scene(script: list[Reply], act: Callable[[Google, Loopback], AsyncIterator[None]]) -> None:
    """
    Play a scene that leaves no task, and tells the event loop of no trouble.
    """
    trouble: list[Mapping[str, object]] = []

    async def main(server: Loopback) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: trouble.append(context))
        provider = Google(MODEL, api_key=KEY, base_url=server.base_url("google"))
        async for _ in act(provider, server):
            assert asyncio.all_tasks() == {asyncio.current_task()}
        await provider.aclose()
        gc.collect()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with Loopback(script) as server:
        asyncio.run(main(server))
    assert trouble == []


def test_a_cancel_closes_the_connection_at_once() -> None:
    async def act(provider: Google, server: Loopback) -> AsyncIterator[None]:
        heard = asyncio.Event()
        call = asyncio.create_task(provider.ask(asking(), lambda delta: heard.set()))
        await heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        yield
        assert await asyncio.to_thread(server.wait_for, lambda: server.hung_up == 1)

    scene([Broken(SPOKEN, 3, "hang")], act)


def test_a_garbled_event_closes_the_connection_at_once_although_the_server_holds_it() -> None:
    async def act(provider: Google, server: Loopback) -> AsyncIterator[None]:
        with pytest.raises(ProviderGarbled) as caught:
            await provider.ask(asking(), lambda delta: None)
        yield
        assert await asyncio.to_thread(server.wait_for, lambda: server.hung_up == 1)
        del caught  # it holds the frames that it went through, and so must not be what keeps the socket

    scene([Broken(Body({"candidates": 3}), 1, "hang")], act)


def test_a_server_that_holds_the_connection_after_the_end_gets_no_patience() -> None:
    async def act(provider: Google, server: Loopback) -> AsyncIterator[None]:
        turn = await provider.ask(asking(), lambda delta: None)
        assert turn.text == "Fine."
        yield
        assert await asyncio.to_thread(server.wait_for, lambda: server.hung_up == 1)

    scene([Broken(Turn("Fine."), 1, "hang")], act)


def test_one_connection_serves_call_after_call() -> None:
    async def act(provider: Google, server: Loopback) -> AsyncIterator[None]:
        for _ in range(3):
            await provider.ask(asking(), lambda delta: None)
            yield
        assert server.connections == 1

    scene([Turn("Fine."), Body(REPLY), Turn("Fine.")], act)


# Clients that are given


def test_a_given_client_streams_and_is_not_let_retry() -> None:
    async def main(url: str) -> None:
        async with httpx2.AsyncClient() as http:
            options = HttpOptions(base_url=url, api_version="v1beta", httpx_async_client=http)
            made = Client(enterprise=False, api_key=KEY, debug_config=DebugConfig(client_mode=""), http_options=options)
            provider = Google(MODEL, client=made.aio)
            with pytest.raises(ProviderOverloaded):
                await provider.ask(asking(), lambda delta: None)
            assert (await provider.ask(asking(), lambda delta: None)).text == "Fine."

    with Loopback([Failure(503), Turn("Fine.")]) as server:
        asyncio.run(main(server.base_url("google")))
        assert len(server.received) == 2


class OfAiohttp:
    """
    A reply as aiohttp gives it, as far as it is used.
    """

    def __init__(self) -> None:
        self.content = self
        self.closed = False

    async def iter_any(self) -> AsyncIterator[bytes]:
        for each in SENT:
            yield each

    def close(self) -> None:
        self.closed = True


def test_a_reply_through_aiohttp_is_read_and_closed() -> None:
    reply = OfAiohttp()

    def build(method: str, path: str, body: object, options: object) -> str:
        return path

    async def send(http_request: object, http_options: object, stream: bool) -> object:
        assert (http_request, stream) == (f"models/{MODEL}:streamGenerateContent?alt=sse", True)
        return SimpleNamespace(headers={"Content-Type": "text/event-stream"}, response_stream=reply)

    def verify(response: object) -> None:
        """The SDK looks at every reply."""

    inner = SimpleNamespace(
        vertexai=False,
        _build_request=build,
        _async_request=send,
        _verify_response=verify,
    )
    client = SimpleNamespace(models=SimpleNamespace(_api_client=inner, generate_content=send), aclose=send)
    provider = Google(MODEL, client=client)  # type: ignore[arg-type]
    assert asyncio.run(provider.ask(asking(), lambda delta: None)).text == "All is fine."
    assert reply.closed


def test_an_sdk_that_is_made_in_another_way_is_refused_by_name() -> None:
    async def read(headers: Mapping[str, str], chunks: AsyncIterator[bytes]) -> str:
        raise AssertionError("nothing was sent")

    with pytest.raises(ProviderRejected, match="stream=False"):
        through(SimpleNamespace(_api_client=SimpleNamespace(_build_request=lambda: None)), read=read)
