"""
When a run's time for work is over.
"""

from collections.abc import Callable

from rodada.statemachine.ports import Clock, Timer
from rodada.statemachine.run import Run
from rodada.statemachine.time_left import seconds_to_deadline


class Deadline:
    """
    A timer that follows a run: its clock stands while people are waited for, and its time is over once.

    Args:
        clock: whose seconds count.
        passed: called when the time is over.
    """

    def __init__(self, clock: Clock, passed: Callable[[], None]) -> None:
        self._clock = clock
        self._passed = passed
        self._is_over = False
        self._timer: Timer | None = None
        self._set_for: tuple[int | None, int] | None = None

    def follow(self, run: Run, mono_ms: int) -> None:
        """
        Set the timer anew where the run's waiting for people has moved it; `mono_ms` is the run's time now.
        """
        waiting = (run.asked_ms, run.people_ms)
        if self._set_for == waiting:
            return
        self._set_for = waiting
        self.cancel()
        left = seconds_to_deadline(run, mono_ms)
        if left is not None and not self._is_over:
            self._timer = self._clock.later(max(0.0, left), self._end)

    def cancel(self) -> None:
        """
        Let it not pass.
        """
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self._is_over = True
        self._passed()
