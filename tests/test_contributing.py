"""
CONTRIBUTING tells the truth: the files that its tables name are there.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("statemachine", "providers", "tools", "diagrams", "cli")
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def named(row: str) -> list[str]:
    """
    The files that a row names, each with its folder: its own, or that of the file before it.
    """
    folder, found = "", list[str]()
    for path in re.findall(r"`([\w/*]+\.py)`", row):
        before, _, name = path.rpartition("/")
        folder = before or folder
        found.append(f"{folder}/{name}")
    return found


def in_the_tree(path: str) -> str:
    """
    A path as a pattern from the root; rooms are written without their place in the namespace.
    """
    room = path.partition("/")[0]
    return f"{room}/rodada/{path}" if room in ROOMS else path


def test_every_file_that_a_table_names_is_there() -> None:
    files = [path for line in TEXT.splitlines() if line.startswith("|") for path in named(line)]
    assert len(files) > 50
    assert [] == [path for path in files if not any(ROOT.glob(in_the_tree(path)))]
