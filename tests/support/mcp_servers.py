"""
MCP servers for tests: the official SDK's server side, in memory, as a process of its own (this file, run), or over HTTP
on loopback; and one that answers over HTTP what it is told to.
"""

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import anyio
import uvicorn
from attrs import define, field
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.types import (
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    ListToolsResult,
    PaginatedRequestParams,
    RequestParams,
    TextContent,
    Tool,
)

from rodada.tools.mcp_transports import Receiving, Sending

AnyServer: TypeAlias = Server[Any]
Answer: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[CallToolResult]]
Connect: TypeAlias = Callable[[Callable[[], None]], Any]
ANYTHING: dict[str, Any] = {"type": "object"}


def listed(name: str, schema: dict[str, Any] = ANYTHING, **fields: Any) -> Tool:
    """
    A tool as a server lists it.
    """
    return Tool.model_validate({"name": name, "inputSchema": schema, **fields})


def said(*texts: str, failed: bool = False) -> CallToolResult:
    """
    A result of some texts.
    """
    return CallToolResult(content=[TextContent(text=text) for text in texts], is_error=failed)


async def echo(name: str, arguments: dict[str, Any]) -> CallToolResult:
    """
    Answers with what was asked.
    """
    return said(f"{name} {json.dumps(arguments, sort_keys=True)}")


def serving(tools: Iterable[Tool], answer: Answer = echo, page: int = 1_000_000) -> AnyServer:
    """
    A server of the SDK with some tools, of which it lists `page` at a time. The tools may be changed later on.
    """

    async def list_tools(_: object, params: PaginatedRequestParams | None) -> ListToolsResult:
        found = list(tools)
        start = int((params and params.cursor) or 0)
        more = str(start + page) if start + page < len(found) else None
        return ListToolsResult(tools=found[start : start + page], next_cursor=more)

    async def call_tool(_: object, params: CallToolRequestParams) -> CallToolResult:
        return await answer(params.name, params.arguments or {})

    return Server("for tests", on_list_tools=list_tools, on_call_tool=call_tool)


def older(server: AnyServer) -> AnyServer:
    """
    The server over HTTP, but one that knows only the older protocol, with its handshake.
    """

    async def unknown(_: object, __: object) -> EmptyResult:
        raise MCPError(METHOD_NOT_FOUND, "no such method")

    server.add_request_handler("server/discover", RequestParams, unknown)
    return server


def in_memory(server: AnyServer, *, is_older: bool = False) -> Connect:
    """
    The way to a server in this process, which speaks both protocols or only the older one.
    """

    @asynccontextmanager
    async def connected(ended: Callable[[], None]) -> AsyncGenerator[tuple[Any, Any]]:
        async with create_client_server_memory_streams() as (ours, theirs), anyio.create_task_group() as tasks:
            tasks.start_soon(_serve_older if is_older else _serve_both, server, *theirs)
            yield Receiving[Any](ours[0], ended), Sending[Any](ours[1])
            tasks.cancel_scope.cancel()

    return connected


async def _serve_both(server: AnyServer, read: Any, write: Any) -> None:
    await server.run(read, write, server.create_initialization_options())


async def _serve_older(server: AnyServer, read: Any, write: Any) -> None:
    options = server.create_initialization_options()
    await serve_loop(server, read, write, lifespan_state={}, init_options=options)


@contextmanager
def over_http(server: AnyServer, port: int = 0, **options: Any) -> Generator[str]:
    """
    The address of a server that runs in a thread.
    """
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()  # from here on a client finds it, and waits until it is served
        config = uvicorn.Config(server.streamable_http_app(**options), log_config=None, timeout_graceful_shutdown=1)
        web = uvicorn.Server(config)
        thread = threading.Thread(target=web.run, args=([listening],), name="MCP server of a test")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            web.should_exit = web.force_exit = True
            thread.join()


# A server over HTTP that speaks the older protocol, with a session, and answers calls as it is told to


