"""
The Anthropic provider through the real SDK against the loopback server, which refuses what the vendor refuses.
"""

import asyncio
import gc
import json
import subprocess
import sys
import traceback
from collections.abc import Callable, Coroutine, Mapping
from typing import TypeVar, cast
from unittest.mock import Mock

import httpx2
import pytest
from anthropic import Anthropic as SyncAnthropic
from anthropic import AsyncAnthropic
from attrs import evolve

from rodada.providers import anthropic_history as module
from rodada.providers.anthropic import Anthropic
from rodada.providers.loopback import Body, Call, Drop, Failure, Hang, Loopback, Raw, Received, Reply, Turn
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import (
    InvalidValue,
    MissingExtra,
    MissingKey,
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderTooLarge,
    ProviderUnreachable,
    WrongEventLoop,
)
from rodada.statemachine.jsontext import JsonObject, dump_json
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
from rodada.statemachine.notice import Delta
from rodada.statemachine.ports import Provider
from rodada.statemachine.request import ModelRequest, ToolDeclaration

KEY = "sk-ant-very-secret"
TOOLS = (ToolDeclaration("look", "Look it up."), ToolDeclaration("save", "Save it."))
MANUAL = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
Got = TypeVar("Got")


def unwatched(delta: Delta) -> None:
    raise AssertionError(f"nothing streams, so nothing is watched: {delta}")


def user(text: str = "hi") -> UserMessage:
    return UserMessage("u", (Text(text),))


def asking(conversation: Conversation | None = None, start: int = 0) -> ModelRequest:
    return ModelRequest(
        conversation=conversation or Conversation("c", (user(),)),
        start=start,
        instructions="Be brief.",
        tools=TOOLS,
        seconds=20,
    )


def answered(turn: ModelTurn, status: Status = Status.SUCCEEDED) -> Exchange:
    return Exchange(turn, tuple(ToolResult.of(request, status, f"for {request.name}") for request in turn.requests))


def at(server: Loopback, model: str = "claude-opus-5-5", options: Mapping[str, object] | None = None) -> Anthropic:
    return Anthropic(model, api_key=KEY, base_url=server.base_url("anthropic"), options=options)


def run(provider: Anthropic, play: Callable[[Anthropic], Coroutine[None, None, Got]]) -> Got:
    async def played() -> Got:
        try:
            return await play(provider)
        finally:
            await provider.aclose()

    got = asyncio.run(played())
    gc.collect()  # what was left open warns now, and a warning is an error
    return got


def ask(provider: Anthropic, request: ModelRequest | None = None) -> ModelTurn:
    return run(provider, lambda asked: asked.ask(request or asking(), unwatched))


def failed(provider: Anthropic, request: ModelRequest | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(provider, request)
    return caught.value


def mocked(
    handler: Callable[[httpx2.Request], httpx2.Response]
    | Callable[[httpx2.Request], Coroutine[None, None, httpx2.Response]],
) -> AsyncAnthropic:
    transport = httpx2.AsyncClient(transport=httpx2.MockTransport(handler))
    return AsyncAnthropic(api_key=KEY, base_url="http://127.0.0.1:1", http_client=transport)


def message(*content: JsonObject, word: str = "end_turn") -> dict[str, object]:
    body = {"type": "message", "id": "msg_1", "role": "assistant", "model": "m", "content": [*content]}
    return {**body, "stop_reason": word, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 2}}


# The way that all goes well


async def converse(provider: Anthropic, conversation: Conversation, closing: bool) -> Conversation:
    """
    A message, rounds until the model answers, and the closing call where the last round asks for it.
    """
    start = len(conversation.entries)
    conversation = conversation.append(user(f"question {start}"))
    while True:
        request = asking(conversation, start)
        if closing and len(conversation.entries) - start > 2:
            request = evolve(request, tools_allowed=False, guidance="Tools are used up. Answer now.")
        turn = await provider.ask(request, unwatched)
        if not turn.requests:
            return conversation.append(ModelTurn(Stop.WHOLE, turn.text) if closing else turn)
        conversation = conversation.append(answered(turn))


