"""
Threads of our own: bounded, used again, written off when stuck; nobody waits for one that blocks, neither a closed
event loop nor the interpreter's exit.
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, RunStatus, Status, ToolLoop
from rodada.statemachine.drivers.errand import Errand
from rodada.statemachine.errors import InvalidValue
from rodada.tools import limit_threads, tool
from rodada.tools.threads import Threads
from support.thread_bound import at_most
from support.virtual_clock import VirtualClock

BLOCKED = """
import asyncio, threading
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.messages import ToolRequest
from rodada.tools import tool

entered = threading.Event()

@tool
def block() -> None:
    entered.set()
    threading.Event().wait()

async def main():
    call = block.call(ToolRequest("c1", "block", "{}"), CallSetting())
    task = asyncio.ensure_future(call.run())
    while not entered.is_set():
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    print(task.cancelled(), call.alive)

asyncio.run(main())
"""

FORKED = """
import os
from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import ToolLoop
from rodada.tools import tool

@tool
def f() -> str:
    return "fine"

def once():
    turns = [Turn(calls=[Call("f")]), Turn("done")]
    return ToolLoop(Scripted(turns), tools=[f]).run_sync("go on").calls[0].text

assert once() == "fine"
child = os.fork()
if child == 0:
    os._exit(0 if once() == "fine" else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), once())
