"""
Wrong: a provider that returns a string.
"""

from rodada.statemachine.loop import ToolLoop
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest


class Saying:
    async def ask(self, request: ModelRequest, watch: Watch) -> str:
        return "yes"


LOOP = ToolLoop(Saying())  # refused
