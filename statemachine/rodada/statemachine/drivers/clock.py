"""
The clock of the machine that the program runs on.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from rodada.statemachine.ports import Clock, Timer

T = TypeVar("T")


class SystemClock:
    """
    Time as the system and the running event loop tell it.
    """

    def now(self) -> datetime:
        """
        The time in UTC.
        """
        return datetime.now(UTC)

    def mono(self) -> float:
        """
        Seconds that never go back.
        """
        return time.monotonic()

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """
        Call `callback` on the running event loop after some seconds.
        """
        return asyncio.get_running_loop().call_later(seconds, callback)


async def within(clock: Clock, seconds: float | None, work: Coroutine[object, object, T]) -> T:
    """
    The result of some work, if it comes within some seconds of a clock; None is unlimited.

    Raises:
        TimeoutError: it did not; the work was cancelled. A cancel from outside passes through as itself.
    """
    if seconds is None:
        return await work
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("needs a running task")
    before, expired = task.cancelling(), False

    def expire() -> None:
        nonlocal expired
        expired = True
        task.cancel()

    timer = clock.later(seconds, expire)
    try:
        return await work
    except asyncio.CancelledError:
        if expired and task.uncancel() <= before:
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()


async def pause(clock: Clock, seconds: float) -> None:
    """
    Wait some seconds of a clock.
    """
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = clock.later(seconds, partial(_end, done))
    try:
        await done
    finally:
        timer.cancel()


def _end(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)