ROUNDS = (
    Turn("Let me look.", [Call("look", {"q": 1})], reasoning=True),
    Turn(calls=[Call("look"), Call("save", {"kg": 92.5})], reasoning=True),
    Turn("Done.", reasoning=True),
)


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-opus-4-8", "claude-haiku-4-5", "our-deployment"])
@pytest.mark.parametrize("closing", [False, True])
def test_messages_of_several_rounds_follow_one_another(model: str, closing: bool) -> None:
    async def play(provider: Anthropic) -> Conversation:
        conversation = await converse(provider, Conversation("c"), closing)
        return await converse(provider, conversation, closing)

    with Loopback([*ROUNDS, *ROUNDS]) as server:
        conversation = run(at(server, model), play)
        assert (server.refusals, server.unplayed) == ((), 0)
    assert [type(entry).__name__ for entry in conversation.entries] == 2 * [
        *("UserMessage", "Exchange", "Exchange", "ModelTurn")
    ]
    choices = [cast(JsonObject, body["tool_choice"])["type"] for body in server.requests()]
    assert choices == 2 * ["auto", "auto", "none" if closing else "auto"]


def test_a_call_sends_what_it_should_and_nothing_else() -> None:
    with Loopback([Turn("Hi.")]) as server:
        ask(at(server, options={"cache_control": {"type": "ephemeral"}}))
    [received] = server.received
    assert received.body == {
        "model": "claude-opus-5-5",
        "max_tokens": 16_000,
        "messages": [{"role": "user", "content": "hi"}],
        "system": "Be brief.",
        "tools": [
            {"name": "look", "description": "Look it up.", "input_schema": {"type": "object", "properties": {}}},
            {"name": "save", "description": "Save it.", "input_schema": {"type": "object", "properties": {}}},
        ],
        "tool_choice": {"type": "auto"},
        "cache_control": {"type": "ephemeral"},
    }
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["x-stainless-retry-count"] == "0"


def test_a_loop_without_tools_just_answers() -> None:
    with Loopback([Turn("Hi.")]) as server:
        turn = ask(at(server), evolve(asking(), tools=(), instructions=""))
    assert turn.text == "Hi."
    assert sorted(server.requests()[0]) == ["cache_control", "max_tokens", "messages", "model"]


def test_the_cache_is_as_the_host_wants_it_where_it_says_so() -> None:
    with Loopback([Turn("Hi.")] * 2) as server:
        ask(at(server, options={"cache_control": {"type": "ephemeral", "ttl": "1h"}}))
        ask(at(server, options={"cache_control": None}))
    longer, without = server.requests()
    assert longer["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in without


def test_usage_means_the_same_as_on_every_wire() -> None:
    from rodada.providers.loopback import Usage as Told

    with Loopback([Turn("Hi.", usage=Told(input=100, output=30, cached=60, cache_write=10, reasoning=20))]) as server:
        assert ask(at(server)).usage == Usage(100, 60, 10, 30, 20)


def test_a_paused_turn_is_resumed_until_it_ends() -> None:
    async def play(provider: Anthropic) -> list[ModelTurn]:
        held: tuple[ModelTurn, ...] = ()
        for _ in range(3):
            held = (*held, await provider.ask(evolve(asking(), held=held), unwatched))
        return [*held]

    pause = Turn("Searching.", stop="paused", reasoning=True)
    with Loopback([pause, pause, Turn("Found.")]) as server:
        turns = run(at(server), play)
        assert server.refusals == ()
    assert [turn.stop for turn in turns] == [Stop.PAUSED, Stop.PAUSED, Stop.WHOLE]


def test_manual_thinking_goes_on_with_its_thoughts_and_rests_without_them() -> None:
    async def play(provider: Anthropic) -> None:
        conversation = await converse(provider, Conversation("c"), closing=False)
        stored = Conversation.from_json(conversation.to_json())
        unanswered = Conversation(stored.id, stored.entries[:3])
        await provider.ask(asking(unanswered.append(user("again")), 3), unwatched)

    script = [*ROUNDS, Turn("Hi.", reasoning=True)]
    with Loopback(script) as server:
        run(at(server, "claude-haiku-4-5", MANUAL), play)
        assert server.refusals == ()
    assert [body["thinking"] for body in server.requests()] == [*3 * [MANUAL["thinking"]], {"type": "disabled"}]


# Conversations from elsewhere


def foreign_conversation() -> Conversation:
    pieces = (Piece('{"type":"reasoning","encrypted_content":"x"}', None),)
    requests = (ToolRequest("functions.look:0", "look", '{"q":1}'), ToolRequest("x" * 80, "no such tool", "{bad"))
    asked = ModelTurn(Stop.WHOLE, "", requests, native=pieces, wire="openai")
    said = ModelTurn(Stop.WHOLE, "Done.", native=pieces, wire="google")
    return Conversation("c", (user(), answered(asked, Status.FAILED), said))


def test_a_conversation_of_other_wires_goes_on_here() -> None:
    with Loopback(ROUNDS) as server:
        conversation = run(at(server), lambda provider: converse(provider, foreign_conversation(), closing=False))
        assert server.refusals == ()
    assert conversation.entries[:3] == foreign_conversation().entries


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-4-5"])
@pytest.mark.parametrize("reasoning", [False, True])
def test_a_stored_conversation_goes_on_with_reasoning_or_without(model: str, reasoning: bool) -> None:
    async def play(provider: Anthropic) -> None:
        first = await converse(provider, Conversation("c"), closing=False)
        stored = Conversation.from_json(json.loads(json.dumps(first.to_json(reasoning=reasoning))))
        await converse(provider, stored, closing=False)

    with Loopback([*ROUNDS, *ROUNDS]) as server:
        run(at(server, model), play)
        assert server.refusals == ()


def test_other_instructions_and_a_selection_do_not_spoil_bound_thinking() -> None:
    async def play(provider: Anthropic) -> None:
        conversation = await converse(provider, Conversation("c"), closing=False)
        conversation = await converse(provider, conversation, closing=False)
        later = asking(conversation.append(user("more")), start=8)
        await provider.ask(evolve(later, instructions="Another day.", tools=TOOLS[:1]), unwatched)
        await provider.ask(evolve(later, selected=4), unwatched)

    with Loopback([*ROUNDS, *ROUNDS, Turn("Yes."), Turn("Yes.")]) as server:
        run(at(server), play)
        assert server.refusals == ()


def test_blocks_pass_through_the_sdk_unchanged_unknown_ones_too() -> None:
    content: list[JsonObject] = [
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"zeta": {"data": "x", "type": "base64", "n": None}, "type": "block_of_tomorrow"},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"b": 2.50, "a": "é\u2028"}, "later": [None]},
    ]
    seen: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.content.decode())
        return httpx2.Response(200, json=message(*content, word="tool_use"))

    async def play() -> None:
        async with mocked(handler) as client:
            provider = Anthropic("claude-opus-5-5", client=client)
            turn = await provider.ask(asking(), unwatched)
            await provider.ask(asking(Conversation("c", (user(), answered(turn)))), unwatched)

    asyncio.run(play())
    assert dump_json([*content]) in seen[1]


