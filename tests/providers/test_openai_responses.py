"""
The provider through the real SDK, against the loopback server.
"""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar, cast

import openai
import pytest
from attrs import evolve

from rodada.providers.loopback import (
    Body,
    Call,
    Drop,
    Failure,
    Hang,
    Loopback,
    Raw,
    Received,
    Reply,
    Script,
    Turn,
    Usage,
)
from rodada.providers.openai_responses import ELSEWHERE, OpenAIResponses
from rodada.providers.openai_responses_input import request_fields
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import (
    InvalidValue,
    MissingExtra,
    MissingKey,
    ProviderError,
    ProviderTimeout,
    ProviderTooLarge,
    WrongEventLoop,
)
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
    UserMessage,
)
from rodada.statemachine.messages import Usage as OurUsage
from rodada.statemachine.notice import Delta
from rodada.statemachine.request import ModelRequest, ToolDeclaration

KEY = "sk-secret-0123456789"
TOOLS = (ToolDeclaration("weather", "Tells the weather."), ToolDeclaration("goal", "Saves a goal."))
Value = TypeVar("Value")


def started(text: str = "How much?") -> Conversation:
    return Conversation("c", (UserMessage("u", (Text(text),)),))


def answered(conversation: Conversation, turn: ModelTurn) -> Conversation:
    results = tuple(ToolResult.of(each, Status.SUCCEEDED, f"of {each.raw}") for each in turn.requests)
    return conversation.append(Exchange(turn, results))


def asking(conversation: Conversation) -> ModelRequest:
    return ModelRequest(conversation=conversation, tools=TOOLS, instructions="Be kind.")


def ignore(delta: Delta) -> None:
    raise AssertionError(f"nothing is told before the turn is whole, got {delta}")


def play(
    script: Script,
    use: Callable[[OpenAIResponses], Awaitable[Value]],
    *,
    max_output_tokens: int | None = None,
    options: Mapping[str, object] | None = None,
) -> tuple[Value, Loopback]:
    """
    What `use` gives with a provider that talks to a server playing the script, and the server.
    """

    async def whole(server: Loopback) -> Value:
        url = server.base_url("openai")
        provider = OpenAIResponses(
            "gpt-5.6", api_key=KEY, base_url=url, max_output_tokens=max_output_tokens, options=options
        )
        try:
            return await use(provider)
        finally:
            await provider.aclose()

    with Loopback(script) as server:
        return asyncio.run(whole(server)), server


def one(reply: Reply, request: ModelRequest | None = None, options: Mapping[str, object] | None = None) -> ModelTurn:
    sent = request or asking(started())
    return play([reply], lambda provider: provider.ask(sent, ignore), options=options)[0]


def failed(reply: Reply, request: ModelRequest | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        one(reply, request)
    return caught.value


def wait_for_hang_up(server: Loopback) -> None:
    limit = time.monotonic() + 10
    while server.hung_up == 0:
        assert time.monotonic() < limit, "the connection stayed open"
        threading.Event().wait(0.002)


def sent_items(body: object) -> list[JsonObject]:
    return cast("list[JsonObject]", cast("JsonObject", body)["input"])


def test_what_is_sent_is_what_the_typed_call_would_send() -> None:
    sent = asking(started())
    turn = one(Turn("Look.", [Call("weather", {"city": "Ul\u00e4n"})], reasoning=True), sent)
    again = evolve(sent, conversation=answered(sent.conversation, turn))
    options = {"temperature": 0.5, "extra_body": {"metadata": {"desk": "gym"}}}

    async def both(base_url: str) -> None:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0) as client:
            await OpenAIResponses("gpt-5.6", client=client, options=options).ask(again, ignore)
            fixed = {"model": "gpt-5.6", "store": False, "include": ["reasoning.encrypted_content"], **options}
            await client.responses.create(**fixed, truncation="disabled", **request_fields(again))  # type: ignore[call-overload]

    with Loopback([Turn("Fine."), Turn("Fine.")]) as server:
        asyncio.run(both(server.base_url("openai")))
    first, second = server.received
    assert first.body == second.body
    assert len(sent_items(first.body)) == 5


