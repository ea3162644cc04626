"""
Hooks of the host: what they do themselves changes no result, and what they do not do is not silent.
"""

import asyncio
import warnings

import pytest

from rodada.statemachine.messages import ToolRequest
from rodada.tools.hooks import tell
from support.tool_calls import request


async def save(asked: ToolRequest, what: str) -> None: ...


def test_a_hook_that_gives_a_coroutine_is_logged_for_nobody_awaits_it(caplog: pytest.LogCaptureFixture) -> None:
    """
    A function around an async one is not seen as async when it is given.
    """
    with warnings.catch_warnings(action="error"):
        tell(lambda asked, what: save(asked, what), "on_cut", request("f"), "all")

    assert ["event=tool.on_cut_failed tool=f error=NeverAwaited"] == caplog.messages


def test_a_hook_may_start_a_task(caplog: pytest.LogCaptureFixture) -> None:
    saved: list[str] = []

    async def keep(what: str) -> None:
        saved.append(what)

    async def play() -> None:
        tasks: list[asyncio.Task[None]] = []

        def start(asked: ToolRequest, what: str) -> "asyncio.Task[None]":
            tasks.append(asyncio.create_task(keep(what)))
            return tasks[0]

        tell(start, "on_cut", request("f"), "all")
        await tasks[0]

    asyncio.run(play())
    assert (["all"], []) == (saved, caplog.messages)
