"""
Sync functions in daemon threads of our own: the interpreter's exit never waits for one that blocks, as it would for
asyncio's own pool.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
A = TypeVar("A")


class InThread(Generic[T]):
    """
    Some work in a thread, which starts at once with a copy of the caller's context variables.
    """

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[T] = self._loop.create_future()
        self._ended = False
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._work, work), name=name, daemon=True).start()

    @property
    def alive(self) -> bool:
        """
        Whether the work still runs.
        """
        return not self._ended

    async def answer(self) -> T:
        """
        What the work returned; what it raised is raised here. Cancelling leaves the thread to itself.
        """
        return await self._answer

    def _work(self, work: Callable[[], T]) -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            self._end(self._answer.set_exception, error)
        else:
            self._end(self._answer.set_result, value)

    def _end(self, settle: Callable[[A], None], value: A) -> None:
        self._ended = True

        def settle_if_awaited() -> None:
            if not self._answer.done():
                settle(value)

        # The loop is closed when nobody waits any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(settle_if_awaited)
