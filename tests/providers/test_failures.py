"""
Foreign failures become ours by their status and their headers.
"""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import process_time

import pytest

from rodada.providers.failures import LONGEST_MESSAGE, code_of, from_answer, short
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderOverloaded,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderTooLarge,
)

KINDS: dict[int, type[ProviderError]] = {
    400: ProviderRejected,
    401: ProviderAuthentication,
    402: ProviderQuota,
    403: ProviderAuthentication,
    404: ProviderRejected,
    408: ProviderTimeout,
    409: ProviderOverloaded,
    413: ProviderTooLarge,
    422: ProviderRejected,
    425: ProviderOverloaded,
    429: ProviderOverloaded,
    500: ProviderOverloaded,
    529: ProviderOverloaded,
}


@pytest.mark.parametrize(("status", "kind"), KINDS.items())
def test_the_status_tells_the_class(status: int, kind: type[ProviderError]) -> None:
    error = from_answer("wire", status, "why", {}, code="c", request_id="r")
    assert (type(error), str(error)) == (kind, f"wire: why ({status}, c, r)")
    assert (error.retryable, error.retry_after) == (kind.default_retryable, None)


def test_the_body_may_say_more_than_the_status() -> None:
    error = from_answer("wire", 429, "why", {"Retry-After": "3"}, kind=ProviderQuota, wait=7.5)
    assert (type(error), error.retryable, error.retry_after) == (ProviderQuota, False, 7.5)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after-ms": "1500", "retry-after": "3"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 99999 07:28:00 GMT"}, None),
    ],
    ids=str,
)
def test_the_headers_say_how_long_to_wait(headers: dict[str, str], wait: float | None) -> None:
    assert from_answer("wire", 429, "why", headers).retry_after == wait


def test_a_date_to_wait_for_is_seconds_from_now() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1))
    wait = from_answer("wire", 503, "why", {"retry-after": later}).retry_after
    assert wait is not None
    assert 3000 < wait <= 3600


def test_the_vendor_may_forbid_another_try_and_never_order_one() -> None:
    assert not from_answer("wire", 503, "why", {"X-Should-Retry": "false"}).retryable
    assert from_answer("wire", 503, "why", {"x-should-retry": "true"}).retryable
    assert not from_answer("wire", 400, "why", {"x-should-retry": "true"}).retryable


def test_a_message_is_one_bounded_line_without_secrets() -> None:
    assert short("key sk-1 is\n wrong\ud800", "sk-1", "") == "key *** is wrong\ufffd"
    assert short("x" * (LONGEST_MESSAGE + 1)) == "x" * LONGEST_MESSAGE + " ..."


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("Cannot fetch https://host/a.png?sig=S&x=1. Status 404.", "Cannot fetch https://host/a.png?*** Status 404."),
        ("fetch 'https://host/a?S', then gs://b/c#S", "fetch 'https://host/a?*** then gs://b/c?***"),
        ('{"url":"https://host/a/b?sig=S\'S"} is wrong?', '{"url":"https://host/a/b?***"} is wrong?'),
        ("See https://host/docs, please? Or https://host/?", "See https://host/docs, please? Or https://host/?"),
    ],
)
def test_a_message_shows_no_query_of_an_address(told: str, shown: str) -> None:
    assert short(told) == shown


@pytest.mark.parametrize("like", ["://", "a", "?", "://?", " ://", '"://a'])
def test_a_message_is_read_in_one_go_however_long_it_is(like: str) -> None:
    began = process_time()
    assert len(short(like * 200_000)) <= LONGEST_MESSAGE + 4
    assert process_time() - began < 10  # minutes, where the end of an address is sought from each of its beginnings


@pytest.mark.parametrize(
    ("told", "code"),
    [(("a", "b"), "a"), ((None, "b"), "b"), (({"x": 1}, ["y"], 7, "", "b"), "b"), ((None, {"x": 1}), None)],
)
def test_a_code_is_a_text_whatever_a_server_sends_there(told: tuple[object, ...], code: str | None) -> None:
    assert code_of(*told, secret="") == code


def test_f111_a_code_shows_no_secret() -> None:
    assert code_of("no_such_key_sk-1", secret="sk-1") == "no_such_key_***"
