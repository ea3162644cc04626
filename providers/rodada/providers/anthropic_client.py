"""
The clients of Anthropic's SDK that can carry a conversation: its own, and those of the clouds that serve Claude.
"""

import inspect
from typing import TYPE_CHECKING, TypeAlias

from rodada.providers.construction import refuse_beside_client
from rodada.providers.ready_bytes import is_sdks_own
from rodada.statemachine.errors import InvalidValue

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, Timeout
    from anthropic.lib.bedrock import AsyncAnthropicBedrock, AsyncAnthropicBedrockMantle
    from anthropic.lib.vertex import AsyncAnthropicVertex

# Foundry's, and those of AWS and Google Cloud under Anthropic's own name, are kinds of AsyncAnthropic.
AnyClient: TypeAlias = "AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicBedrockMantle | AsyncAnthropicVertex"
CONNECT_SECONDS = 10.0
SECRETS = ("api_key", "auth_token", "access_token")


def new_client(key: str, base_url: str | None) -> "AsyncAnthropic":
    """
    A client without retries.
    """
    from anthropic import AsyncAnthropic

    return AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0, timeout=timeout_of(600.0))


def timeout_of(seconds: float | None) -> "Timeout":
    """
    The SDK's limits for a call that may take some seconds, each for one wait.
    """
    from anthropic import Timeout

    # an explicit one, or the SDK refuses large max_tokens before it sends anything
    return Timeout(seconds, connect=min(CONNECT_SECONDS, seconds or CONNECT_SECONDS))


def checked_client(provider: str, client: AnyClient, api_key: str | None, base_url: str | None) -> AnyClient:
    """
    A client that the host made, used without its retries.

    Raises:
        InvalidValue: a sync client, or none of this SDK's; a key or an address beside it.
    """
    name = type(client).__name__
    if not hasattr(client, "messages") or not hasattr(client, "with_options"):
        raise InvalidValue(f"{provider}.client", f"needs an AsyncAnthropic or its kin, not a {name}")
    if not inspect.iscoroutinefunction(client.close):
        raise InvalidValue(f"{provider}.client", f"{name} is a sync client: give an {_async_name(name)}")
    refuse_beside_client(provider, api_key, base_url)
    return client.with_options(max_retries=0)


def _async_name(name: str) -> str:
    import anthropic

    return f"Async{name}" if hasattr(anthropic, f"Async{name}") else "AsyncAnthropic"


def secret_of(client: AnyClient) -> str:
    """
    The key or token that a client sends, "" where it has none of its own: no error may show it.
    """
    found = (getattr(client, name, None) for name in SECRETS)
    return next((secret for secret in found if isinstance(secret, str) and secret), "")


def sends_events(client: AnyClient) -> bool:
    """
    Whether its streams are the API's own events; those of Bedrock's older API are packed in frames of AWS.
    """
    from anthropic.lib.bedrock import AsyncAnthropicBedrock

    return not isinstance(client, AsyncAnthropicBedrock)


def sends_as_told(client: AnyClient) -> bool:
    """
    Whether it sends bodies without a look into them. Those of Bedrock and Vertex AI move the model into the address;
    what a class of the host's, middleware or a tracer does with a body nobody knows.
    """
    import anthropic

    kinds = (
        anthropic.AsyncAnthropic,
        anthropic.AsyncAnthropicAWS,
        anthropic.AsyncAnthropicFoundry,
        anthropic.AsyncAnthropicGoogleCloud,
    )
    kind = type(client)
    own = kind in kinds and is_sdks_own("anthropic", type(client.messages).create, kind.post, kind.request)
    return own and not client.middleware and not _is_traced(client)


def _is_traced(client: AnyClient) -> bool:
    from opentelemetry import trace

    options = client.open_telemetry
    has_tracer = "tracer_provider" in options or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    return options["traces"]["enabled"] and has_tracer


def left_out() -> tuple[type, ...]:
    """
    The SDK's types of arguments that were not given.
    """
    from anthropic import NotGiven, Omit

    return (NotGiven, Omit)
