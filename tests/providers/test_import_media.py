"""
Media in stored messages: whatever spells them, and nothing that does not.
"""

from collections.abc import Mapping

import pytest

from rodada.providers.import_media import media_of, media_of_url
from rodada.statemachine import Media


@pytest.mark.parametrize("data", ["/+8=", "_-8=", "_-8", "/+\n8=", " /+8 "])
def test_base64_is_read_in_every_spelling(data: str) -> None:
    assert Media("image/png", "/+8=") == media_of(data, "image/PNG; x=1")


@pytest.mark.parametrize(
    ("data", "kind"),
    [("?", "image/png"), ("", "image/png"), ("A", "image/png"), (7, "image/png"), ("/+8=", "image"), ("/+8=", None)],
)
def test_what_is_no_base64_of_a_type_is_no_medium(data: str | int, kind: str | None) -> None:
    assert media_of(data, kind) is None


URLS: Mapping[str, Media | None] = {
    "data:image/png;base64,/+8=": Media("image/png", "/+8="),
    "data:text/plain;charset=utf-8;base64,/+8=": Media("text/plain", "/+8="),
    "data:image/png,raw": None,
    "https://example.com/data:image/png;base64,/+8=": None,
}


@pytest.mark.parametrize("url", URLS)
def test_data_urls_hold_media_and_no_others_do(url: str) -> None:
    assert URLS[url] == media_of_url(url)
