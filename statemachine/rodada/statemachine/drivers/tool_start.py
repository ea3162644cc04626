"""
The start of a tool call: what the toolbox makes of its request, and what the tool is told of the run around it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from rodada.statemachine.drivers.ports import Ports
from rodada.statemachine.drivers.tool_run import ToolRun, failed
from rodada.statemachine.messages import Status, ToolRequest, ToolResult
from rodada.statemachine.ports import CallSetting, ToolCall
from rodada.statemachine.run import Run
from rodada.statemachine.time_left import seconds_to_deadline
from rodada.statemachine.toolbox import AnsweredCall

STILL_REFUSED = "Its arguments did not pass their checks when the turn was received, so it was not run."
Cancel = Callable[[str], None]


def start_call(request: ToolRequest, run: Run, ports: Ports, mono_ms: int, cancel: Cancel) -> ToolRun:
    """
    Start the call of a request in hand, at some time of the run; `cancel` asks the whole run to stop.
    """
    call: ToolCall
    planned, seconds = run.plan.call(request.id), None
    try:
        call = ports.toolbox.call(request, _setting(request, run, ports, mono_ms, cancel))
        seconds = ports.toolbox.seconds(request, run.limits.tool_seconds)
    except BaseException as error:  # noqa: BLE001  (whatever a tool raises is the result of its call)
        call = AnsweredCall(failed(request, error))
    if planned.refused and not isinstance(call, AnsweredCall):
        # Nobody was asked about it, so it must not run although its arguments would pass now.
        call = AnsweredCall(ToolResult.of(request, Status.FAILED, STILL_REFUSED))
    return ToolRun(request, call, planned.kind, seconds, run.limits, run.wording, ports.clock)


def _setting(request: ToolRequest, run: Run, ports: Ports, mono_ms: int, cancel: Cancel) -> CallSetting:
    left = seconds_to_deadline(run, mono_ms)
    return CallSetting(
        limits=run.limits,
        run_id=run.id,
        call_id=request.id,
        origin=run.origin,
        context=ports.context,
        deadline=None if left is None else _later(ports.clock.now(), left),
        cancel=cancel,
    )


def _later(now: datetime, seconds: float) -> datetime | None:
    """
    A moment after now; None where no date can say it, so far off is it.
    """
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return None
