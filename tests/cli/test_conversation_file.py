"""
A conversation in a file: read whole, replaced whole.
"""

import json
import os
import stat
from pathlib import Path

import pytest

from rodada.cli.conversation_file import ConversationFile
from rodada.cli.errors import WrongUse
from rodada.statemachine import Conversation, ModelTurn, Piece, Stop, Text, UserMessage

SAID = Conversation("c", (UserMessage("m", (Text("olá"),)), ModelTurn(Stop.WHOLE, "oi")))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = ConversationFile(tmp_path / "c.json")
    file.write(SAID)
    assert file.read() == SAID
    assert "olá" in file.path.read_text(encoding="utf-8")
    assert names(tmp_path) == ["c.json"]


def test_a_file_that_is_not_there_is_a_new_conversation(tmp_path: Path) -> None:
    assert ConversationFile(tmp_path / "c.json").read().entries == ()
    assert names(tmp_path) == []


def test_hidden_reasoning_is_left_out(tmp_path: Path) -> None:
    file = ConversationFile(tmp_path / "c.json")
    piece = Piece('{"type":"thinking","thinking":"secret"}', None)
    turn = ModelTurn(Stop.WHOLE, "oi", native=(piece,), wire="anthropic")
    file.write(Conversation("c", (*SAID.entries[:1], turn)))
    assert "secret" not in file.path.read_text()


def test_a_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    file = ConversationFile(tmp_path / "c.json")
    file.write(SAID)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    file.path.chmod(0o640)
    file.write(SAID)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    link = tmp_path / "c.json"
    link.symlink_to(tmp_path / "store" / "real.json")
    ConversationFile(link).write(SAID)
    assert link.is_symlink()
    assert names(tmp_path / "store") == ["real.json"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    file = ConversationFile(tmp_path / "c.json")
    file.write(SAID)

    def fail(*given: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="Input/output error"):
        file.write(SAID.branch())
    monkeypatch.undo()
    assert (file.read(), names(tmp_path)) == (SAID, ["c.json"])


def test_it_is_on_disk_before_it_takes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(number: int) -> None:
        done.append("file" if stat.S_ISREG(os.fstat(number).st_mode) else "folder")
        sync(number)

    def replaced(source: str, target: Path) -> None:
        done.append("replace")
        assert Path(source).parent == tmp_path
        assert json.loads(Path(source).read_text(encoding="utf-8")) == SAID.to_json()
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    ConversationFile(tmp_path / "c.json").write(SAID)
    assert done == ["file", "replace", "folder"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is no JSON (Expecting value: line 1 column 1 (char 0))"),
        (b"\xff", "is no JSON ('utf-8' codec can't decode byte 0xff in position 0: invalid start byte)"),
        (b"[]", "holds no conversation: $: expected a JSON object of format rodada.conversation/2"),
    ],
)
def test_what_is_no_conversation_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(WrongUse) as caught:
        ConversationFile(path).read()
    assert str(caught.value) == f"conversation {path}: {told}"


def test_a_device_is_never_replaced() -> None:
    with pytest.raises(WrongUse, match="conversation /dev/null: is no file"):
        ConversationFile(Path("/dev/null")).read()


def test_an_id_that_only_escapes_can_spell_is_kept(tmp_path: Path) -> None:
    file = ConversationFile(tmp_path / "c.json")
    odd = Conversation("\ud800")
    file.write(odd)

    assert file.read() == odd
