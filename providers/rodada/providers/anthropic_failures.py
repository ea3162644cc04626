"""
Failures that the Anthropic Messages API reports, and exceptions of its SDK, as ours.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rodada.providers.anthropic_wire import WIRE
from rodada.providers.failures import code_of, from_answer, from_transport, short
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonObject

if TYPE_CHECKING:
    from anthropic import APIStatusError

SPENT = frozenset({"enforced_spend_limit_reached", "contract_spend_limit_reached"})
STATUSES = {  # that an error within a stream would have had as an answer
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def from_sdk(error: Exception, key: str) -> ProviderError:
    """
    Whatever the SDK raised, as one of our errors.
    """
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        return _refusal(error, key)
    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    found = from_transport(WIRE, cause) if isinstance(cause, Exception) else None
    if found is not None:
        return found
    if isinstance(error, anthropic.APITimeoutError):
        return ProviderTimeout(WIRE, "no answer in time")
    if isinstance(error, anthropic.APIConnectionError):
        return ProviderUnreachable(WIRE, f"the connection failed ({type(cause).__name__})")
    kind = ProviderAuthentication if isinstance(error, anthropic.CredentialsError) else ProviderRejected
    return kind(WIRE, f"the request cannot be sent: {type(error).__name__}: {short(str(error), key)}")


def told_in_stream(event: JsonObject, headers: Mapping[str, str], request_id: str | None, key: str) -> ProviderError:
    """
    An error that stands within a stream, as the answer that it would have been.
    """
    error = event.get("error")
    told = error if isinstance(error, dict) else JsonObject()
    kind, details = str(told.get("type")), told.get("details")
    code = code_of(details.get("error_code") if isinstance(details, dict) else None, kind, secret=key)
    return from_answer(
        WIRE,
        STATUSES.get(kind, 500),
        short(str(told.get("message") or "an error within the stream"), key),
        headers,
        kind=_kind_of(code, kind),
        code=code,
        request_id=request_id,
    )


def _refusal(error: "APIStatusError", key: str) -> ProviderError:
    code = code_of(error.error_code, error.type, secret=key)
    return from_answer(
        WIRE,
        error.status_code,
        short(error.api_message or f"HTTP {error.status_code}", key),
        error.response.headers,
        kind=_kind_of(code, error.type),
        code=code,
        request_id=error.request_id,
    )


def _kind_of(code: str | None, type_: str | None) -> type[ProviderError] | None:
    """
    The class of an error that its status alone would not give: the account is empty, so waiting does not help.
    """
    return ProviderQuota if code in SPENT or type_ == "billing_error" else None
