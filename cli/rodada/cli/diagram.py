"""
The command `diagram`.
"""

import enum
from typing import Annotated

import typer


class Format(enum.StrEnum):
    """
    How the flow is drawn.
    """

    MERMAID = "mermaid"
    TABLE = "table"


def diagram(
    format: Annotated[Format, typer.Option(help="A Mermaid state diagram, or a Markdown table.")] = Format.MERMAID,
) -> None:
    """
    Draw the flow from the table that runs.
    """
    from rodada.diagrams import flow_diagram, mermaid, table

    draw = mermaid if format is Format.MERMAID else table
    print(draw(flow_diagram()), end="")
