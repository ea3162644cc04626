"""
One connection to an MCP server, from its start to its end. The SDK's session must be entered and left in one task: that
task is owned here, so that calls may be cancelled, and the connection closed, from any other. Imports the SDK: only on
first use.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from importlib.metadata import version
from typing import TypeAlias, cast

import anyio
from mcp import Client, MCPError
from mcp.client import IncomingMessage
from mcp.types import CallToolResult, Implementation, Tool, ToolListChangedNotification
from pydantic import ValidationError

from rodada.statemachine.jsontext import clean_text
from rodada.statemachine.log import log_info
from rodada.tools.errors import McpUnavailable
from rodada.tools.mcp_delivery import Delivery, noting
from rodada.tools.mcp_failures import Sent, judged
from rodada.tools.mcp_transports import Transport
from rodada.tools.value_text import error_name

Connect: TypeAlias = Callable[[Callable[[], None]], Transport]

MOST_PAGES = 1000
MOST_TOOLS = 10_000
CLOSING_SECONDS = 5.0
LONGEST_REASON = 300
OWN_WORDS = (MCPError, OSError)


class Connection:
    """
    One connection, which begins when it is built; everything of it happens on the event loop that it was built on.

    Args:
        server: its name.
        connect: makes the way to it, given what is to be told of its end.
        over_http: whether that way is HTTP.
        changed: told when the server says that its list of tools is another one.
    """

    def __init__(self, server: str, connect: Connect, *, over_http: bool, changed: Callable[[], None]) -> None:
        self._server = server
        self._connect = connect
        self._over_http = over_http
        self._changed = changed
        self._start = Delivery()
        self._over = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(), name=f"rodada MCP server {server}")

    @property
    def alive(self) -> bool:
        """
        Whether the server still answers, as far as is known.
        """
        return not self._over.is_set()

    async def opened(self, seconds: float) -> None:
        """
        Wait until the server has said what it is. When it does not, nothing of it is left.

        Raises:
            McpUnavailable: it did not start, or not within its time.
        """
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(self._client)
        except TimeoutError:
            await self.close()
            raise McpUnavailable(self._server, f"it did not start within {seconds:g} s") from None
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """
        End the connection and wait until nothing of it is left. Calls that are under way lose their answer.
        """
        self._over.set()
        if not self._client.done():
            self._scope.cancel()
        try:
            await asyncio.wait({self._owner}, timeout=CLOSING_SECONDS)
        finally:
            # A scope, unlike the cancel of a task, leaves the SDK the time that it needs to end the server's process.
            self._scope.cancel()
        await asyncio.wait({self._owner})

    async def tools(self) -> list[Tool]:
        """
        All that the server offers now.

        Raises:
            McpUnavailable: it does not answer, or its list has no end.
        """
        try:
            return [tool async for tool in self._listed(await self._client)]
        except (MCPError, ValidationError, RuntimeError) as error:
            raise McpUnavailable(self._server, f"its tools cannot be listed ({_reason(error)})") from None

    async def call(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
        """
        One call of a tool.

        Raises:
            Unsent: it never began.
            ToolError: the server answered with an error.
            OutcomeUnknown: it was sent, and no answer came back.
        """
        delivery = Delivery()
        client = await self._client
        has_session = client.session.initialize_result is not None
        try:
            with noting(delivery):
                return await client.call_tool(tool, dict(arguments))
        except Exception as error:  # noqa: BLE001 - the SDK lets many through
            sent = Sent(self._server, tool, delivery, not self.alive, has_session, self._over_http)
            raise judged(error, sent) from None

    async def _own(self) -> None:
        try:
            with self._scope, noting(self._start):
                async with self._made() as client:
                    self._client.set_result(client)
                    await self._held(client)
        except Exception as error:  # noqa: BLE001 - told to whoever waits; a connection that breaks later just ends
            self._fail(_reason(error))
        finally:
            self._over.set()
            self._fail("it ended before it had started")

    def _made(self) -> Client:
        info = Implementation(name="rodada", version=version("rodada"))
        return Client(self._connect(self._over.set), message_handler=self._heard, client_info=info, cache=None)

    def _fail(self, why: str) -> None:
        if not self._client.done():
            self._client.set_exception(McpUnavailable(self._server, self._start.broken or why))
            self._client.exception()

    async def _held(self, client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, client)
            await self._over.wait()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: Client) -> None:
        # Servers of the newer protocol tell of changes only to whoever listens.
        told = client.server_capabilities.tools
        if client.session.initialize_result is not None or told is None or not told.list_changed:
            return
        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._changed()
        except Exception as error:  # noqa: BLE001 - who cannot be listened to is still there to be called
            log_info("mcp.changes_not_told", server=self._server, error=error_name(error))

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed()

    async def _listed(self, client: Client) -> AsyncIterator[Tool]:
        cursor: str | None = None
        told = 0
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            told += len(page.tools)
            for tool in page.tools:
                yield tool
            if page.next_cursor is None:
                return
            if page.next_cursor == cursor or told > MOST_TOOLS:
                break
            cursor = page.next_cursor
        raise McpUnavailable(self._server, f"its list of tools has no end: {told} tools came")


def _reason(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return _reason(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    told = clean_text(str(error)) if isinstance(error, OWN_WORDS) else ""
    return f"{error_name(error)}: {told[:LONGEST_REASON]!r}" if told else error_name(error)
