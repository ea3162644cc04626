"""
Tools in a run: whatever they do, each call ends in one true result, and nothing else is harmed.
"""

import asyncio
import contextlib
import contextvars
import sys
import threading
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import (
    Limits,
    Notice,
    Outcome,
    Reason,
    RunStatus,
    Status,
    ToolEnded,
    ToolLoop,
    ToolStarted,
)
from rodada.statemachine.ports import AnyTool
from rodada.tools import Context, tool
from support.clock import HeldClock, idle
from support.thread_bound import at_most
from support.virtual_clock import VirtualClock

IMPATIENT = Limits(stop_seconds=0.05)


def asks(*names: str) -> Turn:
    return Turn(calls=[Call(name) for name in names])


def loop_of(*tools: AnyTool, turns: list[Turn], parallel: bool = False, limits: Limits = IMPATIENT) -> ToolLoop:
    return ToolLoop(Scripted(turns), tools=tools, parallel=parallel, limits=limits)


def told(outcome: Outcome) -> list[tuple[str, Status]]:
    return [(call.name, call.status) for call in outcome.calls]


def alone() -> set["asyncio.Task[Any]"]:
    """
    The tasks beside this one.
    """
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}


# Repetition


def test_f073_polling_whose_results_differ_is_no_repetition() -> None:
    states = iter(["running 10%", "running 40%", "running 80%", "done"])

    @tool(reads="job")
    async def status() -> str:
        return next(states)

    loop = loop_of(status, turns=[*[asks("status")] * 4, Turn("It is done.")], limits=Limits(max_repeats=2))
    outcome = loop.run_sync("go on")
    assert (outcome.status, outcome.answer, len(outcome.calls)) == (RunStatus.COMPLETED, "It is done.", 4)


def test_f073_polling_whose_results_are_the_same_is_one() -> None:
    @tool(reads="job")
    async def status() -> str:
        return "running"

    loop = loop_of(status, turns=[*[asks("status")] * 3, Turn("It still runs.")], limits=Limits(max_repeats=2))
    outcome = loop.run_sync("go on")
    assert (outcome.status, outcome.reason, outcome.answer) == (
        RunStatus.INCOMPLETE,
        Reason.MAX_REPEATS,
        "It still runs.",
    )
    assert [status for _, status in told(outcome)] == [Status.SUCCEEDED, Status.SUCCEEDED, Status.NOT_EXECUTED]


# Context variables


@pytest.mark.parametrize("how", ["run", "run_sync"])
@pytest.mark.parametrize("parallel", [False, True])
def test_f081_each_call_of_a_run_has_the_context_variables_of_its_caller_and_keeps_its_own(
    how: str, parallel: bool
) -> None:
    var = contextvars.ContextVar("var", default="none")

    def told(name: str) -> str:
        before = var.get()
        var.set(name)
        return f"{before} {var.get()}"

    async def told_later(name: str) -> str:
        before = var.get()
        var.set(name)
        await asyncio.sleep(0)
        return f"{before} {var.get()}"

    tools: list[AnyTool] = [
        tool(name="in_a_thread", reads=())(told),
        tool(name="in_the_caller", reads=(), thread="caller")(told),
        tool(name="in_place", deterministic=True)(told),
        tool(name="on_the_loop", reads=())(told_later),
    ]
    asked = [(each.declaration.name, f"{each.declaration.name} {at}") for at in range(2) for each in tools]
    turns = [Turn(calls=[Call(name, {"name": value}) for name, value in asked]), Turn("done")]
    loop = loop_of(*tools, turns=turns, parallel=parallel)

    async def awaited() -> tuple[Outcome, str]:
        var.set("u1")
        return await loop.run("go on"), var.get()

    def waiting() -> tuple[Outcome, str]:
        var.set("u1")
        return loop.run_sync("go on"), var.get()

    outcome, after = asyncio.run(awaited()) if how == "run" else contextvars.copy_context().run(waiting)
    assert [f"u1 {value}" for _, value in asked] == [call.text for call in outcome.calls]
    assert "u1" == after


# Cancellation


