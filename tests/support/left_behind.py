"""
What a piece of work on an event loop left behind.
"""

import asyncio
import gc
import sys
import warnings
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def generators_left() -> Generator[list[str]]:
    """
    Names of the generators that nobody closed before they were garbage.
    """
    left: list[str] = []
    hooks = sys.get_asyncgen_hooks()

    def note(generator: AsyncGenerator[object]) -> None:
        left.append(repr(generator))
        if hooks.finalizer is not None:
            hooks.finalizer(generator)

    sys.set_asyncgen_hooks(hooks.firstiter, note)
    try:
        yield left
        gc.collect()
    finally:
        sys.set_asyncgen_hooks(*hooks)


@contextmanager
def told_by_the_loop() -> Generator[list[str]]:
    """
    What the running event loop was told that nobody else heard, such as an exception that was never retrieved; some of
    it is told when the garbage is collected.
    """
    told: list[str] = []
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()

    def hear(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        told.append(f"{context['message']}: {context.get('exception')!r}")

    loop.set_exception_handler(hear)
    try:
        yield told
    finally:
        loop.set_exception_handler(before)


@contextmanager
def nothing_left() -> Generator[None]:
    """
    A block on the running event loop that leaves nothing: no task, no generator, no exception that nobody heard, no
    coroutine that was never awaited, nothing open.
    """
    with warnings.catch_warnings(record=True) as warned, told_by_the_loop() as told, generators_left() as generators:
        warnings.simplefilter("always")
        yield
    left = [*generators, *told, *(str(each.message) for each in warned), *tasks_left()]
    assert left == [], left


def tasks_left() -> list[str]:
    """
    Names of the tasks beside the running one.
    """
    this = asyncio.current_task()
    return [task.get_name() for task in asyncio.all_tasks() if task is not this]