# Failures


@pytest.mark.parametrize(
    ("failure", "kind", "retryable"),
    [
        (Failure(400), ProviderRejected, False),
        (Failure(401), ProviderAuthentication, False),
        (Failure(402), ProviderQuota, False),
        (Failure(403), ProviderAuthentication, False),
        (Failure(404), ProviderRejected, False),
        (Failure(408), ProviderTimeout, True),
        (Failure(409), ProviderOverloaded, True),
        (Failure(413), ProviderTooLarge, False),
        (Failure(422), ProviderRejected, False),
        (Failure(429), ProviderOverloaded, True),
        (Failure(429, code="ramp_limit_exceeded"), ProviderOverloaded, True),
        (Failure(429, code="enforced_spend_limit_reached"), ProviderQuota, False),
        (Failure(429, code="contract_spend_limit_reached"), ProviderQuota, False),
        (Failure(500), ProviderOverloaded, True),
        (Failure(500, headers={"x-should-retry": "false"}), ProviderOverloaded, False),
        (Failure(503), ProviderOverloaded, True),
        (Failure(529), ProviderOverloaded, True),
    ],
)
def test_each_status_has_its_error_after_one_attempt(
    failure: Failure, kind: type[ProviderError], retryable: bool
) -> None:
    with Loopback([failure, Turn("Hi.")]) as server:
        error = failed(at(server))
        assert server.unplayed == 1
    assert (type(error), error.provider, error.status, error.retryable) == (
        kind,
        "anthropic",
        failure.status,
        retryable,
    )
    assert error.message == failure.message
    assert error.code
    assert error.request_id
    assert error.request_id.startswith("req_")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "250"}, 0.25), ({}, None), ({"retry-after": "soon"}, None)],
)
def test_an_error_says_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    with Loopback([Failure(529, headers=headers)]) as server:
        assert failed(at(server)).retry_after == seconds


