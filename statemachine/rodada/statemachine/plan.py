"""
The plan of a turn: what kind each call is, who must approve it, and which calls of the turn it must wait for.

A toolbox makes it before the machine sees the turn, without I/O. Sequential and parallel runs differ only here.
"""

import enum

from attrs import evolve, frozen

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
    """

    id: str
    kind: Kind = Kind.WRITE
    approvals: int = 0
    requester_counts: bool = True
    after: tuple[str, ...] = ()
    deterministic: bool = False
    refused: bool = False


@frozen
class Plan:
    """
    The plan of a turn, in request order.

    Raises:
        InvalidValue: a call waits for one that does not stand before it (so no plan has a cycle).
    """

    calls: tuple[PlannedCall, ...] = ()

    def __attrs_post_init__(self) -> None:
        earlier: set[str] = set()
        for call in self.calls:
            if not earlier.issuperset(call.after):
                raise InvalidValue("Plan", f"{call.id} may wait only for earlier requests, not for {call.after}")
            earlier.add(call.id)

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

    def call(self, request_id: str) -> PlannedCall:
        """
        The plan of one request.
        """
        return next(call for call in self.calls if call.id == request_id)


def one_after_another(calls: tuple[PlannedCall, ...]) -> Plan:
    """
    A plan in which each call waits for the one before it.
    """
    before = ((), *((call.id,) for call in calls))
    return Plan(tuple(evolve(call, after=after) for call, after in zip(calls, before, strict=False)))
