"""
Mermaid: a state diagram, the same bytes for the same table.

Rows between the same two states share one edge, one line a row, so that the picture stays readable; every row is in
it. State names are letters only, and every other text is escaped, so no text can add syntax.
"""

from rodada.diagrams.extract import Edge, FlowDiagram

_ENTITIES = {
    "#": "#35;",
    ";": "#59;",
    ":": "#58;",
    "<": "#lt;",
    ">": "#gt;",
    '"': "#quot;",
    "&": "#amp;",
    "{": "#123;",
    "}": "#125;",
    "\\": "#92;",
    "\n": " ",
    "\r": " ",
}


def mermaid(diagram: FlowDiagram) -> str:
    """
    A Mermaid `stateDiagram-v2`: which rows lead where. Guards stand in the Markdown table.
    """
    ids = {name: f"s{number}" for number, name in enumerate(diagram.states)}
    lines = ["stateDiagram-v2"]
    lines += [f'    state "{escape(name)}" as {ids[name]}' for name in diagram.states]
    lines.append(f"    [*] --> {ids[diagram.start]}")
    lines += [
        f"    {ids[source]} --> {ids[to]} : {'<br>'.join(_label(edge) for edge in edges)}"
        for (source, to), edges in _between(diagram.edges).items()
    ]
    lines += [f"    {ids[name]} --> [*]" for name in diagram.ends]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """
    A text that Mermaid shows as it is.
    """
    return "".join(_ENTITIES.get(letter, letter) for letter in text)


def _between(edges: tuple[Edge, ...]) -> dict[tuple[str, str], list[Edge]]:
    found: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        found.setdefault((edge.source, edge.to), []).append(edge)
    return found


def _label(edge: Edge) -> str:
    return escape(edge.name)
