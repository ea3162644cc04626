"""
Wrong: a row for finished tools with a guard that reads a received turn.
"""

from rodada.statemachine.actions import keep_result
from rodada.statemachine.events import ToolFinished
from rodada.statemachine.guards import asks_for_tools
from rodada.statemachine.states import State
from rodada.statemachine.table import AnyRow, Row

ROW: AnyRow = Row(
    "kept",
    State.EXECUTE_TOOLS,
    ToolFinished,
    keep_result,
    State.EXECUTE_TOOLS,
    when=(asks_for_tools,),  # refused
)
