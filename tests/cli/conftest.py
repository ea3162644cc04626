"""
A folder to run commands in.
"""

from pathlib import Path

import pytest

from support.command_line import TOOLS, Desk


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    """
    The working directory, with `tools.py` in it and no key in the environment.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    return Desk(tmp_path, capfd)
