"""
Functions of the host that are told something of a call. What they raise is logged and changes nothing.
"""

import contextlib
import inspect
from collections.abc import Callable
from typing import TypeVar

from rodada.statemachine.log import log_warning
from rodada.statemachine.messages import ToolRequest
from rodada.tools.value_text import LET_THROUGH, error_name

T = TypeVar("T")


class NeverAwaited(TypeError):
    """
    A hook gave a coroutine, so that nothing of what it was to do was done: a hook must not be async.
    """


def tell(hook: Callable[[ToolRequest, T], object] | None, name: str, request: ToolRequest, what: T) -> None:
    """
    Tell the host, where it wants to hear of it, in this thread; `name` is what the log calls the hook. Only
    KeyboardInterrupt and SystemExit leave it.
    """
    if hook is None:
        return
    try:
        given = hook(request, what)
        if inspect.iscoroutine(given):
            given.close()
            raise NeverAwaited
    except LET_THROUGH:
        raise
    except BaseException as error:  # noqa: BLE001 - no hook of the host may change a result
        # Nor may a log filter.
        with contextlib.suppress(Exception):
            log_warning(f"tool.{name}_failed", tool=request.name, error=error_name(error))
