"""
A server that is kept connected: when its connection has ended, the next call starts it again, once. Imports the SDK:
only on first use.
"""

import asyncio
from collections.abc import Callable, Mapping

from mcp.types import CallToolResult, Tool

from rodada.statemachine.log import log_info, log_warning
from rodada.tools.errors import McpError, McpNotOpen, McpUnavailable, ToolError
from rodada.tools.mcp_connection import Connect, Connection
from rodada.tools.mcp_failures import SessionGone, Unsent


class Session:
    """
    A server that is kept connected; everything of it happens on one event loop.

    Args:
        server: its name.
        connect: makes the way to it.
        over_http: whether that way is HTTP.
        seconds: the time that each start of it, and each listing of its tools, may take.
        changed: told when the server says that its list of tools is another one.
    """

    def __init__(
        self, server: str, connect: Connect, *, over_http: bool, seconds: float, changed: Callable[[], None]
    ) -> None:
        self._server = server
        self._connect = connect
        self._over_http = over_http
        self._seconds = seconds
        self._changed = changed
        self._closed = False
        self._one_at_a_time = asyncio.Lock()
        self._connection: Connection | None = None

    async def open(self) -> None:
        """
        Connect for the first time.

        Raises:
            McpUnavailable: the server cannot be started or reached.
        """
        await self._connect_anew()

    async def close(self) -> None:
        """
        End the connection for good, and wait until nothing of it is left.
        """
        self._closed = True
        if self._connection is not None:
            await self._connection.close()

    async def tools(self) -> list[Tool]:
        """
        All that the server offers now.

        Raises:
            McpUnavailable, McpNotOpen: it does not answer, or was closed.
        """
        try:
            async with asyncio.timeout(self._seconds):
                return await (await self._live()).tools()
        except TimeoutError:
            raise McpUnavailable(self._server, f"it did not list its tools within {self._seconds:g} s") from None

    async def call(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
        """
        One call of a tool. Only one that never began is sent a second time.

        Raises:
            ToolError: it failed, or never began.
            OutcomeUnknown: it was sent, and no answer came back.
        """
        try:
            return await self._called(tool, arguments)
        except (McpError, Unsent) as error:
            raise ToolError(f"Nothing was run: {error}.") from None

    async def _called(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
        connection = await self._live()
        try:
            return await connection.call(tool, arguments)
        except SessionGone:
            return await (await self._live(instead_of=connection)).call(tool, arguments)

    async def _live(self, instead_of: Connection | None = None) -> Connection:
        async with self._one_at_a_time:
            last = self._connection
            if self._closed or last is None:
                raise McpNotOpen(self._server, "it was closed")
            if last.alive and last is not instead_of:
                return last
            log_warning("mcp.starting_again", server=self._server)
            await last.close()
            anew = await self._connect_anew()
            log_info("mcp.started_again", server=self._server)
            return anew

    async def _connect_anew(self) -> Connection:
        if self._closed:
            raise McpNotOpen(self._server, "it was closed")
        # Known before it is open, so that `close` ends it too.
        self._connection = anew = Connection(
            self._server, self._connect, over_http=self._over_http, changed=self._changed
        )
        await anew.opened(self._seconds)
        return anew