@pytest.mark.parametrize(
    ("reply", "kind", "retryable"),
    [
        (Drop(), ProviderUnreachable, True),
        (Raw(b'{"type":', promised=500), ProviderUnreachable, True),
        (Raw(b"<html>busy</html>"), ProviderGarbled, True),
        (Raw(b"\xff\xfe"), ProviderGarbled, True),
        (Raw(b""), ProviderGarbled, True),
        (Raw(b"<html>bad gateway</html>", status=502), ProviderOverloaded, True),
        (Body({"type": "error"}), ProviderGarbled, True),
        (Raw(b'{"type":"message","content":[],"stop_reason":"end_turn","n":NaN}'), ProviderGarbled, True),
        (Raw(b"[" * 100_000), ProviderGarbled, True),
    ],
)
def test_what_is_no_answer_is_an_error(reply: Reply, kind: type[ProviderError], retryable: bool) -> None:
    with Loopback([reply]) as server:
        error = failed(at(server))
    assert (type(error), error.retryable) == (kind, retryable)


def test_nobody_there() -> None:
    with Loopback() as server:
        url = server.url
    assert type(failed(Anthropic("claude-opus-5-5", api_key=KEY, base_url=url))) is ProviderUnreachable


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1"])
def test_an_address_that_is_none_is_not_tried_again(url: str) -> None:
    error = failed(Anthropic("claude-opus-5-5", client=AsyncAnthropic(api_key=KEY, base_url=url)))
    assert (type(error), error.retryable) == (ProviderRejected, False)


def test_a_call_has_its_time() -> None:
    with Loopback([Hang()]) as server:
        error = failed(at(server), evolve(asking(), seconds=0.05))
    assert (type(error), error.retryable) == (ProviderTimeout, True)


def test_the_time_of_a_call_is_all_its_time_not_the_pause_between_two_bytes() -> None:
    async def silent(request: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    async def play() -> ModelTurn:
        async with mocked(silent) as client:
            return await Anthropic("m", client=client).ask(evolve(asking(), seconds=0.05), unwatched)

    with pytest.raises(ProviderTimeout):
        asyncio.run(asyncio.wait_for(play(), 10))


@pytest.mark.parametrize("seconds", [20, None])
def test_a_large_output_limit_needs_no_stream(seconds: float | None) -> None:
    async def play() -> ModelTurn:
        async with mocked(lambda request: httpx2.Response(200, json=message())) as client:
            provider = Anthropic("m", client=client, max_output_tokens=128_000)
            return await provider.ask(evolve(asking(), seconds=seconds), unwatched)

    assert asyncio.run(play()).stop is Stop.WHOLE


@pytest.mark.parametrize(
    "options", [{"temperature": 1.0}, {"metadata": {"user_id": object()}}, {"stop_sequences": ["\ud800"]}]
)
def test_what_the_sdk_cannot_send_is_rejected(options: dict[str, object]) -> None:
    with Loopback([Turn("Hi.")]) as server:
        error = failed(at(server, options=options))
        assert server.received == ()
    assert (type(error), error.retryable) == (ProviderRejected, False)


def test_a_request_that_is_too_large_is_not_sent() -> None:
    with Loopback([Turn("Hi.")]) as server:
        error = failed(at(server), evolve(asking(), max_request_bytes=100))
        assert (type(error), server.received) == (ProviderTooLarge, ())
        assert ask(at(server), evolve(asking(), max_request_bytes=1000)).text == "Hi."
        assert len(server.received[0].raw) < 1000


def test_a_request_with_a_broken_pair_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    call: JsonObject = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
    messages: list[JsonObject] = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [call]}]
    monkeypatch.setattr(module, "messages_of", Mock(return_value=messages))
    with Loopback([Turn("Hi.")]) as server:
        error = failed(at(server))
        assert (type(error), server.received) == (ProviderRejected, ())
    assert "toolu_1" in str(error)


def test_the_key_shows_nowhere() -> None:
    with Loopback([Failure(401, f"invalid key {KEY}"), Drop()]) as server:
        provider = at(server)
        for _ in range(2):
            error = failed(provider)
            assert KEY not in "".join(traceback.format_exception(error)) + repr(error) + repr(provider)


# Cancelling


def test_a_cancel_passes_through_and_closes_the_socket() -> None:
    async def play(provider: Anthropic) -> None:
        reached = asyncio.Event()
        loop = asyncio.get_running_loop()

        def script(received: Received) -> Reply:
            loop.call_soon_threadsafe(reached.set)
            return Hang()

        with Loopback(script) as server:
            provider = at(server)
            task = asyncio.create_task(provider.ask(asking(), unwatched))
            await reached.wait()
            task.cancel("the person left")
            with pytest.raises(asyncio.CancelledError, match="the person left"):
                await task
            async with asyncio.timeout(10):
                while not server.hung_up:  # noqa: ASYNC110 - a thread counts
                    await asyncio.sleep(0)
            server.play([Turn("Still here.")])
            assert (await provider.ask(asking(), unwatched)).text == "Still here."
            await provider.aclose()

    with Loopback() as idle:
        run(at(idle), play)


