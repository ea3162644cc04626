"""
One event loop in a thread of its own, for hosts that have none. One for the whole process, never a new one a call:
an async SDK client's connections belong to the loop they were opened on.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Generic, TypeVar, cast

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
    Some work that is begun on an event loop, once, whatever interrupts the thread that waits for it. No future that
    threads share: an interrupt within one leaves its lock locked, and then the event loop waits for that.
    """

    def __init__(self, thread: CallingThread, work: Coroutine[object, object, T]) -> None:
        self._thread = thread
        self._work = work
        self._task: asyncio.Task[T] | None = None

    @property
    def is_over(self) -> bool:
        return self._task is not None and self._task.done()

    def begin(self) -> None:
        self._begun()

    def give_up(self) -> None:
        # Behind its first step: a task that is cancelled before never begins, and so would not leave a block.
        asyncio.get_running_loop().call_soon(self._begun().cancel)

    def result(self) -> T:
        task = self._task
        if task is None or task.cancelled():
            raise CancelledError
        return task.result()

    def _begun(self) -> asyncio.Task[T]:
        if self._task is None:
            self._task = asyncio.create_task(self._work)
            self._task.add_done_callback(self._ended)
        return self._task

    def _ended(self, task: asyncio.Task[T]) -> None:
        # Whoever was interrupted does not ask for it, and asyncio would complain.
        _ = task.cancelled() or task.exception()
        self._thread.wake()


def waited_for(thread: CallingThread, work: Coroutine[object, object, T]) -> T:
    """
    Run some work on the event loop that a thread waits for, and wait here; meanwhile the thread does what only it may
    do. An interrupt cancels the work, waits until it has settled, and then goes on; from then on the thread does no
    more. Interrupted once more the work is cancelled once more, which ends its grace; then it is left to itself.

    Raises:
        RunningLoop: this thread runs an event loop, which would be blocked.
    """
    if running_loop() is not None:
        work.close()
        raise RunningLoop()
    kept = _Kept(thread, work)
    try:
        thread.loop.call_soon_threadsafe(kept.begin, context=known_as_calling(thread))
        thread.attend(lambda: kept.is_over)
    except BaseException:
        try:
            _settle(thread, kept)
        except BaseException:  # noqa: BLE001 - one more interrupt, which may have come before anything was asked
            _settle(thread, kept)
        raise
    return kept.result()


def _settle(thread: CallingThread, kept: _Kept[T]) -> None:
    thread.leave()
    thread.loop.call_soon_threadsafe(kept.give_up)
    thread.attend(lambda: kept.is_over)


def at_once(work: Coroutine[object, object, T]) -> T:
    """
    Run some work that waits for nothing, without an event loop.
    """
    try:
        work.send(None)
    except StopIteration as ended:
        return cast("T", ended.value)
    work.close()
    raise RuntimeError("this work waits for something")


def running_loop() -> asyncio.AbstractEventLoop | None:
    """
    The event loop that runs in this thread, if one does.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
