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
from typing import TypeVar

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
    Run some work on the background loop and wait for it here, doing meanwhile what only this thread may do. An
    interrupt cancels the work, waits until it has settled, and then goes on.

    Raises:
        RunningLoop: this thread runs an event loop, which would be blocked.
    """
    if running_loop() is not None:
        work.close()
        raise RunningLoop()
    loop = background_loop()
    started: list[asyncio.Task[T]] = []

    async def kept() -> T:
        started.append(asyncio.create_task(work))
        return await started[0]

    thread = CallingThread(loop)
    with known_as_calling(thread):
        future = asyncio.run_coroutine_threadsafe(kept(), loop)
    try:
        thread.attend(future)
        return future.result()
    except BaseException:
        thread.leave()
        if not future.done():
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in started])
            wait([future])
        raise
    finally:
        thread.leave()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """
    The event loop that runs in this thread, if one does.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
