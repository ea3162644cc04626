"""
A request of Chat Completions as its rules look at it.
"""

from collections.abc import Set as AbstractSet

from attrs import frozen

from rodada.providers.loopback.json_values import Object, objs
from rodada.providers.loopback.openai_chat.deviations import Deviation
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Failure


@frozen
class View:
    """
    The request, its messages, and how the server that is played deviates from OpenAI.
    """

    received: Received
    messages: tuple[Object, ...]
    deviations: AbstractSet[Deviation]

    @property
    def body(self) -> Object:
        return self.received.body


def view(received: Received, deviations: AbstractSet[Deviation]) -> View:
    """
    The request, read leniently: the rules about shape say what is wrong with it.
    """
    return View(received, tuple(objs(received.body.get("messages"))), deviations)


def bad(message: str, param: str | None = "messages", code: str | None = None) -> Failure:
    """
    An invalid_request_error.
    """
    return Failure(400, message, param=param, code=code)


def empty_array(path: str) -> Failure:
    """
    A list that must not be empty.
    """
    message = f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    return bad(message, path, "empty_array")
