"""
Failures of the Gemini SDK and of the API, as ours.
"""

import re
from collections.abc import Mapping
from typing import Protocol, cast

from attrs import frozen

from rodada.providers.failures import code_of, from_answer, from_transport, short
from rodada.providers.google_wire import WIRE
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderQuota,
    ProviderRejected,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonObject, JsonValue


class _ApiError(Protocol):
    """
    What is used of the SDK's error.
    """

    @property
    def code(self) -> int: ...

    @property
    def status(self) -> str | None: ...

    @property
    def message(self) -> object: ...

    @property
    def details(self) -> JsonValue: ...

    @property
    def response(self) -> object: ...


@frozen
class _ErrorEvent:
    """
    The same of an error within a stream.
    """

    code: int
    status: str | None
    message: object
    details: JsonValue
    response: object


@frozen
class _Opened:
    """
    The answer within which it came.
    """

    headers: Mapping[str, str]


def from_sdk(error: Exception, key: str) -> ProviderError:
    """
    The error for whatever the SDK raised.
    """
    from google.genai.errors import APIError
    from pydantic import ValidationError

    if isinstance(error, APIError):
        return _api_failure(cast(_ApiError, error), key)
    if isinstance(error, ValidationError):
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return ProviderRejected(WIRE, short(f"the options do not fit GenerateContentConfig: {wrong}", key))
    if isinstance(error, UnicodeDecodeError):
        return ProviderGarbled(WIRE, "the answer is no text")
    if type(error).__module__.partition(".")[0] == "aiohttp":  # a given client may use it
        return ProviderUnreachable(WIRE, f"the connection failed ({type(error).__name__})")
    known = from_transport(WIRE, error)
    return known or ProviderRejected(WIRE, short(f"no request could be made: {type(error).__name__}: {error}", key))


def _api_failure(error: _ApiError, key: str) -> ProviderError:
    headers: Mapping[str, str] = getattr(error.response, "headers", {})
    request_id = request_id_of(headers)
    if error.code < 400:
        return ProviderGarbled(WIRE, "a status that the wire does not know", status=error.code, request_id=request_id)
    details = _details(error.details)
    return from_answer(
        WIRE,
        error.code,
        short(str(error.message or "no message"), key),
        headers,
        kind=_class_of(error.code, details),
        code=code_of(error.status, secret=key),
        request_id=request_id,
        wait=_retry_delay(details),
    )


def told_in_stream(chunk: JsonObject, headers: Mapping[str, str], key: str) -> ProviderError:
    """
    The error for one that came within a stream: the one that it would have been as an answer.
    """
    told = chunk.get("error")
    error = told if isinstance(told, dict) else JsonObject()
    number, status = error.get("code"), error.get("status")
    known = number if isinstance(number, int) else 500
    code = code_of(status, secret=key)
    return _api_failure(_ErrorEvent(known, code, error.get("message"), dict(chunk), _Opened(headers)), key)


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """
    The vendor's id of an answer, where it tells one.
    """
    return next((value for name, value in headers.items() if name.lower() == "x-goog-request-id"), None)


def _class_of(status: int, details: list[JsonObject]) -> type[ProviderError] | None:
    """
    The class where the details say more than the status does; a wrong key comes with status 400.
    """
    if any(each.get("reason") == "API_KEY_INVALID" for each in details):
        return ProviderAuthentication
    return ProviderQuota if status == 429 and _is_daily(details) else None


def _details(body: JsonValue) -> list[JsonObject]:
    """
    The typed details of an error body, none where it has none.
    """
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    return [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []


def _retry_delay(details: list[JsonObject]) -> float | None:
    """
    Seconds that the vendor asks to wait: `retryDelay` of a google.rpc.RetryInfo, such as "22s".
    """
    delays = (str(each.get("retryDelay", "")) for each in details)
    found = next((match for delay in delays if (match := re.fullmatch(r"(\d+(?:\.\d+)?)s", delay))), None)
    return float(found[1]) if found else None


def _is_daily(details: list[JsonObject]) -> bool:
    """
    Whether a quota of a day is used up (ids such as GenerateRequestsPerDayPerProjectPerModel): waiting the seconds
    that the reply names does not help then.
    """
    lists = [each.get("violations") for each in details]
    violations = [each for found in lists if isinstance(found, list) for each in found if isinstance(each, dict)]
    return any("PerDay" in str(each.get("quotaId")) for each in violations)
