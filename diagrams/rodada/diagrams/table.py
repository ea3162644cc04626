"""
A Markdown table: one row of the flow a line, with guards and action, so that a change of flow is a readable diff.
"""

from rodada.diagrams.extract import Edge, FlowDiagram

HEAD = ("row", "in", "on", "when", "then", "goes to")


def table(diagram: FlowDiagram) -> str:
    """
    The flow as a Markdown table.
    """
    lines = [_line(HEAD), _line(("---",) * len(HEAD))]
    lines += [_line(_cells(edge)) for edge in diagram.edges]
    return "\n".join(lines) + "\n"


def _cells(edge: Edge) -> tuple[str, ...]:
    goes = "stays" if edge.source == edge.to else edge.to
    return f"`{edge.name}`", edge.source, edge.event, ", ".join(edge.guards), edge.told, goes


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
