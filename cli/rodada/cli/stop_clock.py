"""
The system's clock, with one thing more: the waits of a run that is stopping can be cut short.
"""

import asyncio
from collections.abc import Callable

from attrs import frozen

from rodada.statemachine.drivers.clock import SystemClock
from rodada.statemachine.ports import Timer


@frozen(eq=False)
class _Wait:
    handle: asyncio.TimerHandle
    callback: Callable[[], object]


class StopClock(SystemClock):
    """
    A clock whose waits are remembered once `stopping` was called, all of which `hurry` then ends at once. Earlier
    ones, such as a tool's own time limit, are left alone: that time is not over, and nobody may say so.
    """

    def __init__(self) -> None:
        self._stopping = False
        self._hurried = False
        self._waits: list[_Wait] = []

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """
        Call `callback` on the running event loop after some seconds, or sooner.
        """
        handle = asyncio.get_running_loop().call_later(0 if self._hurried else seconds, callback)
        if self._stopping:
            self._waits.append(_Wait(handle, callback))
        return handle

    def stopping(self) -> None:
        """
        From now on waits are those of a run that is stopping. On the event loop.
        """
        self._stopping = True

    def hurry(self) -> None:
        """
        End the waits of stopping, those that begin later too. On the event loop.
        """
        self._hurried = True
        now = asyncio.get_running_loop()
        due = [wait for wait in self._waits if not wait.handle.cancelled() and wait.handle.when() > now.time()]
        for wait in due:
            wait.handle.cancel()
            now.call_soon(wait.callback)
