"""
The media type of some bytes: by how they begin, else by their name and by whether they are text.
"""

import os.path
import re
from functools import cache

PDF = "application/pdf"
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
)
TOLD_BY_BYTES = frozenset({*(media_type for _, media_type in _STARTS), "image/webp"})
BYTES_THAT_TELL = 12
# As the vendors spell them; Python has other words for these, or none.
_ENDINGS = {
    **{".webp": "image/webp", ".heic": "image/heic", ".heif": "image/heif", ".wav": "audio/wav", ".aac": "audio/aac"},
    **{".flac": "audio/flac", ".ogg": "audio/ogg", ".mov": "video/mov", ".avi": "video/avi", ".wmv": "video/wmv"},
    **{".aif": "audio/aiff", ".aiff": "audio/aiff", ".qt": "video/mov", ".3gp": "video/3gpp", ".rtf": "text/rtf"},
    **{".js": "text/javascript", ".mjs": "text/javascript"},
    **{".flv": "video/x-flv", ".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml"},
}
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml")
_TEXT_SUFFIXES = ("+json", "+xml", "+yaml")


def type_of_bytes(data: bytes) -> str | None:
    """
    The media type that the first bytes tell: PNG, JPEG, GIF, WebP or PDF; None for everything else.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for start, media_type in _STARTS if data.startswith(start)), None)


def type_of_name(name: str) -> str | None:
    """
    The media type that the ending of a name tells, on every machine the same; None for one that is not known.
    """
    ending = os.path.splitext(name)[1].lower()
    return _ENDINGS.get(ending) or _built_in().get(ending)


def type_of_url(url: str) -> str | None:
    """
    The media type that the ending of an address's path tells.
    """
    return type_of_name(re.split("[?#]", url, maxsplit=1)[0])


def type_of_file(data: bytes, name: str) -> str | None:
    """
    The media type of a file. What its bytes tell counts before its name: a name that says otherwise is not believed.
    """
    told = type_of_bytes(data)
    if told is not None:
        return told
    named = type_of_name(name)
    if _is_text(data):
        return named if named is not None and is_text_type(named) else "text/plain"
    return None if named is None or named in TOLD_BY_BYTES or is_text_type(named) else named


def is_text_type(media_type: str) -> bool:
    """
    Whether what has this media type can be read as a text.
    """
    return media_type.startswith("text/") or media_type in _TEXTS or media_type.endswith(_TEXT_SUFFIXES)


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


@cache
def _built_in() -> dict[str, str]:
    from mimetypes import MimeTypes  # costs 10 ms, and few need it

    return MimeTypes().types_map[True]  # those of Python itself: without what this machine's files add
