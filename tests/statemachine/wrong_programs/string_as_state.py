"""
Wrong: a row that goes to a string.
"""

from rodada.statemachine.actions import keep_result
from rodada.statemachine.events import ToolFinished
from rodada.statemachine.states import State
from rodada.statemachine.table import Row

ROW = Row("kept", State.EXECUTE_TOOLS, ToolFinished, keep_result, "ExecuteTools")  # refused
