"""
The media type of some bytes, by how they begin: of the images and files that models take, those that tell themselves.
"""

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
TOLD_BY_BYTES = frozenset({*(media_type for _, media_type in _STARTS), "image/webp"})
BYTES_THAT_TELL = 12


def type_of_bytes(data: bytes) -> str | None:
    """
    The media type that the first bytes tell: PNG, JPEG, GIF, WebP or PDF; None for everything else.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for start, media_type in _STARTS if data.startswith(start)), None)
