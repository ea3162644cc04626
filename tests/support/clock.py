"""
A clock that stands still until a test moves it.
"""

import asyncio
import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 1, 1, tzinfo=UTC)


class HeldTimer:
    """
    A timer of a `HeldClock`.
    """

    def __init__(self, callback: Callable[[], object]) -> None:
        self._callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        self._callback = None

    def fire(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()

    @property
    def pending(self) -> bool:
        return self._callback is not None


class HeldClock:
    """
    Fits the `Clock` protocol; time passes only in `advance`.
    """

    def __init__(self) -> None:
        self._seconds = 0.0
        self._due: list[tuple[float, int, HeldTimer]] = []
        self._made = count()

    def now(self) -> datetime:
        return START + timedelta(seconds=self._seconds)

    def mono(self) -> float:
        return self._seconds

    def later(self, seconds: float, callback: Callable[[], object]) -> HeldTimer:
        timer = HeldTimer(callback)
        heapq.heappush(self._due, (self._seconds + seconds, next(self._made), timer))
        return timer

    @property
    def pending(self) -> int:
        """
        Timers that would still fire.
        """
        return sum(timer.pending for _, _, timer in self._due)

    def skip(self, seconds: float) -> None:
        """
        Let time pass in which the event loop is held up: no timer fires.
        """
        self._seconds += seconds

    async def advance(self, seconds: float) -> None:
        """
        Let time pass: due timers fire in order, and whoever they woke gets its turn.
        """
        until = self._seconds + seconds
        await idle()
        while self._due and self._due[0][0] <= until:
            self._seconds, _, timer = heapq.heappop(self._due)
            timer.fire()
            await idle()
        self._seconds = until


async def idle() -> None:
    """
    Let every task that can go on go on, until all wait.
    """
    for _ in range(30):
        await asyncio.sleep(0)
