"""
What reached the server: the value that rules judge, scripts answer and tests read.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from attrs import field, frozen

from rodada.providers.loopback.json_values import Object
from rodada.providers.loopback.script import Failure, WireName


@frozen
class Received:
    """
    One request that came in, and its refusal if it was refused; `number` is its place in `received`.

    Headers (their names in lower case) and body stay out of the repr: they hold keys and hidden reasoning. A body
    that is no JSON object reads as an empty one; `raw` has the bytes.
    """

    number: int
    wire: WireName
    method: str
    path: str
    model: str
    headers: Mapping[str, str] = field(repr=False)
    body: Object = field(repr=False)
    raw: bytes = field(repr=False)
    query: str = ""
    refusal: Failure | None = None

    @property
    def accepted(self) -> bool:
        return self.refusal is None


Seen = TypeVar("Seen")


def first_refusal(rules: Iterable[Callable[[Seen], Failure | None]], seen: Seen) -> Failure | None:
    """
    The refusal of the first rule that refuses, in order.
    """
    return next((refusal for rule in rules if (refusal := rule(seen))), None)
