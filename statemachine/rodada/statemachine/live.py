"""
A run while it goes on: the handle that users hold. The block owns the run; leaving it before the end cancels the
run and waits until it has settled. A `with` block is for hosts without an event loop: its run is on the one in the
background, and its thread does for it, while it waits, what only the calling thread may do.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from attrs import asdict

from rodada.statemachine.approvals import may_approve, undecided, waits_for_decision
from rodada.statemachine.audience import Audience
from rodada.statemachine.drivers.asyncio_driver import AsyncioDriver
from rodada.statemachine.drivers.background import at_once, background_loop, running_loop, waited_for
from rodada.statemachine.drivers.calling_thread import CallingThread
from rodada.statemachine.drivers.ports import Ports
from rodada.statemachine.errors import AlreadyEntered, ConversationBusy, InvalidValue, NotEntered
from rodada.statemachine.events import ApprovalDecided, CancelRequested, Event
from rodada.statemachine.log import log_info
from rodada.statemachine.notice import Notice
from rodada.statemachine.outcome import Outcome, T_co, outcome_of
from rodada.statemachine.people import person
from rodada.statemachine.run import Origin, Run
from rodada.statemachine.spent import Spent, spent_by
from rodada.statemachine.watching import Ended

T = TypeVar("T")
_busy: dict[str, str] = {}
# None of its parent's runs goes on in a forked child.
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_busy.clear)


class LiveRun(Generic[T_co]):
    """
    One run, owned by an `async with` block, or by a `with` block in a thread that runs no event loop. Entering it
    begins the run.

    Attributes:
        id: of the run.

    Raises:
        AlreadyEntered: on entering it a second time.
        ConversationBusy: on entering it while another run is answering on its conversation.
        RunningLoop: on entering it by `with` in a thread that runs an event loop.
    """

    def __init__(self, run: Run, ports: Ports) -> None:
        self.id = run.id
        self._first = run
        self._ports = ports
        self._audience = Audience()
        self._driver: AsyncioDriver | None = None
        self._ended_ms: int | None = None
        self._task: asyncio.Task[Outcome[T_co]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._caller: CallingThread | None = None
        self._process = os.getpid()
        self._is_over = False

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise AlreadyEntered(self.id)
        self._loop = asyncio.get_running_loop()
        _occupy(self._first)
        self._driver = AsyncioDriver(self._first, self._ports, self._audience.tell)
        self._task = asyncio.create_task(self._drive(self._driver), name=f"rodada {self.id}")
        # Not within the task: one that is cancelled before its first step never gets there.
        self._task.add_done_callback(self._over)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        task = self._entered()
        interrupt = None
        if not task.done():
            self.cancel(
                "cancelled" if error is None or isinstance(error, asyncio.CancelledError) else "left by an error"
            )
            interrupt = await _settle(task, self._driver)
        cancel = error if isinstance(error, asyncio.CancelledError) else interrupt
        has_outcome = not task.cancelled() and task.exception() is None
        if has_outcome and cancel is not None:
            setattr(cancel, "outcome", task.result())  # noqa: B010  (the exception stays the caller's own)
        if interrupt is not None and cancel is interrupt:
            raise interrupt

    def __enter__(self) -> Self:
        caller = CallingThread(background_loop())
        try:
            waited_for(caller, self._begun_by(caller))
            return self
        except BaseException as error:
            # An interrupt may come when the run has begun; then nobody is in a block that would be left.
            if self._caller is caller:
                self.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        caller = self._caller
        if caller is None:
            raise NotEntered(self.id)
        if self._process != os.getpid():  # a fork: the run goes on where it was begun
            return
        try:
            # Waited for by itself: the thread begins nothing of a run that is about to be stopped.
            self._waited_for(CallingThread(caller.loop), self._left_by(caller, kind, error, traceback))
        except BaseException:
            # An interrupt may come before it was asked to stop.
            self.cancel("left by an error")
            raise

    def events(self, *, after: int | None = None) -> AsyncIterator[Notice]:
        """
        What happens from now on, ending with `Ended` (without it only when the run crashed; `outcome` then says how).
        Any number of watchers; none slows the run down. One that cannot keep up, or comes back for notices that are no
        longer kept, gets a `Gap` and a `SoFar` in their place.

        Args:
            after: the number `n` of the last notice that was seen, to go on behind it; 0 for all from the beginning.
        """
        return self._audience.events(after)

    def events_sync(self, *, after: int = 0) -> Iterator[Notice]:
        """
        The same, waited for in this thread. From the beginning unless told otherwise: the run does not wait for whoever
        comes from another thread to watch it.

        Raises:
            NotEntered: the block has not begun.
            RunningLoop: this thread runs an event loop.
        """
        caller = self._calling()
        return self._each(caller, self._waited_for(caller, self._opened(after)))

    @property
    def spent(self) -> Spent:
        """
        What the run has used so far, beside its limits; may be read from any thread.
        """
        driver = self._driver
        if driver is None:
            return spent_by(self._first, 0)
        return spent_by(driver.run, driver.mono_ms if self._ended_ms is None else self._ended_ms)

    def cancel(self, detail: str = "") -> None:
        """
        Ask the run to stop: what runs is stopped with grace, what is finished is kept. From any thread.

        Raises:
            NotEntered: the block has not begun.
        """
        self._post(CancelRequested(detail))

    def approve(self, call_id: str, *, by: str, via: str = "", digest: str | None = None) -> None:
        """
        Approve a request.

        Args:
            call_id: of the request.
            by: who, by the host's own authentication, never from the model; case, spaces and the form of letters make
                no other person.
            via: through which channel.
            digest: of the arguments that they saw, as in `ApprovalAsked`; None where the host makes sure of it.

        Raises:
            InvalidValue: no such request waits for a decision, its arguments are others, or nobody may approve it.
        """
        self._decide(ApprovalDecided(call_id, True, by, via), digest)

    def deny(self, call_id: str, *, by: str, via: str = "", reason: str = "", digest: str | None = None) -> None:
        """
        Deny a request; the model is told who denied it and why. The arguments are those of `approve`.

        Raises:
            InvalidValue: no such request waits for a decision, or its arguments are others.
        """
        self._decide(ApprovalDecided(call_id, False, by, via, reason), digest)

    async def outcome(self) -> Outcome[T_co]:
        """
        The outcome, when the run has ended. Cancelling whoever awaits it leaves the run alone.

        Raises:
            NotEntered: the block has not begun.
            UnexpectedEvent: a fault in the table or in a port.
        """
        return await asyncio.shield(self._entered())

    def outcome_sync(self) -> Outcome[T_co]:
        """
        The same, waited for in this thread. Interrupting the wait leaves the run alone, save for tools that are bound
        to the thread of the `with` block: no more of them begin.

        Raises:
            NotEntered: the block has not begun.
            RunningLoop: this thread runs an event loop.
            UnexpectedEvent: a fault in the table or in a port.
        """
        return self._waited_for(self._calling(), self.outcome())

    async def _begun_by(self, caller: CallingThread) -> None:
        await self.__aenter__()
        self._caller = caller

    async def _left_by(
        self,
        caller: CallingThread,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        caller.leave()
        await self.__aexit__(kind, error, traceback)

    async def _opened(self, after: int) -> AsyncIterator[Notice]:
        return self.events(after=after)

    def _calling(self) -> CallingThread:
        """
        This thread, which does meanwhile what only the thread of the `with` block may do, if it is that.
        """
        if self._loop is None:
            raise NotEntered(self.id)
        caller = self._caller
        return caller if caller is not None and caller.is_here else CallingThread(self._loop)

    def _each(self, caller: CallingThread, events: AsyncIterator[Notice]) -> Iterator[Notice]:
        while (notice := self._waited_for(caller, _next(events))) is not None:
            yield notice

    def _waited_for(self, caller: CallingThread, work: Coroutine[object, object, T]) -> T:
        # What is over waits for nothing; its event loop may have ended since.
        return at_once(work) if self._is_over else waited_for(caller, work)

    def _decide(self, event: ApprovalDecided, digest: str | None) -> None:
        if not person(event.by):
            raise InvalidValue("decision", "it needs somebody: pass by=... from the host's authentication")
        # Once: from another thread the run may go on meanwhile.
        run = self._first if self._driver is None else self._driver.run
        if not waits_for_decision(run, event.id):
            waiting = ", ".join(undecided(run)) or "none"
            raise InvalidValue("decision", f"{event.id!r} does not wait for one; these do: {waiting}")
        if digest is not None and digest != run.request(event.id).digest:
            raise InvalidValue("decision", f"{event.id!r} has other arguments than those that were decided on")
        if event.yes and not person(run.origin.actor) and not may_approve(run, event.id, event.by):
            raise InvalidValue(
                "decision",
                f"{event.id!r} may not be approved by whoever the run is for, and nobody knows who that is: "
                "start it with origin=Origin(actor=...)",
            )
        self._post(event)

    def _post(self, event: Event) -> None:
        driver, loop = self._driver, self._loop
        if driver is None or loop is None:
            raise NotEntered(self.id)
        if running_loop() is loop:
            driver.post(event)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(driver.post, event)

    def _entered(self) -> asyncio.Task[Outcome[T_co]]:
        if self._task is None:
            raise NotEntered(self.id)
        return self._task

    def _over(self, _task: object) -> None:
        _release(self._first)
        self._audience.close()
        self._is_over = True

    async def _drive(self, driver: AsyncioDriver) -> Outcome[T_co]:
        # An eager task begins before anybody can have come to watch it.
        await asyncio.sleep(0)
        outcome = await self._driven(driver)
        self._audience.tell(Ended(outcome, call=driver.run.calls, attempt=driver.run.attempt))
        return outcome

    async def _driven(self, driver: AsyncioDriver) -> Outcome[T_co]:
        first = self._first
        told = _told_origin(first.origin)
        log_info("run.started", run=self.id, conversation=first.conversation.id, left_out=first.selected, **told)
        try:
            ended = await driver.drive()
        finally:
            self._ended_ms = driver.mono_ms
            # Before the end is told: whoever hears it may go on with the conversation at once.
            _release(first)
        output = cast("T_co | None", driver.output)
        outcome = outcome_of(ended, tuple(driver.steps), driver.still_running, output)
        reason = None if outcome.reason is None else outcome.reason.value
        log_info("run.ended", run=self.id, status=outcome.status.value, reason=reason, rounds=outcome.rounds)
        return outcome


def _told_origin(origin: Origin) -> dict[str, str]:
    # The host's words, in which a line break would begin a log line of its own.
    return {name: ascii(value) for name, value in asdict(origin, recurse=False).items() if value}


async def _next(events: AsyncIterator[Notice]) -> Notice | None:
    return await anext(events, None)


def _occupy(run: Run) -> None:
    holder = _busy.setdefault(run.conversation.id, run.id)
    if holder != run.id:
        raise ConversationBusy(run.conversation.id, holder)


def _release(run: Run) -> None:
    if _busy.get(run.conversation.id) == run.id:
        del _busy[run.conversation.id]


async def _settle(task: asyncio.Task[Outcome[Any]], driver: AsyncioDriver | None) -> asyncio.CancelledError | None:
    """
    Wait until a cancelled run has settled, whatever it ended with. Cancelled once more meanwhile, it settles without
    grace; once more, it is dropped. The last of these cancels is returned: it is still to be raised.
    """
    interrupt: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            if interrupt is None and driver is not None:
                driver.hurry()
            else:
                task.cancel()
            interrupt = error
    return interrupt
