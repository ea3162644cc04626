"""
A request of the Responses API as its rules look at it.
"""

from attrs import frozen

from rodada.providers.loopback.json_values import Object
from rodada.providers.loopback.openai_responses.items import Item, items_of
from rodada.providers.loopback.openai_responses.memory import Memory
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Failure


@frozen
class View:
    """
    The request, its input items, and what the server remembers of the responses it sent.
    """

    received: Received
    items: tuple[Item, ...]
    memory: Memory

    @property
    def body(self) -> Object:
        return self.received.body


def view(received: Received, memory: Memory) -> View:
    """
    The request, read leniently: the rules about shape say what is wrong with it.
    """
    return View(received, items_of(received.body), memory)


def bad(message: str, param: str | None = "input", code: str | None = None) -> Failure:
    """
    An invalid_request_error.
    """
    return Failure(400, message, param=param, code=code)
