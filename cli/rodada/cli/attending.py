"""
Waiting for a run beside its event loop, so that Ctrl-C is heard even while a tool blocks that loop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor, wait

from attrs import field, frozen

from rodada.cli.ending import POOL
from rodada.cli.interrupts import Interrupts, News
from rodada.cli.stop_clock import StopClock
from rodada.statemachine import LiveRun, Notice, Outcome, ToolLoop
from rodada.statemachine.drivers.background import background_loop
from rodada.statemachine.errors import NotEntered

Show = Callable[[Notice], None]

SETTLING_SECONDS = 0.5


@frozen(eq=False)
class Attended:
    """
    A run that is waited for.

    Attributes:
        live: the run.
        loop: its loop; closed when the run has ended.
        clock: of the loop.
        interrupts: Ctrl-C. Once: the run is cancelled, and has `stop_seconds` to settle. Twice: it settles now.
        show: told of each notice, on the event loop's thread.
        seen: the notices so far.
    """

    live: LiveRun
    loop: ToolLoop
    clock: StopClock
    interrupts: Interrupts
    show: Show
    seen: list[Notice] = field(init=False, factory=list[Notice])

    def wait(self) -> Outcome | None:
        """
        The outcome; None when the run did not settle although it was told to: something blocks its event loop.
        """
        events = background_loop()
        future = asyncio.run_coroutine_threadsafe(self._drive(), events)
        future.add_done_callback(lambda _: self.interrupts.end())
        stop_seconds = self.loop.limits.stop_seconds
        stages = (
            (None, self._cancel),
            (stop_seconds + SETTLING_SECONDS, self.clock.hurry),
        )
        for patience, then in stages:
            if self.interrupts.next(patience) is News.ENDED:
                return future.result()
            events.call_soon_threadsafe(then)
        # Who presses on takes nothing from the moment in which what can settle does.
        return future.result() if wait([future], 2 * SETTLING_SECONDS).done else None

    def _cancel(self) -> None:
        self.clock.stopping()
        try:
            self.live.cancel("interrupted")
        except NotEntered:
            asyncio.get_running_loop().call_soon(self._cancel)

    async def _drive(self) -> Outcome:
        # A pool of our own can be let go without waiting for what a tool left in it.
        pool = ThreadPoolExecutor(thread_name_prefix=POOL)
        asyncio.get_running_loop().set_default_executor(pool)
        try:
            async with self.live:
                watching = asyncio.create_task(self._watch(self.live.events()))
                try:
                    outcome = await self.live.outcome()
                    # What a view raises, on a full disk say, is no part of the run.
                    await asyncio.wait({watching})
                finally:
                    watching.cancel()
                return outcome
        finally:
            await self.loop.aclose()
            pool.shutdown(wait=False, cancel_futures=True)
            # Whoever runs on this loop next needs one that takes work.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix=POOL))

    async def _watch(self, notices: AsyncIterator[Notice]) -> None:
        async for notice in notices:
            self.seen.append(notice)
            self.show(notice)
