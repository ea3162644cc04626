"""
Gemini models through the google-genai SDK: generateContent, one turn a call, whole or as a stream.
"""

import asyncio
import inspect
import math
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from rodada.providers.clients import LoopClients
from rodada.providers.construction import check_arguments, checked_options, find_key, need_sdk, refuse_beside_client
from rodada.providers.google_failures import from_sdk, request_id_of
from rodada.providers.google_hearing import Hearing
from rodada.providers.google_history import Fitted, GoogleHistory
from rodada.providers.google_import import from_messages
from rodada.providers.google_output import read_turn
from rodada.providers.google_raw import sends_as_told, through
from rodada.providers.google_wire import WIRE, VendorsOwn, server_tool_fault, to_messages, types_beside_tools
from rodada.providers.request_size import json_size
from rodada.providers.served import served_by
from rodada.providers.server_tools import TOOLS_ELSEWHERE, checked_server_tools
from rodada.providers.told_type import in_words
from rodada.statemachine.errors import (
    InvalidValue,
    ProviderError,
    ProviderTimeout,
    ProviderTooLarge,
)
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.log import log_info
from rodada.statemachine.messages import ModelTurn
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest

if TYPE_CHECKING:
    import httpx2
    from google.genai.client import AsyncClient
    from google.genai.types import GenerateContentConfig, GenerateContentResponse, HttpResponse

__all__ = ["Google", "from_messages", "to_messages"]

NAME = "Google"

# The SDK prefers GOOGLE_API_KEY when both are set.
KEY_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY")

# The SDK's own default is v1, and an environment variable moves it. The `-latest` aliases exist on v1beta only, and
# new fields of a turn arrive there first.
API_VERSION = "v1beta"

# Safe on every route; the Gemini API itself takes 100 MB.
MAX_BYTES = 20_000_000

# Of a call without a limit of its own. The SDK has no limit unless it is told one.
SECONDS = 600.0

# The server refuses a shorter deadline (400 INVALID_ARGUMENT), so it is told at least this; we give up in time.
LEAST_DEADLINE = 10

# Options that ask for another type than the run does.
OTHER_TYPE = ("response_mime_type", "response_schema", "response_json_schema")

ELSEWHERE = {
    "model": "give it as the first argument",
    "contents": "they are the conversation",
    "config": "options are its fields: give them one by one",
    "system_instruction": "use ToolLoop(instructions=...)",
    "tools": TOOLS_ELSEWHERE,
    "tool_config": "the loop sets it in each call, and a forced choice would never let the model answer",
    "automatic_function_calling": "the loop runs the tools itself",
    "automatic_continuation": "the loop counts pauses",
    "continuation_token": "the loop resumes pauses",
    "max_output_tokens": "use max_output_tokens=...",
    "candidate_count": "one candidate is asked for and read",
    "http_options": "use client=..., a client of your own",
    "should_return_http_response": "it is always True, for the reply is read here",
}


class _Models(Protocol):
    async def generate_content(
        self, *, model: str, contents: str, config: "GenerateContentConfig"
    ) -> "GenerateContentResponse": ...


class _Sdk(Protocol):
    """
    What is used of the SDK's client; its own types name packages that need not be there.
    """

    @property
    def models(self) -> _Models: ...

    async def aclose(self) -> None: ...


@frozen
class _Client:
    sdk: _Sdk
    http: "httpx2.AsyncClient | None" = None

    async def aclose(self) -> None:
        """
        Close both: the SDK leaves a connection pool open that was passed in.
        """
        await self.sdk.aclose()
        if self.http is not None:
            await self.http.aclose()