"""


class Stuck:
    """
    Work that blocks until the test lets it go.
    """

    def __init__(self) -> None:
        self.began = threading.Event()
        self.go = threading.Event()

    def __call__(self) -> str:
        self.began.set()
        assert self.go.wait(10)
        return "went"

    async def is_on(self) -> None:
        assert await asyncio.to_thread(self.began.wait, 10)


def begun(threads: Threads, work: Callable[[], object], name: str = "errand") -> "asyncio.Task[object]":
    return asyncio.ensure_future(threads.do(Errand(name, work)))


def test_a_blocked_tool_does_not_hold_up_the_interpreters_exit() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("True True\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_forked_child_has_threads_of_its_own() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("0 fine\n", "")


def test_a_thread_is_used_again_and_bears_the_name_of_its_work() -> None:
    threads = Threads(1)

    def who() -> tuple[int, str, bool]:
        thread = threading.current_thread()
        return threading.get_ident(), thread.name, thread.daemon

    async def main() -> set[object]:
        return {await begun(threads, who, "work") for _ in range(20)}

    (found,) = asyncio.run(main()) | asyncio.run(main())
    assert isinstance(found, tuple)
    assert found[1:] == ("work", True)


@given(st.integers(1, 5), st.integers(0, 20))
def test_no_more_threads_work_at_once_than_are_allowed_and_all_work_is_done(most: int, count: int) -> None:
    lock, now, highest = threading.Lock(), 0, 0

    def work() -> None:
        nonlocal now, highest
        with lock:
            now += 1
            highest = max(highest, now)
        with lock:
            now -= 1

    async def main() -> list[object]:
        threads = Threads(most)
        return await asyncio.gather(*(begun(threads, work) for _ in range(count)))

    assert asyncio.run(main()) == [None] * count
    assert highest <= most


def test_work_waits_for_a_thread_in_the_order_of_its_coming() -> None:
    seen: list[int] = []

    async def main() -> None:
        threads, stuck = Threads(1), Stuck()
        first = begun(threads, stuck)
        await stuck.is_on()
        rest = [begun(threads, lambda at=at: seen.append(at)) for at in range(5)]  # type: ignore[misc]
        await asyncio.sleep(0)
        assert seen == []
        stuck.go.set()
        await asyncio.gather(first, *rest)

    asyncio.run(main())
    assert seen == [0, 1, 2, 3, 4]


def test_a_thread_that_is_given_up_is_written_off_and_replaced() -> None:
    async def main() -> tuple[bool, object, bool]:
        threads, stuck = Threads(1), Stuck()
        errand = Errand("stuck", stuck)
        first = asyncio.ensure_future(threads.do(errand))
        await stuck.is_on()
        waits = begun(threads, lambda: "done")
        first.cancel()
        found = await asyncio.wait_for(waits, 10)
        alive = errand.alive
        (thread,) = (each for each in threading.enumerate() if each.name == "stuck")
        stuck.go.set()
        await asyncio.to_thread(thread.join, 10)
        assert not thread.is_alive()
        return alive, found, errand.alive

    assert asyncio.run(main()) == (True, "done", False)


def test_work_that_is_given_up_while_it_waits_never_begins() -> None:
    ran: list[int] = []

    async def main() -> bool:
        threads, stuck = Threads(1), Stuck()
        first = begun(threads, stuck)
        await stuck.is_on()
        errand = Errand("late", lambda: ran.append(1))
        late = asyncio.ensure_future(threads.do(errand))
        await asyncio.sleep(0)
        late.cancel()
        await asyncio.wait([late])
        stuck.go.set()
        await first
        await begun(threads, lambda: None)
        return errand.begun

    assert asyncio.run(main()) is False
    assert ran == []


def test_what_was_done_when_the_cancel_came_is_not_lost() -> None:
    async def main() -> tuple[str, int]:
        errand = Errand("fast", lambda: "done")
        waits = asyncio.ensure_future(errand.answer())
        await asyncio.sleep(0)
        errand.do()
        waits.cancel()
        return await waits, waits.cancelling()

    assert asyncio.run(main()) == ("done", 1)


def test_what_raises_stop_iteration_ends_too() -> None:
    def work() -> None:
        raise StopIteration

    async def main() -> None:
        await asyncio.wait_for(begun(Threads(1), work), 10)

    with pytest.raises(RuntimeError):
        asyncio.run(main())


def test_an_idle_thread_ends_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rodada.tools.threads.IDLE_SECONDS", 0.0)

    async def main() -> object:
        thread = await begun(Threads(1), threading.current_thread)
        assert isinstance(thread, threading.Thread)
        await asyncio.to_thread(thread.join, 10)
        return thread.is_alive()

    assert asyncio.run(main()) is False


def test_work_that_ends_after_its_event_loop_was_closed_is_let_go() -> None:
    stuck = Stuck()

    async def main() -> Errand[str]:
        errand = Errand("left", stuck)
        task = asyncio.ensure_future(Threads(1).do(errand))
        await stuck.is_on()
        assert not task.done()
        return errand

    errand = asyncio.run(main())
    (thread,) = (each for each in threading.enumerate() if each.name == "left")
    assert errand.alive
    stuck.go.set()
    thread.join(10)
    assert not thread.is_alive()
    assert not errand.alive


@pytest.mark.parametrize("most", [0, -1, True, 1.5, None])
def test_a_bound_that_is_none_is_refused(most: int) -> None:
    with pytest.raises(InvalidValue, match="a whole number above 0"):
        limit_threads(most)


# Through the loop


def test_f080_a_blocking_tool_lets_the_event_loop_go_on_and_two_overlap() -> None:
    both = threading.Barrier(3, timeout=10)

    @tool(reads=())
    def f() -> str:
        both.wait()
        return "met"

    async def main() -> list[str]:
        turns = [Turn(calls=[Call("f"), Call("f")]), Turn("done")]
        run = asyncio.ensure_future(ToolLoop(Scripted(turns), tools=[f], parallel=True).run("go on"))
        while both.n_waiting < 2:  # noqa: ASYNC110 - it turns while both block
            await asyncio.sleep(0)
        await asyncio.to_thread(both.wait)
        return [call.text for call in (await run).calls]

    assert asyncio.run(main()) == ["met", "met"]


def test_a_stuck_tool_starves_no_other_run_and_stays_visible() -> None:
    stuck, clock = Stuck(), VirtualClock()

    @tool(reads=())
    def hang() -> str:
        clock.pass_in_background(60)
        return stuck()

    @tool(reads=())
    def quick() -> str:
        return "quick"

    with at_most(1):
        limits = Limits(stop_seconds=0)
        turns = [Turn(calls=[Call("hang")]), Turn(calls=[Call("quick")]), Turn("done")]
        outcome = ToolLoop(Scripted(turns), tools=[hang, quick], limits=limits, clock=clock).run_sync("go on")
        stuck.go.set()
    assert [call.status for call in outcome.calls] == [Status.OUTCOME_UNKNOWN, Status.SUCCEEDED]
    assert outcome.still_running == (outcome.calls[0].id,)


def test_a_call_that_got_no_thread_in_its_time_is_told_as_not_run() -> None:
    stuck, ran = Stuck(), list[int]()

    @tool(reads=())
    def hold() -> str:
        return stuck()

    @tool(writes="log", timeout=0.01)
    def note() -> None:
        ran.append(1)

    async def main() -> tuple[str, tuple[str, ...]]:
        first = asyncio.ensure_future(
            ToolLoop(Scripted([Turn(calls=[Call("hold")]), Turn("done")]), tools=[hold]).run("go on")
        )
        await stuck.is_on()
        turns = [Turn(calls=[Call("note")]), Turn("done")]
        outcome = await ToolLoop(Scripted(turns), tools=[note]).run("go on")
        stuck.go.set()
        await first
        assert [call.status for call in outcome.calls] == [Status.FAILED]
        return outcome.calls[0].text, outcome.still_running

    with at_most(1):
        text, still = asyncio.run(main())
    assert text == "note was not run: the call ended while it still waited for a thread."
    assert (ran, still) == ([], ())


def test_a_write_that_waits_for_a_thread_does_not_begin_after_a_cancel() -> None:
    stuck, ran = Stuck(), list[int]()

    @tool
    def hold() -> str:
        return stuck()

    @tool
    def note() -> None:
        ran.append(1)

    async def main() -> list[Status]:
        first = asyncio.ensure_future(
            ToolLoop(Scripted([Turn(calls=[Call("hold")]), Turn("done")]), tools=[hold]).run("go on")
        )
        await stuck.is_on()
        async with ToolLoop(Scripted([Turn(calls=[Call("note")])]), tools=[note]).start("go on") as live:
            async for event in live.events():
                if type(event).__name__ == "ToolStarted":
                    for _ in range(5):
                        await asyncio.sleep(0)
                    live.cancel()
            outcome = await live.outcome()
        stuck.go.set()
        await first
        assert outcome.status is RunStatus.CANCELLED
        return [call.status for call in outcome.calls]

    with at_most(1):
        assert asyncio.run(main()) == [Status.FAILED]
    assert ran == []


@pytest.mark.parametrize("depth", [1, 4])
def test_sync_tools_that_run_loops_with_sync_tools_do_not_wait_for_one_another(depth: int) -> None:
    """
    One thread a level: were it one for all, the inner call would wait for the outer one's thread for ever.
    """

    def nested(depth: int) -> str:
        @tool
        def inner() -> str:
            return nested(depth - 1) if depth else "bottom"

        turns = [Turn(calls=[Call("inner")]), Turn("done")]
        return ToolLoop(Scripted(turns), tools=[inner]).run_sync("go on").calls[0].text

    with at_most(1):
        assert nested(depth) == "bottom"