def test_several_rounds_are_echoed_and_accepted() -> None:
    async def rounds(provider: OpenAIResponses) -> ModelTurn:
        conversation = started()
        for _ in range(2):
            turn = await provider.ask(asking(conversation), ignore)
            conversation = answered(conversation, turn)
        closing = evolve(asking(conversation), guidance="Stop.", tools_allowed=False)
        return await provider.ask(closing, ignore)

    pair = [Call("weather", {"city": "Oslo"}), Call("goal", {"kg": 100})]
    script = [Turn("Looking.", pair, reasoning=True), Turn("", [Call("weather")], reasoning=True), Turn("Sunny.")]
    turn, server = play(script, rounds)
    assert (turn.text, server.refusals) == ("Sunny.", ())
    first, second, third = map(sent_items, server.requests())
    assert [item["type"] for item in third] == [
        "message",
        *("reasoning", "message", "function_call", "function_call", "function_call_output", "function_call_output"),
        *("reasoning", "function_call", "function_call_output"),
    ]
    assert (third[: len(second)], second[: len(first)]) == (second, first)
    assert [item["output"] for item in third[5:7]] == ['of {"city":"Oslo"}', 'of {"kg":100}']


def test_every_call_says_that_nothing_is_kept() -> None:
    _, server = play([Turn("Hi.")], lambda provider: provider.ask(asking(started()), ignore), max_output_tokens=99)
    body = server.requests()[0]
    fixed = ("model", "store", "include", "truncation", "max_output_tokens")
    assert {name: body[name] for name in fixed} == {
        "model": "gpt-5.6",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "truncation": "disabled",
        "max_output_tokens": 99,
    }
    assert "stream" not in body


def test_without_tools_the_model_just_answers() -> None:
    turn, server = play([Turn("Hi.")], lambda provider: provider.ask(ModelRequest(conversation=started()), ignore))
    assert (turn.stop, turn.text) == (Stop.WHOLE, "Hi.")
    assert not {"tools", "tool_choice", "instructions", "max_output_tokens"} & {*server.requests()[0]}


def test_usage_is_told() -> None:
    assert one(Turn("Hi.", usage=Usage(100, 50, 60, 30, 40))).usage == OurUsage(100, 60, 30, 50, 40)


@pytest.mark.parametrize(
    ("reply", "stop", "requests"),
    [
        (Turn("Hi."), Stop.WHOLE, 0),
        (Turn("Half", [Call("weather", '{"ci')], stop="cut"), Stop.CUT, 1),
        (Turn("Wait.", stop="paused"), Stop.MALFORMED, 0),
        (Turn("No.", stop="refused"), Stop.REFUSED, 0),
        (Turn("Hm.", [Call("weather")], stop="unknown"), Stop.UNKNOWN, 0),
    ],
    ids=["whole", "cut", "paused", "refused", "unknown"],
)
def test_stops(reply: Turn, stop: Stop, requests: int) -> None:
    turn = one(reply)
    assert (turn.stop, len(turn.requests), turn.text) == (stop, requests, reply.text)


@pytest.mark.parametrize("arguments", ["", '{"ci', "[1]", "null", '{"a":NaN}'])
def test_bad_arguments_come_as_they_are_and_go_back_as_an_empty_object(arguments: str) -> None:
    async def rounds(provider: OpenAIResponses) -> str:
        turn = await provider.ask(asking(started()), ignore)
        await provider.ask(asking(answered(started(), turn)), ignore)
        return turn.requests[0].raw

    raw, server = play([Turn(calls=[Call("weather", arguments)], reasoning=True), Turn("Hi.")], rounds)
    assert (raw, server.refusals) == (arguments, ())
    assert sent_items(server.requests()[1])[2]["arguments"] == "{}"


def test_same_id_in_two_turns_is_told_apart_and_accepted() -> None:
    async def rounds(provider: OpenAIResponses) -> list[str]:
        conversation = started()
        for _ in range(3):
            conversation = answered(conversation, await provider.ask(asking(conversation), ignore))
        await provider.ask(asking(conversation), ignore)
        return [entry.turn.requests[0].id for entry in conversation.entries if isinstance(entry, Exchange)]

    again = Turn(calls=[Call("weather", id="x")], reasoning=True)
    ids, server = play([again, again, Turn(calls=[Call("weather", id="y" * 99)]), Turn("Hi.")], rounds)
    assert (ids, server.refusals) == (["x", "call_2_0", "y" * 99], ())


