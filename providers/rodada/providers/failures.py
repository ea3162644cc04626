"""
Foreign failures become ours, in one place: by where they came from and by their status, never by their text alone.
"""

import email.utils
import json
import re
import time
from collections.abc import Iterable, Mapping
from itertools import chain

from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderTooLarge,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import clean_text

LONGEST_MESSAGE = 500
WORD = re.compile(r'[^\s"]+')
RETRYABLE_4XX = frozenset({409, 425, 429})


def short(message: str, *secrets: str) -> str:
    """
    A vendor's message as one bounded line, without the secrets we know, and without what may be one: the queries of
    addresses. Vendors quote links at which they find nothing.
    """
    text = WORD.sub(_without_query, clean_text(message))
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + " ..."


def _without_query(word: "re.Match[str]") -> str:
    """
    A word without the query and the fragment of the address in it. A pattern of a whole address would seek its end
    again from each of its beginnings.
    """
    before, mark, behind = word[0].partition("://")
    address = re.split("[?#]", behind, maxsplit=1)[0]
    is_told = len(behind) - len(address) > 1
    return f"{before}{mark}{address}?***" if is_told else word[0]


def broken_pairs(provider: str, fault: str) -> ProviderRejected:
    """
    The error for a request that breaks promise P1: a fault of this library, never of a person, and not sent.
    """
    return ProviderRejected(provider, f"not sent, please report it: {fault}", code="broken_pairs")


def check_paired(provider: str, fault: str | None) -> None:
    """
    Refuse what has a fault in its pairs.

    Raises:
        ProviderRejected: it has one.
    """
    if fault is not None:
        raise broken_pairs(provider, fault)


def check_distinct(provider: str, calls: Iterable[tuple[str, ...]]) -> None:
    """
    Refuse ids of calls of which one stands twice among all entries.

    Raises:
        ProviderRejected: one does.
    """
    ids = list(chain.from_iterable(calls))
    if len({*ids}) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise broken_pairs(provider, f"id {twice} stands on two calls")


def code_of(*told: object, secret: str) -> str | None:
    """
    The first of a vendor's codes that is a text, as `short` as a message: servers that only resemble a vendor send
    anything there.
    """
    return next((short(code, secret) for code in told if isinstance(code, str) and code), None)


def from_answer(
    provider: str,
    status: int,
    message: str,
    headers: Mapping[str, str],
    *,
    kind: type[ProviderError] | None = None,
    code: str | None = None,
    request_id: str | None = None,
    wait: float | None = None,
) -> ProviderError:
    """
    The error for an answer that is an error.

    Args:
        provider: the wire.
        status: HTTP status.
        message: the vendor's, shortened.
        headers: of the answer; names in any case.
        kind: the class, where the body says more than the status does.
        code: the vendor's own.
        request_id: the vendor's.
        wait: seconds that the body asks to wait; else the headers are asked.
    """
    told = {name.lower(): value for name, value in headers.items()}
    return (kind or _class_of(status))(
        provider,
        message,
        status=status,
        code=code,
        request_id=request_id,
        retry_after=_asked_wait(told) if wait is None else wait,
        retryable=False if told.get("x-should-retry") == "false" else None,
    )


def _class_of(status: int) -> type[ProviderError]:
    if status in (401, 403):
        return ProviderAuthentication
    if status == 402:
        return ProviderQuota
    if status == 408:
        return ProviderTimeout
    if status == 413:
        return ProviderTooLarge
    if status in RETRYABLE_4XX or status >= 500:
        return ProviderOverloaded
    return ProviderRejected


def from_transport(provider: str, error: Exception) -> ProviderError | None:
    """
    The error for an exception of the HTTP library or of JSON reading; None when it is neither.
    """
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return ProviderTimeout(provider, f"no answer in time ({type(error).__name__})")
    if isinstance(error, httpx2.LocalProtocolError | httpx2.UnsupportedProtocol):
        return ProviderRejected(provider, f"the request cannot be sent ({type(error).__name__})")
    if isinstance(error, httpx2.TransportError):
        return ProviderUnreachable(provider, f"the connection failed ({type(error).__name__})")
    if isinstance(error, json.JSONDecodeError):
        return ProviderGarbled(provider, "the answer is no JSON")
    if isinstance(error, httpx2.DecodingError):
        return ProviderGarbled(provider, "the answer cannot be decompressed")
    return None


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """
    Seconds that the `retry-after-ms` or `retry-after` header asks to wait (seconds or an HTTP date); None without.
    """
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return _seconds(headers["retry-after"]) if "retry-after" in headers else None
    except (ValueError, OverflowError):
        return None


def _seconds(value: str) -> float:
    try:
        return max(0.0, float(value))
    except ValueError:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
