"""
The plan of a turn: what kind each call is, who must approve it, and which calls of the turn it must wait for.

A toolbox makes it before the machine sees the turn, without I/O. Sequential and parallel runs differ only here.
"""

import enum
from collections.abc import Iterator, Mapping

from attrs import Factory, evolve, field, frozen

from rodada.statemachine.errors import InvalidValue


class Kind(enum.Enum):
    """
    What may be done with a call that was started and cut off.
    """

    READ = "read"
    IDEMPOTENT = "idempotent"
    WRITE = "write"


@frozen
class PlannedCall:
    """
    How one request may run.

    Attributes:
        id: the request's id.
        kind: read, idempotent or write.
        approvals: how many distinct people must approve it; 0 for none.
        requester_counts: whether the run's own actor may be one of them.
        after: ids of earlier requests of the turn that must have their results first.
        deterministic: whether code alone decides the result: the model delegated what code could do.
        refused: whether it did not pass its checks: it will not run, so nobody is asked about it.
        within_ms: milliseconds from the question on in which it may be approved; None is without end.
    """

    id: str
    kind: Kind = Kind.WRITE
    approvals: int = 0
    requester_counts: bool = True
    after: tuple[str, ...] = ()
    deterministic: bool = False
    refused: bool = False
    within_ms: int | None = None


@frozen
class Plan:
    """
    The plan of a turn, in request order. A set of its calls is a number with one bit for each position.

    Attributes:
        calls: how each request may run.

    Raises:
        InvalidValue: a call waits for one that does not stand before it (so no plan has a cycle).
    """

    calls: tuple[PlannedCall, ...] = ()
    _index: "_Index" = field(
        init=False, eq=False, repr=False, default=Factory(lambda self: _index_of(self.calls), takes_self=True)
    )

    @property
    def deterministic(self) -> tuple[str, ...]:
        """
        Ids of the calls whose result code alone decides.
        """
        return tuple(call.id for call in self.calls if call.deterministic)

    @property
    def ids(self) -> tuple[str, ...]:
        """
        The planned requests' ids.
        """
        return tuple(call.id for call in self.calls)

    @property
    def free(self) -> int:
        """
        The calls that wait for no other.
        """
        return self._index.free

    def position(self, request_id: str) -> int | None:
        """
        Where a request stands in the turn; None when it is not of this turn.
        """
        return self._index.positions.get(request_id)

    def call(self, request_id: str) -> PlannedCall:
        """
        The plan of one request.

        Raises:
            KeyError: it is not of this turn.
        """
        return self.calls[self._index.positions[request_id]]

    def bit(self, request_id: str) -> int:
        """
        The set of this one call; empty when it is not of this turn.
        """
        position = self.position(request_id)
        return 0 if position is None else 1 << position

    def needs_of(self, request_id: str) -> int:
        """
        The calls that a call waits for itself.
        """
        position = self.position(request_id)
        if position is None:
            return 0
        after = self.calls[position].after
        return self._index.needs.get(position, 0) if len(after) > 1 else self.bit(after[0]) if after else 0

    def freed_by(self, request_id: str, done: int) -> int:
        """
        The calls that waited for this one and need nothing that is not in `done`.
        """
        freed = 0
        for waiting in self._index.waiting.get(request_id, ()):
            needs = self._index.needs.get(waiting, 0)
            if needs & done == needs:
                freed |= 1 << waiting
        return freed


@frozen(eq=False)
class _Index:
    """
    Attributes:
        positions: of each id.
        free: the calls that wait for no other.
        waiting: for each id, the positions of the calls that wait for it.
        needs: what each call waits for, by its position, where that is more than one: a set for every call of a
            turn in which each waits for one would be large for nothing.
    """

    positions: Mapping[str, int]
    free: int
    waiting: Mapping[str, tuple[int, ...]]
    needs: Mapping[int, int]


def _index_of(calls: tuple[PlannedCall, ...]) -> _Index:
    positions: dict[str, int] = {}
    waiting: dict[str, list[int]] = {}
    for position, call in enumerate(calls):
        for earlier in call.after:
            if earlier not in positions:
                raise InvalidValue("Plan", f"{call.id} may wait only for earlier requests, not for {call.after}")
            waiting.setdefault(earlier, []).append(position)
        positions[call.id] = position
    return _Index(
        positions,
        _set_of(position for position, call in enumerate(calls) if not call.after),
        {request_id: tuple(found) for request_id, found in waiting.items()},
        {at: _set_of(positions[each] for each in call.after) for at, call in enumerate(calls) if len(call.after) > 1},
    )


def _set_of(positions: Iterator[int]) -> int:
    found = 0
    for position in positions:
        found |= 1 << position
    return found


def one_after_another(calls: tuple[PlannedCall, ...]) -> Plan:
    """
    A plan in which each call waits for the one before it.
    """
    before = ((), *((call.id,) for call in calls))
    return Plan(tuple(evolve(call, after=after) for call, after in zip(calls, before, strict=False)))
