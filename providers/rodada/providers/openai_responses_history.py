"""
The input of a request to the Responses API as bytes, of what each entry became once.
"""

from functools import partial
from itertools import chain

from attrs import evolve, frozen

from rodada.providers.failures import check_distinct, check_paired
from rodada.providers.history import History
from rodada.providers.kept import Kept, encoded
from rodada.providers.openai_responses_input import (
    CALLS,
    FIELD,
    WIRE,
    entry_items,
    once,
    own_ids,
    pairing_fault,
    turn_items,
)
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import Entry
from rodada.statemachine.request import ModelRequest


@frozen(eq=False)
class Sent:
    """
    An entry, or a piece of a paused turn, as it is sent.

    Attributes:
        items: encoded.
        ids: of the wire, that its items have; None where they cannot keep those that they came with.
        calls: ids of its calls.
    """

    items: bytes
    ids: tuple[str, ...] | None
    calls: tuple[str, ...]


class ResponsesHistory:
    """
    The input of requests; each entry is converted when it is first sent.
    """

    def __init__(self) -> None:
        self._with_ids = {bare: Kept(partial(_entry, bare=bare)) for bare in (False, True)}
        self._without_ids = {bare: Kept(partial(_nameless, bare=bare)) for bare in (False, True)}

    def of(self, request: ModelRequest, *, bare: bool = False) -> History:
        """
        All items of a request; `bare` leaves all hidden reasoning out.

        Raises:
            ProviderRejected: they break promise P1, which is a fault of this library, or cannot be sent.
        """
        held = [turn_items(turn, bare=bare) for turn in request.held]
        check_paired(WIRE, pairing_fault([*chain.from_iterable(held)]))
        sent = [*self._with_ids[bare].of(request.entries), *map(_sent, held)]
        check_distinct(WIRE, [each.calls for each in sent])
        ids = list(chain.from_iterable([each.ids or () for each in sent]))
        if None in [each.ids for each in sent] or len({*ids}) < len(ids):
            return History(FIELD, self._distinct(request, sent, held, bare))
        return History(FIELD, [each.items for each in sent])

    def _distinct(
        self, request: ModelRequest, sent: list[Sent], held: list[list[JsonObject]], bare: bool
    ) -> list[bytes]:
        """
        With ids that stood before left out. Reasoning and what follows it are bound by them: a turn keeps all of them
        or none. What cannot lose its id stands once.
        """
        others = [*self._without_ids[bare].of(request.entries), *map(_without_ids, held)]
        seen: set[str] = set()
        found: list[bytes] = []
        for at, each in enumerate(sent):
            fit = next((one for one in (each, others[at]) if one.ids is not None and seen.isdisjoint(one.ids)), None)
            if fit is None:
                at_held = at - len(request.entries)
                items = held[at_held] if at_held >= 0 else entry_items(request.entries[at], bare=bare)
                found.append(encoded(WIRE, once(items, seen)))
            else:
                seen.update(fit.ids or ())
                found.append(fit.items)
        return found


def _entry(entry: Entry, *, bare: bool) -> Sent:
    items = entry_items(entry, bare=bare)
    check_paired(WIRE, pairing_fault(items))
    return _sent(items)


def _sent(items: list[JsonObject]) -> Sent:
    calls = tuple(str(item.get("call_id")) for item in items if item.get("type") in CALLS)
    return Sent(encoded(WIRE, items), own_ids(items), calls)


def _nameless(entry: Entry, *, bare: bool) -> Sent:
    return _without_ids(entry_items(entry, bare=bare))


def _without_ids(items: list[JsonObject]) -> Sent:
    seen: set[str] = set()
    return evolve(_sent(items), items=encoded(WIRE, once(items, seen)), ids=tuple(seen))
