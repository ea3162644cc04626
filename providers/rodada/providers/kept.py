"""
What each entry of a conversation became on a wire, kept as long as the entry lives: it is converted and encoded once,
however many requests it stands in, and a request costs no more late in a run than early.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar, cast
from weakref import ref

from rodada.statemachine.errors import ProviderRejected
from rodada.statemachine.jsontext import JsonObject, dump_json

SourceT = TypeVar("SourceT")
MadeT = TypeVar("MadeT")


class Kept(Generic[SourceT, MadeT]):
    """
    What one function makes of values that never change.

    Values are told apart by identity: to compare them would cost as much as to convert them again. When one is gone,
    so is what was made of it.
    """

    def __init__(self, make: Callable[[SourceT], MadeT]) -> None:
        self._make = make
        self._made: dict[int, MadeT] = {}
        self._sources: dict[int, ref[SourceT]] = {}

    def of(self, sources: Sequence[SourceT]) -> list[MadeT]:
        """
        What the function makes of each, in their order.
        """
        # In C, since this is done for all of a history in every request.
        found = list(map(self._made.get, map(id, sources)))
        if None not in found:
            return cast("list[MadeT]", found)
        return [self._new(source) if made is None else made for source, made in zip(sources, found, strict=True)]

    def _new(self, source: SourceT) -> MadeT:
        key, here = id(source), ref(self)

        def forget(_: "ref[SourceT]") -> None:
            kept = here()
            if kept is not None:
                kept._made.pop(key, None)
                kept._sources.pop(key, None)

        made = self._make(source)
        self._made[key], self._sources[key] = made, ref(source, forget)
        return made


def encoded(wire: str, values: Iterable[JsonObject]) -> bytes:
    """
    Objects as the SDKs of Anthropic and OpenAI write them within an array.

    Raises:
        ProviderRejected: they cannot be sent.
    """
    try:
        return dump_json([*values])[1:-1].encode()
    except (ValueError, RecursionError) as error:
        raise ProviderRejected(wire, f"the request cannot be sent: {type(error).__name__}") from None