@define
class Reply:
    """
    What it answers to one call: a status and a body; with `cut` it breaks off instead.
    """

    status: int = 200
    body: str = ""
    kind: str = "application/json"
    cut: bool = False


@define
class Told:
    """
    What it is to answer, and what it was asked. It answers the end of a session only when `holds_on` is set.
    """

    replies: list[Reply] = field(factory=list[Reply])
    sessions: int = 0
    calls: int = 0
    headers: list[dict[str, str]] = field(factory=list[dict[str, str]])
    holds_on: threading.Event | None = None


def result(text: str, kind: str = "application/json") -> Reply:
    """
    A good answer.
    """
    value = {"jsonrpc": "2.0", "id": 0, "result": {"content": [{"type": "text", "text": text}]}}
    return Reply(body=json.dumps(value), kind=kind)


def error(code: int, message: str, status: int = 200) -> Reply:
    """
    A JSON-RPC error.
    """
    value = {"jsonrpc": "2.0", "id": 0, "error": {"code": code, "message": message}}
    return Reply(status, json.dumps(value))


@contextmanager
def obeying(told: Told) -> Generator[str]:
    """
    The address of a server that lists one tool, `act`, and answers its calls by the replies in their order.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.headers.append(dict(self.headers))
            reply = _reply(told, asked)
            if reply.cut:
                self.close_connection = True
                return
            body = reply.body
            if body.startswith("{"):
                body = json.dumps({**json.loads(body), "id": asked.get("id")})
            self._answer(reply, body.encode())

        def do_GET(self) -> None:
            self._answer(Reply(405), b"")

        def do_DELETE(self) -> None:
            if told.holds_on is not None:
                told.holds_on.wait(20)
            self._answer(Reply(405), b"")

        def _answer(self, reply: Reply, body: bytes) -> None:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(body)))
            if reply.status == 200:
                self.send_header("Mcp-Session-Id", f"s{told.sessions}")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{web.server_address[1]}/mcp"
        finally:
            web.shutdown()
            thread.join()


def _reply(told: Told, asked: dict[str, Any]) -> Reply:
    value: dict[str, Any]
    match asked["method"]:
        case "initialize":
            told.sessions += 1
            info = {"name": "obeying", "version": "1"}
            value = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            value = {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]}
        case "tools/call":
            told.calls += 1
            return told.replies.pop(0)
        case method if "id" in asked:
            return error(-32601, f"no {method} here")
        case _:
            return Reply(202)
    return Reply(body=json.dumps({"jsonrpc": "2.0", "id": 0, "result": value}))


# The process


class Process:
    """
    What the tools of the process do. `began` and `stopped` answer when a `wait` began or was stopped, so that no test
    has to guess.
    """

    def __init__(self) -> None:
        self._began = asyncio.Semaphore(0)
        self._stopped = asyncio.Semaphore(0)

    async def answer(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """
        The result of a call.
        """
        match name:
            case "wait":
                self._began.release()
                try:
                    await asyncio.Event().wait()
                finally:
                    self._stopped.release()
            case "began":
                await self._began.acquire()
            case "stopped":
                await self._stopped.acquire()
            case "die":
                os._exit(1)
            case "fail":
                return said("the disk is full", failed=True)
            case "refuse":
                raise MCPError(-32000, "no such account")
            case "environment":
                return said(*sorted(os.environ))
            case "chatter":
                print("this is no JSON", flush=True)
                print("on the terminal", file=sys.stderr, flush=True)
            case _:
                return await echo(name, arguments)
        return said(str(os.getpid()))


NAMES = ("echo", "wait", "began", "stopped", "die", "fail", "refuse", "environment", "chatter")
COUNTED = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def _serve() -> None:
    tools = [listed(name, COUNTED if name == "echo" else ANYTHING) for name in NAMES]
    server = serving(tools, Process().answer)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


COMMAND = (sys.executable, __file__)

if __name__ == "__main__":
    asyncio.run(_serve())
