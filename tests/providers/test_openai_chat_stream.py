"""
A streamed answer of Chat Completions gives the turn that the same call without streaming gives, or one clear error.
"""

import asyncio
import contextlib
import json
from collections.abc import Collection
from typing import cast

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.loopback import Body, Broken, Call, Deviation, Failure, Hang, Loopback, Raw, Reply, Turn, Usage
from rodada.providers.loopback.frames import frame
from rodada.providers.loopback.openai_chat.stream import frames
from rodada.providers.openai_chat import Dialect, OpenAIChat
from rodada.providers.openai_chat_stream import StreamedCompletion
from rodada.statemachine import (
    ArgumentsDelta,
    Conversation,
    Delta,
    ModelTurn,
    ReasoningDelta,
    Stop,
    Text,
    TextDelta,
)
from rodada.statemachine.errors import (
    ProviderAuthentication,
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
from support.streams import cuts, data_of, stream_of

KEY = "sk-secret-0123456789"
TOOLS = (ToolDeclaration("look", "Look it up."), ToolDeclaration("goal", "Saves a goal."))
ASKING = ModelRequest(
    conversation=Conversation("c", (UserMessage("u", (Text("How much?"),)),)), tools=TOOLS, stream=True, seconds=30
)
WHOLE = evolve(ASKING, stream=False)
DONE = b"data: [DONE]\n\n"

texts = st.text(st.characters(codec="utf-8"), max_size=30)


@st.composite
def functions(draw: st.DrawFn) -> JsonObject:
    return {"name": draw(texts.filter(bool)), "arguments": draw(texts)}


@st.composite
def calls(draw: st.DrawFn) -> JsonObject:
    return {"id": draw(texts.filter(bool)), "type": "function", "function": draw(functions())}


@st.composite
def messages(draw: st.DrawFn) -> JsonObject:
    further: JsonObject = {
        "reasoning_content": draw(texts),
        "refusal": draw(st.none() | texts),
        "tool_calls": [*draw(st.lists(calls(), min_size=1, max_size=3))],
        "function_call": draw(functions()),
    }
    there = draw(st.sets(st.sampled_from(sorted(further))))
    kept: JsonObject = {name: value for name, value in further.items() if name in there}
    return {"role": "assistant", "content": draw(st.none() | texts), **kept}


@st.composite
def completions(draw: st.DrawFn) -> JsonObject:
    stop = draw(st.sampled_from(["stop", "tool_calls", "length", "word_of_tomorrow"]))
    usage: JsonObject = {"usage": {"prompt_tokens": draw(st.integers(0, 9))}} if draw(st.booleans()) else {}
    return {
        "id": draw(texts),
        "object": "chat.completion",
        "created": draw(st.integers(0, 9)),
        "model": draw(texts),
        "choices": [{"index": 0, "message": draw(messages()), "logprobs": None, "finish_reason": stop}],
        **usage,
    }


def put_together(sent: bytes, cut_at: list[int]) -> tuple[StreamedCompletion, list[Delta]]:
    streamed, heard = StreamedCompletion(), list[Delta]()
    for each in data_of(sent.removesuffix(DONE), cut_at):
        heard += streamed.add(cast(JsonObject, parse_json(each)))
    return streamed, heard


def test_an_end_that_comes_twice_asks_for_nothing_twice() -> None:
    asked: JsonObject = {"type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}
    last = frame({"choices": [{"index": 0, "delta": {"tool_calls": [asked]}, "finish_reason": "tool_calls"}]})
    assert put_together(last * 3, []) == put_together(last, [])


def said(heard: list[Delta]) -> str:
    return "".join(each.text for each in heard if isinstance(each, TextDelta))


def thought(heard: list[Delta]) -> str:
    return "".join(each.text for each in heard if isinstance(each, ReasoningDelta))


def written(heard: list[Delta]) -> dict[int, tuple[str, str]]:
    found: dict[int, tuple[str, str]] = {}
    for each in heard:
        if isinstance(each, ArgumentsDelta):
            found[each.position] = (each.name, found.get(each.position, ("", ""))[1] + each.text)
    return found


@given(completions(), cuts)
def test_any_completion_is_put_together_as_it_would_have_come_whole(completion: JsonObject, cut_at: list[int]) -> None:
    streamed, heard = put_together(b"".join(frames(completion, set(), usage=True)), cut_at)
    assert (streamed.whole, streamed.ended) == (True, False)
    assert streamed.body == completion
    [choice] = cast("list[dict[str, JsonObject]]", completion["choices"])
    message = choice["message"]
    assert sorted(said(heard)) == sorted(f"{message['content'] or ''}{message.get('refusal') or ''}")
    assert thought(heard) == message.get("reasoning_content", "")


@given(completions(), st.integers(0, 200))
def test_a_completion_is_not_whole_before_it_is_said_how_it_ends(completion: JsonObject, kept: int) -> None:
    sent = frames(completion, {"done_missing"}, usage=False)
    assert not put_together(b"".join(sent[: min(kept, len(sent) - 1)]), [])[0].whole


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | texts,
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(["index", "delta", "message", "content", "tool_calls", "function_call", "function"]), each
        )
    ),
    max_leaves=10,
)
odd_chunks = st.dictionaries(st.sampled_from(["choices", "usage", "id", "object", "model"]), anything)
odd_choices = st.dictionaries(st.sampled_from(["index", "delta", "finish_reason"]), anything)


