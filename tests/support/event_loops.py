"""
The event loops that a run may find itself on: asyncio's own, uvloop's, and one whose tasks begin at once.
"""

import asyncio
import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Literal, TypeAlias

import pytest

Kind: TypeAlias = Literal["asyncio", "uvloop", "eager tasks"]
KINDS: tuple[Kind, ...] = ("asyncio", "uvloop", "eager tasks")


def _uvloop() -> asyncio.AbstractEventLoop:
    loop: asyncio.AbstractEventLoop = importlib.import_module("uvloop").new_event_loop()
    return loop


def _eager() -> asyncio.AbstractEventLoop:
    loop = asyncio.SelectorEventLoop()
    loop.set_task_factory(getattr(asyncio, "eager_task_factory"))  # noqa: B009  (there from Python 3.12 on)
    return loop


_MAKERS: dict[Kind, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.SelectorEventLoop,
    "uvloop": _uvloop,
    "eager tasks": _eager,
}
_MISSING: dict[Kind, bool] = {
    "asyncio": False,
    "uvloop": importlib.util.find_spec("uvloop") is None,
    "eager tasks": sys.version_info < (3, 12),
}


def new_loop(kind: Kind) -> asyncio.AbstractEventLoop:
    """
    An event loop of a kind; the test is skipped where there is none.
    """
    if _MISSING[kind]:
        pytest.skip(f"{kind}: not here")
    return _MAKERS[kind]()
