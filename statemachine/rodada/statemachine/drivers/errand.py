"""
Work that a coroutine leaves to a thread: begun at most once, and never once nobody waits for it.
"""

import asyncio
import contextlib
import contextvars
import enum
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Withdrawn(Exception):
    """
    An errand was withdrawn before a thread had begun it.
    """


class _Fate(enum.Enum):
    BEGUN = "begun"
    WITHDRAWN = "withdrawn"


class Errand(Generic[T]):
    """
    Some work, and the context variables of whoever made it. It takes no lock: an interrupt in the thread that does it
    could leave that locked, and the event loop would wait for it.

    Attributes:
        name: what a thread that does it is called meanwhile.
        context: the work's own copy of the context variables.
    """

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self.name = name
        self.context = contextvars.copy_context()
        self._work = work
        self._fates: dict[str, _Fate] = {}
        self._returned: tuple[T] | None = None
        self._raised: BaseException | None = None
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()

    @property
    def begun(self) -> bool:
        """
        Whether a thread has begun it; once it is withdrawn, none ever will.
        """
        return self._fates.get("is") is _Fate.BEGUN

    @property
    def alive(self) -> bool:
        """
        Whether a thread is at it.
        """
        return self.begun and self._returned is None and self._raised is None

    @property
    def interrupt(self) -> KeyboardInterrupt | None:
        """
        The interrupt that ended it, if one did.
        """
        return self._raised if isinstance(self._raised, KeyboardInterrupt) else None

    def do(self) -> None:
        """
        Do it in this thread; whatever it raises is for whoever waits. Nothing is done once it is withdrawn.
        """
        try:
            if self._meets(_Fate.BEGUN):
                self._returned = (self.context.run(self._work),)
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            self._raised = error
        self._wake()

    def withdraw(self) -> None:
        """
        Let no thread begin it any more; one that has begun it is left to itself.
        """
        if self._meets(_Fate.WITHDRAWN):
            self._wake()

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
        if self._raised is not None:
            raise self._raised
        if self._returned is None:
            raise Withdrawn
        return self._returned[0]

    def _meets(self, fate: _Fate) -> bool:
        # One step that no thread and no interrupt can come into: the first fate stands.
        return self._fates.setdefault("is", fate) is fate

    def _wake(self) -> None:
        # The event loop is closed when nobody waits any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._over.set)
