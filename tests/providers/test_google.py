"""
The Gemini provider through the real SDK, against the loopback server.
"""

import asyncio
import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import httpx2
import pytest
from google.genai import Client
from google.genai.client import AsyncClient, DebugConfig
from google.genai.types import HttpOptions, HttpRetryOptions, ThinkingConfig

from rodada.providers.google import Google
from rodada.providers.loopback import Body, Call, Drop, Failure, Hang, Held, Loopback, Raw, Reply, Turn
from rodada.providers.loopback import Usage as Told
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
from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_object
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
    merged,
)
from rodada.statemachine.notice import Delta
from rodada.statemachine.ports import Provider
from rodada.statemachine.request import ModelRequest, ToolDeclaration

T = TypeVar("T")
MODEL = "gemini-3.8-flash"
KEY = "AIza-secret"
TOOLS = (
    ToolDeclaration("read_log", "Read the log.", '{"type":"object","properties":{"day":{"type":"integer"}}}'),
    ToolDeclaration("save_goal", "Save a goal."),
)


def watch(delta: Delta) -> None:
    raise AssertionError("a complete turn has no deltas")


def user(text: str = "hi") -> UserMessage:
    return UserMessage(f"u-{text}", (Text(text),))


def opening(*entries: Exchange | ModelTurn | UserMessage) -> Conversation:
    return Conversation("c", entries or (user(),))


def asking(conversation: Conversation | None = None, **more: object) -> ModelRequest:
    settings: dict[str, object] = {"conversation": conversation or opening(), "tools": TOOLS, **more}
    return ModelRequest(**settings)  # type: ignore[arg-type]


def answered(turn: ModelTurn, status: Status = Status.SUCCEEDED) -> Exchange:
    return Exchange(turn, tuple(ToolResult.of(request, status, f"of {request.name}") for request in turn.requests))


def play(script: "list[Reply]", act: Callable[[Google], Awaitable[T]], *, model: str = MODEL) -> tuple[T, Loopback]:
    """
    What `act` gives with a provider of its own, and the server that it talked to.
    """

    async def main(url: str) -> T:
        provider = Google(model, api_key=KEY, base_url=url)
        try:
            return await act(provider)
        finally:
            await provider.aclose()

    with Loopback(script) as server:
        return asyncio.run(main(server.base_url("google"))), server


def ask(reply: Reply, request: ModelRequest | None = None) -> tuple[ModelTurn, JsonObject]:
    """
    One turn, and the body that asked for it.
    """
    turn, server = play([reply], lambda provider: provider.ask(request or asking(), watch))
    return turn, body_of(server)


def body_of(server: Loopback, at: int = -1) -> JsonObject:
    return parse_object(server.received[at].raw.decode()) or {}


def fails(reply: Reply) -> ProviderError:
    async def act(provider: Google) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            await provider.ask(asking(), watch)
        return caught.value

    error, server = play([reply], act)
    assert len(server.received) == 1
    assert KEY not in f"{error!r} {error} {error.__cause__!r}"
    return error


def told(error: ProviderError) -> tuple[type[ProviderError], int | None, str | None, bool]:
    return type(error), error.status, error.code, error.retryable


# The happy path


def test_rounds_of_calls_through_the_sdk_are_accepted_and_echoed_as_received() -> None:
    script: list[Reply] = [
        Turn("Let me look.", [Call("read_log", {"day": 1}), Call("read_log", {"day": 2})], reasoning=True),
        Turn(calls=[Call("save_goal")], usage=Told(input=300, output=50, cached=100, reasoning=30)),
        Turn("Done."),
    ]

    async def act(provider: Google) -> list[ModelTurn]:
        conversation, turns = opening(), list[ModelTurn]()
        for _ in script:
            turn = await provider.ask(asking(conversation), watch)
            turns.append(turn)
            conversation = conversation.append(answered(turn) if turn.requests else turn)
        return turns

    turns, server = play(script, act)
    assert server.refusals == ()
    assert [(turn.stop, turn.text, [request.name for request in turn.requests]) for turn in turns] == [
        (Stop.WHOLE, "Let me look.", ["read_log", "read_log"]),
        (Stop.WHOLE, "", ["save_goal"]),
        (Stop.WHOLE, "Done.", []),
    ]
    assert turns[1].usage == Usage(300, 100, None, 50, 30)
    echoed = json.loads(server.received[-1].raw)["contents"][1]["parts"]
    assert echoed == [json.loads(piece.received) for piece in turns[0].native]


