"""
The machine that fires the table: one `transitions.Machine` for the whole process. It picks the row; it runs no
callback. It is fired on a throw-away cursor, so nothing is shared between runs or threads; which row was taken is
noted on the cursor by the one documented hook, `transition_cls`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from transitions import EventData, Machine, MachineError, Transition

from rodada.statemachine.events import Event
from rodada.statemachine.run import Run
from rodada.statemachine.states import State
from rodada.statemachine.table import TABLE, AnyRow


class Cursor:
    """
    What the machine moves: a place, and the row by which it was left.
    """

    __slots__ = ("row", "state")

    def __init__(self, state: State) -> None:
        self.state = state
        self.row: AnyRow | None = None


class RowTransition(Transition):
    """
    A transition that notes its row on the cursor when it is taken.
    """

    row: AnyRow

    def execute(self, event_data: EventData) -> bool:
        """
        Take the row if its guards allow it.
        """
        taken = super().execute(event_data)
        if taken and isinstance(event_data.model, Cursor):
            event_data.model.row = self.row
        return taken


class RowMachine(Machine):
    """
    A machine whose transitions know their rows.
    """

    transition_cls = RowTransition


def build_machine(rows: Iterable[AnyRow]) -> Machine:
    """
    The machine of a table.
    """
    machine = RowMachine(model=None, states=State, transitions=[], initial=State.APPEND_HISTORY, auto_transitions=False)
    for row in rows:
        name = row.event.__name__
        machine.add_transition(name, row.source, row.to, conditions=list(row.when), unless=list(row.unless))
        added = machine.events[name].transitions[row.source.name][-1]
        if isinstance(added, RowTransition):
            added.row = row
    return machine


def _guards_of(rows: Iterable[AnyRow]) -> tuple[tuple[str, Callable[[Run, Any], bool]], ...]:
    """
    Every guard that some rows name, by its name, once: many rows of a place ask the same.
    """
    named = {guard.__name__: guard for row in rows for guard in (*row.when, *row.unless)}
    return tuple(sorted(named.items()))


class Flow:
    """
    A table with the machine that fires it.

    Attributes:
        rows: the table.
        machine: picks the row that fits.
    """

    def __init__(self, rows: Iterable[AnyRow]) -> None:
        self.rows = tuple(rows)
        self.machine = build_machine(self.rows)
        found: dict[tuple[State, type[Event]], list[AnyRow]] = {}
        for row in self.rows:
            found.setdefault((row.source, row.event), []).append(row)
        self._candidates = {place: tuple(rows) for place, rows in found.items()}
        self._guards = {place: _guards_of(rows) for place, rows in found.items()}

    def candidates(self, run: Run, event: Event) -> tuple[AnyRow, ...]:
        """
        The rows for this state and this kind of event, whatever their guards say.
        """
        return self._candidates.get((run.state, type(event)), ())

    def verdicts(self, run: Run, event: Event) -> tuple[tuple[str, bool], ...]:
        """
        Every guard that a candidate row names, with its answer, once each.
        """
        guards = self._guards.get((run.state, type(event)), ())
        return tuple((name, guard(run, event)) for name, guard in guards)

    def take(self, run: Run, event: Event) -> AnyRow | None:
        """
        The row that the machine takes; None when none fits.
        """
        cursor = Cursor(run.state)
        known = self.machine.events.get(type(event).__name__)
        if known is None:
            return None
        try:
            known.trigger(cursor, run, event)
        except MachineError:
            return None
        return cursor.row


FLOW = Flow(TABLE)
