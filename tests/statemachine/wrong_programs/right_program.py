"""
Right: a row with a guard and an action of its event, a loop with a provider, and answers of a type.
"""

from dataclasses import dataclass

from rodada.statemachine.actions import keep_result
from rodada.statemachine.events import ToolFinished
from rodada.statemachine.guards import answers_running, has_reason
from rodada.statemachine.live import LiveRun
from rodada.statemachine.loop import ToolLoop
from rodada.statemachine.messages import ModelTurn, Stop
from rodada.statemachine.outcome import Outcome
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


@dataclass
class Plan:
    days: int


@dataclass
class Goal:
    kg: float


TYPED: ToolLoop[Plan] = ToolLoop(Answering(), output_type=Plan)
ANY: ToolLoop = TYPED
WATCHED: LiveRun[Plan] = TYPED.start("hello", stream=False)
PLANNED: Outcome[Plan] = TYPED.evolve(instructions="briefly").run_sync("hello")
AIMED: Outcome[Goal] = TYPED.run_sync("hello", output_type=Goal)
OTHER: ToolLoop[Goal] = LOOP.evolve(output_type=Goal)


async def days() -> int:
    output = (await TYPED.run("hello")).output
    return 0 if output is None else output.days
