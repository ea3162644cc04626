"""
Chat Completions: servers that speak OpenAI's older wire (llama.cpp, vLLM, Ollama, LiteLLM), and OpenAI itself.
"""

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

from rodada.providers.clients import LoopClients
from rodada.providers.construction import check_arguments, checked_options, find_key, need_sdk
from rodada.providers.openai_call import Call, streamed_turn, whole_turn
from rodada.providers.openai_chat_dialect import OPENAI, Dialect
from rodada.providers.openai_chat_history import ChatHistory
from rodada.providers.openai_chat_import import from_messages
from rodada.providers.openai_chat_input import FIELD, WIRE, as_understood, request_fields, to_messages
from rodada.providers.openai_chat_output import read_turn
from rodada.providers.openai_chat_stream import StreamedCompletion
from rodada.providers.openai_client import BASE_URL, checked_client, is_openai, new_client
from rodada.providers.openai_provider import OpenAIProvider
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import ModelTurn
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Dialect", "OpenAIChat", "from_messages", "to_messages"]

NAME = "OpenAIChat"
KEY_VARIABLES = ("OPENAI_API_KEY",)
OTHER_KEY_VARIABLE = "OPENAI_CHAT_API_KEY"
NO_KEY = "no-key-is-needed"  # the SDK wants one, servers of one's own want none
WITH_TOOLS_ONLY = "parallel_tool_calls"
ELSEWHERE = {
    "model": "give it as the first argument",
    "messages": "they are the conversation of the run",
    "tools": "use ToolLoop(tools=...)",
    "functions": "use ToolLoop(tools=...)",
    "tool_choice": "a choice that is forced in every call would never let the model answer; the loop sets it",
    "function_call": "a choice that is forced in every call would never let the model answer; the loop sets it",
    "max_completion_tokens": "use max_output_tokens=...",
    "max_tokens": "use max_output_tokens=..., with Dialect(old_limit=True) for servers that know this name alone",
    "n": "one reply is taken, so one is asked for",
    "stream": "use ToolLoop(stream=...)",
    "stream_options": "use ToolLoop(stream=...)",
    "store": "it is False to OpenAI and left out elsewhere: the whole conversation is sent in every call",
    "timeout": "use Limits(call_seconds=...)",
}


class OpenAIChat(OpenAIProvider):
    """
    One model on Chat Completions.

    Args:
        model: as the server names it.
        api_key: else, for OpenAI, the environment variable OPENAI_API_KEY, which goes to nobody else; for another
            server OPENAI_CHAT_API_KEY, and without that none is needed.
        base_url: of another server, with its `/v1`; OPENAI_BASE_URL is not read, so that nothing ambient redirects a
            conversation.
        client: a ready `openai.AsyncOpenAI`, `AsyncAzureOpenAI` or `AsyncBedrockOpenAI`, used on one
            event loop and never closed; its retries are not used.
        max_output_tokens: of one reply, hidden reasoning included; None is the server's own limit.
        options: further arguments of `chat.completions.create`, such as `temperature`, `reasoning_effort` or
            `extra_body`; `parallel_tool_calls` is left out where there are no tools.
        dialect: how the server differs from OpenAI where that cannot be seen from its answers.

    Raises:
        MissingExtra: the SDK is not installed.
        MissingKey: for OpenAI itself, neither key nor client.
        InvalidValue: an argument that cannot be, a client of another kind, a key or an address beside a client, or an
            option that is set elsewhere.
    """

    wire = WIRE

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: "AsyncOpenAI | None" = None,
        max_output_tokens: int | None = None,
        options: Mapping[str, object] | None = None,
        dialect: Dialect = OPENAI,
    ) -> None:
        need_sdk("openai", "openai", "openai")
        check_arguments(NAME, model, base_url, max_output_tokens)
        self._dialect = dialect
        self._history = ChatHistory(dialect)
        given = None if client is None else checked_client(NAME, client, api_key, base_url)
        url = (base_url or BASE_URL) if given is None else str(given.base_url)
        key = _key(api_key, url) if given is None else given.api_key
        self._fixed: dict[str, object] = {
            **checked_options(NAME, options or {}, ELSEWHERE),
            "model": model,
            FIELD: [],  # the SDK wants some; the true ones take their place
            **({"store": False} if is_openai(url) else {}),
            **_limit(max_output_tokens, dialect),
        }
        super().__init__(model, LoopClients(NAME, lambda: new_client(key, base_url), given))

    async def _ask(self, client: "AsyncOpenAI", request: ModelRequest, watch: Watch) -> ModelTurn:
        asked = as_understood(request, self._dialect)
        arguments = self._arguments({**request_fields(asked), FIELD: []})
        if request.stream and self._dialect.stream_usage:
            arguments["stream_options"] = {"include_usage": True}
        call = Call(
            WIRE,
            client,
            client.chat.completions,
            arguments,
            self._history.of(asked),
            request.max_request_bytes,
            self.model,
            partial(read_turn, request=request, secret=client.api_key),
        )
        return await (streamed_turn(call, StreamedCompletion(), watch) if request.stream else whole_turn(call))

    def _arguments(self, fields: JsonObject) -> dict[str, object]:
        extra = cast("Mapping[str, object]", self._fixed.get("extra_body") or {})
        arguments = {**self._fixed, "extra_body": {**extra, **fields}}
        return arguments if "tools" in fields else _without_tool_options(arguments)


def _key(api_key: str | None, url: str) -> str:
    if is_openai(url):
        return find_key(NAME, api_key, KEY_VARIABLES)
    return find_key(NAME, api_key or os.environ.get(OTHER_KEY_VARIABLE) or NO_KEY, ())


def _limit(max_output_tokens: int | None, dialect: Dialect) -> dict[str, object]:
    if max_output_tokens is None:
        return {}
    return {"max_tokens" if dialect.old_limit else "max_completion_tokens": max_output_tokens}


def _without_tool_options(arguments: dict[str, object]) -> dict[str, object]:
    extra = cast("Mapping[str, object]", arguments["extra_body"])
    kept = {name: value for name, value in arguments.items() if name != WITH_TOOLS_ONLY}
    return {**kept, "extra_body": {name: value for name, value in extra.items() if name != WITH_TOOLS_ONLY}}