@given(st.lists(odd_chunks | st.lists(odd_choices, max_size=2).map(lambda each: {"choices": each}), max_size=4))
def test_chunks_of_any_form_are_taken_or_garbled(sent: list[JsonObject]) -> None:
    streamed = StreamedCompletion()
    with contextlib.suppress(ProviderGarbled):
        for event in sent:
            streamed.add(event)
        assert isinstance(streamed.body, dict)


def asked(
    reply: Reply,
    request: ModelRequest = ASKING,
    *,
    deviations: Collection[Deviation] = (),
    dialect: Dialect = Dialect(),
) -> tuple[ModelTurn, list[Delta], Loopback]:
    heard: list[Delta] = []

    async def ask(url: str) -> ModelTurn:
        provider = OpenAIChat("gpt-4.1", api_key=KEY, base_url=url, dialect=dialect)
        try:
            return await provider.ask(request, heard.append)
        finally:
            await provider.aclose()

    with Loopback([reply], chat_deviations={"gpt-4.1": deviations}) as server:
        return asyncio.run(ask(server.base_url("openai_chat"))), heard, server


def plain(turn: ModelTurn) -> ModelTurn:
    """
    The turn without its piece: that of a stream lacks `annotations`, which OpenAI does not stream.
    """
    return evolve(turn, native=())


SPOKEN = Turn("Let me look it up.", [Call("look", {"at": [1, 2]}), Call("look", {"ação": "é"}), Call("goal")])


def test_the_turn_is_the_one_that_comes_without_streaming() -> None:
    whole = asked(SPOKEN, WHOLE)[0]
    streamed, heard, server = asked(SPOKEN)
    assert plain(streamed) == plain(whole)
    pieces = [cast(JsonObject, parse_json(turn.native[0].received)) for turn in (streamed, whole)]
    assert pieces[0] == {name: value for name, value in pieces[1].items() if name != "annotations"}
    assert server.requests()[0]["stream_options"] == {"include_usage": True}
    assert said(heard) == "Let me look it up."
    assert written(heard) == {
        0: ("look", '{"at":[1,2]}'),
        1: ("look", '{"a\\u00e7\\u00e3o":"\\u00e9"}'),
        2: ("goal", "{}"),
    }


DEVIATIONS: tuple[tuple[Deviation, ...], ...] = (
    ("indexes_zero",),
    ("indexes_missing",),
    ("indexes_zero", "ids_missing", "calls_in_one_chunk"),
    ("indexes_missing", "ids_null", "calls_in_one_chunk", "arguments_as_objects"),
    ("indexes_zero", "ids_empty", "calls_in_one_chunk", "types_missing"),
    ("names_repeated", "ids_missing"),
    ("names_repeated", "indexes_zero"),
    ("ids_same",),
    ("index_on_calls", "arguments_null"),
    ("stop_beside_calls", "usage_missing"),
    ("usage_in_every_chunk", "usage_in_part"),
    ("content_missing", "done_missing"),
    ("content_in_parts",),
    ("two_choices",),
    ("reasoning_shown",),
)


