"""
What a port raised, as the plain facts of an event.
"""

import asyncio

from rodada.statemachine.errors import LoopError, ProviderError
from rodada.statemachine.events import Failure


def provider_failure(error: ProviderError) -> Failure:
    """
    What a provider says of its own failure.
    """
    return Failure(
        type(error).__name__,
        str(error),
        error.retryable,
        error.provider,
        error.status,
        error.code,
        error.request_id,
    )


def foreign_failure(error: BaseException, who: str) -> Failure:
    """
    A foreign exception by its class only, since its text may hold secrets; our own errors with their words.
    """
    message = str(error) if isinstance(error, LoopError) else f"{who} raised {type(error).__name__}"
    return Failure(type(error).__name__, message)


def let_pass(error: BaseException) -> None:
    """
    Raise what is not the port's own doing: a cancel that this task was asked for.
    """
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error
