"""
Everybody who watches a run. None slows it down: what a slow one misses, or what is no longer kept for one that comes
back, is told as a gap and what was said until there.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import Self
from weakref import WeakSet

from attrs import evolve

from rodada.statemachine.notice import Notice
from rodada.statemachine.watching import Ended, Gap, Said, SoFar, told

LONGEST_QUEUE = 1000


class Audience:
    """
    The watchers of one run, and the last notices, kept for those who come back.
    """

    def __init__(self) -> None:
        # A watcher lives as long as its reader: one that left, as over a lost connection, is told nothing more.
        self._watchers: WeakSet[_Watcher] = WeakSet()
        self._kept: deque[Notice] = deque(maxlen=LONGEST_QUEUE)
        self._count = 0
        self._said = Said()
        self._said_before_kept = Said()
        self._closed = False

    def tell(self, notice: Notice) -> None:
        """
        Give everybody the notice, with its number.
        """
        self._count += 1
        numbered = evolve(notice, n=self._count)
        if len(self._kept) == self._kept.maxlen:
            self._said_before_kept = told(self._said_before_kept, self._kept[0])
        self._kept.append(numbered)
        for watcher in self._watchers:
            watcher.put(numbered, self._said)
        self._said = told(self._said, numbered)

    def close(self) -> None:
        """
        Nothing more will be told.
        """
        self._closed = True
        for watcher in self._watchers:
            watcher.close()

    def events(self, after: int | None) -> AsyncIterator[Notice]:
        """
        The notices behind number `after`; None for those to come, and for the end where that has been told.
        """
        watcher = _Watcher(self._ended() if after is None else self._since(after))
        if self._closed:
            watcher.close()
        else:
            self._watchers.add(watcher)
        return watcher

    def _ended(self) -> list[Notice]:
        return [notice for notice in list(self._kept)[-1:] if isinstance(notice, Ended)]

    def _since(self, after: int) -> list[Notice]:
        if after >= self._count:
            return []
        kept = [notice for notice in self._kept if notice.n > after]
        missed = kept[0].n - 1 - max(after, 0)
        return [*_gap(missed, kept[0].n - 1, self._said_before_kept), *kept] if missed else kept


class _Watcher:
    """
    One reader of notices: bounded, so that a slow one loses some, is told how many, and what was said until there. No
    generator, for that would have to be closed by whoever leaves it, or by the event loop in another task.
    """

    def __init__(self, first: Iterable[Notice]) -> None:
        self._queue: deque[Notice] = deque(first)
        self._closed = False
        self._woken = asyncio.Event()

    def close(self) -> None:
        self._closed = True
        self._woken.set()

    def put(self, notice: Notice, said: Said) -> None:
        """
        One more notice; `said` is what was said before it.
        """
        if len(self._queue) >= LONGEST_QUEUE:
            missed = sum(each.missed if isinstance(each, Gap) else 1 for each in self._queue)
            told_already = sum(isinstance(each, SoFar) for each in self._queue)
            self._queue = deque(_gap(missed - told_already, notice.n - 1, said))
        self._queue.append(notice)
        self._woken.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notice:
        while not self._queue:
            if self._closed:
                raise StopAsyncIteration
            self._woken.clear()
            await self._woken.wait()
        return self._queue.popleft()


def _gap(missed: int, last: int, said: Said) -> tuple[Notice, Notice]:
    return Gap(missed, n=last), SoFar(said, n=last)
