"""
The provider through the real SDK, against the loopback server.
"""

import asyncio
from typing import cast

import openai
import pytest
from attrs import evolve

from rodada.providers.loopback import (
    Body,
    Call,
    Drop,
    Loopback,
    Raw,
    Reply,
    Script,
    Turn,
    Usage,
)
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.messages import (
    Exchange,
    ModelTurn,
    Piece,
    Stop,
    Text,
    ToolRequest,
    UserMessage,
)
from rodada.statemachine.messages import Usage as OurUsage
from rodada.statemachine.request import ModelRequest
from support.openai_wires import (
    KEY,
    RESPONSES,
    OpenAIProvider,
    answered,
    asking,
    ignore,
    started,
)
from support.whole_fields import responses_fields

play, one, failed = RESPONSES.play, RESPONSES.one, RESPONSES.failed


def sent_items(body: object) -> list[JsonObject]:
    return cast("list[JsonObject]", cast("JsonObject", body)["input"])


def test_what_is_sent_is_what_the_typed_call_would_send() -> None:
    sent = asking(started())
    turn = one(Turn("Look.", [Call("weather", {"city": "Ul\u00e4n"})], reasoning=True), sent)
    again = evolve(sent, conversation=answered(sent.conversation, turn))
    options = {"temperature": 0.5, "prompt_cache_key": "k", "extra_body": {"metadata": {"desk": "gym"}}}

    async def both(base_url: str) -> None:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0) as client:
            await OpenAIResponses("gpt-5.6", client=client, options=options).ask(again, ignore)
            fixed = {"model": "gpt-5.6", "store": False, "include": ["reasoning.encrypted_content"], **options}
            await client.responses.create(**fixed, truncation="disabled", **responses_fields(again))  # type: ignore[call-overload]

    with Loopback([Turn("Fine."), Turn("Fine.")]) as server:
        asyncio.run(both(server.base_url("openai")))
    first, second = server.received
    assert first.body == second.body
    assert len(sent_items(first.body)) == 5


def test_several_rounds_are_echoed_and_accepted() -> None:
    async def rounds(provider: OpenAIProvider) -> ModelTurn:
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
    async def rounds(provider: OpenAIProvider) -> str:
        turn = await provider.ask(asking(started()), ignore)
        await provider.ask(asking(answered(started(), turn)), ignore)
        return turn.requests[0].raw

    raw, server = play([Turn(calls=[Call("weather", arguments)], reasoning=True), Turn("Hi.")], rounds)
    assert (raw, server.refusals) == (arguments, ())
    assert sent_items(server.requests()[1])[2]["arguments"] == "{}"


def test_same_id_in_two_turns_is_told_apart_and_accepted() -> None:
    async def rounds(provider: OpenAIProvider) -> list[str]:
        conversation = started()
        for _ in range(3):
            conversation = answered(conversation, await provider.ask(asking(conversation), ignore))
        await provider.ask(asking(conversation), ignore)
        return [entry.turn.requests[0].id for entry in conversation.entries if isinstance(entry, Exchange)]

    again = Turn(calls=[Call("weather", id="x")], reasoning=True)
    ids, server = play([again, again, Turn(calls=[Call("weather", id="y" * 99)]), Turn("Hi.")], rounds)
    assert (ids, server.refusals) == (["x", "call_2_0", "y" * 99], ())


@pytest.mark.parametrize("kept", [True, False])
def test_stored_conversation_is_accepted_with_and_without_reasoning(kept: bool) -> None:
    async def rounds(provider: OpenAIProvider) -> None:
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

    async def rounds(provider: OpenAIProvider) -> None:
        turn = await provider.ask(asking(started()), ignore)
        await provider.ask(asking(answered(started(), turn)), ignore)

    output: list[JsonValue] = [future, called]
    script: Script = [Body({"id": "resp_1", "status": "completed", "model": "m", "output": output}), Turn("Hi.")]
    _, server = play(script, rounds)
    assert sent_items(server.requests()[1])[1:3] == output
    assert dump_json(future).encode() in server.received[1].raw


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


def test_key_of_the_environment_is_used_and_its_base_url_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")

    async def where() -> str:
        provider = OpenAIResponses("gpt-5.6")
        client = provider._clients.here()  # pyright: ignore[reportPrivateUsage]
        await provider.aclose()
        return str(client.base_url)

    assert asyncio.run(where()) == "https://api.openai.com/v1/"


def test_a_cache_key_that_is_none_is_left_out() -> None:
    options = {"prompt_cache_key": None}
    _, server = play([Turn("Hi.")], lambda provider: provider.ask(asking(started()), ignore), options=options)
    assert "prompt_cache_key" not in server.requests()[0]


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