@pytest.mark.parametrize("how", ["handle", "task", "block"])
def test_f075_nothing_ticks_after_a_cancel_in_the_second_round(how: str) -> None:
    seen: list[str] = []

    async def main() -> Outcome:
        entered = asyncio.Event()

        @tool(reads=())
        async def quick() -> str:
            return "quick"

        @tool(reads=())
        async def tick() -> None:
            try:
                while True:
                    entered.set()
                    seen.append("tick")
                    await asyncio.sleep(0)
            finally:
                await asyncio.sleep(0)
                seen.append("finally")

        loop = loop_of(quick, tick, turns=[asks("quick"), asks("tick")])
        outcome = await {"handle": by_handle, "task": by_task, "block": by_block}[how](loop, entered)
        at_the_end = list(seen)
        await idle()
        assert (seen, alone()) == (at_the_end, set())
        return outcome

    outcome = asyncio.run(main())
    assert seen[-1] == "finally"
    assert (outcome.status, outcome.still_running) == (RunStatus.CANCELLED, ())
    assert told(outcome) == [("quick", Status.SUCCEEDED), ("tick", Status.OUTCOME_UNKNOWN)]


async def by_handle(loop: ToolLoop, entered: asyncio.Event) -> Outcome:
    async with loop.start("go on") as live:
        await entered.wait()
        live.cancel()
        return await live.outcome()


async def by_task(loop: ToolLoop, entered: asyncio.Event) -> Outcome:
    task = asyncio.ensure_future(loop.run("go on"))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    outcome = cast("Outcome | None", getattr(caught.value, "outcome", None))
    assert isinstance(outcome, Outcome)
    return outcome


async def by_block(loop: ToolLoop, entered: asyncio.Event) -> Outcome:
    async with loop.start("go on") as live:
        await entered.wait()
    return await live.outcome()


def test_f076_a_tool_that_cancels_itself_leaves_its_sibling_to_end_in_the_run() -> None:
    seen: list[str] = []

    async def main() -> Outcome:
        cancelled = asyncio.Event()

        @tool(reads=())
        async def selfcancel() -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            cancelled.set()
            await asyncio.sleep(0)

        @tool(reads=())
        async def effect() -> None:
            await cancelled.wait()
            await idle()
            seen.append("effect")

        loop = loop_of(selfcancel, effect, turns=[asks("selfcancel", "effect"), Turn("done")], parallel=True)
        outcome = await loop.run("go on")
        assert (seen, alone()) == (["effect"], set())
        return outcome

    outcome = asyncio.run(main())
    assert told(outcome) == [("selfcancel", Status.FAILED), ("effect", Status.SUCCEEDED)]
    assert outcome.status is RunStatus.COMPLETED


def test_f077_a_store_that_fails_leaves_nothing_behind() -> None:
    seen: list[str] = []

    class Store:
        async def append(self, conversation_id: str, after: int, entries: tuple[object, ...]) -> None:
            if after:
                raise OSError("disk full")

    @tool(reads=())
    async def a() -> None:
        return None

    @tool(reads=())
    async def b() -> None:
        await idle()
        seen.append("b")

    async def main() -> Outcome:
        loop = loop_of(a, b, turns=[asks("a", "b"), Turn("done")], parallel=True).evolve(history=Store())
        outcome = await loop.run("go on")
        assert alone() == set()
        return outcome

    outcome = asyncio.run(main())
    assert (outcome.status, outcome.reason) == (RunStatus.FAILED, Reason.APPEND_FAILED)
    assert (told(outcome), seen) == ([("a", Status.SUCCEEDED), ("b", Status.SUCCEEDED)], ["b"])


def test_a_tool_that_swallows_its_cancel_and_ends_keeps_its_result() -> None:
    async def main() -> Outcome:
        @tool(reads=(), timeout=0.001)
        async def save() -> str:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return "saved"

        return await loop_of(save, turns=[asks("save"), Turn("done")]).run("go on")

    outcome = asyncio.run(main())
    assert [(call.status, call.text) for call in outcome.calls] == [(Status.SUCCEEDED, "saved")]


