"""
Pictures of the flow, drawn from the table that runs.
"""

from rodada.diagrams.extract import Edge, FlowDiagram, flow_diagram
from rodada.diagrams.mermaid import mermaid
from rodada.diagrams.table import table

__all__ = ["Edge", "FlowDiagram", "flow_diagram", "mermaid", "table"]
