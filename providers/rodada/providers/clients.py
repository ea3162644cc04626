"""
One SDK client for each event loop: an async client's connections belong to the loop they were opened on.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from rodada.statemachine.errors import ProviderOffline, WrongEventLoop

ClientT = TypeVar("ClientT")
OFFLINE = "RODADA_OFFLINE"


class LoopClients(Generic[ClientT]):
    """
    The clients of one provider: a given one, or one made for each event loop on first use.
    """

    def __init__(self, provider: str, make: Callable[[], ClientT], given: ClientT | None = None) -> None:
        self._provider = provider
        self._make = make
        self._given = given
        self._made: dict[asyncio.AbstractEventLoop, ClientT] = {}
        self._bound: asyncio.AbstractEventLoop | None = None

    def here(self) -> ClientT:
        """
        The client for the running event loop.

        Raises:
            ProviderOffline: RODADA_OFFLINE says that nothing may be sent.
            WrongEventLoop: a client was given, and it was first used on another loop.
        """
        if os.environ.get(OFFLINE, "0") not in ("", "0"):
            raise ProviderOffline(self._provider, f"{OFFLINE} is set in the environment, so nothing was sent")
        loop = asyncio.get_running_loop()
        if self._given is not None:
            if self._bound is None:
                self._bound = loop
            if self._bound is not loop:
                raise WrongEventLoop(self._provider)
            return self._given
        if loop not in self._made:
            self._forget_closed()
            self._made[loop] = self._make()
        return self._made[loop]

    def _forget_closed(self) -> None:
        """
        A client whose loop was closed can no longer be closed there; let go of, it frees its sockets.
        """
        for loop in [loop for loop in self._made if loop.is_closed()]:
            self._made.pop(loop, None)

    async def aclose(self, close: Callable[[ClientT], Awaitable[object]]) -> None:
        """
        Close the client that was made for the running loop. A given one is the host's to close; those of other
        loops can only be closed there.
        """
        client = self._made.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await close(client)
