"""
The await points of some work: wherever the event loop resumes one of its tasks, something may have come between.
"""

import asyncio
from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from contextvars import Context
from unittest.mock import patch


class Points:
    """
    Counts the points that the work passes, and lets something come between at some of them.

    Attributes:
        passed: how many so far.

    Args:
        at: the points; the first is 1.
        strike: what comes between.
        everywhere: count each callback of the event loop, not only those that resume a task.
    """

    def __init__(self, at: Container[int], strike: Callable[[], object], *, everywhere: bool = False) -> None:
        self.passed = 0
        self._at = at
        self._strike = strike
        self._everywhere = everywhere
        self._own = asyncio.current_task()

    @contextmanager
    def watched(self) -> Generator[None]:
        """
        A block in which all tasks but the one that made this are the work's.
        """
        loop = asyncio.get_running_loop()
        call_soon = loop.call_soon

        def told(callback: Callable[..., object], *args: object, context: Context | None = None) -> asyncio.Handle:
            def called(*args: object) -> None:
                self._pass(callback)
                callback(*args)

            return call_soon(called, *args, context=context)

        with patch.object(loop, "call_soon", told):
            yield

    def _pass(self, callback: object) -> None:
        resumed = getattr(callback, "__self__", None)
        if resumed is self._own or not (self._everywhere or isinstance(resumed, asyncio.Task)):
            return
        self.passed += 1
        if self.passed in self._at:
            self._strike()