def test_a_tool_that_swallows_every_cancel_is_left_behind_named_and_harms_nobody() -> None:
    async def main() -> tuple[Outcome, Outcome]:
        over = asyncio.Event()

        @tool(reads=(), timeout=0.001)
        async def never() -> None:
            while not over.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await over.wait()

        @tool(reads=())
        async def quick() -> str:
            return "quick"

        loop = loop_of(never, quick, turns=[asks("never"), asks("quick"), Turn("done")])
        first = await loop.run("go on")
        second = await loop_of(quick, turns=[asks("quick"), Turn("done")]).run("go on")
        over.set()
        await idle()
        assert alone() == set()
        return first, second

    first, second = asyncio.run(main())
    assert told(first) == [("never", Status.OUTCOME_UNKNOWN), ("quick", Status.SUCCEEDED)]
    assert first.still_running == (first.calls[0].id,)
    assert (first.status, second.status) == (RunStatus.COMPLETED, RunStatus.COMPLETED)


def test_f074_a_library_that_takes_the_runs_own_cancel_back_cannot_hide_it() -> None:
    """
    A tool whose code calls `uncancel`: the count of cancels does not tell any more, but the driver knows.
    """

    async def main() -> Outcome:
        entered = asyncio.Event()

        @tool(writes="card")
        async def charge() -> None:
            try:
                entered.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None
                task.uncancel()
                raise

        async with loop_of(charge, turns=[asks("charge")]).start("go on") as live:
            await entered.wait()
            live.cancel()
            return await live.outcome()

    assert told(asyncio.run(main())) == [("charge", Status.OUTCOME_UNKNOWN)]


# Timeouts


@pytest.mark.parametrize("is_async", [True, False])
def test_f084_a_tool_that_never_returns_is_told_and_the_run_goes_on(is_async: bool) -> None:
    ended: list[str] = []
    go, clock = threading.Event(), VirtualClock()

    async def wait() -> None:
        try:
            clock.pass_in_background(60)
            await asyncio.Event().wait()
        finally:
            ended.append("finally")

    def block() -> None:
        clock.pass_in_background(60)
        go.wait(10)

    hang = tool(name="hang")(wait if is_async else block)
    outcome = loop_of(hang, turns=[asks("hang"), Turn("done")]).evolve(clock=clock).run_sync("go on")
    go.set()
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "done")
    assert told(outcome) == [("hang", Status.OUTCOME_UNKNOWN)]
    assert outcome.calls[0].text.startswith("Timed out after 60 s")
    assert (ended, len(outcome.still_running)) == ((["finally"], 0) if is_async else ([], 1))


def test_f085_a_stuck_call_does_not_hold_back_what_its_siblings_found() -> None:
    async def main() -> tuple[list[Notice], Outcome]:
        clock, seen = HeldClock(), list[Notice]()

        @tool(reads=())
        async def ok() -> str:
            return "ok"

        @tool(reads=(), timeout=40)
        async def hang() -> None:
            await asyncio.Event().wait()

        turns = [asks("hang", "ok"), Turn("done")]
        loop = loop_of(ok, hang, turns=turns, parallel=True).evolve(clock=clock)
        async with loop.start("go on") as live:
            events = live.events()
            await idle()
            async for notice in events:
                seen.append(notice)
                if isinstance(notice, ToolEnded) and notice.name == "ok":
                    break
            assert clock.mono() == 0
            await clock.advance(40)
            return seen, await live.outcome()

    seen, outcome = asyncio.run(main())
    assert [notice.name for notice in seen if isinstance(notice, ToolEnded)] == ["ok"]
    assert told(outcome) == [("hang", Status.OUTCOME_UNKNOWN), ("ok", Status.SUCCEEDED)]


def test_f086_a_tool_that_waits_for_a_person_outlives_the_usual_limit_but_not_the_run() -> None:
    async def main() -> list[Outcome]:
        outcomes: list[Outcome] = []
        for waits in (1000, 4000):
            clock, answered = HeldClock(), asyncio.Event()

            @tool(reads=(), timeout=None)
            async def ask_user(answered: Context[asyncio.Event]) -> str:
                await answered.value.wait()
                return "yes"

            turns, limits = [asks("ask_user"), Turn("done")], Limits(tool_seconds=1, seconds=3000)
            loop = loop_of(ask_user, turns=turns, limits=limits).evolve(clock=clock)
            async with loop.start("go on", context=answered) as live:
                await clock.advance(waits)
                answered.set()
                outcomes.append(await live.outcome())
        return outcomes

    in_time, too_late = asyncio.run(main())
    assert (in_time.status, told(in_time)) == (RunStatus.COMPLETED, [("ask_user", Status.SUCCEEDED)])
    assert (too_late.reason, told(too_late)) == (Reason.DEADLINE, [("ask_user", Status.OUTCOME_UNKNOWN)])


