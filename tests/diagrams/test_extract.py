"""
The diagram of the table holds every row, and nothing else.
"""

from rodada.diagrams import flow_diagram
from rodada.statemachine.states import ENDS, State
from rodada.statemachine.table import TABLE


def test_every_row_is_an_edge_with_its_own_name_states_and_event() -> None:
    diagram = flow_diagram()
    expected = [(row.name, row.source.value, row.to.value, row.event.__name__) for row in TABLE]

    assert expected == [(edge.name, edge.source, edge.to, edge.event) for edge in diagram.edges]


def test_guards_that_must_say_no_are_marked() -> None:
    edges = {edge.name: edge for edge in flow_diagram().edges}

    assert ("asks_for_tools", "not has_reason", "not rounds_left") == edges["answer_out_of_rounds"].guards


def test_states_start_and_ends_are_those_of_the_machine() -> None:
    diagram = flow_diagram()

    assert tuple(state.value for state in State) == diagram.states
    assert "AppendHistory" == diagram.start
    assert {state.value for state in ENDS} == set(diagram.ends)


def test_each_action_is_told_in_words() -> None:
    assert all(edge.told.endswith(".") for edge in flow_diagram().edges)
