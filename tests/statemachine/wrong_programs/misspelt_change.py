"""
Wrong: a change of a loop that no loop has.
"""

from rodada.statemachine.limits import Limits
from rodada.statemachine.loop import ToolLoop
from rodada.statemachine.ports import Provider


def hurried(provider: Provider) -> ToolLoop:
    return ToolLoop(provider).evolve(limit=Limits(seconds=5))  # refused
