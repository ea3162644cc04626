"""
Failures that OpenAI reports, and exceptions of its SDK, as ours.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from rodada.providers.failures import code_of, from_answer, from_transport, short
from rodada.statemachine.errors import (
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderTooLarge,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonObject, JsonValue

if TYPE_CHECKING:
    from openai import APIStatusError

QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})  # OpenAI, llama.cpp
EVENT = "error"
STATUS = re.compile(r"[45][0-9]{2}")
MESSAGES = ("message", "detail")  # the vendor's name, and that of servers that only resemble it
PASSING_CODES = frozenset(
    {
        *("server_error", "rate_limit_exceeded", "vector_store_timeout"),
        # types, where servers give no code
        *("rate_limit_error", "overloaded_error", "api_error", "timeout_error", "InternalServerError"),
    }
)


def from_sdk(provider: str, error: Exception, secret: str) -> ProviderError:
    """
    The error for an exception that a call of the SDK raised; `secret` is the key, which no message may show.
    """
    import openai

    if isinstance(error, openai.APIStatusError):
        return _from_answer(provider, error, secret)
    if isinstance(error, openai.APITimeoutError):
        return ProviderTimeout(provider, "no answer in time")
    if isinstance(error, openai.APIConnectionError):
        return ProviderUnreachable(provider, "the connection failed or broke before the answer was whole")
    if isinstance(error, openai.APIResponseValidationError):
        return ProviderGarbled(provider, "the answer has not the promised form", status=error.status_code)
    known = from_transport(provider, error)
    return known or ProviderRejected(provider, f"not sent: {type(error).__name__}: {short(str(error), secret)}")


def told_error(provider: str, told: JsonObject, secret: str) -> ProviderError | None:
    """
    The error that a body of HTTP status 200 or an event of a stream is: it holds one, or is one itself.
    """
    itself = EVENT in (told.get("type"), told.get("object"))
    error = told.get("error") or (told if itself else None)
    return from_told_error(provider, error, secret) if error else None


def from_told_error(provider: str, error: JsonValue, secret: str) -> ProviderError:
    """
    The error that is told within an answer of HTTP status 200, as an object, a text or nothing; a number for a code is
    the status that it means.
    """
    told = error if isinstance(error, dict) else JsonObject()
    code, kind = code_of(told.get("code"), secret=secret), code_of(told.get("type"), secret=secret)
    kind = None if kind == EVENT else kind  # the name of the event
    message = code_of(told.get("message"), error, secret=secret)
    words = [word for word in (code, kind) if word]
    status = _status_of(told.get("code"))
    if status is not None:
        return from_answer(provider, status, message or f"HTTP status {status}", {}, kind=_class_of(kind), code=kind)
    passing = not words or not PASSING_CODES.isdisjoint(words)
    known = _class_of(code) or _class_of(kind) or (ProviderOverloaded if passing else ProviderRejected)
    return known(provider, message or "the response failed", code=words[0] if words else None)


def _status_of(code: JsonValue) -> int | None:
    # Some gateways write the number as a text.
    number = int(code) if isinstance(code, str) and STATUS.fullmatch(code) else code
    return number if isinstance(number, int) and 400 <= number < 600 else None


def _from_answer(provider: str, error: "APIStatusError", secret: str) -> ProviderError:
    code = code_of(error.code, error.type, secret=secret)
    return from_answer(
        provider,
        error.status_code,
        short(_message(error), secret),
        error.response.headers,
        kind=_class_of(code) or _class_of(code_of(error.type, secret=secret)),
        code=code,
        request_id=error.request_id,
    )


def _class_of(code: str | None) -> type[ProviderError] | None:
    """
    The class where the code says more than the status does.
    """
    if code in QUOTA_CODES:
        return ProviderQuota
    return ProviderTooLarge if code in TOO_LONG_CODES else None


def _message(error: "APIStatusError") -> str:
    body = error.body
    if isinstance(body, Mapping):
        told = cast("Mapping[str, object]", body)
        body = next((told[name] for name in MESSAGES if isinstance(told.get(name), str)), None)
    elif "json" not in error.response.headers.get("content-type", ""):
        body = None  # a page
    return body if isinstance(body, str) and body else f"HTTP status {error.status_code}"
