"""
When nobody may approve any more what people were asked for.
"""

from collections.abc import Callable
from functools import partial

from rodada.statemachine.approvals import expiring
from rodada.statemachine.ports import Clock, Timer
from rodada.statemachine.run import Run


class Expiry:
    """
    Timers that follow a run: one for each question that is open for a time only.

    Args:
        clock: whose seconds count.
        expired: called with the request's id when the time of a question is over.
    """

    def __init__(self, clock: Clock, expired: Callable[[str], None]) -> None:
        self._clock = clock
        self._expired = expired
        self._set_for: tuple[tuple[str, int], ...] = ()
        self._timers: list[Timer] = []

    def follow(self, run: Run, mono_ms: int) -> None:
        """
        Set the timers anew where other questions are open than before; `mono_ms` is the run's time now.
        """
        ends = expiring(run)
        if self._set_for == ends:
            return
        self.cancel()
        self._set_for = ends
        self._timers = [
            self._clock.later(max(0, end - mono_ms) / 1000, partial(self._expired, request_id))
            for request_id, end in ends
        ]

    def cancel(self) -> None:
        """
        Let none of them end.
        """
        for timer in self._timers:
            timer.cancel()
