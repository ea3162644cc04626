"""
Sync functions in a bounded set of daemon threads of our own: the interpreter's exit never waits for one that blocks,
as it would for asyncio's own pool.

What a function runs in turn, such as another loop by `run_sync`, has a set of its own, one a level: so no thread ever
waits for one that cannot be had while it waits. A thread whose call was given up is written off and does not count.
"""

import os
import sys
import threading
from collections import deque
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from rodada.statemachine.drivers.errand import Errand
from rodada.statemachine.errors import InvalidValue

T = TypeVar("T")

MOST = 64
IDLE_SECONDS = 10.0
IDLE_NAME = "rodada-tool (idle)"

_level: ContextVar[int] = ContextVar("rodada_thread_level", default=0)


class Threads:
    """
    Threads that do errands in the order of their coming; started on demand, ended when idle for a while.

    Attributes:
        most: how many there may be, those written off not counted.
        level: how many tools stand around what they do.
    """

    def __init__(self, most: int, level: int = 0) -> None:
        self.most = most
        self.level = level
        self._changed = threading.Condition()
        self._waiting: deque[Errand[Any]] = deque()
        self._threads: set[threading.Thread] = set()
        self._doing: dict[Errand[Any], threading.Thread] = {}
        self._idle = 0

    async def do(self, errand: Errand[T]) -> T:
        """
        Have an errand done by a thread. Cancelling gives it up: it is withdrawn, or its thread is written off.

        Raises:
            RuntimeError: the system gives no thread. What the errand raises is raised here, too.
        """
        errand.context.run(_level.set, self.level + 1)
        self._take(errand)
        try:
            return await errand.answer()
        finally:
            self._give_up(errand)

    def _take(self, errand: Errand[Any]) -> None:
        with self._changed:
            if self._idle <= len(self._waiting):
                self._grow()
            self._waiting.append(errand)
            self._changed.notify()

    def _give_up(self, errand: Errand[Any]) -> None:
        with self._changed:
            if errand in self._waiting:
                self._waiting.remove(errand)
            elif errand.alive and errand in self._doing:
                self._threads.discard(self._doing.pop(errand))
                if self._waiting:
                    # Without one to be had, the next errand tries again.
                    with suppress(RuntimeError):
                        self._grow()

    def _grow(self) -> None:
        if len(self._threads) >= self.most:
            return
        thread = threading.Thread(target=self._work, name=IDLE_NAME, daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            self._threads.discard(thread)
            if not self._threads:
                raise

    def _work(self) -> None:
        thread = threading.current_thread()
        while self._does_one(thread):
            thread.name = IDLE_NAME

    def _does_one(self, thread: threading.Thread) -> bool:
        errand = self._next(thread)
        if errand is None:
            return False
        thread.name = errand.name
        errand.do()
        with self._changed:
            return self._doing.pop(errand, None) is not None

    def _next(self, thread: threading.Thread) -> Errand[Any] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._waiting, IDLE_SECONDS)
            self._idle -= 1
            if not self._waiting:
                self._threads.discard(thread)
                return None
            errand = self._waiting.popleft()
            self._doing[errand] = thread
            return errand


class Levels:
    """
    The threads of this process, a set for each level of tools within tools.
    """

    def __init__(self) -> None:
        self.most = MOST
        self._levels: dict[int, Threads] = {}

    def here(self) -> Threads:
        """
        The threads for what is run at this place.
        """
        level = _level.get()
        return self._levels.setdefault(level, Threads(self.most, level))

    def limit(self, most: int) -> None:
        """
        Let each level have no more than so many threads.
        """
        self.most = most
        for threads in tuple(self._levels.values()):
            threads.most = most

    def forget(self) -> None:
        """
        Begin anew: none of the threads is there any more.
        """
        self._levels = {}


LEVELS = Levels()
# A forked child has none of its parent's threads, and perhaps locks that nobody will release.
if sys.platform != "win32":
    os.register_at_fork(after_in_child=LEVELS.forget)


def limit_threads(most: int) -> None:
    """
    How many sync tools this process runs at once, 64 unless it is said; more of them wait, and their waiting counts
    as their time. What a tool runs in turn is counted for itself, and a thread left behind in a tool that did not
    end is not counted.

    Raises:
        InvalidValue: not a whole number above 0.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidValue("limit_threads", f"needs a whole number above 0; got {most!r:.80}")
    LEVELS.limit(most)
