"""
The command line in this process, and as a process of its own.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from rodada.cli.main import call

TOOLS = '''
import asyncio
import os
import pathlib
import signal
import threading
import time

from rodada.tools import tool


@tool(reads="log")
def read_log(exercise: str) -> str:
    """Read the training log."""
    print("a tool prints")
    os.system("echo a child process prints")
    return f"{exercise}: 80, 85"


@tool(writes="orders")
def order() -> str:
    """Fails."""
    raise OSError("secret")


@tool(needs_approval=True)
def pay(kg: int) -> str:
    """Needs somebody."""
    return "paid"


@tool(reads="log")
async def leave() -> str:
    """Presses Ctrl-C, then waits for ever."""
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()
    return "never"


@tool(writes="log")
def sleep(seconds: float) -> str:
    """Sleeps in a thread."""
    pathlib.Path("asleep").touch()
    time.sleep(seconds)
    return "rested"


@tool(writes="log")
async def block(seconds: float) -> str:
    """Blocks the event loop."""
    time.sleep(seconds)
    return "rested"


@tool(reads="log")
async def pooled(seconds: float) -> str:
    """Sleeps in asyncio's pool."""
    await asyncio.to_thread(time.sleep, seconds)
    return "rested"
'''


@frozen
class Said:
    """
    What a command left behind.
    """

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """
        The one object on standard output, with its run id masked.
        """
        found = json.loads(self.out)
        assert found["run_id"].startswith("run_")
        return {**found, "run_id": "run_"}


@frozen
class Desk:
    """
    A folder with tools and scripts, in which commands are run.
    """

    folder: Path
    capture: pytest.CaptureFixture[str]

    def script(self, *turns: object, closing: object = None) -> str:
        """
        A script file.
        """
        path = self.folder / "script.json"
        path.write_text(json.dumps({"turns": turns, "closing": closing}), encoding="utf-8")
        return str(path)

    def command(self, *arguments: str) -> Said:
        """
        Run a command in this process.
        """
        self.capture.readouterr()
        code = call(list(arguments))
        out, err = self.capture.readouterr()
        return Said(code, out, err)

    def wait_until_asleep(self) -> None:
        """
        Wait until the tool `sleep` runs: that it was started says only that its thread was asked for.
        """
        limit = time.monotonic() + 60
        while not (self.folder / "asleep").exists():
            assert time.monotonic() < limit, "the tool never ran"
            threading.Event().wait(0.005)

    def run(self, *turns: object, closing: object = None, options: tuple[str, ...] = ()) -> Said:
        """
        `rodada run` on a scripted model with the tools.
        """
        script = self.script(*turns, closing=closing)
        return self.command("run", "Hi", "--provider", "scripted", "--script", script, "--tools", "tools.py", *options)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """
        Start a command as a process of its own.
        """
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "rodada", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
        )


def asks(name: str, **arguments: object) -> dict[str, object]:
    """
    A turn that asks for one tool.
    """
    return {"calls": [{"name": name, "arguments": arguments}]}