def test_without_ids_the_rounds_are_accepted_too() -> None:
    script: list[Reply] = [Turn(calls=[Call("read_log", {"day": day}) for day in (1, 2)]), Turn("Done.")]

    async def main(url: str) -> ModelTurn:
        provider = Google(MODEL, api_key=KEY, base_url=url)
        turn = await provider.ask(asking(), watch)
        last = await provider.ask(asking(opening(user(), answered(turn))), watch)
        await provider.aclose()
        return last

    with Loopback(script, google_ids=False) as server:
        assert asyncio.run(main(server.base_url("google"))).text == "Done."
        assert server.refusals == ()
        assert b'"id"' not in server.received[-1].raw


def test_the_whole_request() -> None:
    _, body = ask(Turn("ok"), asking(instructions="Be kind."))
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "Be kind."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read_log",
                        "description": "Read the log.",
                        "parametersJsonSchema": {"type": "object", "properties": {"day": {"type": "integer"}}},
                    },
                    {"name": "save_goal", "description": "Save a goal."},
                ]
            }
        ],
        "generationConfig": {},
    }


def test_without_tools_nothing_is_said_of_tools() -> None:
    _, body = ask(Turn("ok"), asking(tools=(), tools_allowed=False))
    assert body == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": {}}


def test_f062_google_the_closing_call_is_accepted_and_allows_no_tool() -> None:
    turn = ModelTurn(Stop.WHOLE, requests=(ToolRequest("1", "read_log", "{}", "1"),), wire="google")
    conversation = opening(user(), answered(turn, Status.NOT_EXECUTED))
    reply, body = ask(Turn("So far."), asking(conversation, tools_allowed=False, guidance="Close."))
    assert reply.text == "So far."
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    assert body["systemInstruction"] == {"role": "user", "parts": [{"text": "Close."}]}
    assert isinstance(body["tools"], list)


def test_a_paused_turn_is_resumed() -> None:
    script: list[Reply] = [Turn("Hel", stop="paused"), Turn("lo, ", stop="paused"), Turn("you.")]

    async def act(provider: Google) -> ModelTurn:
        held: tuple[ModelTurn, ...] = ()
        for _ in range(2):
            held = (*held, await provider.ask(asking(held=held), watch))
        return merged(held, await provider.ask(asking(held=held), watch))

    turn, server = play(script, act)
    assert (turn.stop, turn.text, server.refusals) == (Stop.WHOLE, "Hello, you.", ())
    tokens = [body_of(server, at).get("continuationToken") for at in range(3)]
    assert [token is None for token in tokens] == [True, False, False]
    assert tokens[1] != tokens[2]


# Conversations from elsewhere


def foreign() -> Exchange:
    requests = (
        ToolRequest("toolu/1", "read_log", "{}", "toolu/1"),
        ToolRequest("call_0_1", "no such tool", "[1", None),
    )
    native = (Piece('{"type":"thinking","thinking":"hm","signature":"c2ln"}', None),)
    turn = ModelTurn(Stop.WHOLE, "So", requests, native=native, wire="anthropic", model="claude-opus-5-5")
    return answered(turn, Status.OUTCOME_UNKNOWN)


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("model", [MODEL, "gemini-2.5-pro", "gemini-flash-latest"])
def test_a_conversation_of_another_wire_is_accepted_old_or_active(model: str, start: int) -> None:
    entries = (user(), foreign()) if start == 0 else (user(), foreign(), ModelTurn(Stop.WHOLE, "Hm."), user("more"))
    request = asking(opening(*entries), start=start)
    turn, server = play([Turn("ok")], lambda provider: provider.ask(request, watch), model=model)
    assert (turn.text, server.refusals) == ("ok", ())


