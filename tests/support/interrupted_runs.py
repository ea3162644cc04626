"""
One run into which something comes at one point of it; and what is wrong with it afterwards.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from itertools import count
from typing import Literal, Protocol, TypeAlias

from attrs import define, evolve, field, frozen

from rodada.statemachine import (
    ApprovalAsked,
    Conversation,
    Entry,
    Limits,
    LiveRun,
    Notice,
    Outcome,
    Provider,
    Reason,
    RunStatus,
    ToolLoop,
)
from rodada.statemachine.errors import InvalidValue
from support.await_points import Points
from support.left_behind import tasks_left
from support.pairing import broken_pairs
from support.told_watchers import untold
from support.truthful_tools import TRUTHFUL, Diary
from support.virtual_clock import SHORT, VirtualClock

Blow: TypeAlias = Literal["cancel", "deadline", "owner cancelled", "owner's timeout", "tools fail"]
BLOWS: tuple[Blow, ...] = ("cancel", "deadline", "owner cancelled", "owner's timeout", "tools fail")
OWNERS: tuple[Blow, ...] = ("owner cancelled", "owner's timeout")
QUESTION, NEXT, WORD = "How much more do I lift?", "And now?", "the host stops"
LIMITS = Limits(seconds=80, closing_seconds=20, call_seconds=200, tool_seconds=200)
DEADLINE = 60.0

Says: TypeAlias = tuple[str, tuple[str, ...]]
FIRST: Says = ("Let me look that up.", ("look", "save"))
SECOND: Says = ("Once more, to be sure.", ("weigh", "pay", "look"))
ANSWER: Says = ("You lift five kilos more.", ())
GO_ON: Says = ("It goes on.", ())


def reply_to(shown: str) -> Says:
    """
    What the model says and asks for, by what it was shown; a request that comes too late takes nobody's turn.
    """
    if NEXT in shown:
        return GO_ON
    if SECOND[0] in shown:
        return ANSWER
    return SECOND if FIRST[0] in shown else FIRST


_CANCELLED: frozenset[tuple[RunStatus, Reason | None]] = frozenset({(RunStatus.CANCELLED, Reason.CANCELLED)})
_IN_TIME: frozenset[tuple[RunStatus, Reason | None]] = frozenset({(RunStatus.COMPLETED, None)})
_ENDS: dict[Blow, frozenset[tuple[RunStatus, Reason | None]]] = {
    "cancel": _IN_TIME | _CANCELLED,
    "deadline": _IN_TIME | {(RunStatus.INCOMPLETE, Reason.DEADLINE)},
    "owner cancelled": _IN_TIME | _CANCELLED,
    "owner's timeout": _IN_TIME | _CANCELLED,
    "tools fail": _IN_TIME,
}


class Model(Protocol):
    """
    A model that replies as `reply_to` says, and judges what it is sent.
    """

    @property
    def provider(self) -> Provider:
        """
        What is asked.
        """
        ...

    def faults(self) -> list[str]:
        """
        What was wrong with the requests since this was asked last, and what is still open.
        """
        ...


@frozen
class Manner:
    """
    How a run goes: together or one by one, streamed or whole, owned by a block that watches it or by whoever awaits
    it, and with graces that are over at once or suffice.
    """

    parallel: bool = False
    streams: bool = False
    watched: bool = True
    graceful: bool = True

    def __str__(self) -> str:
        return ", ".join(
            (
                "parallel" if self.parallel else "sequential",
                "streamed" if self.streams else "whole",
                "watched" if self.watched else "awaited",
                "with grace" if self.graceful else "without",
            )
        )


@define
class Stored:
    """
    A history that takes its time.
    """

    entries: list[Entry] = field(factory=list[Entry])

    async def append(self, conversation_id: str, after: int, entries: tuple[Entry, ...]) -> None:
        await asyncio.sleep(0)
        assert after == len(self.entries)
        self.entries.extend(entries)
        await asyncio.sleep(0)


class Interrupted:
    """
    A run into which a blow comes at a point.

    Attributes:
        passed: points that the run had.

    Args:
        model: what it asks.
        manner: how it goes.
        blow: what comes.
        at: the point.
        again: further points behind it at which the same comes again.
        everywhere: all callbacks of the event loop are points.
    """

    def __init__(
        self,
        model: Model,
        manner: Manner,
        blow: Blow,
        at: int,
        *,
        again: tuple[int, ...] = (),
        everywhere: bool = False,
    ) -> None:
        self.passed = 0
        self._model = model
        self._manner = manner
        self._blow: Blow = blow
        self._at = at
        self._points = (at, *(at + each for each in again))
        self._everywhere = everywhere
        self._clock = VirtualClock(0.0 if manner.graceful else SHORT)
        self._diary = Diary()
        self._history = Stored()
        self._first = Conversation()
        self._live: LiveRun | None = None
        self._limit: asyncio.Timeout | None = None
        self._owner: asyncio.Task[Outcome] | None = None
        self._outcome: Outcome | None = None
        self._handed_over: Outcome | None = None
        self._notices: list[Notice] = []
        self._caught: BaseException | None = None
        self._raised: BaseException | None = None
        self._was_cancelled = False

    @property
    def was_struck(self) -> bool:
        """
        Whether the run had that many points.
        """
        return self._at <= self.passed

    async def faults(self) -> list[str]:
        """
        Let it happen, and say what is wrong.
        """
        points = Points(self._points, self._strike, everywhere=self._everywhere)
        with points.watched():
            self._owner = asyncio.create_task(self._owned(), name="owner")
            await asyncio.wait({self._owner})
        self.passed = points.passed
        left = [f"left: {name}" for name in (*tasks_left(), *["a timer"] * self._clock.pending)]
        await self._hear_owner()
        found = [*left, *self._end_faults(), *self._truth_faults(), *self._model.faults(), *await self._next_faults()]
        return [f"{self._blow} at {self._at}, {self._manner}: {each}" for each in found]

    async def _owned(self) -> Outcome:
        if self._blow != "owner's timeout":
            return await self._run()
        async with asyncio.timeout(None) as self._limit:
            return await self._run()

    async def _run(self) -> Outcome:
        loop = self._loop()
        if not self._manner.watched:
            return await loop.run(QUESTION, conversation=self._first, context=self._diary)
        try:
            async with loop.start(QUESTION, conversation=self._first, context=self._diary) as self._live:
                async for notice in self._live.events(after=0):
                    if isinstance(notice, ApprovalAsked):
                        with contextlib.suppress(InvalidValue):
                            self._live.approve(notice.id, by="ana")
                return await self._live.outcome()
        except asyncio.CancelledError as error:
            self._caught = error
            raise

    def _loop(self) -> ToolLoop:
        return ToolLoop(
            self._model.provider,
            tools=TRUTHFUL,
            limits=LIMITS,
            parallel=self._manner.parallel,
            stream=self._manner.streams,
            history=self._history,
            clock=self._clock,
        )

    def _strike(self) -> None:
        match self._blow:
            case "cancel":
                if self._live is not None:
                    self._live.cancel(WORD)
            case "deadline":
                self._clock.move_to(DEADLINE)
            case "owner cancelled":
                assert self._owner is not None
                self._was_cancelled |= self._owner.cancel(WORD)
            case "owner's timeout":
                if self._limit is not None:
                    with contextlib.suppress(RuntimeError):  # it was left
                        self._limit.reschedule(asyncio.get_running_loop().time() - 1)
            case "tools fail":
                self._diary.is_broken = True

    async def _hear_owner(self) -> None:
        assert self._owner is not None
        try:
            self._outcome = self._owner.result()
        except BaseException as error:
            self._raised = error
            self._outcome = getattr(self._cancel_of(error), "outcome", None)
        if self._live is not None:
            with contextlib.suppress(asyncio.CancelledError):  # it was dropped
                self._handed_over = await self._live.outcome()
            self._notices = [notice async for notice in self._live.events(after=0)]

    @staticmethod
    def _cancel_of(error: BaseException) -> BaseException | None:
        return error.__context__ if isinstance(error, TimeoutError) else error

    @property
    def _is_owed(self) -> bool:
        """
        Whether the owner must hear of its cancel, or of its timeout.
        """
        return self._was_cancelled or (self._limit is not None and self._limit.expired())

    def _end_faults(self) -> Iterator[str]:
        yield from self._raised_faults()
        outcome = self._outcome
        if self._handed_over is not None and self._handed_over != outcome:
            yield f"the handle and {self._raised!r} have not the same outcome"
        if outcome is None:
            # Cancelled a third time, the owner does not wait until the run has settled.
            if len(self._points) < 3 and (self._history.entries or self._diary.deeds):
                yield f"the run was begun, and {self._raised!r} has no outcome"
            return
        if (outcome.status, outcome.reason) not in _ENDS[self._blow]:
            yield f"it ended as {outcome.status.value}, {outcome.reason}, {outcome.detail!r}, {outcome.error}"

    def _raised_faults(self) -> Iterator[str]:
        error, blow = self._raised, self._blow
        if error is None:
            if self._is_owed:
                yield "what its owner was told is not raised"
            return
        if type(error) is not {"owner cancelled": asyncio.CancelledError, "owner's timeout": TimeoutError}.get(blow):
            yield f"it raised {error!r}"
        if self._caught is not None and self._cancel_of(error) is not self._caught:
            yield f"it raised {self._cancel_of(error)!r}, and not the same {self._caught!r}"
        if blow == "owner cancelled" and error.args != (WORD,):
            yield f"it raised {error!r}: another cancel than the owner's"

    def _truth_faults(self) -> Iterator[str]:
        yield from self._diary.unended()
        outcome = self._outcome
        if outcome is None:
            return
        yield from broken_pairs(outcome.conversation.to_json(reasoning=True))
        yield from self._diary.untrue(outcome.calls)
        if self._live is not None:
            yield from untold(self._notices, outcome, streams=self._manner.streams)
        if tuple(self._history.entries) != outcome.conversation.entries:
            yield "what is stored is another conversation"

    async def _next_faults(self) -> list[str]:
        stored = evolve(self._first, entries=tuple(self._history.entries))
        conversation = stored if self._outcome is None else self._outcome.conversation
        self._diary.is_broken = False
        next = await self._loop().run(NEXT, conversation=conversation, context=self._diary)
        found = [] if next.answer == GO_ON[0] else [f"the next message: {next.status.value}, {next.error}"]
        return [*found, *(f"the next message: {each}" for each in self._model.faults())]


@frozen
class Swept:
    """
    Runs that were interrupted, one for each point.
    """

    runs: int
    points: int
    faults: tuple[str, ...]


async def swept(make: Callable[[int], Interrupted], *, first: int = 1, stride: int = 1) -> Swept:
    """
    Interrupt a run at one point after the other, until it ends before the point.
    """
    found: list[str] = []
    for runs, at in enumerate(count(first, stride)):
        run = make(at)
        found += await run.faults()
        if not run.was_struck:
            return Swept(runs, run.passed, tuple(found))
    raise AssertionError("a run has an end")
