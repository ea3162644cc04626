"""
Wrong: an answer read as another type than was asked for.
"""

from dataclasses import dataclass

from rodada.statemachine.loop import ToolLoop


@dataclass
class Goal:
    kg: float


def weight(loop: ToolLoop) -> float:
    output = loop.run_sync("how much?", output_type=Goal).output
    return 0.0 if output is None else output.pounds  # refused
