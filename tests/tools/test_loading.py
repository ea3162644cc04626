"""
Tools named in words: a file or a module, or one clear reason why there are none.
"""

import sys
from pathlib import Path

import pytest

from rodada.tools import ToolDefinitionError, ToolLoadError, load_tools

TOOLS = """
from __future__ import annotations
from dataclasses import dataclass
from rodada.tools import tool

@dataclass
class Goal:
    name: str

@tool
def zebra(goal: Goal) -> str:
    return goal.name

def plain() -> None: ...

@tool(name="ant")
async def other() -> None: ...

again = zebra
"""


def write(folder: Path, text: str, name: str = "my_tools.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_tool_of_a_file_comes_once_in_the_order_of_definition(tmp_path: Path) -> None:
    assert [each.name for each in load_tools(write(tmp_path, TOOLS))] == ["zebra", "ant"]


def test_a_module_is_named_with_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rodada_gym_example").mkdir()
    write(tmp_path / "rodada_gym_example", TOOLS, "log.py")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert [each.name for each in load_tools("rodada_gym_example.log")] == ["zebra", "ant"]


@pytest.mark.parametrize(
    "spec",
    ["nothing/here.py", "rodada_no_such", "rodada.no_such", "rodada.tools.cutting.x", "", "...", ".x", "rodada..tools"],
)
def test_what_is_not_there_is_said_so(spec: str) -> None:
    with pytest.raises(ToolLoadError, match=r"there is no such (file|module)") as caught:
        load_tools(spec)
    assert caught.value.spec == spec


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = 1\n", "no tools in it: decorate its functions with @tool from rodada.tools"),
        ("\n\nraise ValueError('postgres://u:pw@host')\n", "importing it raised ValueError in line 3"),
        (
            "\nimport rodada_no_such\n",
            "importing it raised ModuleNotFoundError (No module named 'rodada_no_such') in line 2",
        ),
        ("\n\nx = y\n", "importing it raised NameError (name 'y' is not defined) in line 3"),
        ("import sys\nsys.exit(3)\n", "importing it raised SystemExit in line 2"),
        ("\nimport json\njson.loads('{')\n", "importing it raised JSONDecodeError in line 3"),
    ],
)
def test_a_file_that_gives_no_tools_says_why(tmp_path: Path, text: str, reason: str) -> None:
    spec = write(tmp_path, text)
    with pytest.raises(ToolLoadError) as caught:
        load_tools(spec)
    assert str(caught.value) == f"tools of {spec}: {reason}"


def test_broken_syntax_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ToolLoadError, match=r"importing it raised SyntaxError \(.*\) in line 2"):
        load_tools(write(tmp_path, "\ndef (:\n"))


def test_where_python_names_no_line_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolLoadError) as caught:
        load_tools(write(tmp_path, "x\0"))
    assert "None" not in str(caught.value)


def test_a_failed_file_leaves_no_module_behind(tmp_path: Path) -> None:
    before = set(sys.modules)
    with pytest.raises(ToolLoadError):
        load_tools(write(tmp_path, "raise ValueError\n"))
    assert {name for name in set(sys.modules) - before if name.startswith("rodada_tools_")} == set()


def test_a_function_that_cannot_be_a_tool_is_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(ToolDefinitionError, match="parameter 'x'"):
        load_tools(write(tmp_path, "from rodada.tools import tool\n@tool\ndef f(x): ...\n"))


def test_f037_two_tools_of_one_name_are_refused_with_both_places(tmp_path: Path) -> None:
    text = "from rodada.tools import tool\n@tool\ndef f() -> None: ...\n@tool(name='f')\ndef g() -> None: ...\n"
    with pytest.raises(ToolLoadError, match=r"two tools are named 'f': .*\.f \(line 2\) and .*\.g \(line 4\)"):
        load_tools(write(tmp_path, text))