@pytest.mark.parametrize("deviations", DEVIATIONS, ids="-".join)
def test_f095_whatever_a_server_says_the_turn_is_the_one_that_comes_without_streaming(
    deviations: tuple[Deviation, ...],
) -> None:
    reply = evolve(SPOKEN, reasoning=True)
    whole, streamed = asked(reply, WHOLE, deviations=deviations)[0], asked(reply, deviations=deviations)[0]
    assert plain(streamed) == plain(whole)
    assert [each.arguments for each in streamed.requests] == [{"at": [1, 2]}, {"ação": "é"}, {}]


def test_a_call_of_the_first_years_is_put_together() -> None:
    turn, heard, _ = asked(Turn("", [Call("look", {"a": 1})]), deviations=["function_call"])
    assert [(each.name, each.arguments) for each in turn.requests] == [("look", {"a": 1})]
    assert written(heard) == {0: ("look", '{"a":1}')}


@pytest.mark.parametrize("names", [("reasoning_content",), ("reasoning",), ("reasoning", "reasoning_content")])
def test_reasoning_is_heard_once_and_kept_as_it_came(names: tuple[str, ...]) -> None:
    sent = [chunk(dict.fromkeys(names, piece)) for piece in ("Thou", "ght.")]
    turn, heard, _ = asked(stream_of(*sent, *SENT))
    assert (thought(heard), said(heard), turn.text) == ("Thought.", "Fine.", "Fine.")
    piece = cast(JsonObject, parse_json(turn.native[0].received))
    assert [piece[name] for name in names] == ["Thought."] * len(names)


def test_a_server_that_does_not_know_the_question_is_not_asked_for_its_usage() -> None:
    deviations: tuple[Deviation, ...] = ("stream_options_unknown",)
    with pytest.raises(ProviderRejected):
        asked(SPOKEN, deviations=deviations)
    turn, _, server = asked(SPOKEN, deviations=deviations, dialect=Dialect(stream_usage=False))
    assert (turn.usage, len(turn.requests)) == (OurUsage(), 3)
    assert "stream_options" not in server.requests()[0]


def failure_of(reply: Reply, request: ModelRequest = ASKING) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        asked(reply, request)
    assert KEY not in str(caught.value)
    return caught.value


LAST = 14  # the frame that says how SPOKEN ends


def test_a_stream_with_its_end_is_whole_though_it_does_not_say_that_it_is_done() -> None:
    assert asked(Broken(SPOKEN, LAST + 1, "end"))[0].stop is Stop.WHOLE


@pytest.mark.parametrize(
    ("kept", "then"),
    [*((kept, "end") for kept in range(LAST + 1)), *((kept, "drop") for kept in range(LAST + 3))],
)
def test_a_stream_without_its_end_is_a_lost_connection(kept: int, then: str) -> None:
    error = failure_of(Broken(SPOKEN, kept, "end" if then == "end" else "drop"))
    assert (type(error), error.retryable) == (ProviderUnreachable, True)


FAILURES = [
    (Failure(500, "Not now."), ProviderOverloaded, True),
    (Failure(429, "Not now."), ProviderOverloaded, True),
    (Failure(429, "Not now.", code="insufficient_quota"), ProviderQuota, False),
    (Failure(400, "Not now.", code="context_length_exceeded"), ProviderTooLarge, False),
    (Failure(400, "Not now."), ProviderRejected, False),
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


def chunk(delta: JsonValue, stop: JsonValue = None, **more: JsonValue) -> bytes:
    return frame({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}], **more})


COMPLETION: JsonObject = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-4.1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2},
}
SENT = frames(COMPLETION, set(), usage=True)


@pytest.mark.parametrize(
    ("told", "expected", "code"),
    [
        ({"error": {"message": f"Not {KEY}.", "type": "server_error"}}, ProviderOverloaded, "server_error"),
        ({"error": {"message": "No.", "code": 401, "type": "auth"}}, ProviderAuthentication, "auth"),
        ({"error": {"message": "No.", "code": 503}, "choices": []}, ProviderOverloaded, None),
        ({"error": KEY}, ProviderOverloaded, None),
        ({"object": "error", "message": "No.", "code": 400}, ProviderRejected, None),
        ({"error": {"message": "No.", "type": "an_error_of_tomorrow"}}, ProviderRejected, "an_error_of_tomorrow"),
    ],
)
def test_an_error_in_whatever_form_is_ours(told: JsonObject, expected: type[ProviderError], code: str | None) -> None:
    error = failure_of(stream_of(*SENT[:2], frame(told), *SENT[2:]))
    assert (type(error), error.code) == (expected, code)