# Clients


def test_a_client_that_was_given_is_used_without_retries_and_not_closed() -> None:
    async def play(server: Loopback) -> None:
        async with AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=5) as client:
            provider = Anthropic("claude-opus-5-5", client=client)
            with pytest.raises(ProviderOverloaded):
                await provider.ask(asking(), unwatched)
            await provider.aclose()
            assert not client.is_closed()
            assert client.max_retries == 5
            assert (await provider.ask(asking(), unwatched)).text == "Hi."

    with Loopback([Failure(529), Turn("Hi.")]) as server:
        asyncio.run(play(server))


def test_a_client_that_was_given_serves_one_event_loop() -> None:
    client = mocked(lambda request: httpx2.Response(200, json=message({"type": "text", "text": "Hi."})))
    provider = Anthropic("claude-opus-5-5", client=client)
    asyncio.run(provider.ask(asking(), unwatched))
    with pytest.raises(WrongEventLoop):
        asyncio.run(provider.ask(asking(), unwatched))
    asyncio.run(client.close())


def test_a_client_that_was_closed_is_named() -> None:
    async def play() -> ModelTurn:
        client = mocked(lambda request: httpx2.Response(500))
        await client.close()
        return await Anthropic("claude-opus-5-5", client=client).ask(asking(), unwatched)

    with pytest.raises(ProviderRejected, match="closed"):
        asyncio.run(play())


def test_a_sync_client_is_refused() -> None:
    with SyncAnthropic(api_key=KEY) as client, pytest.raises(InvalidValue, match="AsyncAnthropic"):
        Anthropic("claude-opus-5-5", client=client)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_each_event_loop_has_its_own_client_and_one_serves_all_its_calls() -> None:
    async def play(provider: Anthropic) -> list[str]:
        turns = await asyncio.gather(*(provider.ask(asking(), unwatched) for _ in range(3)))
        return [turn.text for turn in turns]

    with Loopback([Turn("Hi.")] * 6) as server:
        provider = at(server)
        assert [run(provider, play), run(provider, play)] == 2 * [["Hi."] * 3]


# Building


def test_it_fits_the_protocol_and_shows_its_model() -> None:
    provider: Provider = Anthropic("claude-opus-5-5", api_key=KEY)
    assert repr(provider) == "Anthropic('claude-opus-5-5')"


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-there")
    with Loopback([Turn("Hi.")]) as server:
        ask(Anthropic("claude-opus-5-5", base_url=server.url))
        assert server.received[0].headers["authorization"] == "Bearer from-there"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY"):
        Anthropic("claude-opus-5-5")


def test_a_missing_sdk_is_named_when_the_provider_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rodada.providers.construction.find_spec", Mock(return_value=None))
    with pytest.raises(MissingExtra, match=r"rodada\[anthropic\]"):
        Anthropic("claude-opus-5-5", api_key=KEY)


@pytest.mark.parametrize("key", ["sk\n", "sk ant", "sk-é"])
def test_a_key_that_no_header_can_carry_is_refused(key: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        Anthropic("claude-opus-5-5", api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["model", "messages", "system", "tools", "tool_choice", "max_tokens", "stream", "timeout"]
)
def test_f062_f063_anthropic_what_the_loop_sets_is_no_option(name: str) -> None:
    for options in ({name: "x"}, {"extra_body": {name: "x"}}):
        with pytest.raises(InvalidValue, match=name):
            Anthropic("claude-opus-5-5", api_key=KEY, options=options)


def test_f065_anthropic_an_empty_closing_reply_is_told_as_it_is() -> None:
    closing = evolve(asking(), tools_allowed=False, guidance="Stop.")
    with Loopback([Turn(""), Turn(" ")]) as server:
        for _ in range(2):
            turn = ask(at(server), closing)
            assert (turn.stop, turn.has_words, turn.requests) == (Stop.WHOLE, False, ())


def test_no_output_is_no_limit() -> None:
    with pytest.raises(InvalidValue, match="max_output_tokens"):
        Anthropic("claude-opus-5-5", api_key=KEY, max_output_tokens=0)


def test_importing_the_provider_does_not_import_the_sdk() -> None:
    code = "import sys, rodada.providers.anthropic; sys.exit('anthropic' in sys.modules or 'httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
