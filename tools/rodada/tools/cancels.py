"""
Who cancelled a coroutine: only the count of cancels tells those that its task was asked for from those that something
inside raised.
"""

import asyncio


def cancels_asked() -> int:
    """
    How many cancels the running task was asked for and did not take back.
    """
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
