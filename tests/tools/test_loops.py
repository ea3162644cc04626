"""
A loop as a tool: only a completed run is a success, and the inner run lives within the outer one.
"""

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, Origin, Outcome, RunStatus, Status, Stop, ToolLoop
from rodada.statemachine.plan import Kind
from rodada.statemachine.ports import AnyTool, CallSetting
from rodada.tools import Approval, Context, LoopTool, ToolDefinitionError, loop_tool, tool
from rodada.tools.loops import inherited
from support.clock import START, HeldClock
from support.held import HeldProvider
from support.thread_bound import at_most
from support.tool_calls import called, request
from support.virtual_clock import VirtualClock

ASK = Call("expert", {"message": "How heavy?"})


def expert(*turns: Turn, tools: tuple[AnyTool, ...] = (), **options: Any) -> LoopTool:
    """
    A loop that plays some turns, as a tool.
    """
    loop = ToolLoop(Scripted(turns), tools=tools, limits=options.pop("limits", Limits()))
    return loop_tool(loop, name="expert", description="Knows weights.", **options)


def asked(tool: LoopTool, **options: Any) -> Outcome:
    """
    The outcome of an outer run whose model asks the expert once.
    """
    return ToolLoop(Scripted([Turn(calls=[ASK]), Turn("outer done")]), tools=[tool]).run_sync("go on", **options)


@tool(reads=())
def look() -> str:
    return "80"


def test_a_completed_run_is_a_success_with_its_answer() -> None:
    outcome = asked(expert(Turn("Let me look.", calls=[Call("look")]), Turn("80 kg."), tools=(look,)))
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "outer done")
    assert [(call.status, call.text) for call in outcome.calls] == [(Status.SUCCEEDED, "80 kg.")]


REFUSED = Turn("No.", stop=Stop.REFUSED)
NOT_COMPLETED = [
    (
        (Turn(calls=[Call("look")]), Turn(calls=[Call("look")]), Turn("Shall I go on?")),
        "expert did not complete: incomplete (max_rounds).\nIts closing words: Shall I go on?\nNot executed: look.",
    ),
    (
        (Turn(calls=[Call("look")]), Turn(calls=[Call("look")]), Turn("")),
        "expert did not complete: incomplete (max_rounds).\nNot executed: look.",
    ),
    ((Turn("Half a sen", stop=Stop.CUT),), "expert did not complete: incomplete (cut)."),
    ((Turn(" "), Turn(" ")), "expert did not complete: incomplete (empty)."),
    ((Turn(stop=Stop.MALFORMED), Turn(stop=Stop.MALFORMED)), "expert did not complete: incomplete (malformed)."),
    ((Turn("I search.", stop=Stop.PAUSED),) * 2, "expert did not complete: incomplete (paused)."),
    ((Turn("Hm.", stop=Stop.UNKNOWN),), "expert did not complete: incomplete (unknown_stop)."),
    ((REFUSED,), "expert did not complete: incomplete (refused)."),
    ((), "expert did not complete: failed (call_failed), ProviderError."),
]


@pytest.mark.parametrize(("turns", "text"), NOT_COMPLETED)
def test_f046_every_other_outcome_is_an_error_with_its_reason(turns: tuple[Turn, ...], text: str) -> None:
    outcome = asked(expert(*turns, tools=(look,), limits=Limits(max_rounds=1, max_pauses=1)))
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "outer done")
    assert [(call.status, call.text) for call in outcome.calls] == [(Status.FAILED, text)]


def test_f046_a_run_that_cancels_itself_is_an_error() -> None:
    @tool
    async def leave(ctx: Context[object]) -> None:
        ctx.cancel("enough")
        await asyncio.Event().wait()

    outcome = asked(expert(Turn(calls=[Call("leave")]), tools=(leave,), limits=Limits(stop_seconds=0)))
    assert outcome.status is RunStatus.COMPLETED
    assert [(call.status, call.text) for call in outcome.calls] == [
        (
            Status.OUTCOME_UNKNOWN,
            "expert did not complete: cancelled (cancelled).\nStarted, outcome unknown: leave.",
        )
    ]


