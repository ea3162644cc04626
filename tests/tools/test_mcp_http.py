"""
Servers over streamable HTTP, on loopback.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from mcp.types import CallToolResult

from rodada.statemachine.messages import Status
from rodada.tools import McpToolbox, McpUnavailable, mcp_connection
from support.mcp_servers import (
    AnyServer,
    Reply,
    Told,
    error,
    listed,
    obeying,
    older,
    over_http,
    result,
    said,
    serving,
)
from support.tool_calls import called

LOST = "act was sent to its MCP server, but {}: it may have taken effect, and its result is not known."


def newer(server: AnyServer) -> AnyServer:
    return server


def calls(url: str, count: int, **options: Any) -> list[tuple[Status, str]]:
    async def work() -> list[tuple[Status, str]]:
        async with McpToolbox.http("m", url, **options) as box:
            found = [await called(box.tools[0]) for _ in range(count)]
        return [(each.status, each.text) for each in found]

    return asyncio.run(work())


def answers(*replies: Reply) -> tuple[list[tuple[Status, str]], Told]:
    """
    What as many calls as there are replies ended as; one that is sent a second time takes two.
    """
    told = Told([*replies, result("the end")])
    found: list[tuple[Status, str]] = []

    async def work(url: str) -> None:
        async with McpToolbox.http("m", url) as box:
            while told.replies:
                each = await called(box.tools[0])
                found.append((each.status, each.text))

    with obeying(told) as url:
        asyncio.run(work(url))
    return found, told


END = (Status.SUCCEEDED, "the end")


@pytest.mark.parametrize("era", [older, newer])
@pytest.mark.parametrize("options", [{}, {"json_response": True}, {"stateless_http": True}], ids=str)
def test_a_server_of_the_sdk_is_listed_and_called(
    era: Callable[[AnyServer], AnyServer], options: dict[str, Any]
) -> None:
    with over_http(era(serving([listed("act")])), **options) as url:
        assert [(Status.SUCCEEDED, "act {}")] * 2 == calls(url, 2)


@pytest.mark.parametrize("era", [older, newer])
def test_a_server_that_was_started_anew_takes_the_next_call(era: Callable[[AnyServer], AnyServer]) -> None:
    def server() -> AnyServer:
        return era(serving([listed("act")]))

    async def work() -> list[tuple[Status, str]]:
        with over_http(server()) as url:
            box = await McpToolbox.http("m", url).__aenter__()
            found = [await called(box.tools[0])]
        found.append(await called(box.tools[0]))
        with over_http(server(), port=int(url.split(":")[2].split("/")[0])):
            found.append(await called(box.tools[0]))
            await box.aclose()
        return [(each.status, each.text) for each in found]

    away = "Nothing was run: it cannot be reached (ConnectError)."
    assert [(Status.SUCCEEDED, "act {}"), (Status.FAILED, away), (Status.SUCCEEDED, "act {}")] == asyncio.run(work())


@pytest.mark.parametrize(
    "gone", [Reply(404), error(-32001, "gone", 404), error(-32000, "No valid session ID", 400), Reply(400, "What?")]
)
def test_a_call_that_a_forgotten_session_refused_is_sent_once_more(gone: Reply) -> None:
    found, told = answers(gone, result("done"))

    assert [(Status.SUCCEEDED, "done"), END] == found
    assert (2, 3) == (told.sessions, told.calls)


def test_a_session_that_is_refused_twice_fails_the_call() -> None:
    found, told = answers(Reply(404), Reply(404))

    assert [(Status.FAILED, "Nothing was run: it does not know this session any more."), END] == found
    assert (2, 3) == (told.sessions, told.calls)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(cut=True), "the connection was lost before its answer came"),
        (Reply(502), "it was answered with HTTP status 502"),
        (Reply(200, "<html>"), "the connection was lost before its answer came"),
        (Reply(200, "event: x\n\n", "text/event-stream"), "the connection was lost before its answer came"),
        (Reply(200, '{"jsonrpc":"2.0","result":{"content":3}}'), "its answer cannot be read"),
    ],
)
def test_an_answer_that_is_lost_is_never_asked_for_again(reply: Reply, why: str) -> None:
    found, told = answers(reply)

    assert [(Status.OUTCOME_UNKNOWN, LOST.format(why)), END] == found
    assert (1, 2) == (told.sessions, told.calls)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (error(-32602, "no such account"), "no such account (code -32602)."),
        (error(-32602, "no such account", 400), "no such account (code -32602, HTTP status 400)."),
        (Reply(403), "Server returned an error response (code -32603, HTTP status 403)."),
    ],
)
def test_what_the_server_refuses_is_failed(reply: Reply, text: str) -> None:
    found, _ = answers(reply)

    assert [(Status.FAILED, f"act failed: its MCP server answered with an error: {text}"), END] == found


def test_an_answer_may_come_as_a_stream() -> None:
    event = f"event: message\ndata: {result('streamed').body}\n\n".replace('"id": 0', '"id": 3')

    assert [(Status.SUCCEEDED, "streamed"), END] == answers(Reply(200, event, "text/event-stream"))[0]


@pytest.mark.parametrize("era", [older, newer])
def test_a_cancelled_call_leaves_the_connection_whole(era: Callable[[AnyServer], AnyServer]) -> None:
    began, stopped = threading.Event(), threading.Event()

    async def answer(name: str, arguments: dict[str, Any]) -> CallToolResult:
        if name == "echo":
            return said("still there")
        began.set()
        try:
            return await asyncio.Future()
        finally:
            stopped.set()

    async def work(url: str) -> str:
        async with McpToolbox.http("m", url) as box:
            call = asyncio.create_task(called(box.tools[0]))
            assert await asyncio.to_thread(began.wait, 20)
            call.cancel()
            assert await asyncio.to_thread(stopped.wait, 20)
            return (await called(box.tools[1])).text

    with over_http(era(serving([listed("wait"), listed("echo")], answer))) as url:
        assert "still there" == asyncio.run(work(url))


def test_a_server_that_does_not_let_go_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_connection, "CLOSING_SECONDS", 0.05)
    hold = threading.Event()
    told = Told([result("done")], holds_on=hold)
    with obeying(told) as url:
        assert [(Status.SUCCEEDED, "done")] == calls(url, 1)
        hold.set()


def test_headers_are_sent_with_every_request() -> None:
    told = Told([result("done")])
    with obeying(told) as url:
        calls(url, 1, headers={"Authorization": "Bearer key"})

    assert {"Bearer key"} == {headers["authorization"] for headers in map(_small, told.headers)}


def _small(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(McpUnavailable, match="ConnectError"):
            calls(f"http://127.0.0.1:{bound.getsockname()[1]}/mcp", 0)