@pytest.mark.parametrize("old", [True, False])
def test_a_conversation_stored_without_reasoning_is_accepted_old_or_active(old: bool) -> None:
    script: list[Reply] = [Turn("So", [Call("read_log"), Call("save_goal")], reasoning=True), Turn("ok")]

    async def act(provider: Google) -> ModelTurn:
        exchange = answered(await provider.ask(asking(), watch))
        stored = Conversation.from_json(opening(user(), exchange).to_json())
        if old:
            stored = stored.append(ModelTurn(Stop.WHOLE, "Hm.")).append(user("more"))
        return await provider.ask(asking(stored, start=3 if old else 0), watch)

    turn, server = play(script, act)
    assert (turn.text, server.refusals) == ("ok", ())


# Size


def test_the_size_is_that_of_the_bytes_sent() -> None:
    text = 'é"\\\U0001f600' * 50
    request = asking(opening(user(text)), instructions=text)
    sent = len(play([Turn("ok")], lambda provider: provider.ask(request, watch))[1].received[0].raw)

    async def act(provider: Google) -> None:
        with pytest.raises(ProviderTooLarge) as caught:
            await provider.ask(asking(opening(user(text)), instructions=text, max_request_bytes=sent - 1), watch)
        assert not caught.value.retryable
        await provider.ask(asking(opening(user(text)), instructions=text, max_request_bytes=sent + 100), watch)

    assert len(play([Turn("ok")], act)[1].received) == 1


def test_f010_google_old_exchanges_are_left_out_to_fit() -> None:
    old = (user("x" * 5000), foreign(), ModelTurn(Stop.WHOLE, "Hm."))
    request = asking(opening(*old, user("now")), start=3, max_request_bytes=2000)
    _, body = ask(Turn("ok"), request)
    assert body["contents"] == [{"role": "user", "parts": [{"text": "now"}]}]


# Failures


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, (ProviderRejected, 400, "INVALID_ARGUMENT", False)),
        (401, (ProviderAuthentication, 401, "UNAUTHENTICATED", False)),
        (403, (ProviderAuthentication, 403, "PERMISSION_DENIED", False)),
        (404, (ProviderRejected, 404, "NOT_FOUND", False)),
        (413, (ProviderTooLarge, 413, "FAILED_PRECONDITION", False)),
        (429, (ProviderOverloaded, 429, "RESOURCE_EXHAUSTED", True)),
        (500, (ProviderOverloaded, 500, "INTERNAL", True)),
        (503, (ProviderOverloaded, 503, "UNAVAILABLE", True)),
        (504, (ProviderOverloaded, 504, "DEADLINE_EXCEEDED", True)),
    ],
)
def test_a_status_becomes_an_error_and_is_not_sent_again(
    status: int, expected: tuple[type[ProviderError], int, str, bool]
) -> None:
    error = fails(Failure(status, f"no: {KEY}"))
    assert told(error) == expected
    assert error.message == "no: ***"
    assert (error.request_id or "").startswith("req_")


def detail(kind: str, **more: object) -> Mapping[str, object]:
    return {"@type": f"type.googleapis.com/google.rpc.{kind}", **more}


def test_the_wait_that_the_vendor_asks_for_is_told() -> None:
    assert fails(Failure(429, details=(detail("RetryInfo", retryDelay="22.5s"),))).retry_after == 22.5
    assert fails(Failure(503, headers={"retry-after": "7"})).retry_after == 7
    assert fails(Failure(503, details=(detail("RetryInfo", retryDelay="soon"),))).retry_after is None


