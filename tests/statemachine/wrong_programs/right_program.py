"""
Right: a row with a guard and an action of its event, and a loop with a provider.
"""

from rodada.statemachine.actions import keep_result
from rodada.statemachine.events import ToolFinished
from rodada.statemachine.guards import answers_running, has_reason
from rodada.statemachine.loop import ToolLoop
from rodada.statemachine.messages import ModelTurn, Stop
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest
from rodada.statemachine.states import State
from rodada.statemachine.table import Row


class Answering:
    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        return ModelTurn(Stop.WHOLE, "yes")


ROW = Row(
    "kept",
    State.EXECUTE_TOOLS,
    ToolFinished,
    keep_result,
    State.EXECUTE_TOOLS,
    when=(answers_running,),
    unless=(has_reason,),
)
LOOP = ToolLoop(Answering())
