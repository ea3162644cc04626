"""
A request is measured as the SDK sends it, and refused before it is sent.
"""

import pytest

from rodada.providers.request_size import check_size
from rodada.statemachine.errors import ProviderTooLarge

CALL: dict[str, object] = {
    "model": "m",
    "input": "é\ud800",
    "extra_headers": {"x": "y"},
    "extra_query": {"x": "y"},
    "extra_body": {"model": "n", "top": 1},
}
SENT = len('{"model":"n","input":"","top":1}') + len("é".encode()) + 3


def test_a_body_of_just_the_size_passes_and_one_byte_less_refuses_it() -> None:
    check_size("wire", CALL, SENT)
    with pytest.raises(ProviderTooLarge) as caught:
        check_size("wire", CALL, SENT - 1)
    told = f"not sent: the request has {SENT} bytes, and {SENT - 1} are allowed"
    assert (caught.value.provider, caught.value.message, caught.value.retryable) == ("wire", told, False)


def test_without_a_limit_nothing_is_measured() -> None:
    check_size("wire", {"input": object()}, None)


def test_what_is_no_json_is_measured_by_its_text() -> None:
    check_size("wire", {"input": {1, 2}}, len('{"input":"{1, 2}"}'))