@pytest.mark.parametrize(("quota", "kind"), [("PerDay", ProviderQuota), ("PerMinute", ProviderOverloaded)])
def test_a_used_up_daily_quota_is_not_worth_a_retry(quota: str, kind: type[ProviderError]) -> None:
    violations = [{"quotaId": f"GenerateRequests{quota}PerProjectPerModel-FreeTier"}]
    details = (detail("QuotaFailure", violations=violations), detail("RetryInfo", retryDelay="9s"))
    assert told(fails(Failure(429, details=details))) == (
        kind,
        429,
        "RESOURCE_EXHAUSTED",
        kind is ProviderOverloaded,
    )


def test_a_wrong_key_is_an_authentication_error_though_its_status_is_400() -> None:
    error = fails(Failure(400, details=(detail("ErrorInfo", reason="API_KEY_INVALID"),)))
    assert told(error) == (ProviderAuthentication, 400, "INVALID_ARGUMENT", False)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Raw(b"<html>busy</html>", 502), (ProviderOverloaded, 502, "Bad Gateway", True)),
        (Raw(b'{"a": "\xff"}', 500), (ProviderGarbled, None, None, True)),
        (Raw(b"[1, 2]", 500), (ProviderOverloaded, 500, None, True)),
        (Raw(b"", 307, {"location": "/elsewhere"}), (ProviderGarbled, 307, None, True)),
        (Raw(b"", 204), (ProviderGarbled, 204, None, True)),
        (Raw(b"{"), (ProviderGarbled, None, None, True)),
        (Raw(b""), (ProviderGarbled, None, None, True)),
        (Raw(b"x", headers={"content-encoding": "gzip"}), (ProviderGarbled, None, None, True)),
        (Raw(b"{}", promised=100), (ProviderUnreachable, None, None, True)),
        (Drop(), (ProviderUnreachable, None, None, True)),
        (Body({"candidates": "x"}), (ProviderGarbled, None, None, True)),
    ],
)
def test_what_is_no_reply_is_an_error(
    reply: Reply, expected: tuple[type[ProviderError], int | None, str | None, bool]
) -> None:
    assert told(fails(reply)) == expected


def test_nobody_there_is_unreachable() -> None:
    with Loopback([]) as server:
        url = server.base_url("google")

    async def main() -> None:
        provider = Google(MODEL, api_key=KEY, base_url=url)
        with pytest.raises(ProviderUnreachable):
            await provider.ask(asking(), watch)
        await provider.aclose()

    asyncio.run(main())


def test_a_call_that_takes_too_long_is_given_up_and_its_socket_closed() -> None:
    async def main(server: Loopback) -> None:
        provider = Google(MODEL, api_key=KEY, base_url=server.base_url("google"))
        with pytest.raises(ProviderTimeout) as caught:
            await provider.ask(asking(seconds=0.2), watch)
        assert told(caught.value) == (ProviderTimeout, None, None, True)
        await until(lambda: server.hung_up == 1)
        await provider.aclose()

    with Loopback([Hang()]) as server:
        asyncio.run(main(server))


def test_a_cancel_passes_through_and_closes_the_socket_at_once() -> None:
    async def main(server: Loopback) -> None:
        provider = Google(MODEL, api_key=KEY, base_url=server.base_url("google"))
        task = asyncio.create_task(provider.ask(asking(), watch))
        await until(lambda: bool(server.received))
        task.cancel("the person left")
        with pytest.raises(asyncio.CancelledError, match="the person left"):
            await task
        await until(lambda: server.hung_up == 1)
        await provider.aclose()

    with Loopback([Hang()]) as server:
        asyncio.run(main(server))


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - the server has no event to wait for
            await asyncio.sleep(0)


