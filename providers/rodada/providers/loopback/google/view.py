"""
A request of generateContent as its rules look at it.
"""

from attrs import frozen

from rodada.providers.loopback.google.memory import Memory
from rodada.providers.loopback.json_values import Object, obj, objs, text
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Failure


@frozen
class Said:
    """
    One content.
    """

    at: int
    role: str
    parts: tuple[Object, ...]

    @property
    def calls(self) -> list[Object]:
        """
        The function calls in it.
        """
        return [obj(part["functionCall"]) for part in self.parts if "functionCall" in part]

    @property
    def responses(self) -> list[Object]:
        """
        The function responses in it.
        """
        return [obj(part["functionResponse"]) for part in self.parts if "functionResponse" in part]


@frozen
class View:
    """
    The request (every field in camelCase), its contents, and what the server remembers of the turns it sent.
    """

    received: Received
    body: Object
    contents: tuple[Said, ...]
    memory: Memory

    @property
    def model(self) -> str:
        return self.received.model


def view(received: Received, body: Object, memory: Memory) -> View:
    """
    The request, read leniently: the rules about shape say what is wrong with it.
    """
    contents = enumerate(objs(body.get("contents")))
    said = (Said(at, text(each.get("role")), tuple(objs(each.get("parts")))) for at, each in contents)
    return View(received, body, tuple(said), memory)


def bad(message: str) -> Failure:
    """
    An INVALID_ARGUMENT.
    """
    return Failure(400, message)