def test_a_completed_run_still_tells_what_it_does_not_know() -> None:
    @tool(timeout=0.001)
    async def charge() -> None:
        await asyncio.Event().wait()

    outcome = asked(expert(Turn(calls=[Call("charge")]), Turn("Paid."), tools=(charge,)))
    assert [(call.status, call.text) for call in outcome.calls] == [
        (Status.SUCCEEDED, "Paid.\nStarted, outcome unknown: charge.")
    ]


def test_it_has_the_origin_and_the_context_of_the_run_around_it() -> None:
    seen: list[tuple[object, Origin]] = []

    @tool(reads=())
    def who(ctx: Context[str]) -> None:
        seen.append((ctx.value, ctx.origin))

    asked(
        expert(Turn(calls=[Call("who")]), Turn("Done."), tools=(who,)),
        context="ana's data",
        origin=Origin(actor="ana"),
    )
    assert seen == [("ana's data", Origin(actor="ana"))]


def test_its_deadline_is_the_outer_ones_with_a_share_kept() -> None:
    seen: list[timedelta] = []
    clock = HeldClock()

    @tool(reads=())
    def when(ctx: Context[None]) -> None:
        assert ctx.deadline is not None
        seen.append(ctx.deadline - START)

    inner = ToolLoop(Scripted([Turn(calls=[Call("when")]), Turn("Done.")] * 2), tools=[when], clock=clock)
    nested = loop_tool(inner, name="expert", description="")
    turns = [Turn(calls=[Call("when"), ASK]), Turn("outer done")]
    limits = Limits(seconds=100, closing_seconds=20)
    asyncio.run(ToolLoop(Scripted(turns), tools=[when, nested], clock=clock, limits=limits).run("go on"))
    assert seen == [timedelta(seconds=80), timedelta(seconds=0.9 * 80 - 20)]


def test_f084_an_inner_model_that_never_answers_ends_before_the_outer_time_is_over() -> None:
    async def main() -> Outcome:
        clock = HeldClock()
        nested = loop_tool(ToolLoop(HeldProvider(), clock=clock), name="expert", description="")
        turns = [Turn(calls=[ASK]), Turn("outer done")]
        limits = Limits(seconds=100, closing_seconds=20)
        async with ToolLoop(Scripted(turns), tools=[nested], clock=clock, limits=limits).start("go on") as live:
            await clock.advance(73)
            return await live.outcome()

    outcome = asyncio.run(main())
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "outer done")
    assert [(call.status, call.text) for call in outcome.calls] == [
        (Status.FAILED, "expert did not complete: incomplete (deadline), ProviderTimeout.")
    ]


@given(
    st.none() | st.floats(0, 1000),
    st.floats(0, 50),
    st.none() | st.floats(-10, 1000),
    st.none() | st.floats(0.001, 1000),
    st.floats(0, 10),
)
def test_what_is_inherited_never_exceeds_what_is_left(
    own: float | None, closing: float, left: float | None, seconds: float | None, stop: float
) -> None:
    mine = Limits(seconds=own, closing_seconds=closing if own is None else min(closing, own))
    deadline = None if left is None else START + timedelta(seconds=left)
    setting = CallSetting(deadline=deadline, limits=Limits(stop_seconds=stop))
    found = inherited(mine, setting, seconds, START)
    around = [max(0.0, each) for each in (own, left, seconds) if each is not None]
    assert (found.seconds is None) == (around == [])
    assert found.seconds is None or found.seconds <= min(around)
    assert found.stop_seconds <= min(stop, mine.stop_seconds)
    assert found.closing_seconds <= mine.closing_seconds


def test_f075_a_cancel_of_the_outer_run_settles_the_inner_one_and_tells_its_calls() -> None:
    ticks, ended = list[str](), list[str]()

    async def main() -> Outcome:
        entered = asyncio.Event()

        @tool(writes="card")
        async def charge() -> None:
            try:
                entered.set()
                await asyncio.Event().wait()
            finally:
                ended.append("finally")

        @tool(writes="mail")
        async def send() -> None:
            ticks.append("sent")

        inner = expert(
            Turn(calls=[Call("look"), Call("charge"), Call("send")]), tools=(look, charge, send), limits=Limits()
        )
        loop = ToolLoop(Scripted([Turn(calls=[ASK])]), tools=[inner], limits=Limits(stop_seconds=0.1))
        async with loop.start("go on") as live:
            await entered.wait()
            live.cancel("the person left")
            outcome = await live.outcome()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return outcome

    outcome = asyncio.run(main())
    assert (outcome.status, outcome.still_running) == (RunStatus.CANCELLED, ())
    assert [(call.status, call.text) for call in outcome.calls] == [
        (
            Status.OUTCOME_UNKNOWN,
            "expert did not complete: cancelled (cancelled).\nNot executed: send.\nStarted, outcome unknown: charge.",
        )
    ]
    assert (ticks, ended) == ([], ["finally"])


