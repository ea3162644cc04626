"""
A run while it goes on, for hosts without an event loop: a `with` block in a thread owns it.
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import (
    ApprovalAsked,
    Conversation,
    Ended,
    Kind,
    Limits,
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
    ToolStarted,
    Watch,
)
from rodada.statemachine.drivers.background import background_loop, run_in_background
from rodada.statemachine.drivers.calling_thread import CallingThread
from rodada.statemachine.errors import AlreadyEntered, ConversationBusy, NotEntered, RunningLoop
from rodada.tools import tool
from support.held import HeldProvider, HeldTool

ASKED = Turn(calls=[Call("look")])
FORKED = """
import asyncio, os, sys
from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Conversation, ToolLoop
from rodada.tools import tool

done = asyncio.Event()

@tool
async def wait() -> None:
    await done.wait()

earlier = Conversation()
loop = ToolLoop(Scripted([Turn(calls=[Call("wait")])]), tools=[wait])
with loop.start("go", conversation=earlier):
    child = os.fork()
    if child == 0:
        hi = ToolLoop(Scripted([Turn("hi")])).run_sync("hello", conversation=earlier)
        sys.exit(7 if hi.answer == "hi" else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


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


class Presses:
    """
    Ctrl-C in waits of the calling thread, counted from 1: as the wait begins, or as it is over.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *waits: int, late: bool = False) -> None:
        self.waits = 0
        self.before: Callable[[], object] = lambda: None
        attend = CallingThread.attend

        def interrupted(thread: CallingThread, is_over: Callable[[], bool]) -> None:
            self.waits += threading.current_thread() is threading.main_thread()
            pressed = threading.current_thread() is threading.main_thread() and self.waits in waits
            if pressed:
                self.before()
            if late or not pressed:
                go_on.set()
                attend(thread, is_over)
            if pressed:
                raise KeyboardInterrupt

        go_on = threading.Event()
        monkeypatch.setattr(CallingThread, "attend", interrupted)
        self._go_on = go_on

    def hold(self) -> None:
        """
        Hold the event loop up until the thread waits on: the interrupt comes before all that was asked.
        """
        background_loop().call_soon_threadsafe(self._go_on.wait, 10)


def settled_down(begun: threading.Event) -> None:
    """
    Let the event loop do what it was asked until now, from when something has begun.
    """
    assert begun.wait(10)
    for _ in range(5):
        done = threading.Event()
        background_loop().call_soon_threadsafe(done.set)
        assert done.wait(10)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("wait", [1, 2], ids=["entering", "leaving"])
def test_an_interrupt_while_the_block_is_entered_or_left_lets_no_run_go_on(
    wait: int, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = Conversation()
    live = ToolLoop(HeldProvider()).start("go", conversation=earlier)
    presses = Presses(monkeypatch, wait, late=late)

    def scene() -> None:
        with live:
            presses.hold()

    with pytest.raises(KeyboardInterrupt):
        scene()
    assert live.outcome_sync().status is RunStatus.CANCELLED
    assert loop_of(Turn("hi")).run_sync("hello", conversation=earlier).answer == "hi"


def test_a_second_interrupt_of_run_sync_ends_the_grace_and_the_run_has_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), list[str]()

    @tool(writes="log")
    async def stop() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("stop")

    earlier = Conversation()
    presses = Presses(monkeypatch, 1, 2)
    presses.before = lambda: settled_down(begun)
    with pytest.raises(KeyboardInterrupt):
        ToolLoop(SaysOneTurn(), tools=[stop], limits=Limits(stop_seconds=60)).run_sync("go", conversation=earlier)
    assert ended == ["stop"]
    assert loop_of(Turn("hi")).run_sync("hello", conversation=earlier).answer == "hi"


def test_a_block_that_is_left_begins_nothing_that_waited_for_its_thread() -> None:
    ran: list[int] = []

    @tool(thread="caller")
    def stop() -> None:
        ran.append(1)

    def until_it_waits() -> None:
        for event in live.events_sync():
            if isinstance(event, ToolStarted):
                break
        run_in_background(asyncio.sleep(0.01))

    with ToolLoop(SaysOneTurn(), tools=[stop]).start("go") as live:
        watching = threading.Thread(target=until_it_waits)
        watching.start()
        watching.join()
    outcome = live.outcome_sync()
    assert ([call.status for call in outcome.calls], ran) == ([Status.FAILED], [])


def test_what_interrupts_another_thread_keeps_the_thread_of_the_block_from_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[int] = []

    @tool(thread="caller")
    def look() -> None:
        ran.append(threading.get_ident())

    found: list[Outcome] = []
    entered, interrupted = threading.Event(), threading.Event()
    live = ToolLoop(Scripted([ASKED, Turn("Done.")]), tools=[look]).start("go")

    def owner() -> None:
        with live:
            entered.set()
            assert interrupted.wait(10)
            found.append(live.outcome_sync())

    owning = threading.Thread(target=owner)
    owning.start()
    assert entered.wait(10)
    Presses(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        live.outcome_sync()
    interrupted.set()
    owning.join()
    assert ([call.status for call in found[0].calls], ran) == ([Status.SUCCEEDED], [owning.ident])


def test_a_call_that_is_interrupted_in_the_thread_of_the_block_may_have_taken_effect() -> None:
    @tool(thread="caller", writes="log")
    def stop() -> None:
        raise KeyboardInterrupt

    live = ToolLoop(SaysOneTurn(), tools=[stop]).start("go")
    with pytest.raises(KeyboardInterrupt), live:
        live.outcome_sync()
    assert [call.status for call in live.outcome_sync().calls] == [Status.OUTCOME_UNKNOWN]


def test_what_is_over_may_be_asked_when_its_event_loop_does_not_run_any_more() -> None:
    async def scene() -> tuple[LiveRun, Outcome]:
        async with loop_of(Turn("hi")).start("hello") as live:
            return live, await live.outcome()

    runner = asyncio.new_event_loop()
    live, outcome = runner.run_until_complete(scene())
    assert live.outcome_sync() is outcome
    runner.close()
    assert [*live.events_sync()][-1:] == [Ended(outcome, n=5, call=1, attempt=1)]
    assert live.outcome_sync() is outcome


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_forked_child_leaves_the_block_of_its_parent_and_may_use_the_conversation() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("7\n", "")