def test_conversation_of_another_wire_is_accepted() -> None:
    requests = (
        ToolRequest("functions.write:0", "fs.write", '{"a":1}', "functions.write:0"),
        ToolRequest("b" * 99, "", ""),
    )
    foreign = ModelTurn(
        Stop.WHOLE, "Looking.", requests, native=(Piece('{"type":"tool_use"}', None),), wire="anthropic"
    )
    conversation = answered(started(), foreign).append(ModelTurn(Stop.WHOLE, "Done.", wire="google"))
    conversation = conversation.append(UserMessage("u2", (Text("And now?"),)))
    turn, server = play([Turn("Hi.")], lambda provider: provider.ask(asking(conversation), ignore))
    assert (turn.text, server.refusals) == ("Hi.", ())


@pytest.mark.parametrize("kept", [True, False])
def test_stored_conversation_is_accepted_with_and_without_reasoning(kept: bool) -> None:
    async def rounds(provider: OpenAIResponses) -> None:
        first = await provider.ask(asking(started()), ignore)
        answer = await provider.ask(asking(answered(started(), first)), ignore)
        stored = answered(started(), first).append(answer).to_json(reasoning=kept)
        again = Conversation.from_json(stored).append(UserMessage("u2", (Text("And now?"),)))
        await provider.ask(asking(again), ignore)

    script = [Turn("Looking.", [Call("weather")], reasoning=True), Turn("Sunny.", reasoning=True), Turn("Rain.")]
    _, server = play(script, rounds)
    assert server.refusals == ()
    kinds = [item["type"] for item in sent_items(server.requests()[2])]
    assert kinds.count("reasoning") == (2 if kept else 0)


def test_reasoning_that_the_vendor_cannot_read_is_left_out_once() -> None:
    thought = '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"of another key"}'
    called: JsonObject = {"type": "function_call", "call_id": "a", "name": "weather", "arguments": "{}"}
    pieces = (Piece(thought, None), Piece(dump_json({"id": "fc_1", **called}), dump_json(called)))
    turn = ModelTurn(
        Stop.WHOLE, requests=(ToolRequest("a", "weather", "{}", "a"),), native=pieces, wire="openai_responses"
    )
    told, server = play([Turn("Hi.")], lambda provider: provider.ask(asking(answered(started(), turn)), ignore))
    assert (told.text, [each.code for each in server.refusals]) == ("Hi.", ["invalid_encrypted_content"])
    assert [item["type"] for item in sent_items(server.requests()[0])] == [
        "message",
        "function_call",
        "function_call_output",
    ]


def test_unknown_items_and_fields_pass_through_the_sdk_as_they_came() -> None:
    future: JsonObject = {"type": "mcp_future", "id": "x", "n": 1.0, "async": True, "deep": [None, {"b": 1, "a": 2}]}
    called: JsonObject = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "a",
        "name": "weather",
        "arguments": '{ "a" : 1 }',
        "async": True,
    }

    async def rounds(provider: OpenAIResponses) -> None:
        turn = await provider.ask(asking(started()), ignore)
        await provider.ask(asking(answered(started(), turn)), ignore)

    output: list[JsonValue] = [future, called]
    script: Script = [Body({"id": "resp_1", "status": "completed", "model": "m", "output": output}), Turn("Hi.")]
    _, server = play(script, rounds)
    assert sent_items(server.requests()[1])[1:3] == output
    assert dump_json(future).encode() in server.received[1].raw


@pytest.mark.parametrize(
    ("reply", "kind", "retryable", "code"),
    [
        (Failure(400, "No."), "ProviderRejected", False, "invalid_request_error"),
        (Failure(400, "No.", code="context_length_exceeded"), "ProviderTooLarge", False, "context_length_exceeded"),
        (Failure(401, "No."), "ProviderAuthentication", False, "invalid_request_error"),
        (Failure(403, "No."), "ProviderAuthentication", False, "invalid_request_error"),
        (Failure(404, "No.", code="model_not_found"), "ProviderRejected", False, "model_not_found"),
        (Failure(408, "No."), "ProviderTimeout", True, "invalid_request_error"),
        (Failure(409, "No."), "ProviderOverloaded", True, "invalid_request_error"),
        (Failure(413, "No."), "ProviderTooLarge", False, "invalid_request_error"),
        (Failure(422, "No."), "ProviderRejected", False, "invalid_request_error"),
        (Failure(429, "No."), "ProviderOverloaded", True, "rate_limit_error"),
        (Failure(429, "No.", code="insufficient_quota"), "ProviderQuota", False, "insufficient_quota"),
        (Failure(429, "No.", kind="insufficient_quota"), "ProviderQuota", False, "insufficient_quota"),
        (Failure(500, "No."), "ProviderOverloaded", True, "server_error"),
        (Failure(503, "No."), "ProviderOverloaded", True, "server_error"),
        (Failure(500, "No.", headers={"x-should-retry": "false"}), "ProviderOverloaded", False, "server_error"),
    ],
)
def test_statuses_become_errors(reply: Failure, kind: str, retryable: bool, code: str) -> None:
    told = failed(reply)
    assert (type(told).__name__, told.retryable, told.code) == (kind, retryable, code)
    assert (told.provider, told.status, told.message) == ("openai_responses", reply.status, "No.")
    assert str(told.request_id).startswith("req_")


