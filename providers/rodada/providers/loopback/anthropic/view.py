"""
A request of the Messages API as its rules look at it.
"""

from collections.abc import Iterator

from attrs import frozen

from rodada.providers.loopback.anthropic.memory import Memory
from rodada.providers.loopback.anthropic.messages import Said, messages_of
from rodada.providers.loopback.json_values import Object
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Failure


@frozen
class View:
    """
    The request, its messages, what the server remembers of the turns it sent, and whether it accepts a tool loop from
    which all thinking was removed.
    """

    received: Received
    messages: tuple[Said, ...]
    memory: Memory
    stripped_thinking: bool

    @property
    def body(self) -> Object:
        return self.received.body

    @property
    def model(self) -> str:
        return self.received.model

    def blocks(self) -> Iterator[tuple[str, Said, Object]]:
        """
        Every block with the place that an error message names and the message in which it stands.
        """
        for said in self.messages:
            for index, block in enumerate(said.blocks):
                yield f"messages.{said.at}.content.{index}", said, block


def view(received: Received, memory: Memory, stripped_thinking: bool) -> View:
    """
    The request, read leniently: the rules about shape say what is wrong with it.
    """
    return View(received, messages_of(received.body), memory, stripped_thinking)


def bad(message: str) -> Failure:
    """
    An invalid_request_error.
    """
    return Failure(400, message)
