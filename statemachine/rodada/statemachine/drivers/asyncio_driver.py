"""
The asyncio driver: performs a run's effects as tasks and feeds what comes of them to `move`, one event at a time.

It decides nothing. Its only branch is on the kind of effect; it knows no state, no guard and no reason. Everything
it started has ended, or is reported, before it returns.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import partial
from random import random
from typing import assert_never

from attrs import evolve, frozen

from rodada.statemachine.drivers.clock import SystemClock, pause, within
from rodada.statemachine.drivers.deadline import Deadline
from rodada.statemachine.drivers.expiry import Expiry
from rodada.statemachine.drivers.tool_run import ToolRun, failed
from rodada.statemachine.errors import LoopError, ProviderError, ProviderGarbled, ProviderTimeout, UnexpectedEvent
from rodada.statemachine.events import (
    AppendFailed,
    ApprovalDecided,
    CallFailed,
    CancelRequested,
    DeadlinePassed,
    Event,
    Failure,
    GivesUp,
    HistoryAppended,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.log import log_info, log_warning
from rodada.statemachine.messages import ModelTurn, Status, ToolRequest, ToolResult
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
from rodada.statemachine.output import Output, judged
from rodada.statemachine.ports import CallSetting, Clock, History, Provider, Timer, Toolbox, ToolCall
from rodada.statemachine.request import model_request
from rodada.statemachine.run import Run, seconds_for_call, seconds_left, seconds_to_deadline
from rodada.statemachine.step import Step, move
from rodada.statemachine.toolbox import RefusedCall
from rodada.statemachine.watching import ApprovalAsked, StepTaken, ToolEnded, ToolStarted, never_run, turn_ended

BACKOFF_SECONDS, LONGEST_BACKOFF = 0.5, 8.0
LONGEST_WAIT = 86_400.0  # what a vendor asks may be anything, infinity too

STILL_REFUSED = "Its arguments did not pass their checks when the turn was received, so it was not run."
ENGINE = "the engine"
Listen = Callable[[Notice], None]


@frozen(kw_only=True)
class Ports:
    """
    What a driver works with.

    Attributes:
        provider: the model.
        toolbox: the tools.
        history: where entries are stored; None when the caller keeps them.
        instructions: system instructions of the run.
        stream: ask the model to stream.
        output: the type that an answer shall have; None when any text will do.
        context: the host's value, for its tools.
        asks: whether somebody can decide what needs an approval; where nobody can, it is denied.
        clock: time.
        jitter: a number in [0, 1) that spreads retries.
    """

    provider: Provider
    toolbox: Toolbox
    history: History | None = None
    instructions: str = ""
    stream: bool = False
    output: Output | None = None
    context: object = None
    asks: bool = True
    clock: Clock = SystemClock()
    jitter: Callable[[], float] = random


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
        within = None if planned.within_ms is None else planned.within_ms / 1000
        asked = ApprovalAsked(
            request.id,
            request.name,
            request.raw,
            digest=request.digest,
            approvals=planned.approvals,
            requester_counts=planned.requester_counts,
            within=within,
        )
        self._tell(asked)
        if not self._ports.asks:
            self.post(ApprovalDecided(request.id, False, ENGINE, "nobody asked", self.run.wording.nobody_asked))

    def _expired(self, request_id: str) -> None:
        self.post(ApprovalDecided(request_id, False, ENGINE, "expired", self.run.wording.expired))

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
        reply = await self._reply(order)
        if self._waits_for(order):  # else it was given up, and came all the same: a provider may not heed its cancel
            self.post(reply, order)

    async def _reply(self, order: AskModel) -> TurnReceived | CallFailed:
        run = self.run
        try:
            turn = await self._turn(run, order)
            return TurnReceived(order.call, turn, self._ports.toolbox.plan(turn.requests))
        except ProviderError as error:
            return CallFailed(order.call, _told(error), self._wait_ms(run.attempt, error.retry_after))
        except BaseException as error:  # noqa: BLE001  (whatever a provider or a plan raises ends in an outcome)
            _let_pass(error)
            return CallFailed(order.call, _foreign(error, "the provider"))

    async def _turn(self, run: Run, order: AskModel) -> ModelTurn:
        seconds = seconds_for_call(run, self.mono_ms)
        if seconds is not None and seconds <= 0:
            raise ProviderTimeout("rodada", "no time was left for the call, so it was not sent", retryable=False)
        ports = self._ports
        request = model_request(
            run,
            ports.instructions,
            ports.toolbox.declarations,
            seconds,
            stream=ports.stream,
            output_schema=None if ports.output is None else ports.output.schema,
        )
        error = ProviderTimeout("rodada", "the provider did not stop when its time was over", retryable=False)
        last = self._last_resort(order, seconds, CallFailed(order.call, _told(error)))
        try:
            turn: object = await within(self._clock, seconds, ports.provider.ask(request, partial(self._watch, order)))
        except TimeoutError:
            raise ProviderTimeout("rodada", f"no answer within {seconds:.3g} s") from None
        finally:
            _cancel(last)
        entering = judged(ports.output, request, _checked(turn, run))
        self.output = entering.value
        return entering.turn

    def _watch(self, order: Order, delta: Delta) -> None:
        """
        A piece of a turn. Of a call that was given up nothing is heard any more.
        """
        if not self._waits_for(order):
            return
        if isinstance(delta, TextDelta):
            self._heard.append(delta.text)
        self._tell(delta)

    def _wait_ms(self, attempt: int, asked: float | None) -> int:
        backoff = min(LONGEST_BACKOFF, BACKOFF_SECONDS * 2.0 ** (attempt - 1)) * (1 - self._ports.jitter() / 4)
        wanted = asked if isinstance(asked, (int, float)) and asked > backoff else backoff
        return round(1000 * min(wanted, LONGEST_WAIT))

    async def _append(self, order: Append) -> None:
        history = self._ports.history
        conversation = self.run.conversation
        seconds = _shortest(self.run.limits.call_seconds, self.run.limits.seconds)
        last = self._last_resort(order, seconds, AppendFailed(Failure("TimeoutError", "the history did not stop")))
        try:
            if history is not None:
                store = history.append(conversation.id, len(conversation.entries), (order.entry,))
                await within(self._clock, seconds, store)
            self.post(HistoryAppended(), order)
        except BaseException as error:  # noqa: BLE001  (whatever a store raises ends in an outcome)
            _let_pass(error)
            self.post(AppendFailed(_foreign(error, "the history")), order)
        finally:
            _cancel(last)

    def _last_resort(self, order: Order, seconds: float | None, failed: Event) -> Timer | None:
        """
        A port that does not end although it was cancelled is left behind, and its order has failed.
        """
        if seconds is None:
            return None
        return self._clock.later(seconds + self.run.limits.stop_seconds, partial(self._leave_behind, order, failed))

    def _leave_behind(self, order: Order, failed: Event) -> None:
        if order in self._tasks:
            self._abandon(order)
            self.post(failed, order)

    def _started(self, order: StartTool) -> ToolRun:
        run, toolbox = self.run, self._ports.toolbox
        call: ToolCall
        request = self.run.request(order.id)
        self._tell(ToolStarted(request.id, request.name))
        try:
            call = toolbox.call(request, self._setting(request))
            seconds = toolbox.seconds(request, run.limits.tool_seconds)
        except BaseException as error:  # noqa: BLE001  (whatever a tool raises is the result of its call)
            call, seconds = RefusedCall(failed(request, error)), None
        planned = run.plan.call(order.id)
        if planned.refused and not isinstance(call, RefusedCall):
            # Nobody was asked about it, so it must not run although its arguments would pass now.
            call = RefusedCall(ToolResult.of(request, Status.FAILED, STILL_REFUSED))
        tool = ToolRun(request, call, planned.kind, seconds, run.limits, run.wording, self._clock)
        self._tools[order.id] = tool
        return tool

    def _setting(self, request: ToolRequest) -> CallSetting:
        left = seconds_to_deadline(self.run, self.mono_ms)
        return CallSetting(
            limits=self.run.limits,
            run_id=self.run.id,
            call_id=request.id,
            origin=self.run.origin,
            context=self._ports.context,
            deadline=None if left is None else self._clock.now() + timedelta(seconds=left),
            cancel=self._cancel_from_anywhere(),
        )

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


def _shortest(*seconds: float | None) -> float | None:
    return min((each for each in seconds if each is not None), default=None)


def _cancel(timer: Timer | None) -> None:
    if timer is not None:
        timer.cancel()


def _checked(turn: object, run: Run) -> ModelTurn:
    """
    A provider that breaks its word is a failed call, not a crash.
    """
    if not isinstance(turn, ModelTurn):
        raise ProviderGarbled("rodada", f"the provider gave a {type(turn).__name__}, not a ModelTurn", retryable=False)
    used = [request.id for request in turn.requests if run.conversation.uses(request.id)]
    if used:
        raise ProviderGarbled("rodada", f"the provider used request ids {used} again", retryable=False)
    if turn.has_words != bool(turn.text.strip()):
        raise ProviderGarbled("rodada", "the provider's turn says other than its text about words", retryable=False)
    return turn


def _told(error: ProviderError) -> Failure:
    return Failure(
        type(error).__name__,
        str(error),
        error.retryable,
        error.provider,
        error.status,
        error.code,
        error.request_id,
    )


def _let_pass(error: BaseException) -> None:
    """
    Raise what is not the port's own doing: a cancel that this task was asked for.
    """
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error


def _foreign(error: BaseException, who: str) -> Failure:
    """
    A foreign exception by its class only, since its text may hold secrets; our own errors with their words.
    """
    told = str(error) if isinstance(error, LoopError) else f"{who} raised {type(error).__name__}"
    return Failure(type(error).__name__, told)
