"""
Wrong programs are refused before they run: by mypy and by pyright, at the marked lines and nowhere else.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "wrong_programs"


def marked() -> set[tuple[str, int]]:
    return {
        (path.name, number)
        for path in PROGRAMS.glob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if line.endswith("# refused")
    }


def output(*arguments: str) -> str:
    told = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 1, told.stdout + told.stderr
    return told.stdout


def test_each_wrong_program_is_marked_once_and_a_right_one_stands_beside_them() -> None:
    assert {name for name, _ in marked()} | {"right_program.py"} == {path.name for path in PROGRAMS.glob("*.py")}
    assert len(marked()) == 5


def test_mypy_refuses_each_of_them() -> None:
    told = output("mypy", *sorted(str(path) for path in PROGRAMS.glob("*.py")))
    found = re.findall(r"^\S*?(\w+\.py):(\d+): error: ", told, re.MULTILINE)
    assert {(name, int(line)) for name, line in found} == marked(), told


def test_pyright_refuses_them_too() -> None:
    told = json.loads(output("pyright", "--project", str(PROGRAMS), "--pythonpath", sys.executable, "--outputjson"))
    found = {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in told["generalDiagnostics"]}
    assert found == marked(), told
    assert told["summary"]["filesAnalyzed"] == len(marked()) + 1