def test_an_error_that_a_choice_ends_with_is_ours() -> None:
    told: JsonObject = {"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "No."}}
    error = failure_of(stream_of(*SENT[:2], frame({"choices": [told]}), DONE))
    assert (type(error), error.status) == (ProviderOverloaded, 502)


@pytest.mark.parametrize(
    "sent",
    [
        [b"data: {\n\n"],
        [b"data: [1]\n\n"],
        [b'data: {"a": NaN}\n\n'],
        [b"data: \xff\n\n"],
        [b"data: " + b"[" * 99_999 + b"\n\n"],
        [frame({"choices": ["first"]})],
        [chunk("Fine.")],
        [chunk({"tool_calls": {"index": 0}})],
        [chunk({"tool_calls": ["look"]})],
        [chunk({"function_call": "look"})],
    ],
)
def test_what_is_no_stream_of_a_completion_is_garbled(sent: list[bytes]) -> None:
    assert type(failure_of(stream_of(*sent, *SENT))) is ProviderGarbled


@pytest.mark.parametrize(
    "sent",
    [
        [frame({"of_tomorrow": 1}), *SENT],
        [frame({"id": "", "choices": [], "prompt_filter_results": []}), *SENT],
        [chunk(None), chunk({"content": None, "tool_calls": None, "function_call": None}), *SENT],
        [chunk({"role": "assistant", "tool_calls": []}), *SENT],
        [b": a comment\nretry: 5\n", *SENT],
        [b"".join(SENT).replace(b"\n", b"\r\n")],
        [b"".join(SENT).replace(b"data: ", b"data:")],
        [*SENT, b"data: {broken\n\n"],
        [*SENT, frame({"error": {"message": "Too late."}})],
        [*SENT[:-1]],
        [frame(COMPLETION), DONE],
    ],
)
def test_what_a_stream_may_hold_beside_is_left_out(sent: list[bytes]) -> None:
    assert asked(stream_of(*sent))[0].text == "Fine."


def ending(message: JsonObject, **more: JsonValue) -> bytes:
    """
    A last chunk with a message.
    """
    return frame({"choices": [{"index": 0, "finish_reason": "stop", "message": message, **more}]})


CALLS: JsonObject = {"tool_calls": [{"id": "A", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}
REPEATED: JsonObject = {"role": "assistant", "content": "Fine."}


@pytest.mark.parametrize(
    "sent",
    [
        [chunk({"content": "Fi"}), chunk({"content": "ne."}), ending(REPEATED)],
        [chunk({"content": "Fi"}), chunk({"content": "ne"}), ending(REPEATED, delta={})],
        [chunk({"content": "Fi"}), ending(REPEATED, delta={"content": "ne."})],
        [chunk({"content": "Fine."}), ending({"role": "assistant", "content": None}, delta=None)],
        [ending({"content": "Fi"}, finish_reason=None), ending({"content": "ne."})],
    ],
)
def test_a_message_that_ends_a_stream_and_repeats_it_is_said_once(sent: list[bytes]) -> None:
    turn, heard, _ = asked(stream_of(*sent, DONE))
    assert (turn.text, said(heard)) == ("Fine.", "Fine.")


@pytest.mark.parametrize(
    "before", [[], [chunk({"content": "Fi"})], [chunk(CALLS)], [chunk({"content": "Fine.", **CALLS})]]
)
@pytest.mark.parametrize("repeated", [REPEATED, {**REPEATED, **CALLS}])
def test_calls_of_a_message_that_ends_a_stream_are_told_once(before: list[bytes], repeated: JsonObject) -> None:
    turn, heard, _ = asked(stream_of(*before, ending(repeated), DONE))
    asks = "tool_calls" in repeated or b"tool_calls" in b"".join(before)
    assert (turn.text, said(heard)) == ("Fine.", "Fine.")
    assert [(each.id, each.raw) for each in turn.requests] == [("A", "{}")] * asks
    assert written(heard) == ({0: ("look", "{}")} if asks else {})


def test_pieces_under_the_name_of_a_message_are_pieces() -> None:
    sent = [frame({"choices": [{"message": {"content": "ha"}}]})] * 3
    assert asked(stream_of(*sent, ending({"content": ""}), DONE))[0].text == "hahaha"


def test_a_stream_that_is_done_but_does_not_say_how_it_ends_is_a_lost_connection() -> None:
    assert type(failure_of(stream_of(*SENT[:2], DONE, *SENT[2:]))) is ProviderUnreachable


def test_a_whole_reply_to_a_call_that_wants_a_stream_is_taken() -> None:
    body = Raw(json.dumps(COMPLETION).encode(), headers={"content-type": "application/json"})
    assert asked(body)[0] == asked(Body(COMPLETION), WHOLE)[0]


@pytest.mark.parametrize("page", [b"<html>", b"", b"[]"])
def test_a_page_in_place_of_a_stream_is_garbled(page: bytes) -> None:
    assert type(failure_of(Raw(page, headers={"content-type": "text/html"}))) is ProviderGarbled


def test_halves_of_a_character_in_two_chunks_are_one_and_a_lone_half_is_mended() -> None:
    halves = [chunk({"content": "\ud83d"}), chunk({"content": "\ude00"}), chunk({"content": "\ud83d"}, "stop")]
    assert asked(stream_of(*halves, DONE))[0].text == "\U0001f600\ufffd"


@pytest.mark.parametrize("raw", ['{"a": 1', '{"a": NaN}', "[1]", '{"a": 1, "a": 2}', '{"a": "\n"}'])
def test_f096_arguments_that_are_no_json_are_kept_and_told(raw: str) -> None:
    turn, heard, _ = asked(Turn(calls=[Call("look", raw)]))
    [request] = turn.requests
    assert (turn.stop, request.raw, request.arguments) == (Stop.WHOLE, raw, None)
    assert written(heard) == {0: ("look", raw)}


def test_f047_a_cut_call_is_handed_over_as_cut() -> None:
    turn = asked(Turn(calls=[Call("look", '{"content": "abc')], stop="cut"))[0]
    assert (turn.stop, [each.raw for each in turn.requests]) == (Stop.CUT, ['{"content": "abc'])


@pytest.mark.parametrize("last", [None, {}, {"completion_tokens": None}, {"completion_tokens": 7}])
def test_f097_of_cumulative_counts_the_last_one_counts(last: JsonValue) -> None:
    early = [chunk({}, usage={"prompt_tokens": 1, "completion_tokens": n}) for n in (3, 5)]
    turn = asked(stream_of(*SENT[:-2], *early, frame({"choices": [], "usage": last}), DONE))[0]
    assert turn.usage == OurUsage(input_tokens=1, output_tokens=7 if last == {"completion_tokens": 7} else 5)


def test_f097_usage_in_every_chunk_is_never_added() -> None:
    spoken = evolve(SPOKEN, usage=Usage(100, 50, 60, 0, 40))
    turn = asked(spoken, deviations=["usage_in_every_chunk"])[0]
    assert turn.usage == OurUsage(100, 60, None, 50, 40)


def test_f098_without_usage_nothing_is_counted() -> None:
    turn = asked(SPOKEN, deviations=["usage_missing"])[0]
    assert (turn.usage, len(turn.requests)) == (OurUsage(), 3)


def test_a_stream_that_says_nothing_any_more_ends_with_the_time_of_the_call() -> None:
    hurried = evolve(ASKING, seconds=0.2)
    for reply in (Broken(SPOKEN, 5, "hang"), Hang()):
        assert type(failure_of(reply, hurried)) is ProviderTimeout


def test_a_cancel_closes_the_connection_at_once() -> None:
    async def scene(server: Loopback) -> None:
        provider = OpenAIChat("gpt-4.1", base_url=server.base_url("openai_chat"))
        heard = asyncio.Event()
        call = asyncio.create_task(provider.ask(ASKING, lambda delta: heard.set()))
        await heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(server.wait_for, lambda: server.hung_up == 1)
        await provider.aclose()

    with Loopback([Broken(SPOKEN, 8, "hang")]) as server:
        asyncio.run(scene(server))


def test_one_connection_serves_call_after_call() -> None:
    async def scene(server: Loopback) -> None:
        provider = OpenAIChat("gpt-4.1", base_url=server.base_url("openai_chat"))
        for _ in range(3):
            await provider.ask(ASKING, lambda delta: None)
        await provider.aclose()

    with Loopback([Turn("Fine."), Body(COMPLETION), Turn("Fine.")]) as server:
        asyncio.run(scene(server))
        assert server.connections == 1
