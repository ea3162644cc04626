"""
The part of a request that grows with its conversation, encoded piece by piece.
"""

import json
from collections.abc import Iterable, Sequence
from typing import cast

from attrs import field, frozen

from rodada.statemachine.jsontext import JsonValue


def _some(items: Iterable[bytes]) -> list[bytes]:
    return [*filter(None, items)]


@frozen(eq=False)
class History:
    """
    A field of a body that holds an array.

    Attributes:
        name: of the field.
        items: of the array, each one or more values in JSON, with commas between them.
        comma: between two items.
    """

    name: str
    items: Sequence[bytes] = field(converter=_some, repr=False)
    comma: bytes = b","

    @property
    def size(self) -> int:
        """
        Bytes of the array.
        """
        commas = max(0, len(self.items) - 1) * len(self.comma)
        return len(b"[]") + sum(map(len, self.items)) + commas

    @property
    def value(self) -> JsonValue:
        """
        The array itself, for a client that must see what it sends.
        """
        return cast(JsonValue, json.loads(self.between(b"", b"")))

    def between(self, before: bytes, behind: bytes) -> bytes:
        """
        The array between two other pieces of a body. All bytes are copied once: copies of a long history are what is
        left of its cost.
        """
        head, tail = before + b"[", b"]" + behind
        if len(self.items) < 2:
            return head + b"".join(self.items) + tail
        first, *others, last = self.items
        return self.comma.join([head + first, *others, last + tail])
