"""
Conversations of any length as each wire leaves them behind, and a provider of each that is asked without a network.
"""

from collections.abc import Callable, Mapping
from typing import Any

import anthropic
import httpx2
import openai
from google import genai
from google.genai.client import DebugConfig
from google.genai.types import HttpOptions

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import WireName
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.jsontext import JsonObject, dump_json
from rodada.statemachine.messages import (
    Entry,
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

KEY = "sk-secret"
NAMES = {"anthropic": "anthropic", "openai": "openai_responses", "openai_chat": "openai_chat", "google": "google"}
MODELS = {
    "anthropic": "claude-opus-4-8",
    "openai": "gpt-5.6",
    "openai_chat": "gpt-4.1",
    "google": "gemini-3.6-flash",
}
REPLIES: Mapping[WireName, JsonObject] = {
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi."}],
        "stop_reason": "end_turn",
    },
    "openai": {
        "status": "completed",
        "output": [
            {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
        ],
    },
    "openai_chat": {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}]},
    "google": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]},
}


class SeeingAnthropic(anthropic.AsyncAnthropic):
    """
    A class of a host's, which may look into bodies.
    """


class SeeingOpenAI(openai.AsyncOpenAI):
    """
    The same for OpenAI.
    """


# The SDKs tell the server the name of the class.
SeeingAnthropic.__name__ = anthropic.AsyncAnthropic.__name__
SeeingOpenAI.__name__ = openai.AsyncOpenAI.__name__


def provider_of(
    wire: WireName, http: httpx2.AsyncClient, *, seeing: bool = False, options: Mapping[str, Any] | None = None
) -> Any:
    """
    A provider whose network is in the test's hands.

    Args:
        wire: that it speaks.
        http: the network.
        seeing: give it a client that must see what it sends, so that the SDK does all by itself.
        options: as the provider takes them.
    """
    model: Any = MODELS[wire]
    if wire == "anthropic":
        claude = SeeingAnthropic if seeing else anthropic.AsyncAnthropic
        return Anthropic(model, client=claude(api_key=KEY, base_url="http://gym", http_client=http), options=options)
    if wire == "google":
        client = genai.Client(
            enterprise=False,
            api_key=KEY,
            debug_config=DebugConfig(client_mode=""),
            http_options=HttpOptions(base_url="http://gym", httpx_async_client=http),
        )
        if seeing:
            inner: Any = getattr(client.aio.models, "_api_client")  # noqa: B009
            inner.__class__ = type("Seeing", (inner.__class__,), {})
        return Google(model, client=client.aio, options=options)
    gpt = SeeingOpenAI if seeing else openai.AsyncOpenAI
    ready = gpt(api_key=KEY, base_url="http://gym/v1", http_client=http)
    made: Callable[..., Any] = OpenAIResponses if wire == "openai" else OpenAIChat
    return made(model, client=ready, options=options)


def user(text: str = "How much?") -> UserMessage:
    return UserMessage("u", (Text(text),))


def exchange(wire: WireName, n: int) -> Exchange:
    """
    The n-th round of two calls, with hidden reasoning where the wire has any.
    """
    ids = [f"{side}{n}" for side in "ab"]
    requests = tuple(ToolRequest(each, "look", dump_json({"day": each}), each) for each in ids)
    turn = ModelTurn(
        Stop.WHOLE,
        "Ação ✓" if wire == "openai_chat" else "",
        requests,
        native=_pieces(wire, ids, n),
        wire=NAMES[wire],
        model=MODELS[wire],
    )
    return Exchange(turn, tuple(ToolResult.of(each, Status.SUCCEEDED, f"{each.id}: 80 kg ✓") for each in requests))


def conversation(wire: WireName, rounds: int) -> Conversation:
    entries: list[Entry] = [user(), *(exchange(wire, n) for n in range(rounds))]
    return Conversation("c", tuple(entries))


def _pieces(wire: WireName, ids: list[str], n: int) -> tuple[Piece, ...]:
    if wire == "anthropic":
        thought: JsonObject = {"type": "thinking", "thinking": "Hm.", "signature": f"c2ln{n}"}
        calls: list[JsonObject] = [
            {"type": "tool_use", "id": each, "name": "look", "input": {"day": each}} for each in ids
        ]
        return (_hidden(thought), *map(_shown, calls))
    if wire == "openai":
        thought = {"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": "aGlkZGVu"}
        calls = [
            {
                "type": "function_call",
                "id": f"fc_{each}",
                "call_id": each,
                "name": "look",
                "arguments": dump_json({"day": each}),
            }
            for each in ids
        ]
        bare = [Piece(dump_json(call), dump_json({k: v for k, v in call.items() if k != "id"})) for call in calls]
        return (_hidden(thought), *bare)
    if wire == "openai_chat":
        asked: list[JsonObject] = [
            {"id": each, "type": "function", "function": {"name": "look", "arguments": dump_json({"day": each})}}
            for each in ids
        ]
        return (_shown({"role": "assistant", "content": "Ação ✓", "tool_calls": [*asked]}),)
    parts: list[JsonObject] = [{"functionCall": {"id": each, "name": "look", "args": {"day": each}}} for each in ids]
    signed: JsonObject = {**parts[0], "thoughtSignature": "c2lnbmVk"}
    return (Piece(dump_json(signed), dump_json(parts[0])), _shown(parts[1]))


def _shown(piece: JsonObject) -> Piece:
    return Piece(dump_json(piece), dump_json(piece))


def _hidden(piece: JsonObject) -> Piece:
    return Piece(dump_json(piece), None)
