"""
The tools of an MCP server, over the official SDK.

What a server says is a stranger's word: its descriptions and results are for the model to read, its hints decide
nothing unless the host trusts them, and each of its tools is a write unless the host says otherwise.
"""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO, TypedDict, Unpack

from attrs import frozen

from rodada.statemachine.drivers.background import run_in_background
from rodada.statemachine.errors import InvalidValue, MissingExtra
from rodada.statemachine.log import log_info, log_warning
from rodada.tools.decorator import Tool
from rodada.tools.errors import McpNotOpen, OutcomeUnknown, ToolError
from rodada.tools.home_loop import HomeGone, HomeLoop
from rodada.tools.mcp_names import check_server
from rodada.tools.mcp_tools import LeftOut, Offer, Terms, offered
from rodada.tools.options import ToolOptions

if TYPE_CHECKING:
    import httpx2

    from rodada.tools.mcp_connection import Connect
    from rodada.tools.mcp_session import Session

WAY_OUT = (
    "its toolbox was opened on an event loop that does not run any more, or in another process: open it where its "
    "tools are used, or with a plain `with`, which keeps it on a loop of its own"
)


class McpOptions(TypedDict, total=False):
    """
    What the host may say of a server.

    Attributes:
        options: what `@tool` would be told, of single tools, by the server's own names:
            `{"git_commit": {"needs_approval": True}}`. A name that the server does not list is refused.
        usual: the same of all other tools.
        trust_hints: take the server's word for which of those only read, and which may be repeated.
        start_seconds: the time that each start of the server, and each listing of its tools, may take; 30 if not given.
    """

    options: Mapping[str, ToolOptions]
    usual: ToolOptions
    trust_hints: bool
    start_seconds: float


@frozen(eq=False)
class _Open:
    home: HomeLoop
    session: "Session"


