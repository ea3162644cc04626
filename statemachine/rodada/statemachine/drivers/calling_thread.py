"""
The thread that waits for a run without an event loop of its own: meanwhile it does what only it may do, such as work on
a connection of `sqlite3`.
"""

import asyncio
from collections.abc import Generator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from queue import SimpleQueue
from threading import Lock, get_ident
from typing import Any, TypeVar

from rodada.statemachine.drivers.errand import Errand

T = TypeVar("T")


class CallingThread:
    """
    The thread that makes it, which waits for some work on an event loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._errands: SimpleQueue[Errand[Any] | None] = SimpleQueue()
        self._lock = Lock()
        self._ident = get_ident()
        self._has_left = False

    async def do(self, errand: Errand[T]) -> T:
        """
        Have an errand done by the thread, after those that came before it.

        Raises:
            Withdrawn: the thread does not wait any more. What the errand raises is raised here, too.
        """
        with self._lock:
            if self._has_left:
                errand.withdraw()
            self._errands.put(errand)
        return await errand.answer()

    def attend(self, future: Future[Any]) -> None:
        """
        Do errands in this thread until a future is done; another thread only waits.

        Raises:
            KeyboardInterrupt: from an errand; it is the thread's own.
        """
        if get_ident() != self._ident:
            wait([future])
            return
        future.add_done_callback(lambda _: self._errands.put(None))
        while not future.done():
            errand = self._errands.get()
            if errand is None:  # this future is done, or an earlier one that nobody attends any more
                continue
            errand.do()
            if errand.interrupt is not None:
                raise errand.interrupt

    def leave(self) -> None:
        """
        Do no more: what was not begun is withdrawn.
        """
        with self._lock:
            self._has_left = True
            while not self._errands.empty():
                errand = self._errands.get()
                if errand is not None:
                    errand.withdraw()


_current: ContextVar[CallingThread | None] = ContextVar("rodada_calling_thread", default=None)


@contextmanager
def known_as_calling(thread: CallingThread) -> Generator[None]:
    """
    A block in which work that is begun on an event loop belongs to a thread.
    """
    token = _current.set(thread)
    try:
        yield
    finally:
        _current.reset(token)


def calling_thread() -> CallingThread | None:
    """
    The thread that waits for what runs here; None where the event loop belongs to whoever awaits.
    """
    thread = _current.get()
    return thread if thread is not None and thread.loop is asyncio.get_running_loop() else None
