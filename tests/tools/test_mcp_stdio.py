"""
Servers that are processes of ours.
"""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from rodada.statemachine.messages import Status
from rodada.tools import McpToolbox, McpUnavailable
from support.mcp_servers import COMMAND
from support.tool_calls import called

T = TypeVar("T")


def opened(work: Callable[["Box"], Coroutine[Any, Any, T]], **options: Any) -> T:
    async def inside() -> T:
        async with McpToolbox.stdio("m", *COMMAND, **options) as box:
            return await work(Box(box))

    return asyncio.run(inside())


class Box:
    def __init__(self, box: McpToolbox) -> None:
        self.tools = {tool.name.removeprefix("m_"): tool for tool in box.tools}

    async def of(self, name: str, raw: str = "{}") -> tuple[Status, str]:
        result = await called(self.tools[name], raw)
        return result.status, result.text

    async def text(self, name: str) -> str:
        return (await self.of(name))[1]

    async def waiting(self) -> tuple["asyncio.Task[tuple[Status, str]]", int]:
        """
        A call that has begun, and the server's process.
        """
        call = asyncio.create_task(self.of("wait"))
        return call, int(await self.text("began"))


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def lost(tool: str) -> tuple[Status, str]:
    why = "the connection was lost before its answer came: it may have taken effect, and its result is not known."
    return Status.OUTCOME_UNKNOWN, f"{tool} was sent to its MCP server, but {why}"


def test_calls_end_as_what_they_were() -> None:
    async def work(box: Box) -> list[tuple[Status, str]]:
        return [await box.of("echo", '{"n":1}'), await box.of("fail"), await box.of("refuse")]

    # The code is the one by which the SDK tells of a closed connection; here it is the server's own.
    refused = "refuse failed: its MCP server answered with an error: no such account (code -32000)."
    assert [
        (Status.SUCCEEDED, 'echo {"n": 1}'),
        (Status.FAILED, "the disk is full"),
        (Status.FAILED, refused),
    ] == opened(work)


def test_a_cancelled_call_leaves_the_connection_whole() -> None:
    async def work(box: Box) -> bool:
        call, before = await box.waiting()
        call.cancel()
        return before == int(await box.text("stopped"))

    assert opened(work)


def test_a_server_that_is_killed_while_a_call_runs_is_started_again_by_the_next() -> None:
    async def work(box: Box) -> tuple[Any, ...]:
        call, process = await box.waiting()
        os.kill(process, signal.SIGKILL)
        return await call, await box.of("echo", '{"n":2}'), runs(process)

    assert (lost("wait"), (Status.SUCCEEDED, 'echo {"n": 2}'), False) == opened(work)


def test_a_server_that_ends_itself_is_started_again_each_time() -> None:
    async def work(box: Box) -> list[tuple[Status, str]]:
        return [await box.of(name) for name in ("die", "die", "fail")]

    assert [lost("die"), lost("die"), (Status.FAILED, "the disk is full")] == opened(work)


def test_calls_after_its_death_start_it_once_together() -> None:
    async def work(box: Box) -> int:
        await box.of("die")
        return len({text for _, text in await asyncio.gather(*(box.of("chatter") for _ in range(5)))})

    assert 1 == opened(work)


def test_closing_while_a_call_runs_leaves_no_process() -> None:
    async def work() -> tuple[tuple[Status, str], bool]:
        async with McpToolbox.stdio("m", *COMMAND) as box:
            call, process = await Box(box).waiting()
        return await call, runs(process)

    assert (lost("wait"), False) == asyncio.run(work())


def test_an_event_loop_that_ends_takes_the_server_along() -> None:
    async def work() -> int:
        box = McpToolbox.stdio("m", *COMMAND)
        await box.__aenter__()
        return int(await Box(box).text("chatter"))

    assert not runs(asyncio.run(work()))


def test_a_server_that_cannot_be_started_again_fails_the_call(tmp_path: Path) -> None:
    command = tmp_path / "server"
    command.write_text(f"#!/bin/sh\nexec {' '.join(COMMAND)}\n")
    command.chmod(0o700)

    async def work() -> tuple[Status, str]:
        async with McpToolbox.stdio("m", str(command)) as toolbox:
            box = Box(toolbox)
            os.unlink(command)
            await box.of("die")
            return await box.of("echo", '{"n":1}')

    status, text = asyncio.run(work())

    assert Status.FAILED == status
    assert text.startswith("Nothing was run: MCP server 'm': FileNotFoundError: ")


def test_only_what_is_safe_or_given_reaches_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")

    async def work(box: Box) -> set[str]:
        return set((await box.text("environment")).split())

    names = opened(work, env={"GIVEN": "1"})

    assert "GIVEN" in names
    assert names <= {"GIVEN", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


def test_what_a_server_prints_does_not_reach_our_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    async def work(box: Box) -> Status:
        return (await box.of("chatter"))[0]

    assert Status.SUCCEEDED == opened(work)
    assert ("", "") == capfd.readouterr()


def test_what_a_server_prints_goes_where_the_host_wants() -> None:
    async def work(box: Box) -> None:
        await box.of("chatter")

    with tempfile.TemporaryFile("w+") as errors:
        opened(work, stderr=errors)
        errors.seek(0)
        assert "on the terminal" in errors.read().splitlines()


def test_it_runs_in_the_folder_that_is_given() -> None:
    async def work() -> str:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(COMMAND[1], f"{folder}/server.py")
            async with McpToolbox.stdio("m", sys.executable, "server.py", cwd=folder) as box:
                return await Box(box).text("fail")

    assert "the disk is full" == asyncio.run(work())


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("/no/such/server",), "FileNotFoundError"),
        ((sys.executable, "-c", "1 / 0"), "Connection closed"),
        ((sys.executable, "-c", "print('no JSON')"), "Connection closed"),
    ],
)
def test_what_is_no_server_is_named(command: tuple[str, ...], why: str, capfd: pytest.CaptureFixture[str]) -> None:
    async def work() -> None:
        async with McpToolbox.stdio("m", *command):
            pass

    with pytest.raises(McpUnavailable, match=why):
        asyncio.run(work())
    assert ("", "") == capfd.readouterr()
