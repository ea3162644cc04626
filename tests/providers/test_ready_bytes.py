"""
What is sent as ready bytes is what the SDK's own method sends for the whole history; a client that must see its bodies
is given them.
"""

import asyncio
import functools
import json
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, TypeAlias

import anthropic
import httpx2
import openai
import pytest
from anthropic.lib.bedrock import AsyncAnthropicBedrock, AsyncAnthropicBedrockMantle
from anthropic.lib.vertex import AsyncAnthropicVertex
from anthropic.resources import AsyncMessages
from attrs import evolve
from google import genai
from google.genai.models import AsyncModels
from google.genai.types import HttpOptions
from openai.types.responses import ResponseUsage

from rodada.providers import anthropic_client, openai_client
from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.history import History
from rodada.providers.loopback import WireName
from rodada.providers.ready_bytes import sending
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import ProviderRejected, ProviderTooLarge
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import ModelTurn, Piece, Stop
from rodada.statemachine.notice import Delta
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from support.long_conversations import KEY, REPLIES, conversation, exchange, provider_of, user
from support.stage import WIRES

Told: TypeAlias = tuple[str, str, Mapping[str, str], object]
LOOK = ToolDeclaration("look", "Look a day up: ação ✓.", '{"type":"object","properties":{"day":{"type":"string"}}}')
SCHEMA = '{"type":"object","properties":{"kg":{"type":"number"}},"required":["kg"],"additionalProperties":false}'


def unwatched(delta: Delta) -> None:
    pass


def sent_by(wire: WireName, request: ModelRequest, *, seeing: bool, options: Mapping[str, Any] | None) -> list[Told]:
    """
    The requests of one call.
    """
    found: list[Told] = []

    def reply(sent: httpx2.Request) -> httpx2.Response:
        found.append((sent.method, str(sent.url), dict(sent.headers), json.loads(sent.content)))
        return httpx2.Response(200, json=REPLIES[wire])

    async def ask() -> ModelTurn:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(reply)) as http:
            provider = provider_of(wire, http, seeing=seeing, options=options)
            turn: ModelTurn = await provider.ask(request, unwatched)
            return turn

    assert asyncio.run(ask()).text == "Hi."
    return found


def requests_of(wire: WireName) -> dict[str, ModelRequest]:
    """
    A request of each form.
    """
    usual = ModelRequest(conversation=conversation(wire, 3), tools=(LOOK,), instructions="Keep the log: ✓", seconds=60)
    longer = Conversation("c", (*usual.conversation.entries, user('And "now"?'), exchange(wire, 9)))
    return {
        "usual": usual,
        "first": evolve(usual, conversation=conversation(wire, 0)),
        "without tools": ModelRequest(conversation=conversation(wire, 0)),
        "streamed": evolve(usual, stream=True),
        "closing": evolve(usual, guidance="Say what you found.", tools_allowed=False),
        "typed": evolve(usual, output_schema=SCHEMA),
        "behind earlier runs": evolve(usual, conversation=longer, start=4),
        "selected": evolve(usual, conversation=longer, start=4, selected=4),
        "limited": evolve(usual, max_request_bytes=100_000),
    }


@pytest.mark.parametrize("form", requests_of("google"))
@pytest.mark.parametrize("wire", WIRES)
def test_what_is_sent_is_what_create_sends(wire: WireName, form: str) -> None:
    request = requests_of(wire)[form]
    expected = sent_by(wire, request, seeing=True, options=None)
    assert 1 == len(expected)
    assert expected == sent_by(wire, request, seeing=False, options=None)