class Google:
    """
    A Gemini model by generateContent. A call without a limit of its own has ten minutes, which the server is told.

    Args:
        model: such as "gemini-3.8-flash".
        api_key: else GOOGLE_API_KEY, else GEMINI_API_KEY.
        base_url: another address, such as a gateway's; else GOOGLE_GEMINI_BASE_URL, else the vendor's.
        client: a ready `genai.Client(...).aio`, also one for Vertex AI (`enterprise=True`): it is used and not closed,
            and only on one event loop.
        max_output_tokens: of one call, thinking included; None is the model's own limit.
        options: further fields of `GenerateContentConfig`, handed over as they are.
        server_tools: declarations of tools that the vendor runs itself, such as `{"googleSearch": {}}`, sent as they
            stand behind those of the loop. They are never run here and cost no round. Models before Gemini 3 refuse
            them beside tools of a loop, and the closing call cannot withhold them: its mode NONE is about functions.

    Raises:
        MissingExtra: google-genai is not installed.
        MissingKey: neither key nor client.
        InvalidValue: an argument that cannot be, a sync client, a key or an address beside a client, or an option that
            is set elsewhere, or a server tool that is none.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: "AsyncClient | None" = None,
        max_output_tokens: int | None = None,
        options: Mapping[str, object] | None = None,
        server_tools: Iterable[Mapping[str, object]] | None = None,
    ) -> None:
        need_sdk("google-genai", "google.genai", "google")
        check_arguments(NAME, model, base_url, max_output_tokens)
        self.model = model
        limit = {} if max_output_tokens is None else {"max_output_tokens": max_output_tokens}
        self._options = checked_options(NAME, options or {}, ELSEWHERE) | limit
        declared = checked_server_tools(NAME, server_tools, server_tool_fault)
        self._vendors_own = VendorsOwn(declared, on_cloud=_is_cloud(client))
        self._history = GoogleHistory(model, self._vendors_own)
        given = None if client is None else _Client(_checked_client(client, api_key, base_url))
        self._key = find_key(NAME, api_key, KEY_VARIABLES) if given is None else _key_of(client)
        self._clients = LoopClients(NAME, lambda: _new_client(self._key, base_url), given)
        self._config: GenerateContentConfig | None = None

    def __repr__(self) -> str:
        return f"{NAME}({self.model!r})"

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        """
        One request, one turn.

        Raises:
            ProviderError: no turn came.
            WrongEventLoop: a given client was first used on another loop.
        """
        client = self._clients.here()
        made = self._fitted(request)
        models = client.sdk.models
        ready = made.contents if sends_as_told(models) else None
        if ready is not None or request.stream:
            read = Hearing.of(request, watch, self._key) if request.stream else None
            models = through(models, contents=ready, read=read)
        reply = await self._send(models, made.body if ready is None else made.around, request.seconds)
        turn = read_turn((reply and reply.body) or "", request, self.model)
        request_id = request_id_of((reply and reply.headers) or {})
        return served_by(turn, _address_of(client.sdk), self.model, request_id)

    @property
    def streams(self) -> bool:
        """
        It can.
        """
        return True

    async def aclose(self) -> None:
        """
        Close the client of the running event loop, unless it was given.
        """
        await self._clients.aclose(_Client.aclose)

    def _fitted(self, request: ModelRequest) -> Fitted:
        limit = MAX_BYTES if request.max_request_bytes is None else request.max_request_bytes
        settings = json_size(self._options, compact=False) + len('{"generationConfig": {}}')
        any_tools = request.tools or self._vendors_own.tools
        asked = in_words(request) if any_tools and not types_beside_tools(self.model) else request
        made = self._history.fitted(asked, limit - settings)
        size = made.size + settings
        if size > limit:
            raise ProviderTooLarge(WIRE, f"the active turn alone makes {size} bytes, {limit} may be sent")
        if made.dropped:
            log_info("request.cut", wire=WIRE, left_out=made.dropped, limit=limit)
        if made.stand_ins:
            log_info("request.stand_ins", wire=WIRE, calls=made.stand_ins)
        return made

    async def _send(self, models: _Models, body: JsonObject, seconds: float | None) -> "HttpResponse | None":
        try:
            async with asyncio.timeout(seconds):
                response = await models.generate_content(
                    model=self.model,
                    contents=".",  # the SDK wants some; the true ones take their place
                    config=self._settings(body, seconds),
                )
        except TimeoutError:
            raise ProviderTimeout(WIRE, "no whole answer in time") from None
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - every foreign failure becomes one of ours
            # The vendor's exception may quote headers or the key, so it is not chained.
            raise from_sdk(error, self._key) from None
        return response.sdk_http_response

    def _settings(self, body: JsonObject, seconds: float | None) -> "GenerateContentConfig":
        from google.genai.types import HttpOptions, HttpRetryOptions

        limit = SECONDS if seconds is None else seconds
        http = HttpOptions(
            timeout=_milliseconds(limit),
            headers={"X-Server-Timeout": str(max(LEAST_DEADLINE, math.ceil(limit)))},
            retry_options=HttpRetryOptions(attempts=1),
            extra_body=dict(body),
        )
        unset = OTHER_TYPE if "generationConfig" in body else ()
        return self._checked_config().model_copy(update={**dict.fromkeys(unset), "http_options": http})

    def _checked_config(self) -> "GenerateContentConfig":
        """
        The settings of every call, checked once: the SDK warns of enum values newer than itself and sends them all
        the same, so the warning must not end a call where warnings are errors.
        """
        if self._config is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._config = _config(self._options)
        return self._config


def _checked_client(client: "AsyncClient", api_key: str | None, base_url: str | None) -> "AsyncClient":
    models = getattr(client, "models", None)
    if not inspect.iscoroutinefunction(getattr(models, "generate_content", None)):
        raise InvalidValue(f"{NAME}.client", "must be the async client: pass `genai.Client(...).aio`")
    refuse_beside_client(NAME, api_key, base_url)
    return client


def _is_cloud(client: "AsyncClient | None") -> bool:
    """
    Whether a given client is one for Vertex AI; the SDK has no public place for it.
    """
    return bool(getattr(getattr(client, "_api_client", None), "vertexai", False))


def _address_of(sdk: object) -> object:
    """
    The address that a client asks; the SDK has no public place for it.
    """
    return getattr(getattr(getattr(sdk, "_api_client", None), "_http_options", None), "base_url", None)


def _key_of(client: "AsyncClient | None") -> str:
    """
    The key that a given client sends, which no error may show; the SDK has no public place for it.
    """
    key = getattr(getattr(client, "_api_client", None), "api_key", None)
    return key if isinstance(key, str) else ""


def _new_client(key: str, base_url: str | None) -> _Client:
    import httpx2
    from google.genai import Client
    from google.genai.client import DebugConfig
    from google.genai.types import HttpOptions, HttpRetryOptions

    tls = httpx2.create_ssl_context()  # one for all: each takes 30 ms, and the SDK would make two more
    # A pool passed in keeps the SDK from using aiohttp where that is installed, which sends again by itself. It
    # follows no redirect: the key would go along.
    http = httpx2.AsyncClient(verify=tls, timeout=SECONDS, follow_redirects=False)
    options = HttpOptions(
        api_version=API_VERSION,
        base_url=base_url,
        timeout=_milliseconds(SECONDS),
        retry_options=HttpRetryOptions(attempts=1),
        httpx_async_client=http,
        client_args={"verify": tls},
        async_client_args={"verify": tls, "ssl": tls},
    )
    # The environment must not turn the client into one for Vertex AI, nor into a recording or replaying one.
    client = Client(enterprise=False, api_key=key, debug_config=DebugConfig(client_mode=""), http_options=options)
    return _Client(client.aio, http)


def _milliseconds(seconds: float) -> int:
    return max(1, math.ceil(seconds * 1000))


def _config(options: Mapping[str, object]) -> "GenerateContentConfig":
    from google.genai.types import AutomaticFunctionCallingConfig, GenerateContentConfig

    return GenerateContentConfig.model_validate(
        {
            **options,
            "automatic_function_calling": AutomaticFunctionCallingConfig(disable=True),
            "automatic_continuation": False,
            # The reply as it came: the SDK's models lose what they do not know.
            "should_return_http_response": True,
        }
    )
