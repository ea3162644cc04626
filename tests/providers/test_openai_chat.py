"""
The provider through the real SDK, against the loopback server.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import cast

import httpx2
import openai
import pytest
from attrs import evolve

from rodada.providers.loopback import (
    Body,
    Call,
    Deviation,
    Drop,
    Loopback,
    Raw,
    Reply,
    Script,
    Turn,
    Usage,
)
from rodada.providers.openai_chat import NO_KEY, Dialect, OpenAIChat
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import (
    ProviderTooLarge,
)
from rodada.statemachine.jsontext import JsonObject, dump_json, parse_object
from rodada.statemachine.messages import (
    ModelTurn,
    Stop,
    Text,
    UserMessage,
)
from rodada.statemachine.messages import Usage as OurUsage
from rodada.statemachine.request import ModelRequest
from support.openai_wires import CHAT, KEY, OpenAIProvider, answered, asking, ignore, started
from support.whole_fields import chat_fields

play, one, failed = CHAT.play, CHAT.one, CHAT.failed


def sent_messages(body: object) -> list[JsonObject]:
    return cast("list[JsonObject]", cast("JsonObject", body)["messages"])


def run(
    script: Script, rounds: int, *, dialect: Dialect = Dialect(), deviations: Sequence[Deviation] = ()
) -> tuple[list[ModelTurn], Loopback]:
    """
    So many rounds of tools and an answer.
    """

    async def through(provider: OpenAIProvider) -> list[ModelTurn]:
        conversation, turns = started(), list[ModelTurn]()
        for _ in range(rounds):
            turns.append(await provider.ask(asking(conversation), ignore))
            conversation = answered(conversation, turns[-1])
        return [*turns, await provider.ask(asking(conversation), ignore)]

    turns, server = play(script, through, dialect=dialect, deviations=deviations)
    assert server.refusals == ()
    return turns, server


def test_what_is_sent_is_what_the_typed_call_would_send() -> None:
    request = asking(started())
    turn = one(Turn("Look.", [Call("weather", {"city": "Ul\u00e4n"}), Call("goal")]), request)
    again = evolve(request, conversation=answered(request.conversation, turn))
    options = {"temperature": 0.5, "parallel_tool_calls": False, "extra_body": {"metadata": {"desk": "gym"}}}

    async def both(base_url: str) -> None:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0) as client:
            await OpenAIChat("gpt-4.1", client=client, options=options, max_output_tokens=99).ask(again, ignore)
            fixed = {"model": "gpt-4.1", "max_completion_tokens": 99, **options}
            await client.chat.completions.create(**fixed, **chat_fields(again))  # type: ignore[call-overload]

    with Loopback([Turn("Fine."), Turn("Fine.")]) as server:
        asyncio.run(both(server.base_url("openai_chat")))
    first, second = server.received
    assert first.body == second.body
    assert len(sent_messages(first.body)) == 5


def test_p1_several_rounds_are_echoed_and_accepted() -> None:
    pair = [Call("weather", {"city": "Oslo"}), Call("goal", {"kg": 100})]
    turns, server = run([Turn("Looking.", pair), Turn("", [Call("weather")]), Turn("Sunny.")], 2)
    assert turns[-1].text == "Sunny."
    first, second, third = map(sent_messages, server.requests())
    assert [each["role"] for each in third] == ["system", "user", "assistant", "tool", "tool", "assistant", "tool"]
    assert (third[: len(second)], second[: len(first)]) == (second, first)
    assert [each["content"] for each in third[3:5]] == ['of {"city":"Oslo"}', 'of {"kg":100}']
    assert (third[2]["content"], third[5]["content"]) == ("Looking.", None)


def test_p4_the_closing_call_keeps_tools_and_its_requests_are_the_tables_to_drop() -> None:
    closing = evolve(asking(started()), guidance="Stop.", tools_allowed=False)
    ignored = Turn("So far.", [Call("weather")])
    turn, server = play([ignored], lambda provider: provider.ask(closing, ignore))
    (body,) = server.requests()
    assert (body["tool_choice"], len(cast("list[object]", body["tools"]))) == ("none", 2)
    assert sent_messages(body)[0] == {"role": "system", "content": "Be kind.\n\nStop."}
    assert (turn.stop, turn.text, len(turn.requests)) == (Stop.WHOLE, "So far.", 1)


def test_without_tools_nothing_is_said_of_them() -> None:
    options = {"parallel_tool_calls": False, "extra_body": {"parallel_tool_calls": True}}
    bare = ModelRequest(conversation=started())
    turn, server = play([Turn("Hi.")], lambda provider: provider.ask(bare, ignore), options=options)
    assert (turn.stop, turn.text) == (Stop.WHOLE, "Hi.")
    assert server.requests() == ({"model": "gpt-4.1", "messages": [{"role": "user", "content": "How much?"}]},)


@pytest.mark.parametrize(("old", "name"), [(False, "max_completion_tokens"), (True, "max_tokens")])
def test_the_limit_of_a_reply_goes_under_the_name_that_the_server_knows(old: bool, name: str) -> None:
    async def ask(provider: OpenAIProvider) -> None:
        await provider.ask(asking(started()), ignore)

    wanted: tuple[Deviation, ...] = ("max_tokens_only",) if old else ()
    _, server = play([Turn("Hi.")], ask, max_output_tokens=99, dialect=Dialect(old_limit=old), deviations=wanted)
    both = ("max_tokens", "max_completion_tokens")
    assert {key: value for key, value in server.requests()[0].items() if key in both} == {name: 99}


def test_usage_is_told() -> None:
    assert one(Turn("Hi.", usage=Usage(100, 50, 60, 30, 40))).usage == OurUsage(100, 60, None, 50, 40)


@pytest.mark.parametrize(
    ("reply", "stop", "requests"),
    [
        (Turn("Hi."), Stop.WHOLE, 0),
        (Turn("Half", [Call("weather", '{"ci')], stop="cut"), Stop.CUT, 1),
        (Turn("Wait.", word="tool_calls"), Stop.MALFORMED, 0),
        (Turn("No.", stop="refused"), Stop.REFUSED, 0),
        (Turn("No", word="content_filter"), Stop.REFUSED, 0),
        (Turn("Hm.", [Call("weather")], stop="unknown"), Stop.UNKNOWN, 0),
    ],
    ids=["whole", "cut", "announced", "refused", "filtered", "unknown"],
)
def test_stops(reply: Turn, stop: Stop, requests: int) -> None:
    turn = one(reply)
    assert (turn.stop, len(turn.requests), turn.text) == (stop, requests, reply.text)


@pytest.mark.parametrize("arguments", ["", '{"ci', "[1]", "null", '{"a":NaN}', '"{\\"a\\":1}"'])
def test_f026_f027_f028_f029_f049_bad_arguments_come_as_they_are_and_go_back_as_an_empty_object(
    arguments: str,
) -> None:
    turns, server = run([Turn(calls=[Call("weather", arguments)]), Turn("Hi.")], 1)
    (call,) = cast("list[JsonObject]", sent_messages(server.requests()[1])[2]["tool_calls"])
    assert (turns[0].requests[0].raw, call["function"]) == (arguments, {"name": "weather", "arguments": "{}"})


def test_f022_f023_the_same_id_in_two_turns_is_told_apart_and_accepted() -> None:
    again = Turn(calls=[Call("weather", id="x")])
    turns, _ = run([again, again, Turn(calls=[Call("weather", id="y" * 99)]), Turn("Hi.")], 3)
    assert [turn.requests[0].id for turn in turns[:3]] == ["x", "call_2_0", "y" * 99]


DEVIATIONS: Sequence[tuple[Deviation, ...]] = (
    ("ids_missing", "types_missing"),
    ("ids_null", "arguments_as_objects"),
    ("ids_empty", "arguments_null"),
    ("ids_same", "index_on_calls"),
    ("stop_beside_calls", "usage_missing"),
    ("usage_in_part", "content_missing"),
    ("content_in_parts", "two_choices"),
    ("reasoning_shown",),
)


@pytest.mark.parametrize("deviations", DEVIATIONS, ids="-".join)
def test_f021_f095_whatever_a_server_says_each_call_is_its_own_and_is_sent_back_in_the_valid_form(
    deviations: tuple[Deviation, ...],
) -> None:
    """
    The server deviates in what it answers, and refuses all that OpenAI does in what it is sent.
    """
    pair = Turn(
        "Looking.", [Call("weather", {"city": "A"}), Call("weather", {"city": "B"}), Call("goal")], reasoning=True
    )
    turns, server = run([pair, pair, Turn("Sunny.", reasoning=True)], 2, deviations=deviations)
    assert [len(turn.requests) for turn in turns] == [3, 3, 0]
    assert [each.arguments for turn in turns for each in turn.requests] == [{"city": "A"}, {"city": "B"}, {}] * 2
    assert len({each.id for turn in turns for each in turn.requests}) == 6
    assert (turns[-1].stop, turns[-1].text) == (Stop.WHOLE, "Sunny.")
    assert "Thought" not in str(sent_messages(server.requests()[-1]))


def test_a_call_of_the_first_years_is_answered_in_the_form_of_today() -> None:
    turns, server = run([Turn(calls=[Call("weather", {"city": "A"})]), Turn("Sunny.")], 1, deviations=["function_call"])
    assert [(each.id, each.name) for each in turns[0].requests] == [("call_1_0", "weather")]
    assert [each.get("tool_call_id") for each in sent_messages(server.requests()[1])][-1] == "call_1_0"


def test_f098_without_usage_nothing_is_counted() -> None:
    turns, _ = run([Turn(calls=[Call("weather")]), Turn("Hi.")], 1, deviations=["usage_missing"])
    assert [turn.usage for turn in turns] == [OurUsage(), OurUsage()]


def test_p9_reasoning_that_is_wanted_back_goes_back_as_it_came() -> None:
    asked = Turn("", [Call("weather")], reasoning=True)
    dialect = Dialect(echoed=("reasoning_content",))
    turns, server = run([asked, asked, Turn("Hi.")], 2, dialect=dialect, deviations=["reasoning_wanted"])
    thoughts = [parse_object(turn.native[0].received) or {} for turn in turns[:2]]
    sent = [each for each in sent_messages(server.requests()[2]) if each["role"] == "assistant"]
    assert [each["reasoning_content"] for each in sent] == [each["reasoning_content"] for each in thoughts]


def test_short_ids_are_made_where_they_are_wanted() -> None:
    turns, _ = run(
        [Turn(calls=[Call("weather", id="abcDEF123"), Call("weather")]), Turn("Hi.")],
        1,
        dialect=Dialect(short_ids=True),
        deviations=["short_ids_wanted"],
    )
    assert turns[0].requests[0].id == "abcDEF123"


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("dialect", [Dialect(), Dialect(echoed=("reasoning_content",))], ids=["openai", "thinking"])
def test_stored_conversation_is_accepted_with_and_without_reasoning(kept: bool, dialect: Dialect) -> None:
    async def rounds(provider: OpenAIProvider) -> None:
        first = await provider.ask(asking(started()), ignore)
        answer = await provider.ask(asking(answered(started(), first)), ignore)
        stored = answered(started(), first).append(answer).to_json(reasoning=kept)
        assert ("Thought" in dump_json(stored)) is kept
        again = Conversation.from_json(stored).append(UserMessage("u2", (Text("And now?"),)))
        await provider.ask(asking(again), ignore)

    script = [Turn("Looking.", [Call("weather")], reasoning=True), Turn("Sunny.", reasoning=True), Turn("Rain.")]
    wants: Deviation = "reasoning_wanted" if dialect.echoed else "reasoning_shown"
    _, server = play(script, rounds, dialect=dialect, deviations=[wants])
    assert server.refusals == ()
    assert str(sent_messages(server.requests()[2])).count("Thought") == (2 if kept and dialect.echoed else 0)


def test_to_openai_itself_nothing_is_stored_and_elsewhere_nothing_is_said_of_it() -> None:
    bodies: list[Mapping[str, object]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(cast("Mapping[str, object]", parse_object(request.content.decode())))
        message: JsonObject = {"role": "assistant", "content": "Hi."}
        return httpx2.Response(200, json={"choices": [{"message": message, "finish_reason": "stop"}]})

    async def ask(url: str) -> None:
        transport = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        async with openai.AsyncOpenAI(api_key=KEY, base_url=url, http_client=transport) as client:
            await OpenAIChat("gpt-4.1", client=client).ask(asking(started()), ignore)

    for url in ("https://api.openai.com/v1", "https://eu.api.openai.com/v1", "http://127.0.0.1:1/v1"):
        asyncio.run(ask(url))
    assert [body.get("store") for body in bodies] == [False, False, None]
    assert ["store" in body for body in bodies] == [True, True, False]


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "No such model", "code": 404}},
        {"error": "No such model"},
        {"choices": [{"message": {"role": "assistant"}, "error": {"message": "No such model", "code": 502}}]},
    ],
)
def test_an_error_inside_an_answer_is_the_error(body: JsonObject) -> None:
    assert failed(Body(body)).message == "No such model"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": "model not found"}, "model not found"),
        ({"detail": "model not found"}, "model not found"),
        ({"object": "error", "message": "model not found", "code": 404}, "model not found"),
        ({"detail": [{"loc": ["body"]}]}, "HTTP status 404"),
    ],
)
def test_errors_of_servers_that_only_resemble_openai_are_told(body: JsonObject, told: str) -> None:
    error = failed(Body(body, status=404))
    assert (type(error).__name__, error.message, error.status) == ("ProviderRejected", told, 404)


def test_a_history_that_llama_cpp_finds_too_long_is_too_large() -> None:
    body: JsonObject = {"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error"}}
    assert type(failed(Body(body, status=400))) is ProviderTooLarge


def test_a_page_is_no_message() -> None:
    page = Raw(b"<html>Bad gateway</html>", status=502, headers={"content-type": "text/html"})
    assert failed(page).message == "HTTP status 502"


def where(base_url: str | None = None, api_key: str | None = None) -> tuple[str, str]:
    """
    The address that a provider asks, and the key that it sends there.
    """

    async def found() -> tuple[str, str]:
        provider = OpenAIChat("gpt-4.1", base_url=base_url, api_key=api_key)
        client = provider._clients.here()  # pyright: ignore[reportPrivateUsage]
        await provider.aclose()
        return str(client.base_url), client.api_key

    return asyncio.run(found())


def test_openais_key_goes_to_openai_alone_and_other_servers_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    local = "http://127.0.0.1:9/v1/"
    monkeypatch.delenv("OPENAI_CHAT_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    assert where() == ("https://api.openai.com/v1/", KEY)
    assert where(local) == (local, NO_KEY)
    assert where(local, "given") == (local, "given")
    monkeypatch.setenv("OPENAI_CHAT_API_KEY", "other")
    assert where() == ("https://api.openai.com/v1/", KEY)
    assert where(local) == (local, "other")
    # Only the host says whose server it is.
    disguised = "https://127.0.0.1/api.openai.com/v1/"
    assert where(disguised) == (disguised, "other")


def test_options_reach_the_server_as_they_are() -> None:
    options = {"reasoning_effort": "low", "seed": 7, "extra_body": {"top_logprobs": 3}, "extra_headers": {"x-a": "b"}}
    _, server = play([Turn("Hi.")], lambda provider: provider.ask(asking(started()), ignore), options=options)
    body = server.requests()[0]
    assert (body["reasoning_effort"], body["seed"], body["top_logprobs"]) == ("low", 7, 3)
    assert server.received[0].headers["x-a"] == "b"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Drop(), "ProviderUnreachable"),
        (Raw(b'{"id":', promised=99), "ProviderUnreachable"),
        (Raw(b"<html>Bad gateway</html>", headers={"content-type": "text/html"}), "ProviderGarbled"),
        (Raw(b""), "ProviderGarbled"),
        (Raw(b'{"id":'), "ProviderGarbled"),
        (Raw(b"<html>Bad gateway</html>", status=502), "ProviderOverloaded"),
        (Body({"id": "chatcmpl-1", "choices": []}), "ProviderGarbled"),
    ],
    ids=["drop", "cut", "page", "empty", "broken", "bad gateway", "no choice"],
)
def test_broken_answers_become_errors_that_may_pass(reply: Reply, kind: str) -> None:
    told = failed(reply)
    assert (type(told).__name__, told.retryable) == (kind, True)
