"""
Build the wheel, install it into a new environment away from the sources, import every module, run the command.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOTS = ("statemachine", "providers", "tools", "diagrams", "cli")


def modules() -> list[str]:
    """
    Every module of the sources, by its import name.
    """
    found = [path.relative_to(ROOT / root) for root in ROOTS for path in (ROOT / root / "rodada").rglob("*.py")]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in found]
    return sorted(name for name in names if not name.endswith("__main__"))


def run(*command: str, cwd: Path) -> str:
    """
    Output of a command that must succeed.
    """
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """
    Build, install, import, run.
    """
    with tempfile.TemporaryDirectory() as folder:
        away = Path(folder)
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(away), cwd=ROOT)
        (wheel,) = away.glob("*.whl")
        held = [name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("rodada/")]
        typed = [name for name in held if name.endswith("py.typed")]
        assert len(typed) == len(ROOTS), typed
        run(sys.executable, "-m", "venv", str(away / "env"), cwd=away)
        python = str(away / "env" / "bin" / "python")
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[all]", cwd=away)
        names = modules()
        import_all = f"import importlib; [importlib.import_module(name) for name in {names!r}]"
        run(python, "-W", "error::ImportWarning", "-c", import_all, cwd=away)
        told = run(python, "-m", "rodada", "--version", cwd=away)
        run(str(away / "env" / "bin" / "rodada"), "check", "--bounds", "rounds=1", cwd=away)
        print(f"{wheel.name}: {len(held)} files, {len(names)} modules imported, {told.strip()}")


if __name__ == "__main__":
    main()
