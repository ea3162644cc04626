"""
The thread that waits for a run without an event loop of its own: meanwhile it does what only it may do, such as work on
a connection of `sqlite3`.
"""

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from queue import SimpleQueue
from threading import get_ident
from typing import Any, TypeVar

from rodada.statemachine.drivers.errand import Errand

T = TypeVar("T")


class CallingThread:
    """
    The thread that makes it, which waits for some work on an event loop. An interrupt may come to it anywhere, so it
    takes no lock.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._errands: SimpleQueue[Errand[Any] | None] = SimpleQueue()
        self._open: set[Errand[Any]] = set()
        self._ident = get_ident()
        self._has_left = False

    @property
    def is_here(self) -> bool:
        """
        Whether this thread is it.
        """
        return get_ident() == self._ident

    async def do(self, errand: Errand[T]) -> T:
        """
        Have an errand done by the thread, after those that came before it.

        Raises:
            Withdrawn: the thread does not wait any more. What the errand raises is raised here, too.
        """
        self._open.add(errand)
        try:
            if self._has_left:
                errand.withdraw()
            self._errands.put(errand)
            return await errand.answer()
        finally:
            self._open.discard(errand)

    def attend(self, is_over: Callable[[], bool]) -> None:
        """
        Do errands in this thread until something is over, of which `wake` tells.

        Raises:
            KeyboardInterrupt: from an errand; it is the thread's own.
        """
        while not is_over():
            errand = self._errands.get()
            if errand is None:  # this is over, or something earlier that nobody attends any more
                continue
            errand.do()
            if errand.interrupt is not None:
                raise errand.interrupt

    def wake(self) -> None:
        """
        Tell the thread that what it attends may be over.
        """
        self._errands.put(None)

    def leave(self) -> None:
        """
        Do no more: what was not begun is withdrawn, also what an interrupt has kept the thread from beginning.
        """
        self._has_left = True
        for errand in self._open.copy():
            errand.withdraw()


_current: ContextVar[CallingThread | None] = ContextVar("rodada_calling_thread", default=None)


def known_as_calling(thread: CallingThread) -> Context:
    """
    The context variables of here, for work on an event loop that belongs to a thread.
    """
    context = copy_context()
    context.run(_current.set, thread)
    return context


def calling_thread() -> CallingThread | None:
    """
    The thread that waits for what runs here; None where the event loop belongs to whoever awaits.
    """
    thread = _current.get()
    return thread if thread is not None and thread.loop is asyncio.get_running_loop() else None
