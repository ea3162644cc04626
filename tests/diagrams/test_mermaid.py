"""
The Mermaid text: every row is in it, and no text can add syntax.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.diagrams import Edge, FlowDiagram, flow_diagram, mermaid
from rodada.diagrams.mermaid import escape

EDGE = re.compile(r"^    (\S+) --> (\S+) : (.*)$")
STATE = re.compile(r'^    state "(.*)" as (\S+)$')


def read_back(text: str) -> set[tuple[str, str, str]]:
    """
    Source, destination and row of each edge in a diagram's text.
    """
    names = {match[2]: match[1] for line in text.splitlines() if (match := STATE.match(line))}
    edges = [match for line in text.splitlines() if (match := EDGE.match(line))]
    return {(names[edge[1]], names[edge[2]], row) for edge in edges for row in edge[3].split("<br>")}


def test_f121_every_row_is_in_the_picture() -> None:
    expected = {(edge.source, edge.to, edge.name) for edge in flow_diagram().edges}

    assert expected == read_back(mermaid(flow_diagram()))


def test_the_start_and_every_end_are_marked() -> None:
    lines = mermaid(flow_diagram()).splitlines()

    assert ["    [*] --> s0"] == [line for line in lines if "[*] -->" in line]
    assert ["    s4 --> [*]", "    s5 --> [*]", "    s6 --> [*]"] == [line for line in lines if "--> [*]" in line]


def test_f119_state_names_never_become_ids() -> None:
    edge = Edge("row", "Call Model", "end", "Event", (), "do", "Do.")
    text = mermaid(FlowDiagram(("Call Model", "end"), "Call Model", ("end",), (edge,)))

    assert 'state "Call Model" as s0' in text
    assert "    s0 --> s1 : row\n" in text


@pytest.mark.parametrize("label", ["rounds >= 10", "a<b", 'say "x"', "x: y; --> [*]", "line\nbreak", "a & b {c}"])
def test_f120_a_label_cannot_add_syntax(label: str) -> None:
    edge = Edge(label, "A", "B", "Event", (), "do", "Do.")
    text = mermaid(FlowDiagram(("A", "B"), "A", ("B",), (edge,)))

    assert 6 == len(text.splitlines())
    assert text.count("[*]") == 2 + label.count("[*]")
    assert ["s0 --> s1"] == [line.split(" : ")[0].strip() for line in text.splitlines() if " : " in line]


@given(st.text())
def test_f120_escaped_text_holds_nothing_that_mermaid_reads(text: str) -> None:
    assert not set('"<>{}:\\\n\r') & set(escape(text))


def test_the_same_table_gives_the_same_bytes() -> None:
    assert mermaid(flow_diagram()) == mermaid(flow_diagram())