def test_a_thread_left_behind_inside_is_seen_from_outside() -> None:
    go, clock = threading.Event(), VirtualClock()

    @tool(reads=())
    def hang() -> None:
        clock.pass_in_background(60)
        go.wait(10)

    turns, limits = [Turn(calls=[Call("hang")]), Turn("Done.")], Limits(stop_seconds=0)
    inner = ToolLoop(Scripted(turns), tools=[hang], limits=limits, clock=clock)
    outcome = asked(loop_tool(inner, name="expert", description=""))
    go.set()
    assert outcome.calls[0].text == "Done.\nStarted, outcome unknown: hang.\nStill running: hang."
    assert outcome.still_running == (outcome.calls[0].id,)


def test_nobody_is_asked_inside_and_the_run_goes_on() -> None:
    ran: list[int] = []

    @tool(needs_approval=True)
    def pay() -> None:
        ran.append(1)

    outcome = asked(expert(Turn(calls=[Call("pay"), Call("pay")]), Turn("I may not."), tools=(pay,)))
    assert (ran, outcome.calls[0].text) == ([], "I may not.")


def test_the_whole_call_can_need_an_approval() -> None:
    nested = expert(needs_approval=Approval(count=2), reads="weights")
    planned = nested.planned(request("expert", '{"message":"x"}'))
    assert planned is not None
    assert (planned.approvals, planned.kind) == (2, Kind.READ)


@pytest.mark.parametrize("raw", ["{}", '{"message":3}', '{"message":"  "}', "[]", '{"message":"x","origin":"eve"}'])
def test_a_message_that_is_none_is_refused_before_any_model_or_person_is_asked(raw: str) -> None:
    assert expert(needs_approval=True).planned(request("expert", raw)) is None
    found = asyncio.run(called(expert(), raw))
    assert found.status is Status.FAILED
    assert found.text.startswith("expert was not run")


def test_a_wrong_option_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="loop_tool 'expert' cannot be a tool: timeout: takes seconds"):
        expert(timeout=0)
    with pytest.raises(ToolDefinitionError, match="is no legal name"):
        loop_tool(ToolLoop(Scripted()), name="an expert", description="")


def test_loops_within_loops_need_no_threads_of_one_another() -> None:
    """
    One thread a level: were one held while the inner loop runs, no sync tool of that could begin.
    """

    def nested(depth: int) -> LoopTool:
        inner: AnyTool = nested(depth - 1) if depth else look
        call = ASK if depth else Call("look")
        return expert(Turn(calls=[call, call]), Turn("80 kg."), *[Turn(calls=[call]), Turn("80 kg.")], tools=(inner,))

    with at_most(1):
        outcome = asked(nested(2))
    assert [(call.status, call.text) for call in outcome.calls] == [(Status.SUCCEEDED, "80 kg.")]


def test_two_of_them_run_side_by_side() -> None:
    async def main() -> list[str]:
        both = asyncio.Barrier(2)

        @tool(reads=())
        async def meet() -> str:
            await both.wait()
            return "met"

        def one(name: str) -> LoopTool:
            loop = ToolLoop(Scripted([Turn(calls=[Call("meet")]), Turn(f"{name} done")]), tools=[meet])
            return loop_tool(loop, name=name, description="", reads=())

        turns = [Turn(calls=[Call("a", {"message": "x"}), Call("b", {"message": "x"})]), Turn("done")]
        outcome = await ToolLoop(Scripted(turns), tools=[one("a"), one("b")], parallel=True).run("go on")
        return [call.text for call in outcome.calls]

    assert asyncio.run(main()) == ["a done", "b done"]


def test_called_directly_it_is_the_run_itself() -> None:
    outcome = asyncio.run(expert(Turn("80 kg."))("How heavy?"))
    assert outcome.answer == "80 kg."
