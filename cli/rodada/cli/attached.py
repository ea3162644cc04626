"""
Files that go with a message.
"""

import mimetypes
from pathlib import Path

from rodada.cli.errors import WrongUse
from rodada.statemachine import Media, Part, Text
from rodada.statemachine.media_types import type_of_bytes

MOST_BYTES = 20_000_000
ANY = "application/octet-stream"


def parts_of(message: str, paths: tuple[Path, ...]) -> tuple[Part, ...]:
    """
    The message with its files behind it, each of the type that its bytes tell, else its name.

    Raises:
        WrongUse: a file cannot be read, holds nothing, or is too large.
    """
    return (Text(message), *map(_media, paths))


def _media(path: Path) -> Media:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _wrong(path, f"cannot be read ({error.strerror})") from error
    if not data:
        raise _wrong(path, "holds nothing")
    if len(data) > MOST_BYTES:
        raise _wrong(path, f"is larger than {MOST_BYTES} bytes")
    return Media.of(data, type_of_bytes(data) or mimetypes.guess_type(path.name)[0] or ANY, path.name)


def _wrong(path: Path, why: str) -> WrongUse:
    return WrongUse(f"--attach {path} {why}")
