"""
One started tool call, from its start to its one result: within its time, stopped with grace, never over-told.

A read that is asked to stop is cancelled at once, and so is a call that has not begun or settles by itself; a write
may finish within its grace and is cancelled near the end of it. What still does not end is left behind as "outcome
unknown" and reported as alive.
"""

import asyncio
from collections.abc import Callable
from typing import Literal

from rodada.statemachine.limits import Limits
from rodada.statemachine.log import log_warning
from rodada.statemachine.messages import Status, ToolRequest, ToolResult
from rodada.statemachine.plan import Kind
from rodada.statemachine.ports import STOPPED, Clock, Settling, Timer, ToolCall
from rodada.statemachine.wording import Wording

_left_behind: set[asyncio.Task[ToolResult]] = set()


class ToolRun:
    """
    A call that is running: building it starts it.

    Args:
        request: what it answers.
        call: of the toolbox.
        kind: of the call's plan.
        seconds: its time; None is unlimited.
        limits: of the run.
        wording: of the run.
        clock: whose seconds count.
    """

    def __init__(
        self,
        request: ToolRequest,
        call: ToolCall,
        kind: Kind,
        seconds: float | None,
        limits: Limits,
        wording: Wording,
        clock: Clock,
    ) -> None:
        self.request = request
        self.started_at = clock.mono()
        self._call = call
        self._kind = kind
        self._limits = limits
        self._wording = wording
        self._clock = clock
        self._timers: list[Timer] = []
        self._begun = False
        self._asked_to_end = False
        self._cut_off = wording.interrupted_read if kind is Kind.READ else wording.interrupted
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._work = asyncio.create_task(self._contained(), name=f"rodada tool {request.name}")
        self._work.add_done_callback(self._finish)
        if seconds is not None:
            self._later(seconds, lambda: self._time_out(seconds))

    @property
    def alive(self) -> bool:
        """
        Whether something of the call still runs.
        """
        return not self._work.done() or self._said_of_it("alive")

    async def result(self) -> ToolResult:
        """
        The call's own result, or "outcome unknown" when it was cut off.
        """
        try:
            await self._over
            return self._told(self._work)
        except asyncio.CancelledError:
            await self._cancel_now()
            raise
        finally:
            for timer in self._timers:
                timer.cancel()

    def stop(self, left: float | None) -> None:
        """
        Ask the call to stop. It has `stop_seconds`, but never more than half of the time that the run has left, so
        that the closing call still gets its share; the last fifth of it is for cleaning up after a cancel. One that is
        over is left alone: a timer for it would keep the whole run in memory.
        """
        if self._over.done():
            return
        grace = self._limits.stop_seconds if left is None else min(self._limits.stop_seconds, max(0.0, left / 2))
        if self._kind is Kind.READ or not self._begun or self._said_of_it("settles"):
            self._cancel(grace)
        else:
            self._later(grace * 4 / 5, lambda: self._cancel(grace / 5))

    def hurry(self) -> None:
        """
        Ask the call to end now, without grace.
        """
        if not self._over.done():
            self._cancel(0.0)

    def _time_out(self, seconds: float) -> None:
        self._cut_off = self._wording.timed_out_after(seconds)
        self._cancel(self._limits.stop_seconds)

    def _cancel(self, grace: float) -> None:
        self._asked_to_end = True
        self._work.cancel(STOPPED)
        self._later(grace, self._finish)

    def _finish(self, _work: object = None) -> None:
        if not self._over.done():
            self._over.set_result(None)

    def _later(self, seconds: float, callback: Callable[[], object]) -> None:
        self._timers.append(self._clock.later(seconds, callback))

    async def _cancel_now(self) -> None:
        self._work.cancel(STOPPED)
        await asyncio.wait({self._work}, timeout=self._limits.stop_seconds)
        if not self._work.done():
            _leave(self._work)

    def _told(self, work: asyncio.Task[ToolResult]) -> ToolResult:
        if not work.done():
            _leave(work)
            return ToolResult.of(self.request, Status.OUTCOME_UNKNOWN, self._cut_off)
        if work.cancelled():
            return self._told_cancelled()
        return self._checked(work.result())

    def _told_cancelled(self) -> ToolResult:
        """
        A cancel that nobody asked for is the tool's own failure (fault F074).
        """
        if not self._begun:
            return ToolResult.of(self.request, Status.FAILED, "The tool was not run: it was stopped before it began.")
        if self._asked_to_end:
            return ToolResult.of(self.request, Status.OUTCOME_UNKNOWN, self._cut_off)
        return ToolResult.of(self.request, Status.FAILED, "The tool cancelled itself.")

    async def _contained(self) -> ToolResult:
        """
        Whatever a call raises is its result: left alone, SystemExit or KeyboardInterrupt in a task ends the event loop
        of every run. Only a cancel goes through, and with it what a call raises once it is cut off: an exception in the
        middle of a write that was torn says nothing of what was written by then.
        """
        self._begun = True
        try:
            return await self._call.run()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  (see above)
            if self._asked_to_end:
                raise asyncio.CancelledError from None
            return failed(self.request, error)

    def _said_of_it(self, what: Literal["alive", "settles"]) -> bool:
        """
        What the call says of itself; one that cannot even say it says no.
        """
        try:
            if what == "alive":
                return self._call.alive
            return isinstance(self._call, Settling) and self._call.settles
        except Exception as error:  # noqa: BLE001  (whatever a tool raises harms no other call)
            log_warning("tool.cannot_say", tool=self.request.name, what=what, error=type(error).__name__)
            return False

    def _checked(self, result: object) -> ToolResult:
        """
        A toolbox may only say of a started call that it succeeded, failed, or was cut off, and only of this one.
        """
        sayable = (Status.SUCCEEDED, Status.FAILED, Status.OUTCOME_UNKNOWN)
        if not isinstance(result, ToolResult):
            return ToolResult.of(self.request, Status.FAILED, f"The tool gave a {type(result).__name__} and no result.")
        if result.id == self.request.id and result.status in sayable:
            return result
        return ToolResult.of(self.request, Status.FAILED, "The tool gave the result of another call.")


def failed(request: ToolRequest, error: BaseException) -> ToolResult:
    """
    The result of a call whose tool raised; the exception's text may hold secrets.
    """
    return ToolResult.of(request, Status.FAILED, f"The tool failed ({type(error).__name__}).")


def _leave(work: asyncio.Task[ToolResult]) -> None:
    _left_behind.add(work)
    work.add_done_callback(_left_behind.discard)