def test_an_unknown_stop_word_ends_no_call_though_warnings_are_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turn, _ = ask(Turn("so", [Call("read_log")], stop="unknown", word="BRAND_NEW"))
    assert (turn.stop, turn.stop_word, turn.requests, turn.text) == (Stop.UNKNOWN, "BRAND_NEW", (), "so")


def test_unknown_parts_and_fields_are_kept() -> None:
    parts = [{"futureKind": {"a": 1}}, {"text": "ok", "futureField": [None]}]
    turn, _ = ask(Body({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}))
    assert [json.loads(piece.received) for piece in turn.native] == parts


# Settings


def with_options(options: Mapping[str, object], most: int | None = None) -> JsonValue:
    async def main(url: str) -> None:
        provider = Google(MODEL, api_key=KEY, base_url=url, options=options, max_output_tokens=most)
        await provider.ask(asking(), watch)
        await provider.aclose()

    with Loopback([Turn("ok")]) as server:
        asyncio.run(main(server.base_url("google")))
        return body_of(server)["generationConfig"]


def test_options_go_to_the_vendor_as_they_are() -> None:
    options = {"temperature": 0.5, "thinking_config": ThinkingConfig(include_thoughts=True), "stopSequences": ["x"]}
    assert with_options(options, 100) == {
        "temperature": 0.5,
        "thinkingConfig": {"include_thoughts": True},
        "stopSequences": ["x"],
        "maxOutputTokens": 100,
    }


def test_a_value_newer_than_the_sdk_is_sent_though_warnings_are_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sent = with_options({"thinking_config": {"thinking_level": "ULTRA"}})
    assert sent == {"thinkingConfig": {"thinking_level": "ULTRA"}}


@pytest.mark.parametrize(
    "key",
    [
        *("model", "contents", "tools", "tool_config", "toolConfig", "system_instruction", "systemInstruction"),
        *("automatic_function_calling", "automatic_continuation", "http_options", "max_output_tokens"),
        *("candidate_count", "continuation_token", "should_return_http_response"),
    ],
)
def test_f063_google_what_the_loop_sets_is_refused_as_an_option(key: str) -> None:
    with pytest.raises(InvalidValue, match=key):
        Google(MODEL, api_key=KEY, options={key: {"mode": "ANY"}})


def test_an_option_that_the_sdk_does_not_know_is_rejected_without_its_value() -> None:
    async def main() -> None:
        provider = Google(MODEL, api_key=KEY, base_url="http://127.0.0.1:9", options={"tempo": "s3cret"})
        with pytest.raises(ProviderRejected, match="tempo") as caught:
            await provider.ask(asking(), watch)
        assert ("s3cret" in str(caught.value), caught.value.retryable) == (False, False)
        await provider.aclose()

    asyncio.run(main())


@pytest.mark.parametrize(("model", "tokens"), [("", None), (" ", None), (MODEL, 0)])
def test_arguments_are_checked_when_built(model: str, tokens: int | None) -> None:
    with pytest.raises(InvalidValue):
        Google(model, api_key=KEY, max_output_tokens=tokens)


def test_the_key_comes_from_the_environment_as_the_sdk_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        Google(MODEL)
    for name, expected in (("GEMINI_API_KEY", "gemini-key"), ("GOOGLE_API_KEY", "google-key")):
        monkeypatch.setenv(name, expected)
        assert sent_key(None) == expected
    assert sent_key("own") == "own"


def sent_key(api_key: str | None) -> str:
    async def main(url: str) -> None:
        provider = Google(MODEL, api_key=api_key, base_url=url)
        await provider.ask(asking(), watch)
        await provider.aclose()

    with Loopback([Turn("ok")]) as server:
        asyncio.run(main(server.base_url("google")))
        return server.received[0].headers["x-goog-api-key"]


