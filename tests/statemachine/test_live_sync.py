"""
A run while it goes on, for hosts without an event loop: a `with` block in a thread owns it.
"""

import asyncio
import threading

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import (
    ApprovalAsked,
    Conversation,
    Ended,
    Kind,
    LiveRun,
    ModelRequest,
    ModelTurn,
    Outcome,
    RunStatus,
    Status,
    StepTaken,
    Stop,
    ToolLoop,
    ToolRequest,
    Watch,
)
from rodada.statemachine.errors import AlreadyEntered, ConversationBusy, NotEntered, RunningLoop
from rodada.tools import tool
from support.held import HeldProvider, HeldTool

ASKED = Turn(calls=[Call("look")])


@tool(reads="log")
def look() -> str:
    """
    Look into the log.
    """
    return "80 kg"


def loop_of(*turns: Turn) -> ToolLoop:
    """
    A loop with the tool, and a model that says some turns.
    """
    return ToolLoop(Scripted([*turns]), tools=[look])


class SaysOneTurn:
    """
    A model that asks for one call and then never comes back.
    """

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        if request.call > 1:
            await asyncio.Event().wait()
        return ModelTurn(Stop.WHOLE, "", (ToolRequest("c1", "stop", "{}"),))


def test_the_block_has_the_outcome_that_run_sync_gives() -> None:
    with loop_of(ASKED, Turn("80 kg.")).start("how much?") as live:
        outcome = live.outcome_sync()
    assert (outcome.status, outcome.answer, live.outcome_sync()) == (RunStatus.COMPLETED, "80 kg.", outcome)
    again = loop_of(ASKED, Turn("80 kg.")).run_sync("how much?")
    assert [step.row for step in outcome.transitions] == [step.row for step in again.transitions]


def test_its_events_are_those_of_async_hosts() -> None:
    with loop_of(ASKED, Turn("80 kg.")).start("how much?") as live:
        told = [*live.events_sync()]
        outcome = live.outcome_sync()
    assert [notice.n for notice in told] == [*range(1, len(told) + 1)]
    assert [notice.step for notice in told if isinstance(notice, StepTaken)] == [*outcome.transitions]
    assert told[-1] == Ended(outcome, n=len(told), call=2, attempt=1)


def test_whoever_comes_back_goes_on_behind_what_was_seen() -> None:
    with loop_of(Turn("hi")).start("hello") as live:
        live.outcome_sync()
        every, later = [*live.events_sync()], [*live.events_sync(after=1)]
    assert every[1:] == later


def test_it_is_cancelled_from_another_thread() -> None:
    held = HeldTool("a", Kind.READ)
    provider = HeldProvider()
    with ToolLoop(provider, tools=[held]).start("go") as live:
        threading.Timer(0, lambda: live.cancel("the person left")).start()
        outcome = live.outcome_sync()
    assert (outcome.status, outcome.detail) == (RunStatus.CANCELLED, "the person left")


def test_the_thread_of_the_block_decides_between_two_events() -> None:
    saved: list[int] = []

    @tool(needs_approval=True)
    def save(kg: int) -> None:
        saved.append(kg)

    turns = [Turn(calls=[Call("save", {"kg": 1}), Call("save", {"kg": 2})]), Turn("Done.")]
    asked: list[str] = []
    with ToolLoop(Scripted(turns), tools=[save]).start("go") as live:
        for event in live.events_sync():
            if isinstance(event, ApprovalAsked):
                asked.append(event.id)
                decide = live.deny if len(asked) == 1 else live.approve
                decide(event.id, by="ana")
    calls = live.outcome_sync().calls
    assert ([call.status for call in calls], saved) == ([Status.DENIED, Status.SUCCEEDED], [2])


def test_leaving_the_block_before_the_end_cancels_the_run() -> None:
    held = HeldTool("a", Kind.READ)
    with ToolLoop(HeldProvider(), tools=[held]).start("go") as live:
        pass
    assert live.outcome_sync().status is RunStatus.CANCELLED


def test_an_error_in_the_block_is_the_hosts_and_the_run_has_settled() -> None:
    live = ToolLoop(HeldProvider()).start("go")

    def fail() -> None:
        with live:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    outcome = live.outcome_sync()
    assert (outcome.status, outcome.detail) == (RunStatus.CANCELLED, "left by an error")


def test_what_is_bound_to_the_calling_thread_runs_in_the_thread_of_the_block_alone() -> None:
    ran_in: list[int] = []

    @tool(thread="caller")
    def here(n: int) -> None:
        ran_in.append(threading.get_ident())

    turns = [Turn(calls=[Call("here", {"n": 1})]), Turn(calls=[Call("here", {"n": 2})]), Turn("Done.")]
    heard: list[object] = []
    with ToolLoop(Scripted(turns), tools=[here]).start("go") as live:
        watching = threading.Thread(target=lambda: heard.extend(live.events_sync()))
        watching.start()
        outcome = live.outcome_sync()
        watching.join()
    assert ran_in == [threading.get_ident()] * 2
    assert isinstance(heard[-1], Ended)
    assert heard[-1].outcome == outcome


def test_what_interrupts_the_wait_ends_the_block_and_the_run() -> None:
    @tool(thread="caller")
    def stop() -> None:
        raise KeyboardInterrupt

    live = ToolLoop(SaysOneTurn(), tools=[stop]).start("go")

    def interrupted() -> None:
        with live:
            live.outcome_sync()

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert live.outcome_sync().status is RunStatus.CANCELLED


def test_a_wait_that_was_given_up_ends_no_later_one() -> None:
    @tool(thread="caller")
    def stop(n: int) -> str:
        if n == 1:
            raise KeyboardInterrupt
        return "kept"

    turns = [Turn(calls=[Call("stop", {"n": 1})]), Turn("Done.")]
    with ToolLoop(Scripted(turns), tools=[stop]).start("go") as live:
        with pytest.raises(KeyboardInterrupt):
            live.outcome_sync()
        outcome = live.outcome_sync()
    assert outcome.status is RunStatus.COMPLETED


def test_another_thread_may_wait_for_the_run_of_an_event_loop() -> None:
    async def scene() -> tuple[Outcome, Outcome]:
        async with loop_of(ASKED, Turn("80 kg.")).start("how much?") as live:
            return await asyncio.to_thread(live.outcome_sync), await live.outcome()

    there, here = asyncio.run(scene())
    assert there is here


def test_where_an_event_loop_runs_nothing_is_waited_for() -> None:
    async def scene(live: LiveRun) -> None:
        with pytest.raises(RunningLoop, match="async with"), live:
            pass
        async with live:
            with pytest.raises(RunningLoop):
                live.outcome_sync()
            with pytest.raises(RunningLoop):
                live.events_sync()
            await live.outcome()

    asyncio.run(scene(loop_of(Turn("hi")).start("hello")))


def test_before_the_block_there_is_nothing_to_wait_for() -> None:
    live = loop_of(Turn("hi")).start("hello")
    with pytest.raises(NotEntered):
        live.outcome_sync()
    with pytest.raises(NotEntered):
        live.events_sync()


def test_f016_a_run_is_entered_once_and_a_busy_conversation_is_refused() -> None:
    earlier = Conversation()
    with ToolLoop(HeldProvider()).start("go", conversation=earlier) as live:
        with pytest.raises(AlreadyEntered), live:
            pass
        with pytest.raises(ConversationBusy), loop_of(Turn("hi")).start("hello", conversation=earlier):
            pass
    assert live.outcome_sync().status is RunStatus.CANCELLED