class McpToolbox:
    """
    An MCP server whose tools stand beside others in one `ToolLoop(tools=[*mine, *server.tools])`. Build it with
    `McpToolbox.stdio` or `McpToolbox.http` and open it with `async with`, or with a plain `with` for `run_sync`. Its
    tools may be called from any event loop of the process.

    A server that has died is started again by the next call, once. A call that was sent and whose answer was lost ends
    as "outcome unknown", and is never sent again. What a server asks of its client (sampling, elicitation, roots) is
    refused.

    Attributes:
        server: its name, which stands in front of the names of its tools.
    """

    def __init__(self, server: str, connect: "Connect", *, over_http: bool, terms: Terms) -> None:
        self.server = check_server(server)
        self._connect = connect
        self._over_http = over_http
        self._terms = terms
        self._open: _Open | None = None
        self._offer: Offer | None = None
        self._changed = False

    @classmethod
    def stdio(
        cls,
        server: str,
        command: str,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        stderr: TextIO | None = None,
        **options: Unpack[McpOptions],
    ) -> Self:
        """
        A server that is a process of ours, on its standard input and output.

        Args:
            server: 1 to 32 letters, digits, _ and -.
            command, args: what is started; no shell reads it.
            env: variables for it, beside the few that the SDK holds to be safe (such as PATH and HOME); no other
                variable of this process reaches it.
            cwd: its working directory; this process's own if not given.
            stderr: an open file for what it writes there; nowhere if not given.
            options: as in `McpOptions`.

        Raises:
            InvalidValue, ToolDefinitionError: one of them is of the wrong kind or out of range.
            MissingExtra: the SDK is not installed.
        """
        sdk, given = _sdk(), (command, args, dict(env or {}), None if cwd is None else str(cwd), stderr)
        return cls(server, lambda ended: sdk.over_stdio(*given, ended), over_http=False, terms=Terms(**options))

    @classmethod
    def http(
        cls,
        server: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        auth: "httpx2.Auth | None" = None,
        **options: Unpack[McpOptions],
    ) -> Self:
        """
        A server at an address, over streamable HTTP.

        Args:
            server: 1 to 32 letters, digits, _ and -.
            url: its endpoint, http or https.
            headers: for every request, such as an authorization.
            auth: a flow of `httpx2`, such as one of the SDK's OAuth providers.
            options: as in `McpOptions`.

        Raises:
            InvalidValue, ToolDefinitionError: one of them is of the wrong kind or out of range.
            MissingExtra: the SDK is not installed.
        """
        if not url.startswith(("http://", "https://")):
            raise InvalidValue("url", "takes an address that begins with http:// or https://")
        sdk, given = _sdk(), (url, dict(headers or {}), auth)
        return cls(server, lambda _ended: sdk.over_http(*given), over_http=True, terms=Terms(**options))

    def __repr__(self) -> str:
        return f"<McpToolbox {self.server!r}, {'closed' if self._open is None else 'open'}>"

    @property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        """
        What the server offered when it was opened, or last asked by `refresh`.

        Raises:
            McpNotOpen: it was never opened.
        """
        return self._known().tools

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """
        What the server lists that cannot be a tool, and why.

        Raises:
            McpNotOpen: it was never opened.
        """
        return self._known().left_out

    @property
    def changed(self) -> bool:
        """
        Whether the server has said that its list is another one since it was last asked.
        """
        return self._changed

    async def refresh(self) -> tuple[Tool[..., Any], ...]:
        """
        Ask the server again for what it offers. A loop keeps the tools that it was built with.

        Raises:
            McpNotOpen: it is not open, or cannot be reached from here.
            McpUnavailable: the server does not answer.
            ToolDefinitionError: `options` name a tool that is not there any more.
        """
        now = self._now()
        try:
            self._offer = await now.home.run(lambda: self._listed(now.session))
        except HomeGone:
            raise McpNotOpen(self.server, WAY_OUT) from None
        return self._offer.tools

    def refresh_sync(self) -> tuple[Tool[..., Any], ...]:
        """
        The same where no event loop runs.

        Raises:
            RunningLoop: an event loop runs in this thread; use `await toolbox.refresh()` there.
            McpNotOpen, McpUnavailable, ToolDefinitionError: as in `refresh`.
        """
        return run_in_background(self.refresh())

    async def aclose(self) -> None:
        """
        End the connection; nothing of the server is left running. Calls that are under way end as "outcome unknown".
        """
        now, self._open = self._open, None
        if now is None:
            return
        try:
            await now.home.run(now.session.close)
        except HomeGone:
            # With its loop the connection has ended.
            log_info("mcp.loop_was_gone", server=self.server)

    async def __aenter__(self) -> Self:
        if self._open is not None:
            raise InvalidValue(f"McpToolbox {self.server!r}", "is open: one toolbox is one connection, make another")
        self._open = now = _Open(HomeLoop(), self._session())
        try:
            await now.session.open()
            self._offer = await self._listed(now.session)
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return run_in_background(self.__aenter__())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """
        End the connection where no event loop runs.

        Raises:
            RunningLoop: an event loop runs in this thread; use `await toolbox.aclose()` there.
        """
        run_in_background(self.aclose())

    def _session(self) -> "Session":
        from rodada.tools.mcp_session import Session

        seconds = self._terms.start_seconds
        return Session(self.server, self._connect, over_http=self._over_http, seconds=seconds, changed=self._note)

    def _note(self) -> None:
        self._changed = True
        log_info("mcp.tools_changed", server=self.server)

    def _known(self) -> Offer:
        if self._offer is None:
            raise McpNotOpen(self.server, "its tools are not known before it is opened: use `async with` or `with`")
        return self._offer

    def _now(self) -> _Open:
        if self._open is None:
            raise McpNotOpen(self.server, "it is not open: use its tools inside its `async with` or `with`")
        return self._open

    async def _listed(self, session: "Session") -> Offer:
        self._changed = False
        # Some milliseconds for each schema, which a list of a thousand should not take from the event loop.
        offer = await asyncio.to_thread(offered, self.server, await session.tools(), self._call, self._terms)
        for each in offer.left_out:
            log_warning("mcp.tool_left_out", server=self.server, tool=ascii(each.name), why=ascii(each.why))
        return offer

    async def _call(self, tool: str, /, **arguments: object) -> object:
        from rodada.tools.mcp_content import content

        try:
            now = self._now()
            result = await now.home.run(lambda: now.session.call(tool, arguments))
        except McpNotOpen as error:
            raise ToolError(f"Nothing was run: {error}.") from None
        except HomeGone as error:
            if error.began:
                raise OutcomeUnknown("Its server was left behind while it ran: its result is not known.") from None
            raise ToolError(f"Nothing was run: {McpNotOpen(self.server, WAY_OUT)}.") from None
        return content(result)


def _sdk() -> ModuleType:
    # Imported within the first call it would hold the event loop, and with it every run, for about a second.
    if find_spec("mcp") is None:
        raise MissingExtra("mcp", "mcp")
    for module in ("mcp_content", "mcp_session"):
        import_module(f"rodada.tools.{module}")
    return import_module("rodada.tools.mcp_transports")
