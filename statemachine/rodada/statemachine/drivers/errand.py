"""
Work that a coroutine leaves to a thread: begun at most once, and never once nobody waits for it.
"""

import asyncio
import contextlib
import contextvars
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Withdrawn(Exception):
    """
    An errand was withdrawn before a thread had begun it.
    """


class Errand(Generic[T]):
    """
    Some work, and the context variables of whoever made it.

    Attributes:
        name: what a thread that does it is called meanwhile.
        context: the work's own copy of the context variables.
    """

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self.name = name
        self.context = contextvars.copy_context()
        self._work = work
        self._future: Future[T] = Future()
        self._over = asyncio.Event()
        self._future.add_done_callback(partial(_wake, asyncio.get_running_loop(), self._over))

    @property
    def begun(self) -> bool:
        """
        Whether a thread has begun it; once it is withdrawn, none ever will.
        """
        return self._future.running() or (self._future.done() and not self._future.cancelled())

    @property
    def alive(self) -> bool:
        """
        Whether a thread is at it.
        """
        return self._future.running()

    @property
    def interrupt(self) -> KeyboardInterrupt | None:
        """
        The interrupt that ended it, if one did.
        """
        error = self._future.exception() if self.begun and not self.alive else None
        return error if isinstance(error, KeyboardInterrupt) else None

    def do(self) -> None:
        """
        Do it in this thread; whatever it raises is for whoever waits. Nothing is done once it is withdrawn.
        """
        if not self._future.set_running_or_notify_cancel():
            return
        try:
            value = self.context.run(self._work)
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            self._future.set_exception(error)
        else:
            self._future.set_result(value)

    def withdraw(self) -> None:
        """
        Let no thread begin it any more; one that has begun it is left to itself.
        """
        self._future.cancel()

    async def answer(self) -> T:
        """
        What the work returned; what it raised is raised here. A cancel withdraws it, but does not lose what the work
        has returned already.

        Raises:
            Withdrawn: it was withdrawn before it was begun.
        """
        try:
            await self._over.wait()
        except asyncio.CancelledError:
            self.withdraw()
            if self.alive or not self.begun:
                raise
        if self._future.cancelled():
            raise Withdrawn
        return self._future.result()


def _wake(loop: asyncio.AbstractEventLoop, over: asyncio.Event, _future: "Future[Any]") -> None:
    # The event loop is closed when nobody waits any more.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(over.set)
