"""
A clock that a test holds: short waits pass at once, long ones when the test says so.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from rodada.statemachine.drivers.background import background_loop

SHORT = 30.0


class VirtualTimer:
    """
    A callback with the moment at which it is due.
    """

    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.due = due
        self._callback = callback
        self._done = False

    def cancel(self) -> None:
        """
        Do not call.
        """
        self._done = True

    @property
    def pending(self) -> bool:
        """
        Whether it would still be called.
        """
        return not self._done

    def fire(self) -> None:
        """
        Call, unless that was done or is not wanted any more.
        """
        if not self._done:
            self._done = True
            self._callback()


class VirtualClock:
    """
    Waits of up to half a minute (backoffs, the grace of a stop) jump to their end as soon as the event loop turns;
    longer ones (deadlines, time limits) end only through `move_to`.

    Args:
        short: the seconds of the longest wait that jumps to its end.
    """

    def __init__(self, short: float = SHORT) -> None:
        self._short = short
        self._mono = 0.0
        self._waiting: list[VirtualTimer] = []

    def now(self) -> datetime:
        """
        A time in UTC that moves with `mono`.
        """
        return datetime(2026, 11, 30, tzinfo=UTC) + timedelta(seconds=self._mono)

    def mono(self) -> float:
        """
        Seconds since the clock was made.
        """
        return self._mono

    def later(self, seconds: float, callback: Callable[[], object]) -> VirtualTimer:
        """
        Call after some virtual seconds.
        """
        timer = VirtualTimer(self._mono + seconds, callback)
        self._waiting.append(timer)
        if seconds <= self._short:
            asyncio.get_running_loop().call_soon(self.move_to, timer.due)
        return timer

    @property
    def pending(self) -> int:
        """
        Callbacks that are still waiting.
        """
        return sum(timer.pending for timer in self._waiting)

    def pass_in_background(self, mono: float) -> None:
        """
        Let time pass up to a moment for runs of `run_sync`, from any thread.
        """
        background_loop().call_soon_threadsafe(self.move_to, mono)

    def move_to(self, mono: float) -> None:
        """
        Let time pass up to a moment; one that is past changes nothing.
        """
        self._mono = max(self._mono, mono)
        due = [timer for timer in self._waiting if timer.due <= self._mono]
        self._waiting = [timer for timer in self._waiting if timer.due > self._mono]
        for timer in due:
            timer.fire()
