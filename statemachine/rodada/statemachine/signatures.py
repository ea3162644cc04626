"""
What some bytes are, by how they begin: the kinds of images and files that models take and that tell themselves.
"""

_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
SIGNED = frozenset({*(media_type for _, media_type in _STARTS), "image/webp"})
LONGEST_SIGNATURE = 12


def signed_type(data: bytes) -> str | None:
    """
    The media type that the first bytes tell: PNG, JPEG, GIF, WebP or PDF; None for everything else.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for start, media_type in _STARTS if data.startswith(start)), None)
