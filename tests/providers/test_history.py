"""
The array of a body, put together of what is encoded already.
"""

import json

import pytest

from rodada.providers.history import History


@pytest.mark.parametrize("comma", [b",", b", "])
@pytest.mark.parametrize("items", [[], [b"1"], [b"", b"1"], [b"1", b"2,3"], [b"1", b"", b"2", b"3", b""]])
def test_it_stands_between_what_is_around_it(items: list[bytes], comma: bytes) -> None:
    history = History("input", items, comma)
    filled = [item for item in items if item]
    assert b"{" + b"[" + comma.join(filled) + b"]" + b"}" == history.between(b"{", b"}")
    assert len(history.between(b"", b"")) == history.size
    assert json.loads(b"[" + b",".join(filled) + b"]") == history.value


def test_it_does_not_show_what_it_holds() -> None:
    assert "secret" not in repr(History("input", [b'"secret"']))