OF_STAINLESS: Mapping[str, Any] = {
    "extra_headers": {"x-gym": "1"},
    "extra_query": {"gym": "a b"},
    "extra_body": {"gym": {"when": "now"}},
}
OPTIONS: dict[str, tuple[WireName, Mapping[str, Any]]] = {
    "extras": ("anthropic", OF_STAINLESS),
    "extras of Responses": ("openai", OF_STAINLESS),
    "extras of Chat": ("openai_chat", OF_STAINLESS),
    "a header": ("anthropic", {"user_profile_id": "p", "metadata": {"user_id": "é"}}),
    "no plain JSON": ("anthropic", {"extra_body": {"day": date(2026, 12, 1)}, "stop_sequences": {"END"}}),
    "not given": ("anthropic", {"service_tier": anthropic.omit, "metadata": anthropic.NOT_GIVEN}),
    "no plain JSON on Responses": ("openai", {"metadata": anthropic.types.MetadataParam(user_id="é"), "top_p": 0.5}),
    "a model of the SDK": ("openai", {"extra_body": {"gym": ResponseUsage.model_construct(input_tokens=1)}}),
    "not given on Chat": ("openai_chat", {"temperature": openai.omit, "seed": 7}),
    "settings of Gemini": ("google", {"temperature": 0.5, "thinking_config": {"include_thoughts": True}}),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_sent_as_create_sends_them(name: str) -> None:
    wire, options = OPTIONS[name]
    request = requests_of(wire)["usual"]
    expected = sent_by(wire, request, seeing=True, options=options)
    assert 1 == len(expected)
    assert expected == sent_by(wire, request, seeing=False, options=options)


@pytest.mark.parametrize("form", ["usual", "streamed"])
@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai_chat"])
def test_a_limit_is_of_all_bytes_that_are_sent(wire: WireName, form: str) -> None:
    request = requests_of(wire)[form]
    [usual] = sent_by(wire, request, seeing=False, options=None)
    size = int(usual[2]["content-length"])
    assert [usual] == sent_by(wire, evolve(request, max_request_bytes=size), seeing=False, options=None)
    with pytest.raises(ProviderTooLarge, match=f"has {size} bytes"):
        sent_by(wire, evolve(request, max_request_bytes=size - 1), seeing=False, options=None)


def test_an_option_that_create_does_not_know_is_refused_as_create_refuses_it() -> None:
    for seeing in (True, False):
        with pytest.raises(ProviderRejected, match="unexpected keyword argument 'nonsense'"):
            sent_by("openai", requests_of("openai")["usual"], seeing=seeing, options={"nonsense": 1})


@pytest.mark.parametrize("most", [None, 100_000])
@pytest.mark.parametrize("wire", WIRES)
def test_an_option_that_no_json_can_hold_is_refused_as_the_sdk_does_it(wire: WireName, most: int | None) -> None:
    circle: list[object] = []
    circle.append(circle)
    for option in ({("a", "b"): 1}, circle):
        options = {"response_json_schema": option} if wire == "google" else {"extra_body": {"gym": option}}
        with pytest.raises(ProviderRejected, match=r": (Type|Value|Recursion)Error: "):
            sent_by(wire, evolve(requests_of(wire)["usual"], max_request_bytes=most), seeing=False, options=options)


def test_what_no_wire_can_carry_is_refused_by_name() -> None:
    half = ModelTurn(Stop.WHOLE, "so", native=(Piece('{"type":"text","text":"\\ud800"}', None),), wire="anthropic")
    request = ModelRequest(conversation=Conversation("c", (user(), half, user())), start=2)
    with pytest.raises(ProviderRejected, match="cannot be sent: UnicodeEncodeError"):
        sent_by("anthropic", request, seeing=False, options=None)


# Who must see what is sent


def test_clients_that_look_into_bodies_are_known() -> None:
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda sent: httpx2.Response(500)))

    async def middle(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    tracing: Any = {"tracer_provider": object()}
    told: dict[str, Any] = {"api_key": KEY, "http_client": http}
    azure: dict[str, Any] = {"azure_endpoint": "https://gym", "api_version": "1", **told}
    seen: dict[str, Any] = {
        "plain": anthropic.AsyncAnthropic(**told),
        "Foundry": anthropic.AsyncAnthropicFoundry(resource="gym", **told),
        "AWS": anthropic.AsyncAnthropicAWS(aws_region="us-east-1", workspace_id="w", **told),
        "Google Cloud": anthropic.AsyncAnthropicGoogleCloud(
            project="gym", location="us", workspace_id="w", skip_auth=True, http_client=http
        ),
        "Bedrock": AsyncAnthropicBedrock(aws_region="us-east-1", **told),
        "Mantle": AsyncAnthropicBedrockMantle(aws_region="us-east-1", **told),
        "Vertex AI": AsyncAnthropicVertex(region="us-east5", project_id="gym", access_token=KEY, http_client=http),
        "middleware": anthropic.AsyncAnthropic(middleware=[middle], **told),
        "traced": anthropic.AsyncAnthropic(open_telemetry=tracing, **told),
    }
    assert {name: anthropic_client.sends_as_told(client) for name, client in seen.items()} == {
        **dict.fromkeys(("plain", "Foundry", "AWS", "Google Cloud"), True),
        **dict.fromkeys(("Bedrock", "Mantle", "Vertex AI", "middleware", "traced"), False),
    }
    assert openai_client.sends_as_told(openai.AsyncOpenAI(**told))
    assert not openai_client.sends_as_told(openai.AsyncAzureOpenAI(**azure))


def test_a_tracer_in_the_place_of_the_sdks_methods_sees_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    As tracers of other projects are put there, for each client that there is.
    """
    seen: list[object] = []

    def watched(kind: Any, name: str, see: Callable[[Mapping[str, Any]], object]) -> None:
        own = getattr(kind, name)

        @functools.wraps(own)
        async def call(*args: Any, **told: Any) -> Any:
            seen.append(see(told))
            return await own(*args, **told)

        monkeypatch.setattr(kind, name, call)

    watched(AsyncMessages, "create", lambda told: len(told["messages"]))
    watched(openai.AsyncOpenAI, "post", lambda told: len(told["options"]["extra_json"]["input"]))
    for wire in ("anthropic", "openai"):
        sent_by(wire, requests_of(wire)["usual"], seeing=False, options=None)
    assert [7, 16] == seen


def test_what_stands_in_the_place_of_geminis_method_is_called() -> None:
    asked: list[str] = []
    reply = httpx2.MockTransport(lambda sent: httpx2.Response(200, json=REPLIES["google"]))

    async def ask(own: bool) -> None:
        async with httpx2.AsyncClient(transport=reply) as http:
            options = HttpOptions(base_url="http://gym", httpx_async_client=http)
            client: Any = genai.Client(enterprise=False, api_key=KEY, http_options=options).aio
            sdks = client.models.generate_content

            async def noted(*, model: str, **told: Any) -> Any:
                asked.append(model)
                return await sdks(model=model, **told)

            class Models(AsyncModels):
                async def generate_content(self, **told: Any) -> Any:
                    return await noted(**told)

            if own:
                client._models = Models(client._api_client)
            else:
                client.models.generate_content = noted
            await Google("gemini-3.6-flash", client=client).ask(requests_of("google")["usual"], unwatched)

    for own in (False, True):
        asyncio.run(ask(own))
    assert ["gemini-3.6-flash"] * 2 == asked


def test_middleware_sees_the_history() -> None:
    bodies: list[Any] = []

    async def note(request: Any, call_next: Any) -> Any:
        bodies.append(request.json)
        return await call_next(request)

    async def ask() -> None:
        reply = httpx2.MockTransport(lambda sent: httpx2.Response(200, json=REPLIES["anthropic"]))
        async with httpx2.AsyncClient(transport=reply) as http:
            client = anthropic.AsyncAnthropic(api_key=KEY, http_client=http, middleware=[note])
            provider = Anthropic("claude-opus-4-8", client=client)
            await provider.ask(requests_of("anthropic")["usual"], unwatched)

    asyncio.run(ask())
    assert [7] == [len(body["messages"]) for body in bodies]


def test_a_resource_that_sends_in_another_way_sends_nothing() -> None:
    """
    The empty history that it was given must never be what is sent.
    """

    class Resource:
        def __init__(self, client: Any) -> None:
            self.client = client

    sent: list[JsonObject] = []

    class Client:
        timeout = 7

        async def request(self, body: JsonObject) -> None:
            sent.append(body)

    client = Client()
    resource = sending(History("messages", [b"1"]), Resource(client), client, ())
    assert 7 == resource.client.timeout
    with pytest.raises(AttributeError):
        resource.client.request({"messages": []})
    assert [] == sent
