"""
Files that go with a message.
"""

from pathlib import Path

from rodada.cli.errors import WrongUse
from rodada.statemachine import Media, Part, Text
from rodada.statemachine.errors import UnusableFile


def parts_of(message: str, paths: tuple[Path, ...]) -> tuple[Part, ...]:
    """
    The message with its files behind it, each of the type that its bytes tell, else its name.

    Raises:
        WrongUse: a file cannot be read, holds nothing, is too large, or is of no known type.
    """
    return (Text(message), *map(_media, paths))


def _media(path: Path) -> Media:
    try:
        return Media.from_path(path)
    except UnusableFile as error:
        raise WrongUse(f"--attach {path} {error.why}") from error
