"""
What OpenAI's two classes have in common: a model, a client for each event loop, and the time of a call.
"""

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from rodada.providers.clients import LoopClients
from rodada.statemachine.errors import ProviderTimeout
from rodada.statemachine.messages import ModelTurn
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIProvider(ABC):
    """
    One model on one of OpenAI's wires.

    Args:
        model: as the server names it.
        clients: of the SDK.

    Attributes:
        wire: its name in turns and errors.
    """

    wire: ClassVar[str]

    def __init__(self, model: str, clients: "LoopClients[AsyncOpenAI]") -> None:
        self.model = model
        self._clients = clients

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        """
        One request, one turn.

        Raises:
            ProviderError: no turn came.
            WrongEventLoop: a given client was first used on another event loop.
        """
        client = self._clients.here()
        try:
            async with asyncio.timeout(request.seconds):
                return await self._ask(client, request, watch)
        except TimeoutError:
            raise ProviderTimeout(self.wire, f"no answer within {request.seconds} s") from None

    @property
    def streams(self) -> bool:
        """
        It can.
        """
        return True

    async def aclose(self) -> None:
        """
        Close the client that was made for the running event loop; a given one stays open.
        """
        await self._clients.aclose(lambda client: client.close())

    @abstractmethod
    async def _ask(self, client: "AsyncOpenAI", request: ModelRequest, watch: Watch) -> ModelTurn: ...
