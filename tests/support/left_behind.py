"""
What a piece of work on an event loop left behind.
"""

import asyncio
import gc
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager


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


def tasks_left() -> list[str]:
    """
    Names of the tasks beside the running one.
    """
    this = asyncio.current_task()
    return [task.get_name() for task in asyncio.all_tasks() if task is not this]
