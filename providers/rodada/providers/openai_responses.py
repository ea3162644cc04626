"""
The Responses API of OpenAI, and of servers that speak it.

Nothing is kept on the vendor's side (`store` is False): every call carries the whole selection, and hidden reasoning
travels as encrypted content, in memory only.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

from rodada.providers.clients import LoopClients
from rodada.providers.construction import check_arguments, checked_options, fields_of_option, find_key, need_sdk
from rodada.providers.openai_call import Call, streamed_turn, whole_turn
from rodada.providers.openai_client import checked_client, new_client
from rodada.providers.openai_provider import OpenAIProvider
from rodada.providers.openai_responses_history import ResponsesHistory
from rodada.providers.openai_responses_import import from_messages
from rodada.providers.openai_responses_input import FIELD, WIRE, request_fields, server_tool_fault, to_messages
from rodada.providers.openai_responses_output import read_turn
from rodada.providers.openai_responses_stream import StreamedResponse
from rodada.providers.server_tools import TOOLS_ELSEWHERE, checked_server_tools, names_of
from rodada.statemachine.errors import ProviderRejected
from rodada.statemachine.jsontext import JsonObject, digest_text
from rodada.statemachine.messages import ModelTurn
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIResponses", "from_messages", "to_messages"]

NAME = "OpenAIResponses"
KEY_VARIABLES = ("OPENAI_API_KEY",)
CACHE_KEY = "prompt_cache_key"
UNREADABLE_REASONING = "invalid_encrypted_content"
SERVER_STATE = "state on the vendor's side cannot be audited: the whole conversation is sent in every call"
ELSEWHERE = {
    "model": "give it as the first argument",
    "input": "it is the conversation of the run",
    "instructions": "use ToolLoop(instructions=...)",
    "tools": TOOLS_ELSEWHERE,
    "tool_choice": "a choice that is forced in every call would never let the model answer; the loop sets it",
    "max_output_tokens": "use max_output_tokens=...",
    "stream": "use ToolLoop(stream=...)",
    "store": "it is always False",
    "include": "it always asks for the encrypted reasoning",
    "truncation": "it is always disabled: the loop selects by Limits.history_messages",
    "previous_response_id": SERVER_STATE,
    "conversation": SERVER_STATE,
    "prompt": SERVER_STATE,
    "background": SERVER_STATE,
    "timeout": "use Limits(call_seconds=...)",
}


class OpenAIResponses(OpenAIProvider):
    """
    One model on the Responses API.

    Args:
        model: as the vendor names it.
        api_key: else the environment variable OPENAI_API_KEY.
        base_url: of another server; OPENAI_BASE_URL is not read, so that nothing ambient redirects a conversation.
        client: a ready `openai.AsyncOpenAI`, `AsyncAzureOpenAI` or `AsyncBedrockOpenAI`, used on one
            event loop and never closed; its retries are not used.
        max_output_tokens: of one reply, hidden reasoning included; None is the model's own limit.
        options: further arguments of `responses.create`, such as `reasoning` or `text`. A `prompt_cache_key` is made of
            the conversation's id where none is given, so that the vendor reads from its cache what it was sent before;
            `{"prompt_cache_key": None}` leaves it out.
        server_tools: declarations of tools that the vendor runs itself, such as `{"type": "web_search"}`, sent as they
            stand behind those of the loop. They are never run here and cost no round. In the closing call they are
            withheld with the others by `tool_choice` "none", which some models refuse beside them.

    Raises:
        MissingExtra: the SDK is not installed.
        MissingKey: neither key nor client.
        InvalidValue: an argument that cannot be, a client of another kind, a key or an address beside a client, or an
            option that is set elsewhere, or a server tool that is none.
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
        server_tools: Iterable[Mapping[str, object]] | None = None,
    ) -> None:
        need_sdk("openai", "openai", "openai")
        check_arguments(NAME, model, base_url, max_output_tokens)
        self._fixed = _fixed_fields(model, max_output_tokens, checked_options(NAME, options or {}, ELSEWHERE))
        self._history = ResponsesHistory()
        self._server_tools = checked_server_tools(NAME, server_tools, server_tool_fault)
        self._extra = cast("Mapping[str, object]", self._fixed.get("extra_body") or {})
        self._makes_key = CACHE_KEY not in self._fixed and CACHE_KEY not in self._extra
        if self._fixed.get(CACHE_KEY) is None:
            self._fixed.pop(CACHE_KEY, None)
        self._text = fields_of_option(NAME, self._fixed, "text")
        given = None if client is None else checked_client(NAME, client, api_key, base_url)
        key = find_key(NAME, api_key, KEY_VARIABLES) if given is None else given.api_key
        super().__init__(model, LoopClients(NAME, lambda: new_client(key, base_url), given))

    @property
    def reserved_names(self) -> frozenset[str]:
        """
        Names of tools that the vendor runs itself.
        """
        return names_of(self._server_tools)

    async def _ask(self, client: "AsyncOpenAI", request: ModelRequest, watch: Watch) -> ModelTurn:
        try:
            return await self._send(client, request, watch, bare=False)
        except ProviderRejected as error:
            # Reasoning of another key or organisation: every later request would be refused for it.
            if error.code != UNREADABLE_REASONING:
                raise
        return await self._send(client, request, watch, bare=True)

    async def _send(self, client: "AsyncOpenAI", request: ModelRequest, watch: Watch, *, bare: bool) -> ModelTurn:
        fields: dict[str, object] = {**request_fields(request, self._server_tools), FIELD: []}
        if "text" in fields:
            fields["text"] = {**self._text, **cast("Mapping[str, object]", fields["text"])}
        arguments = {**self._fixed, "extra_body": {**self._cache_key(request), **self._extra, **fields}}
        call = Call(
            WIRE,
            client,
            client.responses,
            arguments,
            self._history.of(request, bare=bare),
            request.max_request_bytes,
            self.model,
            partial(read_turn, request=request, secret=client.api_key),
        )
        return await (streamed_turn(call, StreamedResponse(), watch) if request.stream else whole_turn(call))

    def _cache_key(self, request: ModelRequest) -> JsonObject:
        if not self._makes_key:
            return {}
        return {CACHE_KEY: digest_text(request.conversation.id)[:32]}  # the id may be one that tells something


def _fixed_fields(model: str, max_output_tokens: int | None, options: Mapping[str, object]) -> dict[str, object]:
    limit = {} if max_output_tokens is None else {"max_output_tokens": max_output_tokens}
    return {
        **options,
        "model": model,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "truncation": "disabled",
        **limit,
    }
