"""
Bytes that a request carries in base64, as the vendors look at them.
"""

import base64
import binascii
import io
import re

from rodada.providers.loopback.json_values import Json, text

_STARTS = (
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"RIFF.{4}WEBP", "image/webp"),
    (rb"%PDF-", "application/pdf"),
)
_HOST = re.compile(r"[a-z]+://[A-Za-z0-9.-]+(?=[:/?#]|$)")
_OF_GOOGLE = re.compile(r"https://generativelanguage\.googleapis\.com/")
_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)


def content(data: Json) -> bytes | None:
    """
    The bytes that some base64 stands for; None where it is none, or stands for nothing.
    """
    try:
        return base64.b64decode(text(data).encode("ascii"), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def seen_type(data: bytes) -> str:
    """
    What the bytes are by how they begin; "" for what is none of the known images and documents.
    """
    return next((name for start, name in _STARTS if re.match(start, data, re.DOTALL)), "")


def longest_side(data: bytes) -> int:
    """
    Pixels of an image's longer side; less than none where it does not tell.
    """
    try:
        import imagesize  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

        sides: tuple[int, int] = imagesize.get(io.BytesIO(data))  # pyright: ignore[reportUnknownMemberType]
    except Exception:  # noqa: BLE001 - a reader may fall over any bytes
        return -1
    return max(sides)


def is_fetched(url: Json, schemes: tuple[str, ...] = ("https://",)) -> bool:
    """
    Whether a vendor would find something at an address: one with a host, and not among the files that were given to
    another vendor's API.
    """
    return _HOST.match(text(url)) is not None and text(url).startswith(schemes) and not _OF_GOOGLE.match(text(url))


def data_url(url: Json) -> tuple[str, bytes | None]:
    """
    Media type and bytes of a data URL; ("", None) for what is none.
    """
    found = _DATA_URL.fullmatch(text(url))
    return (found[1], content(found[2])) if found else ("", None)
