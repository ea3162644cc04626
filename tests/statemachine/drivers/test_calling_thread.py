"""
The thread that waits in `run_sync` does meanwhile what only it may do, and never more than it may.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from typing import Unpack

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, RunStatus, Status, ToolLoop
from rodada.statemachine.drivers.background import background_loop, run_in_background, waited_for
from rodada.statemachine.drivers.calling_thread import CallingThread, calling_thread
from rodada.statemachine.drivers.errand import Errand, Withdrawn
from rodada.tools import Tool, ToolOptions, tool
from support.tool_calls import result
from support.virtual_clock import VirtualClock

DONE = Turn("done")


def bound(work: Callable[[], object], **options: Unpack[ToolOptions]) -> Tool[[], object]:
    """
    A tool bound to the thread of its caller.
    """

    def f() -> object:
        return work()

    options["thread"] = "caller"
    return tool(name="f", **options)(f)


def test_a_connection_of_sqlite3_works_where_it_was_made() -> None:
    connection = sqlite3.connect(":memory:")  # refuses every other thread
    connection.execute("create table lifts (kg real)")

    @tool(thread="caller", writes="lifts")
    def save(kg: float) -> None:
        connection.execute("insert into lifts values (?)", (kg,))

    @tool(thread="caller", reads="lifts")
    def read() -> list[float]:
        return [kg for (kg,) in connection.execute("select kg from lifts")]

    @tool(reads="lifts")
    def elsewhere() -> list[float]:
        return [kg for (kg,) in connection.execute("select kg from lifts")]

    turns = [Turn(calls=[Call("save", {"kg": 80}), Call("read"), Call("elsewhere")]), DONE]
    outcome = ToolLoop(Scripted(turns), tools=[save, read, elsewhere]).run_sync("go on")
    assert [call.text for call in outcome.calls] == [
        "Done; the tool returns no value.",
        "[80.0]",
        "elsewhere failed: it raised ProgrammingError. Its details are withheld.",
    ]

    turns = [Turn(calls=[Call("save", {"kg": 82.5}), Call("read")]), DONE]
    outcome = asyncio.run(ToolLoop(Scripted(turns), tools=[save, read]).run("go on"))
    assert outcome.calls[1].text == "[80.0,82.5]"
    connection.close()


def test_it_is_the_thread_that_called_whichever_that_is() -> None:
    def who() -> tuple[int, str]:
        turns = [Turn(calls=[Call("f")]), DONE]
        outcome = ToolLoop(Scripted(turns), tools=[bound(threading.get_ident)]).run_sync("go on")
        return threading.get_ident(), outcome.calls[0].text

    found: list[tuple[int, str]] = [who()]
    threads = [threading.Thread(target=lambda: found.append(who())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert [str(ident) for ident, _ in found] == [text for _, text in found]
    assert len(found) == 4


def test_side_by_side_such_calls_take_turns() -> None:
    now, highest = 0, 0

    def work() -> None:
        nonlocal now, highest
        now += 1
        highest = max(highest, now)
        now -= 1

    turns = [Turn(calls=[Call("f")] * 5), DONE]
    outcome = ToolLoop(Scripted(turns), tools=[bound(work, reads=())], parallel=True).run_sync("go on")
    assert {call.status for call in outcome.calls} == {Status.SUCCEEDED}
    assert highest == 1


def test_a_loop_inside_such_a_tool_has_the_same_thread() -> None:
    inner = ToolLoop(Scripted([Turn(calls=[Call("f")]), DONE]), tools=[bound(threading.get_ident)])

    def outer() -> str:
        return inner.run_sync("go on").calls[0].text

    outcome = ToolLoop(Scripted([Turn(calls=[Call("f")]), DONE]), tools=[bound(outer)]).run_sync("go on")
    assert outcome.calls[0].text == str(threading.get_ident())


def test_a_run_awaited_inside_an_async_tool_still_reaches_the_thread_that_waits() -> None:
    inner = ToolLoop(Scripted([Turn(calls=[Call("f")]), DONE]), tools=[bound(threading.get_ident)])

    @tool
    async def outer() -> str:
        return (await inner.run("go on")).calls[0].text

    outcome = ToolLoop(Scripted([Turn(calls=[Call("outer")]), DONE]), tools=[outer]).run_sync("go on")
    assert outcome.calls[0].text == str(threading.get_ident())


def test_a_pooled_tool_that_runs_a_loop_is_the_caller_of_that_loop() -> None:
    def inner() -> ToolLoop:
        return ToolLoop(Scripted([Turn(calls=[Call("f")]), DONE]), tools=[bound(threading.get_ident)])

    @tool
    def by_run_sync() -> bool:
        return inner().run_sync("go on").calls[0].text == str(threading.get_ident())

    @tool
    def by_a_loop_of_its_own() -> bool:
        return asyncio.run(inner().run("go on")).calls[0].text == str(threading.get_ident())

    turns = [Turn(calls=[Call("by_run_sync"), Call("by_a_loop_of_its_own")]), DONE]
    outcome = ToolLoop(Scripted(turns), tools=[by_run_sync, by_a_loop_of_its_own]).run_sync("go on")
    assert [call.text for call in outcome.calls] == ["true", "true"]


def test_a_call_that_outlasts_its_time_there_is_told_as_unknown_and_the_run_ends() -> None:
    asked, clock = threading.Event(), VirtualClock()

    def work() -> None:
        clock.pass_in_background(60)
        assert asked.wait(10)

    @tool
    async def release() -> None:
        asked.set()

    slow = bound(work, reads=())
    turns = [Turn(calls=[Call("f")]), Turn(calls=[Call("release")]), DONE]
    loop = ToolLoop(Scripted(turns), tools=[slow, release], limits=Limits(stop_seconds=0), clock=clock)
    outcome = loop.run_sync("go on")
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "done")
    assert [call.status for call in outcome.calls] == [Status.OUTCOME_UNKNOWN, Status.SUCCEEDED]


def test_a_call_that_waits_for_a_busy_thread_beyond_its_time_is_told_as_not_run() -> None:
    waited, ran, clock = threading.Event(), list[int](), VirtualClock()

    def work() -> None:
        clock.pass_in_background(60)
        assert waited.wait(10)

    @tool(thread="caller", timeout=20)
    def late() -> None:
        ran.append(1)

    @tool
    async def release() -> None:
        waited.set()

    slow = bound(work, reads=())
    turns = [Turn(calls=[Call("f")]), Turn(calls=[Call("late")]), Turn(calls=[Call("release")]), DONE]
    loop = ToolLoop(Scripted(turns), tools=[slow, late, release], limits=Limits(stop_seconds=0), clock=clock)
    outcome = loop.run_sync("go on")
    assert [call.status for call in outcome.calls] == [Status.OUTCOME_UNKNOWN, Status.FAILED, Status.SUCCEEDED]
    assert outcome.calls[1].text == "late was not run: the call ended while it still waited for a thread."
    assert ran == []


def test_f078_an_interrupt_there_is_the_callers_own_and_comes_when_the_run_has_settled() -> None:
    stored: list[object] = []

    class Store:
        async def append(self, conversation_id: str, after: int, entries: tuple[object, ...]) -> None:
            stored.extend(entries)

    def work() -> None:
        raise KeyboardInterrupt

    loop = ToolLoop(Scripted([Turn(calls=[Call("f")]), DONE]), tools=[bound(work)], history=Store())
    with pytest.raises(KeyboardInterrupt):
        loop.run_sync("go on")
    # The interrupt races with the model's next answer; what was asked for is answered and stored either way.
    assert [type(entry).__name__ for entry in stored][:2] == ["UserMessage", "Exchange"]


def test_f078_a_tool_that_leaves_the_program_there_has_failed() -> None:
    def work() -> None:
        raise SystemExit(3)

    outcome = ToolLoop(Scripted([Turn(calls=[Call("f")]), DONE]), tools=[bound(work)]).run_sync("go on")
    assert (outcome.status, outcome.calls[0].status) == (RunStatus.COMPLETED, Status.FAILED)
    assert outcome.calls[0].text == "The tool failed (SystemExit)."


def test_what_is_left_behind_by_a_run_cannot_use_its_callers_thread() -> None:
    """
    A task of the host that goes on when `run_sync` has returned: nobody would ever do its errands.
    """
    left: list[asyncio.Task[object]] = []

    async def late(go: asyncio.Event) -> object:
        await go.wait()
        thread = calling_thread()
        assert thread is not None
        return await thread.do(Errand("late", lambda: "done"))

    async def main() -> asyncio.Event:
        go = asyncio.Event()
        left.append(asyncio.ensure_future(late(go)))
        return go

    async def end(go: asyncio.Event) -> object:
        go.set()
        return await left[0]

    go = run_in_background(main())
    with pytest.raises(Withdrawn):
        run_in_background(end(go))


def test_leaving_withdraws_what_has_not_begun() -> None:
    async def main() -> bool:
        thread = CallingThread(asyncio.get_running_loop())
        errand = Errand("late", lambda: "done")
        waits = asyncio.ensure_future(thread.do(errand))
        await asyncio.sleep(0)
        thread.leave()
        with pytest.raises(Withdrawn):
            await waits
        return errand.begun

    assert asyncio.run(main()) is False


def test_leaving_withdraws_what_an_interrupt_kept_the_thread_from_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    async def main() -> bool:
        thread = CallingThread(asyncio.get_running_loop())
        errand = Errand("late", lambda: "done")
        waits = asyncio.ensure_future(thread.do(errand))
        await asyncio.sleep(0)
        monkeypatch.setattr(errand, "do", interrupt)
        with pytest.raises(KeyboardInterrupt):
            thread.attend(lambda: False)
        thread.leave()
        with pytest.raises(Withdrawn):
            await waits
        return errand.begun

    assert asyncio.run(main()) is False


def test_an_event_loop_that_somebody_awaits_has_no_calling_thread() -> None:
    async def main() -> CallingThread | None:
        return calling_thread()

    assert asyncio.run(main()) is None
    assert run_in_background(main()) is not None
    assert asyncio.run_coroutine_threadsafe(main(), background_loop()).result(10) is None


def test_a_call_without_a_loop_around_runs_in_place() -> None:
    assert result(bound(threading.get_ident)).text == str(threading.get_ident())


def test_an_interrupt_before_the_work_has_begun_gives_it_up() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    async def leave_an_errand(thread: CallingThread) -> None:
        left.append(asyncio.create_task(thread.do(Errand("f", interrupt))))
        await asyncio.sleep(0)

    async def never_ends() -> None:
        await asyncio.Event().wait()

    async def end_of(task: "asyncio.Task[None]") -> BaseException | None:
        await asyncio.wait([task])
        return task.exception()

    left: list[asyncio.Task[None]] = []
    thread = CallingThread(background_loop())
    run_in_background(leave_an_errand(thread))
    with pytest.raises(KeyboardInterrupt):
        waited_for(thread, never_ends())
    assert isinstance(run_in_background(end_of(left[0])), KeyboardInterrupt)
