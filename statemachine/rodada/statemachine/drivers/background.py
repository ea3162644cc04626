"""
One event loop in a thread of its own, for hosts that have none. One for the whole process, never a new one a call:
an async SDK client's connections belong to the loop they were opened on.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import wait
from contextlib import suppress
from typing import Generic, TypeVar

from rodada.statemachine.drivers.calling_thread import CallingThread, known_as_calling
from rodada.statemachine.errors import RunningLoop

T = TypeVar("T")
_lock = threading.Lock()
_loops: dict[int, tuple[asyncio.AbstractEventLoop, threading.Thread]] = {}


def background_loop() -> asyncio.AbstractEventLoop:
    """
    The loop of this process, started on first use; a forked child gets its own, and so does a process whose loop
    was closed.
    """
    with _lock:
        known = _loops.get(os.getpid())
        if known is not None and known[1].is_alive():
            return known[0]
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_keep_running, args=(loop,), name="rodada event loop", daemon=True)
        _loops[os.getpid()] = (loop, thread)
        thread.start()
        return loop


def _keep_running(loop: asyncio.AbstractEventLoop) -> None:
    # A task of some tool that raises SystemExit, or stops the loop, would leave everybody waiting who runs on it.
    while not loop.is_closed():
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()


def run_in_background(work: Coroutine[object, object, T]) -> T:
    """
    Run some work on the background loop and wait for it here.

    Raises:
        RunningLoop: this thread runs an event loop, which would be blocked.
    """
    thread = CallingThread(background_loop())
    try:
        return waited_for(thread, work)
    finally:
        thread.leave()


class _Kept(Generic[T]):
    """
    Some work whose cancel may come before it has begun, and whose end is waited for all the same.
    """

    def __init__(self, work: Coroutine[object, object, T]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._is_given_up = False

    async def result(self) -> T:
        self._task = asyncio.create_task(self._work)
        if self._is_given_up:
            self._task.cancel()
        return await self._task

    def give_up(self) -> None:
        self._is_given_up = True
        if self._task is not None:
            self._task.cancel()


def waited_for(thread: CallingThread, work: Coroutine[object, object, T]) -> T:
    """
    Run some work on the event loop that a thread waits for, and wait here; meanwhile the thread, if it is this one,
    does what only it may do. An interrupt cancels the work, waits until it has settled, and then goes on; from then
    on the thread does no more.

    Raises:
        RunningLoop: this thread runs an event loop, which would be blocked.
    """
    if running_loop() is not None:
        work.close()
        raise RunningLoop()
    kept = _Kept(work)
    with known_as_calling(thread):
        future = asyncio.run_coroutine_threadsafe(kept.result(), thread.loop)
    try:
        thread.attend(future)
        return future.result()
    except BaseException:
        if not future.done():
            thread.leave()
            thread.loop.call_soon_threadsafe(kept.give_up)
            wait([future])
        raise


def running_loop() -> asyncio.AbstractEventLoop | None:
    """
    The event loop that runs in this thread, if one does.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
