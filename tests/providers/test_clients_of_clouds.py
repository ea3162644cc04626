"""
The async clients that the vendors' SDKs have for the clouds are taken as `client=`; of a sync one the async is named.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from anthropic.lib.bedrock import AnthropicBedrock, AsyncAnthropicBedrock, AsyncAnthropicBedrockMantle
from anthropic.lib.vertex import AnthropicVertex, AsyncAnthropicVertex
from google import genai
from google.genai.client import DebugConfig
from google.genai.types import HttpOptions
from google.oauth2.credentials import Credentials

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import Conversation, Delta, ModelRequest, ModelTurn, Text, ToolLoop, UserMessage
from rodada.statemachine.errors import InvalidValue, NotSupported, ProviderAuthentication, ProviderError

KEY = "sk-of-the-cloud"
ASKED = ModelRequest(conversation=Conversation("c", (UserMessage("u", (Text("hi"),)),)))
Handler = Callable[[httpx2.Request], httpx2.Response]
Http = httpx2.AsyncClient

MESSAGE: Mapping[str, object] = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "Hi."}],
    "stop_reason": "end_turn",
}
RESPONSE: Mapping[str, object] = {
    "status": "completed",
    "output": [
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
    ],
}
COMPLETION: Mapping[str, object] = {
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}]
}
CANDIDATE: Mapping[str, object] = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]
}


def azure(http: Http, **more: Any) -> openai.AsyncAzureOpenAI:
    return openai.AsyncAzureOpenAI(
        azure_endpoint="https://gym.openai.azure.com", api_version="2025-04-01-preview", http_client=http, **more
    )


def unwatched(delta: Delta) -> None:
    pass


async def token() -> str:
    return KEY


def vertex(http: Http) -> Any:
    client = genai.Client(
        enterprise=True,
        project="gym",
        location="us-central1",
        credentials=Credentials(KEY),  # type: ignore[no-untyped-call]
        debug_config=DebugConfig(client_mode=""),
        http_options=HttpOptions(httpx_async_client=http),
    )
    return client.aio


def with_key(http: Http) -> Any:
    options = HttpOptions(httpx_async_client=http)
    return genai.Client(
        enterprise=False, api_key=KEY, debug_config=DebugConfig(client_mode=""), http_options=options
    ).aio


# Where each client sends a message, and what comes back.
CLOUDS: dict[str, tuple[Callable[[Http], Any], Mapping[str, object], str]] = {
    "AsyncAnthropicBedrock": (
        lambda http: Anthropic(
            "anthropic.claude-opus-5-5-v1:0",
            client=AsyncAnthropicBedrock(api_key=KEY, aws_region="us-east-1", http_client=http),
        ),
        MESSAGE,
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-opus-5-5-v1:0/invoke",
    ),
    "AsyncAnthropicBedrockMantle": (
        lambda http: Anthropic(
            "claude-opus-5-5",
            client=AsyncAnthropicBedrockMantle(api_key=KEY, aws_region="us-east-1", http_client=http),
        ),
        MESSAGE,
        "https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages",
    ),
    "AsyncAnthropicVertex": (
        lambda http: Anthropic(
            "claude-opus-5-5",
            client=AsyncAnthropicVertex(region="us-east5", project_id="gym", access_token=KEY, http_client=http),
        ),
        MESSAGE,
        "https://us-east5-aiplatform.googleapis.com/v1/projects/gym/locations/us-east5/publishers/anthropic/models/"
        "claude-opus-5-5:rawPredict",
    ),
    "AsyncAnthropicFoundry": (
        lambda http: Anthropic(
            "claude-opus-5-5", client=anthropic.AsyncAnthropicFoundry(resource="gym", api_key=KEY, http_client=http)
        ),
        MESSAGE,
        "https://gym.services.ai.azure.com/anthropic/v1/messages",
    ),
    "AsyncAnthropicAWS": (
        lambda http: Anthropic(
            "claude-opus-5-5",
            client=anthropic.AsyncAnthropicAWS(api_key=KEY, aws_region="us-east-1", workspace_id="w", http_client=http),
        ),
        MESSAGE,
        "https://aws-external-anthropic.us-east-1.api.aws/v1/messages",
    ),
    "AsyncAnthropicGoogleCloud": (
        lambda http: Anthropic(
            "claude-opus-5-5",
            client=anthropic.AsyncAnthropicGoogleCloud(
                project="gym", location="us", workspace_id="w", skip_auth=True, http_client=http
            ),
        ),
        MESSAGE,
        "https://claude.googleapis.com/v1/projects/gym/locations/us/workspaces/w/invoke/v1/messages",
    ),
    "AsyncAzureOpenAI, Responses": (
        lambda http: OpenAIResponses("gpt-5.6", client=azure(http, api_key=KEY)),
        RESPONSE,
        "https://gym.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
    ),
    "AsyncAzureOpenAI, Chat": (
        lambda http: OpenAIChat("gpt-4.1", client=azure(http, azure_ad_token_provider=token)),
        COMPLETION,
        "https://gym.openai.azure.com/openai/deployments/gpt-4.1/chat/completions?api-version=2025-04-01-preview",
    ),
    "AsyncBedrockOpenAI": (
        lambda http: OpenAIResponses(
            "gpt-5.6", client=openai.AsyncBedrockOpenAI(api_key=KEY, aws_region="us-east-1", http_client=http)
        ),
        RESPONSE,
        "https://bedrock-mantle.us-east-1.api.aws/openai/v1/responses",
    ),
    "genai.Client for Vertex AI": (
        lambda http: Google("gemini-3.6-flash", client=vertex(http)),
        CANDIDATE,
        "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/gym/locations/us-central1/publishers/google/"
        "models/gemini-3.6-flash:generateContent",
    ),
}


async def _unwatched(provider: Any) -> ModelTurn:
    turn: ModelTurn = await provider.ask(ASKED, unwatched)
    return turn


def asked(make: Callable[[Http], Any], handler: Handler) -> ModelTurn:
    """
    One call through a client whose network is in the test's hands.
    """

    async def ask() -> ModelTurn:
        async with Http(transport=httpx2.MockTransport(handler)) as http:
            return await _unwatched(make(http))

    return asyncio.run(ask())


@pytest.mark.parametrize("name", CLOUDS)
def test_the_async_client_of_a_cloud_is_taken(name: str) -> None:
    make, reply, address = CLOUDS[name]
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, json=reply)

    assert "Hi." == asked(make, answer).text
    assert [address] == [str(each.url) for each in requests]
    assert "hi" in json.dumps(json.loads(requests[0].content))


WITH_FIXED_KEYS = [
    name
    for name in CLOUDS
    if name not in ("AsyncAnthropicGoogleCloud", "AsyncAzureOpenAI, Chat", "genai.Client for Vertex AI")
]


def google_with_key(http: Http) -> Google:
    return Google("gemini-3.6-flash", client=with_key(http))


MAKERS: dict[str, Callable[[Http], Any]] = {
    **{name: CLOUDS[name][0] for name in WITH_FIXED_KEYS},
    "genai.Client": google_with_key,
}


@pytest.mark.parametrize("name", MAKERS)
def test_no_error_shows_the_clients_key_and_nothing_is_sent_twice(name: str) -> None:
    requests: list[httpx2.Request] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        told = {"message": f"the key {KEY} is wrong", "type": "authentication_error", "code": 401, "status": "X"}
        return httpx2.Response(401, json={"type": "error", "error": told})

    with pytest.raises(ProviderError) as caught:
        asked(MAKERS[name], refuse)
    assert (ProviderAuthentication, 1) == (type(caught.value), len(requests))
    assert "the key *** is wrong" in str(caught.value)


SYNC: dict[str, tuple[Callable[[], Any], Callable[..., object], str]] = {
    "Anthropic": (lambda: anthropic.Anthropic(api_key=KEY), Anthropic, "AsyncAnthropic"),
    "AnthropicBedrock": (
        lambda: AnthropicBedrock(api_key=KEY, aws_region="us-east-1"),
        Anthropic,
        "AsyncAnthropicBedrock",
    ),
    "AnthropicVertex": (
        lambda: AnthropicVertex(region="us-east5", project_id="gym", access_token=KEY),
        Anthropic,
        "AsyncAnthropicVertex",
    ),
    "AnthropicFoundry": (
        lambda: anthropic.AnthropicFoundry(resource="gym", api_key=KEY),
        Anthropic,
        "AsyncAnthropicFoundry",
    ),
    "OpenAI": (lambda: openai.OpenAI(api_key=KEY), OpenAIResponses, "AsyncOpenAI"),
    "AzureOpenAI": (
        lambda: openai.AzureOpenAI(azure_endpoint="https://gym", api_version="1", api_key=KEY),
        OpenAIChat,
        "AsyncAzureOpenAI",
    ),
    "Client": (lambda: genai.Client(enterprise=False, api_key=KEY), Google, "genai.Client(...).aio"),
}


@pytest.mark.parametrize("name", SYNC)
def test_a_sync_client_is_refused_and_the_async_one_named(name: str) -> None:
    make, provider, wanted = SYNC[name]
    with make() as client, pytest.raises(InvalidValue) as caught:
        provider("some-model", client=client)

    assert re.search(rf"(?<![A-Za-z]){re.escape(wanted)}(?![A-Za-z])", str(caught.value))


@pytest.mark.parametrize("provider", [Anthropic, OpenAIResponses, OpenAIChat, Google])
def test_what_is_no_client_is_refused(provider: Callable[..., object]) -> None:
    with pytest.raises(InvalidValue, match=r"\.client: "):
        provider("some-model", client=object())


def test_the_client_of_another_vendor_is_refused() -> None:
    with pytest.raises(InvalidValue, match="needs an AsyncAnthropic or its kin, not a AsyncOpenAI"):
        Anthropic("some-model", client=openai.AsyncOpenAI(api_key=KEY))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_streaming_over_bedrock_is_refused_before_anything_is_sent() -> None:
    client = AsyncAnthropicBedrock(api_key=KEY, aws_region="us-east-1")
    with pytest.raises(NotSupported, match="cannot stream"):
        ToolLoop(Anthropic("anthropic.claude-opus-5-5-v1:0", client=client), stream=True)
