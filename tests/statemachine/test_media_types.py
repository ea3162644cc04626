"""
Which media type bytes and names tell.
"""

import pytest

from rodada.statemachine.media_types import type_of_bytes, type_of_file, type_of_name

PNG = b"\x89PNG\r\n\x1a\n"
BINARY = b"\0\xff"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"%PDF-1.7", "application/pdf"),
        (b"", None),
    ],
)
def test_images_and_pdf_tell_themselves(data: bytes, told: str | None) -> None:
    assert type_of_bytes(data) == told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.PNG", "image/png"),
        ("a.webp", "image/webp"),
        ("lift.wav", "audio/wav"),
        ("a.b/lift.mp3", "audio/mpeg"),
        ("notes.md", "text/markdown"),
        ("log.csv.gz", None),
        ("png", None),
        (".png", None),
        ("", None),
    ],
)
def test_the_ending_of_a_name_tells_a_type(name: str, told: str | None) -> None:
    assert type_of_name(name) == told


@pytest.mark.parametrize(
    ("data", "name", "told"),
    [
        (PNG, "photo.jpg", "image/png"),  # the bytes count before the name
        (b"kg\n80", "log.csv", "text/csv"),
        (b"kg: 80", "Makefile", "text/plain"),
        ("pão".encode(), "a.ts", "text/plain"),  # TypeScript, and no film
        (b"no image", "photo.png", "text/plain"),
        (BINARY, "lift.wav", "audio/wav"),
        (BINARY, "photo.png", None),
        (BINARY, "log.csv", None),
        (BINARY, "odd", None),
    ],
)
def test_a_name_is_believed_where_the_bytes_do_not_say_otherwise(data: bytes, name: str, told: str | None) -> None:
    assert type_of_file(data, name) == told
