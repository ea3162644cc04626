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
        self._timers: dict[tuple[str, int], Timer] = {}

    def follow(self, run: Run, mono_ms: int) -> None:
        """
        Set and cancel timers where other questions are open than before; `mono_ms` is the run's time now.
        """
        ends = dict.fromkeys(expiring(run))
        for decided in [each for each in self._timers if each not in ends]:
            self._timers.pop(decided).cancel()
        for asked in [each for each in ends if each not in self._timers]:
            request_id, end = asked
            seconds = max(0, end - mono_ms) / 1000
            self._timers[asked] = self._clock.later(seconds, partial(self._expired, request_id))

    def cancel(self) -> None:
        """
        Let none of them end.
        """
        for timer in self._timers.values():
            timer.cancel()