def test_wait_that_the_vendor_asks_for_is_told() -> None:
    assert failed(Failure(429, headers={"retry-after": "7"})).retry_after == 7
    assert failed(Failure(429, headers={"retry-after-ms": "1500", "retry-after": "7"})).retry_after == 1.5


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Drop(), "ProviderUnreachable"),
        (Raw(b'{"id":', promised=99), "ProviderUnreachable"),
        (Raw(b"<html>Bad gateway</html>", headers={"content-type": "text/html"}), "ProviderGarbled"),
        (Raw(b""), "ProviderGarbled"),
        (Raw(b'{"id":'), "ProviderGarbled"),
        (Raw(b"<html>Bad gateway</html>", status=502), "ProviderOverloaded"),
        (Body({"id": "resp_1", "status": "queued", "output": []}), "ProviderGarbled"),
    ],
    ids=["drop", "cut", "page", "empty", "broken", "bad gateway", "queued"],
)
def test_broken_answers_become_errors_that_may_pass(reply: Reply, kind: str) -> None:
    told = failed(reply)
    assert (type(told).__name__, told.retryable) == (kind, True)


def test_sdk_does_not_retry() -> None:
    async def ask(provider: OpenAIResponses) -> None:
        with pytest.raises(ProviderError):
            await provider.ask(asking(started()), ignore)

    _, server = play([Failure(500), Turn("Hi.")], ask)
    assert len(server.received) == 1


def test_given_client_is_used_without_its_retries_and_stays_open() -> None:
    async def whole(server: Loopback) -> tuple[str, bool]:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=server.base_url("openai"), max_retries=2) as client:
            provider = OpenAIResponses("gpt-5.6", client=client)
            with pytest.raises(ProviderError):
                await provider.ask(asking(started()), ignore)
            turn = await provider.ask(asking(started()), ignore)
            await provider.aclose()
            return turn.text, client.is_closed()

    with Loopback([Failure(500), Turn("Hi.")]) as server:
        assert asyncio.run(whole(server)) == ("Hi.", False)


def test_given_client_is_refused_on_a_second_event_loop() -> None:
    with Loopback([Turn("Hi.")]) as server:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=server.base_url("openai"))
        provider = OpenAIResponses("gpt-5.6", client=client)

        async def first() -> None:
            await provider.ask(asking(started()), ignore)
            await client.close()

        asyncio.run(first())
        with pytest.raises(WrongEventLoop):
            asyncio.run(provider.ask(asking(started()), ignore))


def test_own_clients_work_on_every_event_loop() -> None:
    with Loopback([Turn("One."), Turn("Two.")]) as server:
        provider = OpenAIResponses("gpt-5.6", api_key=KEY, base_url=server.base_url("openai"))

        async def once() -> str:
            turn = await provider.ask(asking(started()), ignore)
            await provider.aclose()
            return turn.text

        assert [asyncio.run(once()), asyncio.run(once())] == ["One.", "Two."]


def test_sync_client_is_refused_by_name() -> None:
    with openai.OpenAI(api_key=KEY) as client, pytest.raises(InvalidValue, match=r"openai\.AsyncOpenAI, not a OpenAI"):
        OpenAIResponses("gpt-5.6", client=cast("openai.AsyncOpenAI", client))


def test_client_beside_its_own_settings_is_refused() -> None:
    client = openai.AsyncOpenAI(api_key=KEY)
    with pytest.raises(InvalidValue, match="base_url"):
        OpenAIResponses("gpt-5.6", client=client, base_url="http://127.0.0.1:9")


