"""
The event loop that something lives on, such as a connection; work for it may come from any loop of the process.
"""

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

from rodada.tools.cancels import cancels_asked

T = TypeVar("T")


class HomeGone(Exception):
    """
    The loop does not run any more, or runs in another process; or it ended while it was at work.

    Attributes:
        began: whether the work may have begun.
    """

    def __init__(self, began: bool) -> None:
        super().__init__("its event loop does not run in this process any more")
        self.began = began


class HomeLoop:
    """
    The running event loop, as the home of what is made on it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()

    async def run(self, work: Callable[[], Coroutine[object, object, T]]) -> T:
        """
        Do some work on that loop and wait for it here, with the context variables of the caller. A cancel cancels it.

        Raises:
            HomeGone: that loop does not run any more, or runs in another process.
        """
        if asyncio.get_running_loop() is self._loop and os.getpid() == self._process:
            return await work()
        if os.getpid() != self._process or not self._loop.is_running():
            raise HomeGone(began=False)
        cancels = cancels_asked()
        try:
            return await asyncio.wrap_future(self._handed(work()))
        except asyncio.CancelledError:
            if cancels_asked() > cancels:
                raise
            raise HomeGone(began=True) from None

    def _handed(self, work: Coroutine[object, object, T]) -> Future[T]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise HomeGone(began=False) from None