def test_f087_a_deadline_leaves_no_started_call_without_its_end() -> None:
    async def main() -> tuple[list[Notice], Outcome]:
        clock = HeldClock()

        @tool(reads=())
        async def hang() -> None:
            await asyncio.Event().wait()

        turns = [asks("hang", "hang", "nosuch"), Turn("I ran out of time.")]
        limits = Limits(seconds=30, closing_seconds=10)
        loop = loop_of(hang, turns=turns, parallel=True, limits=limits).evolve(clock=clock)
        async with loop.start("go on") as live:
            events = live.events()
            await clock.advance(21)
            outcome = await live.outcome()
            return [notice async for notice in events], outcome

    notices, outcome = asyncio.run(main())
    started = [notice.id for notice in notices if isinstance(notice, ToolStarted)]
    ended = {notice.id: (notice.status, notice.seconds) for notice in notices if isinstance(notice, ToolEnded)}
    assert (outcome.reason, sorted(started)) == (Reason.DEADLINE, sorted(ended))
    assert list(ended.values()) == [(Status.FAILED, 0.0), *[(Status.OUTCOME_UNKNOWN, 20.0)] * 2]


# Re-entrancy


def test_a_tool_may_run_the_loop_that_runs_it() -> None:
    """
    One model plays both runs: the outer turn, the inner answer, the outer answer.
    """
    loops: list[ToolLoop] = []

    @tool
    async def again() -> str:
        return (await loops[0].run("inner")).answer

    @tool
    def again_sync() -> str:
        return loops[0].run_sync("inner").answer

    @tool(thread="caller")
    def again_in_place() -> str:
        return loops[0].run_sync("inner").answer

    for each in (again, again_sync, again_in_place):
        loops[:] = [loop_of(each, turns=[asks(each.name), Turn("inner done"), Turn("outer done")])]
        with at_most(1):
            outcome = loops[0].run_sync("outer")
        assert (outcome.answer, outcome.calls[0].text) == ("outer done", "inner done")


def test_a_tool_that_blocks_its_own_event_loop_for_a_run_is_told_so() -> None:
    loops: list[ToolLoop] = []

    @tool(deterministic=True)
    def pure() -> str:
        return loops[0].run_sync("inner").answer

    @tool
    async def awaited() -> str:
        return loops[0].run_sync("inner").answer

    for each in (pure, awaited):
        loops[:] = [loop_of(each, turns=[asks(each.name), Turn("outer done")])]
        outcome = loops[0].run_sync("outer")
        assert outcome.answer == "outer done"
        assert outcome.calls[0].text == f"{each.name} failed: it raised RunningLoop. Its details are withheld."


def test_a_tool_that_answers_on_its_own_conversation_is_told_that_it_is_busy() -> None:
    @tool
    async def again(ctx: Context[ToolLoop]) -> str:
        return (await ctx.value.run("inner", conversation=first.conversation)).answer

    first = loop_of(turns=[Turn("hello")]).run_sync("hello")
    loop = loop_of(again, turns=[asks("again"), Turn("outer done")])
    outcome = loop.run_sync("outer", conversation=first.conversation, context=loop)
    assert outcome.answer == "outer done"
    assert outcome.calls[0].text == "again failed: it raised ConversationBusy. Its details are withheld."


# Anything


ACTS = ("fine", "raise", "exit", "interrupt", "close", "cancelled", "self-cancel", "swallow", "hang", "cancel the run")


def act(name: str, ctx: Context[None]) -> str:
    """
    What a function can do on its own.
    """
    match name:
        case "raise":
            raise ValueError
        case "exit":
            raise SystemExit
        case "interrupt":
            raise KeyboardInterrupt
        case "close":
            raise GeneratorExit
        case "cancelled":
            raise asyncio.CancelledError
        case "cancel the run":
            ctx.cancel("enough")
        case _:
            pass
    return name


