"""
A tool that breaks its word fails its own call, and no more than that.
"""

import pytest

from rodada.statemachine import (
    CallRecord,
    ModelRequest,
    ModelTurn,
    PlannedCall,
    RunStatus,
    Status,
    Stop,
    ToolCall,
    ToolDeclaration,
    ToolLoop,
    ToolRequest,
    ToolResult,
    Watch,
)
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.scheduling import EVERYTHING, Touches


class Asking:
    """
    A model that asks for the tool once, and then answers.
    """

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        if request.call > 1:
            return ModelTurn(Stop.WHOLE, "done")
        return ModelTurn(Stop.WHOLE, requests=(ToolRequest("a", "odd", "{}"),))


class Odd:
    """
    A tool that keeps its word; the others break one of its promises each.
    """

    declaration = ToolDeclaration("odd", "")
    alive = False

    def planned(self, request: ToolRequest) -> PlannedCall | None:
        return PlannedCall(request.id)

    def seconds(self, usual: float | None) -> float | None:
        return usual

    @property
    def declared(self) -> bool:
        return True

    def touches(self, request: ToolRequest) -> Touches:
        return EVERYTHING

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        return self

    async def run(self) -> ToolResult:
        return ToolResult.of(ToolRequest("a", "odd", "{}"), Status.SUCCEEDED, "fine")


class RaisesWhenCalled(Odd):
    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        raise ValueError("secret")


class RaisesWhenAskedForItsTime(Odd):
    def seconds(self, usual: float | None) -> float | None:
        raise KeyError("secret")


class RaisesWhenRun(Odd):
    async def run(self) -> ToolResult:
        raise OSError("secret")


class GivesText(Odd):
    async def run(self) -> ToolResult:
        return "text"  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


class GivesAnotherResult(Odd):
    async def run(self) -> ToolResult:
        return ToolResult.of(ToolRequest("b", "odd", "{}"), Status.SUCCEEDED, "fine")


class SaysItNeverStarted(Odd):
    async def run(self) -> ToolResult:
        return ToolResult.of(ToolRequest("a", "odd", "{}"), Status.NOT_EXECUTED, "no")


@pytest.mark.parametrize(
    ("tool", "status", "text"),
    [
        (Odd(), Status.SUCCEEDED, "fine"),
        (RaisesWhenCalled(), Status.FAILED, "The tool failed (ValueError)."),
        (RaisesWhenAskedForItsTime(), Status.FAILED, "The tool failed (KeyError)."),
        (RaisesWhenRun(), Status.FAILED, "The tool failed (OSError)."),
        (GivesText(), Status.FAILED, "The tool gave a str and no result."),
        (GivesAnotherResult(), Status.FAILED, "The tool gave the result of another call."),
        (SaysItNeverStarted(), Status.FAILED, "The tool gave the result of another call."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_tool_that_breaks_its_word_fails_its_call_alone(tool: Odd, status: Status, text: str) -> None:
    outcome = ToolLoop(Asking(), tools=[tool]).run_sync("go on")
    assert (RunStatus.COMPLETED, "done") == (outcome.status, outcome.answer)
    assert (CallRecord("a", "odd", "{}", status, text),) == outcome.calls
