"""
A tool that breaks its word fails its own call, and no more than that.
"""

import asyncio

import pytest

from rodada.statemachine import (
    CallRecord,
    Kind,
    Limits,
    ModelRequest,
    ModelTurn,
    Outcome,
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
from rodada.statemachine.drivers.tool_run import ToolRun
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.scheduling import EVERYTHING, Touches
from rodada.statemachine.wording import ENGLISH
from support.clock import HeldClock


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


class ExitsWhenCalled(Odd):
    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        raise SystemExit(3)


class ExitsWhenRun(Odd):
    async def run(self) -> ToolResult:
        raise SystemExit(3)


class InterruptsWhenRun(Odd):
    async def run(self) -> ToolResult:
        raise KeyboardInterrupt


class ClosesWhenRun(Odd):
    async def run(self) -> ToolResult:
        raise GeneratorExit


class StopsWhenRun(Odd):
    async def run(self) -> ToolResult:
        raise StopIteration


class CancelsItself(Odd):
    async def run(self) -> ToolResult:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()
        raise AssertionError


class CancelsItselfAsItReturns(Odd):
    async def run(self) -> ToolResult:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return await super().run()


class IsNoCoroutine(Odd):
    def run(self) -> ToolResult:  # type: ignore[override]  # pyright: ignore
        return ToolResult.of(ToolRequest("a", "odd", "{}"), Status.SUCCEEDED, "fine")


class CannotSayWhetherItIsAlive(Odd):
    @property
    def alive(self) -> bool:  # type: ignore[override]  # pyright: ignore
        raise ValueError("secret")


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
        (ExitsWhenCalled(), Status.FAILED, "The tool failed (SystemExit)."),
        (ExitsWhenRun(), Status.FAILED, "The tool failed (SystemExit)."),
        (InterruptsWhenRun(), Status.FAILED, "The tool failed (KeyboardInterrupt)."),
        (ClosesWhenRun(), Status.FAILED, "The tool failed (GeneratorExit)."),
        (StopsWhenRun(), Status.FAILED, "The tool failed (RuntimeError)."),
        (CancelsItself(), Status.FAILED, "The tool cancelled itself."),
        (CancelsItselfAsItReturns(), Status.FAILED, "The tool cancelled itself."),
        (IsNoCoroutine(), Status.FAILED, "The tool failed (TypeError)."),
        (CannotSayWhetherItIsAlive(), Status.SUCCEEDED, "fine"),
        (SaysItNeverStarted(), Status.FAILED, "The tool gave the result of another call."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_f074_f078_a_tool_that_breaks_its_word_fails_its_call_alone(tool: Odd, status: Status, text: str) -> None:
    outcome = ToolLoop(Asking(), tools=[tool]).run_sync("go on")
    assert (RunStatus.COMPLETED, "done") == (outcome.status, outcome.answer)
    assert (CallRecord("a", "odd", "{}", status, text),) == outcome.calls


def test_what_a_call_raises_because_it_was_cut_off_does_not_tell_its_outcome() -> None:
    class Breaks(Odd):
        def seconds(self, usual: float | None) -> float | None:
            return 0.01

        async def run(self) -> ToolResult:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ConnectionError from None
            raise AssertionError

    (call,) = ToolLoop(Asking(), tools=[Breaks()]).run_sync("go on").calls
    assert (call.status, call.text) == (Status.OUTCOME_UNKNOWN, ENGLISH.timed_out_after(0.01))


@pytest.mark.parametrize("kind", [Kind.READ, Kind.WRITE])
def test_what_is_stopped_before_it_has_begun_is_told_as_not_run(kind: Kind) -> None:
    """
    The cancel and the model's turn come in the same breath: the call's task exists, but has not taken a step.
    """
    ran: list[int] = []

    class Counting(Odd):
        def planned(self, request: ToolRequest) -> PlannedCall | None:
            return PlannedCall(request.id, kind)

        async def run(self) -> ToolResult:
            ran.append(1)
            return await super().run()

    async def main() -> Outcome:
        class Cancelling(Asking):
            async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
                asyncio.get_running_loop().call_soon(live.cancel)
                return await super().ask(request, watch)

        async with ToolLoop(Cancelling(), tools=[Counting()]).start("go on") as live:
            return await live.outcome()

    outcome = asyncio.run(main())
    assert RunStatus.CANCELLED is outcome.status
    told = [(call.status, call.text) for call in outcome.calls]
    assert [(Status.FAILED, "The tool was not run: it was stopped before it began.")] == told
    assert [] == ran


def test_what_is_over_when_it_is_to_stop_leaves_no_timer_behind() -> None:
    """
    Its result may wait to be fed when the run is cancelled; a timer would keep the whole run until it fires.
    """

    async def main() -> tuple[Status, int]:
        clock, request = HeldClock(), ToolRequest("a", "odd", "{}")
        tool = ToolRun(request, Odd().call(request, CallSetting()), Kind.WRITE, 60, Limits(), ENGLISH, clock)
        result = await tool.result()
        tool.stop(None)
        tool.hurry()
        return result.status, clock.pending

    assert (Status.SUCCEEDED, 0) == asyncio.run(main())