@tool(reads=(), timeout=0.02)
async def async_act(ctx: Context[None], name: str) -> str:
    task = asyncio.current_task()
    assert task is not None
    if name == "self-cancel":
        task.cancel()
    if name in ("hang", "self-cancel"):
        await asyncio.Event().wait()
    if name == "swallow":
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
    return act(name, ctx)


@tool(writes="x")
def sync_act(ctx: Context[None], name: str) -> str:
    return act(name, ctx)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(ACTS)), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_whatever_tools_do_each_call_has_one_result_and_the_loop_lives(
    wanted: list[tuple[bool, str]], parallel: bool, owned: bool
) -> None:
    calls = [Call("async_act" if is_async else "sync_act", {"name": name}) for is_async, name in wanted]
    loop = loop_of(async_act, sync_act, turns=[Turn(calls=calls), Turn("done")], parallel=parallel)

    async def main() -> Outcome:
        outcome = await loop.run("go on")
        assert alone() == set()
        return outcome

    with at_most(2):
        outcome = asyncio.run(main()) if owned else loop.run_sync("go on")
    assert [call.name for call in outcome.calls] == [call.name for call in calls]
    is_cancelled = outcome.status is RunStatus.CANCELLED
    assert is_cancelled or outcome.answer == "done"
    assert is_cancelled <= any(name == "cancel the run" for _, name in wanted)
    for (_, name), call in zip(wanted, outcome.calls, strict=True):
        assert call.status in SAYABLE[name] or (is_cancelled and call.status in STOPPED), (name, call)


STOPPED = (Status.NOT_EXECUTED, Status.OUTCOME_UNKNOWN, Status.FAILED)
SAYABLE = {
    **dict.fromkeys(("fine", "swallow", "cancel the run"), (Status.SUCCEEDED,)),
    **dict.fromkeys(("raise", "exit", "interrupt", "close", "cancelled"), (Status.FAILED,)),
    # A sync function has no task to cancel; on a busy machine the time of an async one may be over first.
    "self-cancel": (Status.FAILED, Status.SUCCEEDED, Status.OUTCOME_UNKNOWN),
    "hang": (Status.OUTCOME_UNKNOWN, Status.SUCCEEDED),
}


@pytest.mark.parametrize("owned", [True, False])
def test_nobody_can_be_asked_in_a_run_without_a_handle_so_it_denies_and_ends(owned: bool) -> None:
    ran: list[str] = []

    @tool(needs_approval=True)
    def pay() -> None:
        ran.append("pay")

    loop = ToolLoop(Scripted([Turn(calls=[Call("pay")] * 2), Turn("I may not.")]), tools=[pay])
    outcome = asyncio.run(asyncio.wait_for(loop.run("Pay."), 10)) if owned else loop.run_sync("Pay.")
    assert (ran, outcome.status, outcome.answer) == ([], RunStatus.COMPLETED, "I may not.")
    assert [call.status for call in outcome.calls] == [Status.DENIED] * 2
    assert outcome.calls[0].text == "Not executed: it needs an approval, and nobody can be asked in this run."


@pytest.mark.parametrize("name", ["seconds", "closing_seconds", "call_seconds", "tool_seconds", "stop_seconds"])
@pytest.mark.parametrize("amount", [1e12, sys.maxsize, sys.float_info.max])
def test_a_time_without_measure_is_as_good_as_none(name: str, amount: float) -> None:
    @tool(reads=())
    def look(ctx: Context[object]) -> str:
        return str(ctx.deadline)

    around = {"seconds": None} if name == "closing_seconds" else {}
    loop = loop_of(look, turns=[asks("look"), Turn("Fine.")], limits=Limits(**{**around, name: amount}))  # type: ignore[arg-type]
    outcome = loop.run_sync("Look.")
    assert (told(outcome), outcome.status) == ([("look", Status.SUCCEEDED)], RunStatus.COMPLETED)
    assert (outcome.calls[0].text == "None") == (name in ("seconds", "closing_seconds"))
