"""
What importing the core costs, and what its pure modules may never import.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import rodada.statemachine

ROOT = Path(__file__).parents[2]
CORE = Path(rodada.statemachine.__file__).parent
IMPURE = {"asyncio", "time", "random", "threading", "sqlite3"}
WITH_TIME_AND_TASKS = {"audience.py", "live.py", "loop.py", "log.py"}
SDKS = {"anthropic", "openai", "google.genai", "google.generativeai", "httpx", "aiohttp", "requests"}
LIST_MODULES = "import sys, json, rodada.statemachine; print(json.dumps(sorted(sys.modules)))"


def pure_modules() -> list[Path]:
    return [path for path in sorted(CORE.glob("*.py")) if path.name not in {*WITH_TIME_AND_TASKS, "__init__.py"}]


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute"
            found.add(node.module or "")
    return found


def test_importing_the_core_imports_no_vendors_sdk() -> None:
    told = subprocess.run([sys.executable, "-c", LIST_MODULES], capture_output=True, text=True, check=True)
    modules = set(json.loads(told.stdout))
    assert "rodada.statemachine.table" in modules
    assert not SDKS & modules
    assert not {name for name in modules if name.startswith(("rodada.providers", "rodada.tools", "rodada.cli"))}


def test_no_source_root_has_an_init_in_the_namespace() -> None:
    roots = [path for path in ROOT.iterdir() if (path / "rodada").is_dir()]
    assert {root.name for root in roots} == {"statemachine", "providers", "tools", "diagrams", "cli"}
    assert [root.name for root in roots if (root / "rodada" / "__init__.py").exists()] == []


@pytest.mark.parametrize("path", pure_modules(), ids=lambda path: path.name)
def test_a_core_module_imports_no_clock_no_task_no_thread_and_no_database(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & IMPURE


@pytest.mark.parametrize(
    "path", [*pure_modules(), *sorted((CORE / "checker").glob("*.py"))], ids=lambda path: path.name
)
def test_a_core_module_knows_no_driver_and_no_other_room(path: Path) -> None:
    allowed = "rodada.statemachine."
    outside = {name for name in imported(path) if name.startswith("rodada") and not name.startswith(allowed)}
    assert outside == set()
    beside = ("audience", "drivers", "live", "loop", "log")
    assert not {name for name in imported(path) if name.startswith(tuple(allowed + each for each in beside))}


def test_the_pure_modules_are_all_there() -> None:
    assert {"table.py", "guards.py", "actions.py", "step.py", "machine.py", "run.py", "orders.py"} <= {
        path.name for path in pure_modules()
    }
