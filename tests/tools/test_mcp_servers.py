"""
The servers that people use: two from PyPI, and two from npm, which `.ci/run` installs.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import ToolLoop
from rodada.statemachine.messages import Media, Status, Text, ToolResult
from rodada.tools import McpToolbox
from support.mcp_servers import COMMAND
from support.tool_calls import called

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
OURS = Path(sys.executable).parent
THEIRS = ROOT / ".mcp-servers" / "node_modules" / ".bin"


def command(name: str) -> str:
    for folder in (OURS, THEIRS):
        if (folder / name).exists():
            return str(folder / name)
    pytest.skip(f"{name} is not installed: .ci/run does it, by npm, into {THEIRS.parent.parent.name}/")


def calls(toolbox: McpToolbox, *asked: tuple[str, str]) -> list[tuple[Status, str]]:
    with toolbox as box:
        tools = {tool.name.removeprefix(f"{box.server}_"): tool for tool in box.tools}
        assert () == box.left_out
        results = [asyncio.run(called(tools[name], raw)) for name, raw in asked]
    return [(result.status, result.text) for result in results]


def test_a_process_that_does_not_heed_its_end_is_killed() -> None:
    ignores = "import signal, runpy, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    stays = f"try: runpy.run_path({COMMAND[1]!r}, run_name='__main__')\nfinally: import time; time.sleep(60)"

    with McpToolbox.stdio("m", sys.executable, "-c", f"{ignores}{stays}") as box:
        (pid,) = [tool for tool in box.tools if tool.name == "m_chatter"]
        process = int(asyncio.run(called(pid)).text)

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_time() -> None:
    tokyo = '{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}'

    good, bad = calls(
        McpToolbox.stdio("clock", command("mcp-server-time")),
        ("convert_time", tokyo),
        ("get_current_time", '{"timezone":"Mars"}'),
    )

    assert (Status.SUCCEEDED, True) == (good[0], "21:00:00+09:00" in good[1])
    assert (Status.FAILED, True) == (bad[0], "No time zone found with key Mars" in bad[1])


def git(folder: Path, *arguments: str) -> None:
    names = {f"GIT_{who}_{what}": "ana" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **names}, check=True, capture_output=True)


def test_git_in_a_loop(tmp_path: Path) -> None:
    git(tmp_path, "init", "--initial-branch", "main")
    git(tmp_path, "commit", "--allow-empty", "--message", "The first one")
    where = {"repo_path": str(tmp_path)}
    asked = [Call("repo_git_log", {**where, "max_count": 1}), Call("repo_git_log", {"repo_path": "/"})]
    server = McpToolbox.stdio("repo", command("mcp-server-git"), "--repository", str(tmp_path))

    with server, ToolLoop(Scripted([Turn(calls=asked), Turn("One commit.")]), tools=server.tools) as loop:
        outcome = loop.run_sync("What was done?")

    assert "One commit." == outcome.answer
    assert [Status.SUCCEEDED, Status.FAILED] == [call.status for call in outcome.calls]
    assert "The first one" in outcome.calls[0].text
    assert "outside the allowed repository" in outcome.calls[1].text


def test_filesystem(tmp_path: Path) -> None:
    server = McpToolbox.stdio("files", command("mcp-server-filesystem"), str(tmp_path.resolve()))
    path = f'"path":"{tmp_path.resolve()}/a.txt"'

    written, read, refused = calls(
        server,
        ("write_file", f'{{{path},"content":"bench press"}}'),
        ("read_text_file", f"{{{path}}}"),
        ("read_text_file", '{"path":"/etc/hostname"}'),
    )

    assert (Status.SUCCEEDED, "bench press") == (written[0], (tmp_path / "a.txt").read_text())
    assert (Status.SUCCEEDED, "bench press") == read
    assert (Status.FAILED, True) == (refused[0], refused[1].startswith("Access denied"))


def everything(box: McpToolbox, name: str, raw: str) -> ToolResult:
    (tool,) = [tool for tool in box.tools if tool.name == f"{box.server}_{name}"]
    return asyncio.run(called(tool, raw))


def test_everything() -> None:
    with McpToolbox.stdio("all", command("mcp-server-everything")) as box:
        image = everything(box, "get-tiny-image", "{}")
        links = everything(box, "get-resource-links", '{"count":1}')
        blob = everything(box, "get-resource-reference", '{"resourceType":"Blob","resourceId":1}')
        weather = everything(box, "get-structured-content", '{"location":"Chicago"}')
        bad = everything(box, "get-sum", '{"a":"x","b":2}')

    assert [Text, Media, Text] == [type(part) for part in image.content]
    assert '{"resource_link":{"uri":"demo://resource/' in links.text
    assert ["text/plain"] == [part.media_type for part in blob.content if isinstance(part, Media)]
    assert (Status.SUCCEEDED, 1) == (weather.status, weather.text.count("temperature"))
    assert (Status.FAILED, True) == (bad.status, bad.text.startswith("all_get-sum was not run; its arguments: a: "))


@contextmanager
def everything_over_http(port: int) -> Generator[None]:
    web = subprocess.Popen(
        [command("mcp-server-everything"), "streamableHttp"],
        env={**os.environ, "PORT": str(port)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    with web:
        assert web.stderr
        assert any("listening on port" in line for line in web.stderr)
        try:
            yield
        finally:
            web.kill()


def test_everything_over_http_and_after_it_was_started_anew(unused_port: int) -> None:
    box = McpToolbox.http("all", f"http://127.0.0.1:{unused_port}/mcp")
    with everything_over_http(unused_port):
        box.__enter__()
        found = [everything(box, "echo", '{"message":"one"}')]
    found.append(everything(box, "echo", '{"message":"two"}'))
    with everything_over_http(unused_port):
        found.append(everything(box, "echo", '{"message":"three"}'))
        box.close()

    away = "Nothing was run: it cannot be reached (ConnectError)."
    assert ["Echo: one", away, "Echo: three"] == [result.text for result in found]


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
    return port
