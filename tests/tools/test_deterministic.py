"""
`@tool(deterministic=True)`: answered in place, once per distinct argument set a run, and marked on the outcome.
"""

import asyncio
import threading
import time
import warnings

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import AnyTool, ApprovalAsked, Limits, Outcome, Status, ToolLoop
from rodada.statemachine.plan import Kind, PlannedCall
from rodada.statemachine.scheduling import Touches
from rodada.tools import Tool, ToolDefinitionError, ToolError, tool
from support.tool_calls import request


def one_rep_max(threads: list[int]) -> Tool[..., float]:
    """
    A deterministic tool that notes in which thread it runs.
    """

    @tool(deterministic=True)
    def one_rep_max(kg: float, reps: int = 1) -> float:
        threads.append(threading.get_ident())
        return kg * (1 + reps / 30)

    return one_rep_max


def outcome(*tools: AnyTool, turns: list[Turn], parallel: bool = False, rounds: int = 10) -> Outcome:
    loop = ToolLoop(Scripted(turns), tools=tools, parallel=parallel, limits=Limits(max_rounds=rounds))
    return asyncio.run(loop.run("How strong am I?"))


@pytest.mark.parametrize("parallel", [False, True])
def test_it_is_answered_in_place_and_once_per_distinct_argument_set(parallel: bool) -> None:
    threads: list[int] = []
    same, other = Call("one_rep_max", {"kg": 60, "reps": 15}), Call("one_rep_max", {"kg": 80})
    told = outcome(
        one_rep_max(threads),
        turns=[Turn(calls=[same, other, same]), Turn(calls=[same]), Turn("90.")],
        parallel=parallel,
    )
    assert [call.text for call in told.calls] == ["90.0", "82.66666666666667", "90.0", "90.0"]
    assert threads == [threading.get_ident()] * 2


@pytest.mark.parametrize("parallel", [False, True])
def test_a_denied_call_does_not_let_the_others_compute_it_twice(parallel: bool) -> None:
    computed: list[int] = []

    @tool(deterministic=True, needs_approval=True)
    def double(kg: int) -> int:
        computed.append(kg)
        return 2 * kg

    async def scene() -> Outcome:
        turns = [Turn(calls=[Call("double", {"kg": 4}, id) for id in "abc"]), Turn("8.")]
        async with ToolLoop(Scripted(turns), tools=[double], parallel=parallel).start("How much?") as live:
            async for notice in live.events():
                if isinstance(notice, ApprovalAsked) and notice.id == "a":
                    live.deny("a", by="ana")
                elif isinstance(notice, ApprovalAsked):
                    live.approve(notice.id, by="ana")
            return await live.outcome()

    told = asyncio.run(scene())
    assert [call.status for call in told.calls] == [Status.DENIED, Status.SUCCEEDED, Status.SUCCEEDED]
    assert computed == [4]


def test_f044_a_failure_that_was_returned_is_one_each_time_it_is_recalled() -> None:
    @tool(deterministic=True)
    def one_rep_max(kg: float) -> ToolError:
        return ToolError("no repetitions were given")

    same = Call("one_rep_max", {"kg": 60})
    told = outcome(one_rep_max, turns=[Turn(calls=[same, same]), Turn(calls=[same]), Turn("Sorry.")])
    assert [(call.status, call.text) for call in told.calls] == [(Status.FAILED, "no repetitions were given")] * 3


def test_async_functions_are_awaited_once_too() -> None:
    began: list[int] = []

    @tool(deterministic=True)
    async def double(kg: int) -> int:
        began.append(kg)
        await asyncio.sleep(0)
        return 2 * kg

    same = Call("double", {"kg": 4})
    told = outcome(double, turns=[Turn(calls=[same, same]), Turn("8.")], parallel=True)
    assert ([call.text for call in told.calls], began) == (["8", "8"], [4])


def test_the_outcome_marks_the_calls_whatever_became_of_them() -> None:
    @tool(reads="log")
    def read_log() -> str:
        return "80"

    call, bad = Call("one_rep_max", {"kg": 80}), Call("one_rep_max", {"kg": "heavy"})
    turns = [Turn(calls=[call, Call("read_log"), bad, Call("nosuch")]), Turn(calls=[call]), Turn("Shall I go on?")]
    told = outcome(one_rep_max([]), read_log, turns=turns, rounds=1)
    assert [(each.name, each.status, each.deterministic) for each in told.calls] == [
        ("one_rep_max", Status.SUCCEEDED, True),
        ("read_log", Status.SUCCEEDED, False),
        ("one_rep_max", Status.FAILED, False),
        ("nosuch", Status.FAILED, False),
        ("one_rep_max", Status.NOT_EXECUTED, True),
    ]
    calls = told.to_json()["calls"]
    assert isinstance(calls, list)
    assert calls[0] == {
        "id": "call_1_0",
        "name": "one_rep_max",
        "arguments": {"kg": 80},
        "status": "succeeded",
        "deterministic": True,
    }


def test_it_is_planned_as_a_read_that_touches_nothing_and_parallel_runs_need_no_more_said() -> None:
    pure = one_rep_max([])
    asked = request("one_rep_max", '{"kg":1}')
    assert pure.planned(asked) == PlannedCall("c1", Kind.READ, deterministic=True)
    assert (pure.declared, pure.touches(asked)) == (True, Touches())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ToolLoop(Scripted(), tools=[pure], parallel=True)


@pytest.mark.parametrize("options", [{"reads": "log"}, {"writes": "log"}, {"exclusive": True}])
def test_what_touches_something_cannot_be_deterministic(options: dict[str, object]) -> None:
    def f() -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"deterministic.* takes True only where nothing is read or written"):
        tool(deterministic=True, **options)(f)  # type: ignore[call-overload]  # pyright: ignore


def test_the_option_is_a_flag() -> None:
    def f() -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"deterministic.* takes True or False; got 1"):
        tool(deterministic=1)(f)  # type: ignore[call-overload]  # pyright: ignore


@pytest.mark.parametrize("options", [{"deterministic": True}, {"thread": "caller"}], ids=str)
def test_no_timeout_cuts_off_what_blocks_in_place_and_its_result_stands(options: dict[str, object]) -> None:
    """
    As it is documented: while the function holds the event loop up, nobody can tell that its time is over.
    """

    def add(a: int, b: int) -> int:
        until = time.monotonic() + 0.02
        while time.monotonic() < until:
            pass
        return a + b

    slow = tool(timeout=0.001, **options)(add)  # type: ignore[call-overload]  # pyright: ignore
    told = outcome(slow, turns=[Turn(calls=[Call("add", {"a": 1, "b": 2})]), Turn("3.")])
    assert [(call.status, call.text) for call in told.calls] == [(Status.SUCCEEDED, "3")]
    assert told.still_running == ()


def test_an_async_one_is_cut_off_by_its_timeout() -> None:
    @tool(deterministic=True, timeout=0.001)
    async def add(a: int, b: int) -> int:
        await asyncio.Event().wait()
        return a + b

    told = outcome(add, turns=[Turn(calls=[Call("add", {"a": 1, "b": 2})]), Turn("3.")])
    assert [call.status for call in told.calls] == [Status.OUTCOME_UNKNOWN]
