"""
Runs in which anything may happen at any time: slow, failing and stubborn tools, a model that fails or says odd things,
and owners that change their minds.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from random import Random

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Conversation, Limits, ModelRequest, Outcome, RunStatus, Stop, ToolLoop
from rodada.statemachine.errors import ProviderError, ProviderOverloaded
from rodada.tools import Context, tool
from support.pairing import broken_pairs
from support.truthful_tools import Broken, Diary

SLOW, LATE = 0.03, 0.6  # seconds that a tool takes at most, and within which something may come
OWNERS = ("waits", "cancels", "is cancelled", "is cancelled twice", "has no time", "leaves")
STOPS = (*[Stop.WHOLE] * 5, Stop.CUT, Stop.PAUSED, Stop.MALFORMED, Stop.REFUSED, Stop.UNKNOWN)


class Rough:
    """
    One such run.

    Attributes:
        outcome: how it ended; None where nobody was left to hear it.
    """

    def __init__(self, random: Random, *, parallel: bool, streams: bool) -> None:
        self.outcome: Outcome | None = None
        self._random = random
        self._diary = Diary()
        self._loop = ToolLoop(
            Scripted(reply=self._reply),
            tools=[look, save, weigh],
            parallel=parallel,
            stream=streams,
            limits=self._limits(),
        )

    async def play(self) -> list[str]:
        """
        Let it happen, and say what is wrong.
        """
        owner = self._random.choice(OWNERS)
        task = asyncio.create_task(self._owned(owner))
        if owner.startswith("is cancelled"):
            await self._change_minds(task, 2 if owner.endswith("twice") else 1)
        try:
            self.outcome = await task
        except (asyncio.CancelledError, TimeoutError) as error:
            cancel = error.__context__ if isinstance(error, TimeoutError) else error
            self.outcome = getattr(cancel, "outcome", None)
        return [f"{owner}: {each}" for each in self._faults()]

    async def goes_on(self) -> list[str]:
        """
        What is wrong with the conversation when the next message comes.
        """
        told = Conversation() if self.outcome is None else self.outcome.conversation
        loop = self._loop.evolve(provider=Scripted([Turn("It goes on.")]), limits=Limits())
        next = await loop.run("And now?", conversation=told)
        return [] if next.status is RunStatus.COMPLETED else [f"the next message: {next.status}, {next.error}"]

    @property
    def met(self) -> Iterator[str]:
        """
        What came of the run and of its calls.
        """
        if self.outcome is not None:
            yield f"{self.outcome.status.value} {self.outcome.reason.value if self.outcome.reason else ''}".strip()
            yield from (f"call {call.status.value}" for call in self.outcome.calls)

    async def work(self, call: str) -> str:
        """
        What a tool does on the event loop.
        """
        act = self._random.choice(("quick", "slow", "fails", "cancels itself", "is stubborn"))
        deeds = self._diary.deeds[call]
        deeds.append("started")
        try:
            if act == "is stubborn":
                self._diary.goes_on.add(call)
                await _stubborn(self._soon())
            else:
                await asyncio.sleep(0 if act == "quick" else self._soon())
        except asyncio.CancelledError:
            deeds.append("cut")
            raise
        deeds.append("raised" if act in ("fails", "cancels itself") else "finished")
        if act == "fails":
            raise Broken
        if act == "cancels itself":
            raise asyncio.CancelledError
        return "85 kg"

    def toil(self, call: str) -> str:
        """
        What a tool does in a thread.
        """
        act = self._random.choice(("quick", "slow", "fails"))
        self._diary.goes_on.add(call)
        deeds = self._diary.deeds[call]
        deeds.append("started")
        if act == "slow":
            time.sleep(self._soon())
        deeds.append("raised" if act == "fails" else "finished")
        if act == "fails":
            raise Broken
        return "85 kg"

    def _soon(self) -> float:
        return self._random.random() * SLOW

    def _later(self) -> float:
        return self._random.random() * LATE

    def _limits(self) -> Limits:
        hurried = self._random.random() < 0.2
        return Limits(
            max_rounds=3,
            seconds=1 + self._later() if hurried else 60,
            closing_seconds=1,
            tool_seconds=self._random.choice((SLOW / 2, 60)),
            stop_seconds=self._random.choice((0.0, SLOW / 2, 60)),
        )

    def _reply(self, request: ModelRequest) -> Turn:
        chance, seconds = self._random.random(), self._soon()
        if chance < 0.1:
            return Turn("I", error=ProviderOverloaded("scripted", "busy", retryable=True, retry_after=0.001))
        if chance < 0.13:
            return Turn("I", error=ProviderError("scripted", "no"), seconds=seconds)
        if chance < 0.4:
            return Turn("You lift five kilos more.", stop=self._random.choice(STOPS), seconds=seconds)
        names = self._random.choices(("look", "save", "weigh"), k=self._random.randint(1, 3))
        return Turn("Let me see.", [Call(name) for name in names], stop=self._random.choice(STOPS[:6]))

    async def _owned(self, owner: str) -> Outcome | None:
        if owner in ("waits", "is cancelled"):
            return await self._loop.run("How much more?", context=self)
        if owner == "has no time":
            async with asyncio.timeout(self._later()):
                return await self._loop.run("How much more?", context=self)
        return await self._watched(owner)

    async def _watched(self, owner: str) -> Outcome:
        async with self._loop.start("How much more?", context=self) as live:
            last = self._random.randint(1, 15)
            async for notice in live.events():
                if owner == "cancels" and notice.n == last:
                    live.cancel()
                if owner == "leaves" and notice.n >= last:
                    break
        return await live.outcome()

    async def _change_minds(self, task: "asyncio.Task[Outcome | None]", times: int) -> None:
        for _ in range(times):
            with contextlib.suppress(TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(asyncio.shield(task), self._later())
            task.cancel()

    def _faults(self) -> Iterator[str]:
        if self.outcome is not None:
            yield from broken_pairs(self.outcome.conversation.to_json(reasoning=True))
            yield from self._diary.untrue(self.outcome.calls)
        yield from self._diary.unended()


async def _stubborn(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(left)


@tool(reads="log")
async def look(context: Context[Rough]) -> str:
    """
    Look something up.
    """
    return await context.value.work(context.call_id)


@tool(writes="goals")
async def save(context: Context[Rough]) -> str:
    """
    Save a goal.
    """
    return await context.value.work(context.call_id)


@tool(writes="scale")
def weigh(context: Context[Rough]) -> str:
    """
    Weigh a person.
    """
    return context.value.toil(context.call_id)
