"""
The Markdown table: one row of the flow a line.
"""

from rodada.diagrams import Edge, FlowDiagram, flow_diagram, table
from rodada.statemachine.table import TABLE


def test_each_row_is_one_line_in_table_order() -> None:
    lines = table(flow_diagram()).splitlines()

    assert [f"| `{row.name}` " for row in TABLE] == [
        line[: len(f"| `{row.name}` ")] for row, line in zip(TABLE, lines[2:], strict=True)
    ]


def test_a_row_reads_as_a_sentence_and_staying_is_said() -> None:
    edge = Edge("name", "A", "A", "Event", ("asked", "not told"), "do", "Do it.")
    text = table(FlowDiagram(("A",), "A", (), (edge,)))

    assert "| `name` | A | Event | asked, not told | Do it. | stays |" == text.splitlines()[2]


def test_a_cell_cannot_break_the_table() -> None:
    edge = Edge("a|b", "A", "B", "Event", (), "do", "<b>\nDo.")
    text = table(FlowDiagram(("A", "B"), "A", ("B",), (edge,)))

    assert "| `a\\|b` | A | Event |  | &lt;b> Do. | B |" == text.splitlines()[2]
