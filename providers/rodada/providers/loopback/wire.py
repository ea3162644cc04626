"""
What the server needs of a wire.
"""

import itertools
from collections.abc import Mapping
from typing import Protocol

from attrs import field, frozen

from rodada.providers.loopback.json_values import Object
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Failure, Turn, WireName


class Wire(Protocol):
    """
    One vendor's protocol: its door, its rules, its forms.
    """

    name: WireName
    base_path: str
    request_id_header: str
    most_bytes: int | None

    def owns(self, path: str, headers: Mapping[str, str]) -> bool:
        """
        Whether a request for this path, with these headers, is to be answered in this vendor's form.
        """
        ...

    def turn_away(self, method: str, path: str, headers: Mapping[str, str]) -> Failure | None:
        """
        The refusal that needs no look at the body: unknown path, wrong method, no credentials.
        """
        ...

    def too_large(self, most: int) -> Failure:
        """
        The refusal of a body of more than so many bytes.
        """
        ...

    def model(self, path: str, body: Object) -> str:
        """
        The model asked for, or "".
        """
        ...

    def refuse(self, received: Received) -> Failure | None:
        """
        The vendor's refusal of a bad request.
        """
        ...

    def render(self, turn: Turn, received: Received) -> Object:
        """
        The turn as the vendor's body.

        Raises:
            UnspeakableTurn: the wire has no form for it.
        """
        ...

    def remember(self, received: Received, reply: Object) -> None:
        """
        Keep of a body that is about to be sent what its echo will be compared with.
        """
        ...

    def streams(self, received: Received) -> bool:
        """
        Whether the client wants the reply as a stream.
        """
        ...

    def frames(self, reply: Object, received: Received) -> tuple[bytes, ...]:
        """
        A body as the events of the stream that the request asked for.
        """
        ...

    def error_frame(self, failure: Failure, request_id: str) -> bytes:
        """
        The error as an event within a stream.
        """
        ...

    def envelope(self, failure: Failure, request_id: str) -> Object:
        """
        The error as the vendor's body.
        """
        ...


@frozen
class Ids:
    """
    Ids in the order of their making: the same script gives the same ids.
    """

    _numbers: "itertools.count[int]" = field(factory=lambda: itertools.count(1))

    def fresh(self, prefix: str, unlike: bytes = b"") -> str:
        """
        The next id, skipping those that stand in the request (a conversation may come from another server).
        """
        while True:
            made = f"{prefix}{next(self._numbers):08d}"
            if made.encode() not in unlike:
                return made