def test_missing_key_and_missing_sdk_are_told_when_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        OpenAIResponses("gpt-5.6")
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"rodada\[openai\]"):
        OpenAIResponses("gpt-5.6", api_key=KEY)


def test_key_of_the_environment_is_used_and_its_base_url_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")

    async def where() -> str:
        provider = OpenAIResponses("gpt-5.6")
        client = provider._clients.here()  # pyright: ignore[reportPrivateUsage]
        await provider.aclose()
        return str(client.base_url)

    assert asyncio.run(where()) == "https://api.openai.com/v1/"


def test_importing_the_provider_does_not_import_the_sdk() -> None:
    program = "import sys, rodada.providers.openai_responses; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_options_reach_the_vendor_as_they_are() -> None:
    options = {
        "reasoning": {"effort": "low", "summary": "auto"},
        "prompt_cache_key": "k",
        "extra_headers": {"x-a": "b"},
    }
    _, server = play([Turn("Hi.")], lambda provider: provider.ask(asking(started()), ignore), options=options)
    body = server.requests()[0]
    assert (body["reasoning"], body["prompt_cache_key"]) == (options["reasoning"], "k")
    assert server.received[0].headers["x-a"] == "b"


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_f063_options_that_are_set_elsewhere_are_refused(name: str) -> None:
    for options in ({name: "required"}, {"extra_body": {name: "required"}}):
        with pytest.raises(InvalidValue, match=name):
            OpenAIResponses("gpt-5.6", api_key=KEY, options=options)


@pytest.mark.parametrize(
    "options", [{"no_such_option": 1}, {"temperature": float("nan")}, {"metadata": {"a": "\ud800"}}], ids=str
)
def test_request_that_cannot_be_built_is_rejected(options: dict[str, object]) -> None:
    with pytest.raises(ProviderError) as caught:
        one(Turn("Hi."), options=options)
    assert (type(caught.value).__name__, caught.value.retryable) == ("ProviderRejected", False)


@pytest.mark.parametrize(("model", "tokens"), [(" ", None), ("gpt-5.6", 0)])
def test_wrong_arguments_are_refused(model: str, tokens: int | None) -> None:
    with pytest.raises(InvalidValue):
        OpenAIResponses(model, api_key=KEY, max_output_tokens=tokens)


def test_f010_openai_request_over_the_size_limit_is_not_sent() -> None:
    async def ask(provider: OpenAIResponses) -> int:
        _ = await provider.ask(asking(started()), ignore)
        return 0

    _, server = play([Turn("Hi.")], ask)
    size = len(server.received[0].raw)
    assert one(Turn("Hi."), evolve(asking(started()), max_request_bytes=size)).text == "Hi."
    told = failed(Turn("Hi."), evolve(asking(started()), max_request_bytes=size - 1))
    assert (type(told), told.retryable) == (ProviderTooLarge, False)
    assert f"{size} bytes" in told.message


def test_call_that_takes_too_long_is_a_timeout() -> None:
    told = failed(Hang(), evolve(asking(started()), seconds=0.05))
    assert (type(told), told.retryable) == (ProviderTimeout, True)


def test_cancelling_passes_through_and_closes_the_connection() -> None:
    async def cancelled(provider: OpenAIResponses, arrived: asyncio.Event) -> bool:
        task = asyncio.create_task(provider.ask(evolve(asking(started()), seconds=60), ignore))
        await arrived.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    async def whole() -> bool:
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def hang(received: Received) -> Reply:
            loop.call_soon_threadsafe(arrived.set)
            return Hang()

        with Loopback(hang) as server:
            provider = OpenAIResponses("gpt-5.6", api_key=KEY, base_url=server.base_url("openai"))
            was_cancelled = await cancelled(provider, arrived)
            await asyncio.to_thread(wait_for_hang_up, server)
            await provider.aclose()
            return was_cancelled

    assert asyncio.run(whole())


def test_no_secret_is_shown() -> None:
    told = failed(Failure(401, f"Incorrect API key provided: {KEY}."))
    assert KEY not in str(told)
    assert (told.__cause__, told.__suppress_context__) == (None, True)
    assert repr(OpenAIResponses("gpt-5.6", api_key=KEY)) == "OpenAIResponses('gpt-5.6')"
