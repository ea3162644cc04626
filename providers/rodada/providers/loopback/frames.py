"""
Events of a stream as bytes, and texts in the pieces in which they come.
"""

import json

from rodada.providers.loopback.json_values import Json

PIECE = 7  # characters: short, so that every text of a test comes in several


def frame(data: Json, event: str | None = None, end: str = "\n") -> bytes:
    """
    One server-sent event.
    """
    name = "" if event is None else f"event: {event}{end}"
    return f"{name}data: {json.dumps(data)}{end}{end}".encode()


def pieces(text: str) -> list[str]:
    """
    The text in pieces; one empty piece of an empty text.
    """
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""]
