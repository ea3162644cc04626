"""
Both of OpenAI's wires, each through its class and the real SDK, against the loopback server.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import pytest
from attrs import field, frozen

from rodada.providers import openai_chat, openai_responses
from rodada.providers.loopback import Deviation, Loopback, Reply, Script
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import ProviderError
from rodada.statemachine.messages import Exchange, ModelTurn, Status, Text, ToolResult, UserMessage
from rodada.statemachine.notice import Delta
from rodada.statemachine.request import ModelRequest, ToolDeclaration

KEY = "sk-secret-0123456789"
TOOLS = (ToolDeclaration("weather", "Tells the weather."), ToolDeclaration("goal", "Saves a goal."))
Value = TypeVar("Value")
OpenAIProvider = OpenAIChat | OpenAIResponses


def started(text: str = "How much?") -> Conversation:
    """
    A conversation of one message.
    """
    return Conversation("c", (UserMessage("u", (Text(text),)),))


def answered(conversation: Conversation, turn: ModelTurn) -> Conversation:
    """
    The conversation with a turn whose calls all succeeded.
    """
    results = tuple(ToolResult.of(each, Status.SUCCEEDED, f"of {each.raw}") for each in turn.requests)
    return conversation.append(Exchange(turn, results))


def asking(conversation: Conversation) -> ModelRequest:
    """
    What is asked next.
    """
    return ModelRequest(conversation=conversation, tools=TOOLS, instructions="Be kind.")


def ignore(delta: Delta) -> None:
    """
    Watch what does not stream.
    """
    raise AssertionError(f"nothing is told before the turn is whole, got {delta}")


def wait_for_hang_up(server: Loopback) -> None:
    """
    Wait until the provider has closed a connection.
    """
    limit = time.monotonic() + 10
    while server.hung_up == 0:
        assert time.monotonic() < limit, "the connection stayed open"
        threading.Event().wait(0.002)


@frozen
class OpenAIWire:
    """
    One wire.

    Attributes:
        name: as in errors and turns.
        kind: the class of the provider.
        model: that is asked.
        path: of the loopback server.
        elsewhere: the options that the class refuses.
    """

    name: str
    kind: type[OpenAIChat] | type[OpenAIResponses] = field(repr=False)
    model: str
    path: Literal["openai", "openai_chat"]
    elsewhere: Mapping[str, str] = field(repr=False)

    def provider(self, **settings: Any) -> OpenAIProvider:
        """
        A provider of this wire.
        """
        return self.kind(self.model, **settings)

    def play(
        self,
        script: Script,
        use: Callable[[OpenAIProvider], Awaitable[Value]],
        *,
        deviations: Sequence[Deviation] = (),
        **settings: Any,
    ) -> tuple[Value, Loopback]:
        """
        What `use` gives with a provider that talks to a server playing the script, and the server.
        """

        async def whole(server: Loopback) -> Value:
            provider = self.provider(api_key=KEY, base_url=server.base_url(self.path), **settings)
            try:
                return await use(provider)
            finally:
                await provider.aclose()

        with Loopback(script, chat_deviations={self.model: deviations}) as server:
            return asyncio.run(whole(server)), server

    def one(
        self, reply: Reply, request: ModelRequest | None = None, options: Mapping[str, object] | None = None
    ) -> ModelTurn:
        """
        The turn of one reply.
        """
        sent = request or asking(started())
        return self.play([reply], lambda provider: provider.ask(sent, ignore), options=options)[0]

    def failed(self, reply: Reply, request: ModelRequest | None = None) -> ProviderError:
        """
        The error of one reply.
        """
        with pytest.raises(ProviderError) as caught:
            self.one(reply, request)
        return caught.value


RESPONSES = OpenAIWire("openai_responses", OpenAIResponses, "gpt-5.6", "openai", openai_responses.ELSEWHERE)
CHAT = OpenAIWire("openai_chat", OpenAIChat, "gpt-4.1", "openai_chat", openai_chat.ELSEWHERE)
