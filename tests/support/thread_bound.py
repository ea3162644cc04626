"""
A process with a chosen number of threads for tools.
"""

from collections.abc import Generator
from contextlib import contextmanager

from rodada.tools import limit_threads
from rodada.tools.threads import LEVELS, MOST


@contextmanager
def at_most(most: int) -> Generator[None]:
    """
    So many threads a level, and none of those that were there before.
    """
    LEVELS.forget()
    limit_threads(most)
    try:
        yield
    finally:
        LEVELS.forget()
        limit_threads(MOST)
