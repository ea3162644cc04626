"""
Which calls of a turn must wait for which: a pure function of what each one touches.

Two calls conflict if one writes what the other touches; one that touches everything conflicts with all. Conflicting
calls keep request order; nothing else waits.
"""

from collections.abc import Iterable

from attrs import Factory, define, evolve, frozen

from rodada.statemachine.plan import Plan, PlannedCall


@frozen
class Touches:
    """
    The resources of a call.

    Attributes:
        reads, writes: names of resources.
        everything: whether it must be taken to touch all of them, as when nothing was declared.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    everything: bool = False

    def conflicts(self, other: "Touches") -> bool:
        """
        Whether the order of two such calls matters.
        """
        if self.everything or other.everything:
            return True
        return bool(self.writes & (other.reads | other.writes) or other.writes & self.reads)


EVERYTHING = Touches(everything=True)


def scheduled(calls: Iterable[tuple[PlannedCall, Touches | None]]) -> Plan:
    """
    The plan in which each call waits for those before it that it conflicts with, and for no other. One without
    touches will not run at all: it waits for nobody, and nobody waits for it. Only the last
    users of each resource are named, so that a plan stays small; the other waits follow from theirs.
    """
    order = _Order()
    return Plan(
        tuple(call if touches is None else evolve(call, after=order.next(call.id, touches)) for call, touches in calls)
    )


@define
class _Order:
    """
    What the calls so far leave for the next one to wait for.

    Attributes:
        barrier: the last call that touches everything.
        writers: the last writer of each resource since then.
        readers: its readers since that writer.
        ends: calls that no later one waits for.
    """

    barrier: str | None = None
    writers: dict[str, str] = Factory(dict[str, str])
    readers: dict[str, list[str]] = Factory(dict[str, list[str]])
    ends: dict[str, None] = Factory(dict[str, None])

    def next(self, call_id: str, touches: Touches) -> tuple[str, ...]:
        after = tuple(self.ends) if touches.everything else self._conflicting(touches)
        for earlier in after:
            self.ends.pop(earlier, None)
        self.ends[call_id] = None
        self._note(call_id, touches)
        return after

    def _conflicting(self, touches: Touches) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for name in sorted(touches.writes):
            found.update(dict.fromkeys(self.readers.get(name) or self._writer(name)))
        for name in sorted(touches.reads - touches.writes):
            found.update(dict.fromkeys(self._writer(name)))
        if not found and self.barrier is not None:
            return (self.barrier,)
        return tuple(found)

    def _writer(self, name: str) -> tuple[str, ...]:
        writer = self.writers.get(name)
        return () if writer is None else (writer,)

    def _note(self, call_id: str, touches: Touches) -> None:
        if touches.everything:
            self.barrier = call_id
            self.writers.clear()
            self.readers.clear()
        for name in touches.writes:
            self.writers[name] = call_id
            self.readers[name] = []
        for name in touches.reads - touches.writes:
            self.readers.setdefault(name, []).append(call_id)
