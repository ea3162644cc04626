"""
The asyncio driver: performs a run's effects as tasks and feeds what comes of them to `move`, one event at a time.

It decides nothing. Its only branch is on the kind of effect; it knows no state, no guard and no reason. Everything
it started has ended, or is reported, before it returns.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from functools import partial
from typing import assert_never

from attrs import evolve

from rodada.statemachine.drivers.appending import NOT_STOPPED, appended, seconds_to_append
from rodada.statemachine.drivers.clock import pause
from rodada.statemachine.drivers.deadline import Deadline
from rodada.statemachine.drivers.expiry import Expiry
from rodada.statemachine.drivers.model_call import not_stopped, reply_to
from rodada.statemachine.drivers.ports import Ports
from rodada.statemachine.drivers.tool_run import ToolRun
from rodada.statemachine.drivers.tool_start import start_call
from rodada.statemachine.errors import UnexpectedEvent
from rodada.statemachine.events import (
    ApprovalDecided,
    CancelRequested,
    DeadlinePassed,
    Event,
    GivesUp,
    ToolFinished,
)
from rodada.statemachine.log import log_info, log_warning
from rodada.statemachine.notice import Delta, Notice, TextDelta
from rodada.statemachine.orders import (
    Abandon,
    Append,
    AskApproval,
    AskModel,
    Effect,
    Order,
    StartTool,
    StopTool,
    orders,
)
from rodada.statemachine.run import Run
from rodada.statemachine.step import Step, move
from rodada.statemachine.time_left import seconds_for_call, seconds_left
from rodada.statemachine.watching import ApprovalAsked, StepTaken, ToolEnded, ToolStarted, never_run, turn_ended

Listen = Callable[[Notice], None]


class AsyncioDriver:
    """
    One run being driven on the running event loop.

    Attributes:
        run: as it stands now.
        steps: so far.
        output: what the last turn holds, where it is an answer of the type that was asked for.
    """

    def __init__(self, run: Run, ports: Ports, listen: Listen) -> None:
        self.run = run
        self.steps: list[Step] = []
        self.output: object = None
        self._ports = ports
        self._listen = listen
        self._clock = ports.clock
        self._began = ports.clock.mono()
        self._inbox: deque[tuple[Order | None, Event]] = deque()
        self._woken = asyncio.Event()
        self._tasks: dict[Order, asyncio.Task[None]] = {}
        self._dropped: set[asyncio.Task[None]] = set()
        self._tools: dict[str, ToolRun] = {}
        self._crash: BaseException | None = None
        self._deadline = Deadline(ports.clock, lambda: self.post(DeadlinePassed()))
        self._expiry = Expiry(ports.clock, self._expired)
        self._heard: list[str] = []

    @property
    def mono_ms(self) -> int:
        """
        Milliseconds since the run began.
        """
        return int((self._clock.mono() - self._began) * 1000)

    @property
    def still_running(self) -> tuple[str, ...]:
        """
        Ids of calls of which something still runs.
        """
        return tuple(request_id for request_id, tool in self._tools.items() if tool.alive)

    def post(self, event: Event, source: Order | None = None) -> None:
        """
        Let an event happen now; it is fed in its turn. Without a source it comes from outside the run's own orders.
        """
        self._inbox.append((source, evolve(event, at=self._clock.now(), mono_ms=self.mono_ms)))
        self._woken.set()

    def hurry(self) -> None:
        """
        End every grace now: what runs is cancelled and answered at once.
        """
        for tool in self._tools.values():
            tool.hurry()

    async def drive(self) -> Run:
        """
        Drive the run to its end.

        Raises:
            UnexpectedEvent: what an order gave does not fit the run: a fault in the table or in a port.
        """
        try:
            self._perform_all(orders(self.run))
            while self.run.outcome is None:
                self._feed(*await self._next())
            return self.run
        finally:
            await self._close()

    async def _next(self) -> tuple[Order | None, Event]:
        while not self._inbox:
            self._woken.clear()
            self._deadline.follow(self.run, self.mono_ms)
            self._expiry.follow(self.run, self.mono_ms)
            await self._woken.wait()
            if self._crash is not None:
                raise self._crash
        return self._inbox.popleft()

    def _feed(self, source: Order | None, posted: Event) -> None:
        # Not when it was posted: an event before it may have ended the call whose words these were.
        event = evolve(posted, heard="".join(self._heard)) if isinstance(posted, GivesUp) else posted
        try:
            moved = move(self.run, event, len(self.steps) + 1)
        except UnexpectedEvent as error:
            if source is not None:
                raise
            log_info("event.too_late", run=self.run.id, event_name=error.event, state=error.state)
            return
        before, self.run = self.run, moved.run
        self._stepped(moved.step)
        for ended in turn_ended(before, event, self.run):
            self._heard.clear()
            self._listen(ended)
        for withheld in never_run(before, self.run):
            self._tell(withheld)
        self._perform_all(moved.effects)

    def _stepped(self, step: Step) -> None:
        self.steps.append(step)
        log_info("step", run=self.run.id, n=step.n, state=step.state.value, row=step.row, to=step.to.value)
        self._tell(StepTaken(step))

    def _tell(self, notice: Notice) -> None:
        self._listen(evolve(notice, call=self.run.calls, attempt=self.run.attempt))

    def _perform_all(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            self._perform(effect)

    def _perform(self, effect: Effect) -> None:
        match effect:
            case AskModel():
                self._heard.clear()
                self._spawn(effect, self._ask(effect))
            case Append():
                self._spawn(effect, self._append(effect))
            case StartTool():
                self._spawn(effect, self._answer(effect, self._started(effect)))
            case StopTool():
                self._tools[effect.id].stop(seconds_left(self.run, self.mono_ms))
            case AskApproval():
                self._ask_people(effect)
            case Abandon():
                self._abandon(effect.order)
            case _:
                assert_never(effect)

    def _ask_people(self, order: AskApproval) -> None:
        request, planned = self.run.request(order.id), self.run.plan.call(order.id)
        asked = ApprovalAsked(
            request.id,
            request.name,
            request.raw,
            digest=request.digest,
            approvals=planned.approvals,
            requester_counts=planned.requester_counts,
            within=None if planned.within_ms is None else planned.within_ms / 1000,
        )
        self._tell(asked)
        if not self._ports.asks:
            self._deny(request.id, "nobody asked", self.run.wording.nobody_asked)

    def _expired(self, request_id: str) -> None:
        self._deny(request_id, "expired", self.run.wording.expired)

    def _deny(self, request_id: str, via: str, told: str) -> None:
        self.post(ApprovalDecided(request_id, False, "", via, told))

    def _spawn(self, order: Order, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work, name=f"rodada {type(order).__name__}")
        self._tasks[order] = task
        task.add_done_callback(partial(self._ended, order))

    def _ended(self, order: Order, task: asyncio.Task[None]) -> None:
        self._dropped.discard(task)
        if self._tasks.get(order) is task:
            del self._tasks[order]
        if not task.cancelled() and task.exception() is not None:
            self._crash = task.exception()
            self._woken.set()

    def _abandon(self, order: Order) -> None:
        task = self._tasks.pop(order, None)
        if task is not None:
            self._dropped.add(task)
            task.cancel()
        self._inbox = deque(item for item in self._inbox if item[0] != order)

    def _waits_for(self, order: Order) -> bool:
        """
        Whether what comes of an order is still wanted. Its task does not tell: an eager one may end before it is known.
        """
        return order in orders(self.run)

    async def _ask(self, order: AskModel) -> None:
        if order.wait:
            await pause(self._clock, order.wait / 1000)
        seconds = seconds_for_call(self.run, self.mono_ms)
        with self._left_behind(order, seconds, not_stopped(order)):
            reply = await reply_to(order, self.run, self._ports, seconds, partial(self._watch, order))
        if self._waits_for(order):  # else it was given up, and came all the same: a provider may not heed its cancel
            self.output = reply.output
            self.post(reply.event, order)

    def _watch(self, order: Order, delta: Delta) -> None:
        """
        A piece of a turn. Of a call that was given up nothing is heard any more.
        """
        if not self._waits_for(order):
            return
        if isinstance(delta, TextDelta):
            self._heard.append(delta.text)
        self._tell(delta)

    async def _append(self, order: Append) -> None:
        with self._left_behind(order, seconds_to_append(self.run.limits), NOT_STOPPED):
            event = await appended(order, self.run, self._ports)
        self.post(event, order)

    @contextmanager
    def _left_behind(self, order: Order, seconds: float | None, failed: Event) -> Generator[None]:
        """
        A block for a port that has some seconds: where it does not end although it was cancelled then, it is left to
        itself, and its order has failed.
        """
        if seconds is None:
            yield
            return
        timer = self._clock.later(seconds + self.run.limits.stop_seconds, partial(self._leave_behind, order, failed))
        try:
            yield
        finally:
            timer.cancel()

    def _leave_behind(self, order: Order, failed: Event) -> None:
        if order in self._tasks:
            self._abandon(order)
            self.post(failed, order)

    def _started(self, order: StartTool) -> ToolRun:
        request = self.run.request(order.id)
        self._tell(ToolStarted(request.id, request.name))
        tool = start_call(request, self.run, self._ports, self.mono_ms, self._cancel_from_anywhere())
        self._tools[order.id] = tool
        return tool

    def _cancel_from_anywhere(self) -> Callable[[str], None]:
        loop = asyncio.get_running_loop()

        def cancel(reason: str) -> None:
            loop.call_soon_threadsafe(self.post, CancelRequested(reason))

        return cancel

    async def _answer(self, order: StartTool, tool: ToolRun) -> None:
        result = await tool.result()
        if tool.alive:
            log_warning("tool.still_running", run=self.run.id, call=order.id, tool=tool.request.name)
        seconds = self._clock.mono() - tool.started_at
        self._tell(ToolEnded(order.id, tool.request.name, result.status, seconds))
        self.post(ToolFinished(result), order)

    async def _close(self) -> None:
        self._deadline.cancel()
        self._expiry.cancel()
        open_tasks = {*self._tasks.values(), *self._dropped}
        for task in open_tasks:
            task.cancel()
        if open_tasks:
            _, pending = await asyncio.wait(open_tasks, timeout=max(1.0, 2 * self.run.limits.stop_seconds))
            if pending:
                log_warning("tasks.still_running", run=self.run.id, tasks=len(pending))
