"""
The table as plain values for renderers: read once, nothing decided here.
"""

from attrs import frozen

from rodada.statemachine.states import ENDS, State
from rodada.statemachine.table import TABLE, AnyRow


@frozen
class Edge:
    """
    One row.

    Attributes:
        name: of the row.
        source, to: names of states.
        event: name of the event.
        guards: questions, those that must be answered no with "not " before them.
        action: name of what is done.
        told: the action's sentence.
    """

    name: str
    source: str
    to: str
    event: str
    guards: tuple[str, ...]
    action: str
    told: str


@frozen
class FlowDiagram:
    """
    A table.

    Attributes:
        states: all of them, in the order of `State`.
        start: where a run starts.
        ends: states that nothing leaves.
        edges: one for each row, in table order.
    """

    states: tuple[str, ...]
    start: str
    ends: tuple[str, ...]
    edges: tuple[Edge, ...]


def flow_diagram(rows: tuple[AnyRow, ...] = TABLE) -> FlowDiagram:
    """
    The diagram of a table.
    """
    return FlowDiagram(
        states=tuple(state.value for state in State),
        start=State.APPEND_HISTORY.value,
        ends=tuple(state.value for state in State if state in ENDS),
        edges=tuple(_edge(row) for row in rows),
    )


def _edge(row: AnyRow) -> Edge:
    asked = row.guard_names
    said = len(row.when)
    return Edge(
        name=row.name,
        source=row.source.value,
        to=row.to.value,
        event=row.event.__name__,
        guards=(*asked[:said], *(f"not {name}" for name in asked[said:])),
        action=row.action.__name__,
        told=" ".join((row.action.__doc__ or "").split()),
    )
