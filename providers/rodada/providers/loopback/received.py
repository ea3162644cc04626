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
    One request that came in. Headers and body stay out of the repr: they hold keys and hidden reasoning.

    Attributes:
        number: its place in `Loopback.received`.
        wire: the vendor's protocol that it came over.
        method, path, query: of the request line.
        model: the one asked for, or "".
        headers: their names in lower case.
        body: as JSON; an empty object where it is none.
        raw: the bytes of the body.
        refusal: what it was refused with; None when it was accepted.
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
        """
        Whether it was not refused.
        """
        return self.refusal is None


Seen = TypeVar("Seen")


def first_refusal(rules: Iterable[Callable[[Seen], Failure | None]], seen: Seen) -> Failure | None:
    """
    The refusal of the first rule that refuses, in order.
    """
    return next((refusal for rule in rules if (refusal := rule(seen))), None)
