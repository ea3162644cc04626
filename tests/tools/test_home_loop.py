import asyncio
import contextvars
import os

import pytest

from rodada.statemachine.drivers.background import background_loop, run_in_background
from rodada.tools.home_loop import HomeGone, HomeLoop

NAME = contextvars.ContextVar("name", default="")


async def here() -> HomeLoop:
    return HomeLoop()


async def where() -> tuple[asyncio.AbstractEventLoop, str]:
    return asyncio.get_running_loop(), NAME.get()


def test_work_is_done_at_home_with_the_callers_context() -> None:
    home = run_in_background(here())

    async def called() -> tuple[asyncio.AbstractEventLoop, str]:
        NAME.set("ana")
        return await home.run(where)

    assert (background_loop(), "ana") == asyncio.run(called())
    assert background_loop() is run_in_background(home.run(where))[0]


def test_a_cancel_reaches_the_work() -> None:
    home = run_in_background(here())

    async def cancelled() -> None:
        began, ended = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        async def work() -> None:
            loop.call_soon_threadsafe(began.set)
            try:
                await asyncio.Event().wait()
            finally:
                loop.call_soon_threadsafe(ended.set)

        task = asyncio.create_task(home.run(work))
        await began.wait()
        task.cancel()
        await ended.wait()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_work_for_a_loop_that_has_ended_is_refused() -> None:
    home = asyncio.run(here())

    with pytest.raises(HomeGone) as refused:
        asyncio.run(home.run(where))

    assert not refused.value.began


def test_work_that_its_loop_left_behind_may_have_begun() -> None:
    async def left() -> None:
        raise asyncio.CancelledError

    home = run_in_background(here())

    with pytest.raises(HomeGone) as gone:
        asyncio.run(home.run(left))

    assert gone.value.began


def test_another_process_has_no_home_here(monkeypatch: pytest.MonkeyPatch) -> None:
    home = run_in_background(here())
    monkeypatch.setattr(os, "getpid", lambda: -1)

    with pytest.raises(HomeGone):
        asyncio.run(home.run(where))
