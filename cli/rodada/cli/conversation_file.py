"""
A conversation in a file, replaced as a whole: whoever reads it sees the old one or the new one, never half of one.
"""

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from attrs import frozen

from rodada.cli.errors import WrongUse
from rodada.statemachine import Conversation
from rodada.statemachine.errors import FormatError
from rodada.statemachine.jsontext import JsonError, JsonObject, parse_json


@frozen
class ConversationFile:
    """
    Where a conversation is kept between runs; links are followed.
    """

    path: Path

    def read(self) -> Conversation:
        """
        What the file holds, or a new conversation where there is none yet. Whether it can be written later is seen
        now, before a model is asked.

        Raises:
            WrongUse: no conversation is in it, or it could not be written.
        """
        path = self.path.resolve()
        if path.exists() and not path.is_file():
            raise self._wrong("is no file")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise self._wrong(f"{path.parent} is no folder that can be written to")
        try:
            return Conversation.from_json(parse_json(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return Conversation()
        except OSError as error:
            raise self._wrong(f"cannot be read ({error.strerror})") from error
        except (UnicodeDecodeError, JsonError) as error:
            raise self._wrong(f"is no JSON ({error})") from error
        except FormatError as error:
            raise self._wrong(f"holds no conversation: {error}") from error

    def write(self, conversation: Conversation) -> None:
        """
        Replace the file. Hidden reasoning and signatures are left out.

        Raises:
            OSError: it cannot be written; the file is then as it was.
        """
        path = self.path.resolve()
        data = _as_bytes(conversation.to_json())
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
        try:
            with open(number, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, name)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        _sync(path.parent)

    def _wrong(self, what: str) -> WrongUse:
        return WrongUse(f"conversation {self.path}: {what}")


def _as_bytes(value: JsonObject) -> bytes:
    """
    The document in UTF-8; a file that somebody changed may hold ids that only escapes can spell.
    """
    try:
        return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(value, indent=1) + "\n").encode()


def _sync(folder: Path) -> None:
    """
    Make the new name durable, where the system lets a folder be opened.
    """
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