def test_the_environment_does_not_change_the_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_ENTERPRISE", "true")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "replay")
    _, server = play([Turn("ok")], lambda provider: provider.ask(asking(), watch))
    assert [received.path for received in server.received] == [f"/v1beta/models/{MODEL}:generateContent"]


def test_every_call_has_a_deadline_on_the_server_and_never_one_that_it_refuses() -> None:
    async def act(provider: Google) -> None:
        for seconds in (None, 30.5, 1.5):
            await provider.ask(asking(seconds=seconds), watch)

    _, server = play([Turn("ok")] * 3, act)
    assert [received.headers["x-server-timeout"] for received in server.received] == ["600", "31", "10"]


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr("rodada.providers.construction.find_spec", nothing)
    with pytest.raises(MissingExtra, match=r"rodada\[google\]"):
        Google(MODEL, api_key=KEY)


def test_importing_the_provider_does_not_import_the_sdk() -> None:
    code = "import sys, rodada.providers.google; assert not {'google.genai', 'httpx2'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_is_a_provider_whose_repr_tells_the_model_alone() -> None:
    provider: Provider = Google(MODEL, api_key=KEY)
    assert repr(provider) == "Google('gemini-3.8-flash')"


# Clients


def given(url: str, http: httpx2.AsyncClient) -> AsyncClient:
    retries = HttpRetryOptions(attempts=5, initial_delay=0.01)
    options = HttpOptions(base_url=url, api_version="v1beta", retry_options=retries, httpx_async_client=http)
    return Client(enterprise=False, api_key=KEY, debug_config=DebugConfig(client_mode=""), http_options=options).aio


def test_a_given_client_is_used_and_neither_closed_nor_let_retry() -> None:
    async def main(url: str) -> None:
        async with httpx2.AsyncClient() as http:
            provider = Google(MODEL, client=given(url, http))
            with pytest.raises(ProviderOverloaded):
                await provider.ask(asking(), watch)
            assert (await provider.ask(asking(), watch)).text == "ok"
            await provider.aclose()
            assert not http.is_closed

    with Loopback([Failure(503), Turn("ok")]) as server:
        asyncio.run(main(server.base_url("google")))
        assert len(server.received) == 2


def test_a_given_client_is_refused_on_a_second_loop() -> None:
    with Loopback([Turn("ok")]) as server:
        http = httpx2.AsyncClient()
        provider = Google(MODEL, client=given(server.base_url("google"), http))

        async def first() -> None:
            await provider.ask(asking(), watch)
            await http.aclose()

        asyncio.run(first())
        with pytest.raises(WrongEventLoop):
            asyncio.run(provider.ask(asking(), watch))


def test_a_sync_client_is_refused_and_the_async_one_named() -> None:
    with Client(enterprise=False, api_key=KEY) as client, pytest.raises(InvalidValue, match=r"\.aio"):
        Google(MODEL, client=client)  # type: ignore[arg-type]


def test_a_key_or_an_address_beside_a_client_is_refused() -> None:
    client = given("http://127.0.0.1:9", httpx2.AsyncClient())
    with pytest.raises(InvalidValue, match="give no api_key"):
        Google(MODEL, client=client, api_key=KEY)
    with pytest.raises(InvalidValue, match="no base_url"):
        Google(MODEL, client=client, base_url="http://127.0.0.1:9")


def test_one_provider_serves_many_loops_at_once() -> None:
    held = threading.Event()
    script: list[Reply] = [Held(held, Turn(f"{at}")) for at in range(4)]

    with Loopback(script) as server:
        provider = Google(MODEL, api_key=KEY, base_url=server.base_url("google"))
        texts: list[str] = []

        async def main() -> None:
            texts.append((await provider.ask(asking(), watch)).text)
            await provider.aclose()

        threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(4)]
        for thread in threads:
            thread.start()
        asyncio.run(until(lambda: len(server.received) == 4))
        held.set()
        for thread in threads:
            thread.join()
    assert sorted(texts) == ["0", "1", "2", "3"]
