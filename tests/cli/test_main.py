"""
The entry: help, version, `python -m rodada`, and how a process ends.
"""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from rodada.cli import main
from rodada.diagrams import flow_diagram, mermaid, table
from support.command_line import Desk


def test_version(desk: Desk) -> None:
    said = desk.command("--version")
    assert (said.code, said.out, said.err) == (0, f"rodada {version('rodada')}\n", "")


def test_help_names_every_command(desk: Desk) -> None:
    said = desk.command("--help")
    assert said.code == 0
    for name in ("run", "check", "diagram", "demo"):
        assert f"\n  {name} " in said.out


@pytest.mark.parametrize("name", ["run", "check", "diagram"])
def test_each_command_has_help(desk: Desk, name: str) -> None:
    said = desk.command(name, "--help")
    assert (said.code, said.err) == (0, "")
    assert f"rodada {name}" in said.out


def test_it_is_a_module_too(desk: Desk) -> None:
    with desk.start("--version") as process:
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, f"rodada {version('rodada')}\n", "")


def test_diagram_prints_what_is_drawn(desk: Desk) -> None:
    assert desk.command("diagram").out == mermaid(flow_diagram())
    assert desk.command("diagram", "--format", "table").out == table(flow_diagram())


def test_an_interrupt_before_a_command_began_exits_4(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "app", interrupted)
    said = desk.command("run")
    assert (said.code, said.out, said.err) == (4, "", "rodada: interrupted\n")


@pytest.mark.parametrize(
    "arguments", [("check",), ("lab", "calls.json"), ("lint", "tools.py")], ids=lambda each: each[0]
)
def test_an_interrupt_within_any_command_exits_4_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    def interrupted(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    (desk.folder / "calls.json").write_text('{"calls": []}', encoding="utf-8")
    for place in (
        "rodada.statemachine.checker.check",
        "rodada.cli.lab.running.run_lab",
        "rodada.tools.lint.lint_tools",
    ):
        monkeypatch.setattr(place, interrupted)
    said = desk.command(*arguments)
    assert (said.code, said.out, said.err) == (4, "", "rodada: interrupted\n")


def test_a_fault_of_our_own_is_not_called_wrong_use(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*given: object, **options: object) -> None:
        raise KeyError("bug")

    monkeypatch.setattr(main, "app", faulty)
    with pytest.raises(KeyError):
        desk.command("run")


def test_an_answer_that_the_encoding_lacks_is_shown_in_escapes(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "olá"}]', encoding="utf-8")
    command = [sys.executable, "-m", "rodada", "run", "oi", "--provider", "scripted", "--script", str(script)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ol\\xe1" in done.stdout
