"""
Runs that are interrupted while tools run, through each real SDK: every request is answered, and what is said is true.
"""

import asyncio
import threading
from collections.abc import Callable

import pytest

from rodada.providers.loopback import Call, Turn, WireName
from rodada.statemachine import (
    ENGLISH,
    Exchange,
    Limits,
    LiveRun,
    Outcome,
    Reason,
    RunStatus,
    Status,
    ToolEnded,
    ToolNotRun,
    ToolStarted,
)
from rodada.tools import tool
from support.desk import Desk, both_ways, every_wire, statuses
from support.stage import Stage
from support.wire_pairs import pair_faults

LIMITS = Limits(seconds=10_000, closing_seconds=1000, tool_seconds=None)
Interrupt = Callable[[Desk, LiveRun], None]
NEVER = ENGLISH.not_executed_because(Reason.CANCELLED)


def cancel(desk: Desk, live: LiveRun) -> None:
    live.cancel("enough")


def deadline(desk: Desk, live: LiveRun) -> None:
    desk.clock.move_to(9000)


class Waiting:
    """
    A tool that has its effect and then waits for ever.
    """

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.begun = asyncio.Event()

    async def charge(self) -> str:
        """Charge the card."""
        self.effects.append("charged")
        self.begun.set()
        await asyncio.Event().wait()
        return "charged"


def interrupted(desk: Desk, tool: Waiting, *script: Turn, by: Interrupt = cancel) -> Outcome:
    """
    A message during which somebody interrupts the tool that waits.
    """
    desk.stage.server.play(script)

    async def scene() -> Outcome:
        async with desk.loop.start("Please do.") as live:
            events = live.events(after=0)
            await tool.begun.wait()
            by(desk, live)
            desk.notices = [notice async for notice in events]
            return await live.outcome()

    outcome = desk.stage.run(scene())
    assert (desk.stage.server.refusals, desk.stage.server.unplayed) == ((), 0)
    return outcome


def at_desk(stage: Stage, wire: WireName, stream: bool) -> tuple[Desk, Waiting]:
    waiting = Waiting()
    return Desk(stage, wire, stream, limits=LIMITS, tools=(tool(writes="card")(waiting.charge),)), waiting


@both_ways
@every_wire
@pytest.mark.parametrize("by", [cancel, deadline], ids=["cancel", "deadline"])
def test_f001_f002_an_interrupt_within_a_batch_answers_every_request_of_it_in_order(
    stage: Stage, wire: WireName, stream: bool, by: Interrupt
) -> None:
    desk, waiting = at_desk(stage, wire, stream)
    batch = Turn("", [Call("look"), Call("charge"), Call("nosuch"), Call("write")], reasoning=True)
    closing = [] if by is cancel else [Turn("So far.")]
    outcome = interrupted(desk, waiting, batch, *closing, by=by)
    assert desk.ran == ["look "]
    # A tool that does not exist is answered at once: it waits for nobody.
    assert statuses(outcome) == [
        *(Status.SUCCEEDED, Status.OUTCOME_UNKNOWN),
        *(Status.FAILED, Status.NOT_EXECUTED),
    ]
    never = ENGLISH.not_executed_because(Reason.CANCELLED if by is cancel else Reason.DEADLINE)
    assert [call.text for call in outcome.calls if call.name != "nosuch"] == ["saw ", ENGLISH.interrupted, never]
    desk.goes_on(outcome)
    assert pair_faults(wire, desk.received[0].body) == []


@both_ways
@every_wire
def test_f003_a_call_that_began_is_told_from_one_that_never_did_wherever_it_is_told(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    desk, waiting = at_desk(stage, wire, stream)
    outcome = interrupted(desk, waiting, Turn("", [Call("charge"), Call("write")], reasoning=True))
    assert (outcome.status, waiting.effects, desk.ran) == (RunStatus.CANCELLED, ["charged"], [])
    pay, mail = outcome.calls
    assert (pay.status, mail.status) == (Status.OUTCOME_UNKNOWN, Status.NOT_EXECUTED)
    assert "not executed" not in pay.text.lower()
    assert (pay.text, mail.text) == (ENGLISH.interrupted, NEVER)
    [stored] = [entry for entry in outcome.conversation.entries if isinstance(entry, Exchange)]
    assert [each.status for each in stored.results] == [pay.status, mail.status]
    assert [(each.id, each.status) for each in desk.notices if isinstance(each, ToolEnded)] == [(pay.id, pay.status)]
    assert [each.id for each in desk.notices if isinstance(each, ToolStarted)] == [pay.id]
    desk.goes_on(outcome)
    told = str(desk.received[0].body)
    assert [told.count(text.removesuffix(".")) for text in (ENGLISH.interrupted, NEVER)] == [1, 1]


@every_wire
def test_f003_of_a_thread_that_goes_on_the_outcome_is_unknown_too_and_it_is_named(stage: Stage, wire: WireName) -> None:
    begun, may_end = threading.Event(), threading.Event()

    @tool(writes="card", name="charge")
    def charge() -> str:
        """Charge the card."""
        begun.set()
        may_end.wait(10)
        return "charged"

    desk = Desk(stage, wire, limits=LIMITS, tools=(charge,))
    stage.server.play([Turn("", [Call("charge"), Call("write")], reasoning=True)])

    async def scene() -> Outcome:
        async with desk.loop.start("Please do.") as live:
            await asyncio.to_thread(begun.wait, 10)
            live.cancel("enough")
            return await live.outcome()

    outcome = stage.run(scene())
    may_end.set()
    assert statuses(outcome) == [Status.OUTCOME_UNKNOWN, Status.NOT_EXECUTED]
    assert outcome.still_running == (outcome.calls[0].id,)
    desk.goes_on(outcome)


@both_ways
def test_f004_behind_an_interrupted_turn_of_openai_each_call_has_its_output_before_the_person_goes_on(
    stage: Stage, stream: bool
) -> None:
    desk, waiting = at_desk(stage, "openai", stream)
    outcome = interrupted(desk, waiting, Turn("", [Call("charge"), Call("write")], reasoning=True))
    desk.goes_on(outcome)
    items = desk.received[0].body["input"]
    assert isinstance(items, list)
    assert [each["type"] for each in items if isinstance(each, dict)] == [
        *("message", "reasoning", "function_call", "function_call"),
        *("function_call_output", "function_call_output", "message"),
    ]


# Watchers


@both_ways
@every_wire
def test_f112_a_watcher_that_raises_takes_no_result_away(stage: Stage, wire: WireName, stream: bool) -> None:
    desk = Desk(stage, wire, stream)
    stage.server.play([Turn("", [Call("look")], reasoning=True), Turn("Done.")])

    async def raises(live: LiveRun) -> None:
        async for notice in live.events(after=0):
            if isinstance(notice, ToolEnded):
                raise LookupError("the watcher's own fault")

    async def beside() -> Outcome:
        async with desk.loop.start("Please do.") as live:
            watching = asyncio.create_task(raises(live))
            outcome = await live.outcome()
            with pytest.raises(LookupError):
                await watching
            return outcome

    outcome = stage.run(beside())
    assert (outcome.status, outcome.answer, statuses(outcome)) == (RunStatus.COMPLETED, "Done.", [Status.SUCCEEDED])


@both_ways
@every_wire
def test_f112_raised_in_the_block_of_the_run_it_cancels_the_run_which_keeps_the_result(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    waiting = Waiting()
    desk = Desk(stage, wire, stream, limits=LIMITS, tools=(tool(writes="card")(waiting.charge),))
    stage.server.play([Turn("", [Call("look"), Call("charge")], reasoning=True)])

    async def within(live: LiveRun) -> None:
        async with live:
            async for notice in live.events(after=0):
                if isinstance(notice, ToolEnded):
                    raise LookupError("the host's own fault")

    async def scene() -> Outcome:
        live = desk.loop.start("Please do.")
        with pytest.raises(LookupError):
            await within(live)
        return await live.outcome()

    outcome = stage.run(scene())
    assert (outcome.status, outcome.calls[0].text) == (RunStatus.CANCELLED, "saw ")
    assert outcome.calls[0].status is Status.SUCCEEDED
    desk.goes_on(outcome)


@both_ways
@every_wire
@pytest.mark.parametrize("cancelled", [False, True], ids=["to its end", "cancelled"])
def test_f113_each_started_call_ends_once_with_its_status_and_its_time(
    stage: Stage, wire: WireName, stream: bool, cancelled: bool
) -> None:
    waiting = Waiting()

    @tool(reads=())
    def fails() -> None:
        """Fail."""
        raise ValueError("no")

    @tool(reads=(), timeout=5)
    async def hangs() -> None:
        """Hang."""
        await asyncio.Event().wait()

    tools = (fails, hangs, tool(writes="card")(waiting.charge))
    desk = Desk(stage, wire, stream, limits=LIMITS, tools=tools)
    bad = Call("look", {"nonsense": 1})
    first = Turn("", [Call("fails"), Call("hangs"), Call("nosuch"), bad], reasoning=True)
    second = Turn("", [Call("charge"), Call("write")], reasoning=True)
    outcome = interrupted(desk, waiting, first, second) if cancelled else desk.ask(first, Turn("Done."))
    ends = {each.id: each for each in desk.notices if isinstance(each, ToolEnded)}
    started = [each.id for each in desk.notices if isinstance(each, ToolStarted)]
    assert sorted(started) == sorted(each.id for each in desk.notices if isinstance(each, ToolEnded))
    begun = [call for call in outcome.calls if call.status is not Status.NOT_EXECUTED]
    assert [ends.pop(call.id).status for call in begun] == [call.status for call in begun]
    assert ends == {}
    expected = [Status.FAILED, Status.OUTCOME_UNKNOWN, Status.FAILED, Status.FAILED]
    assert statuses(outcome) == expected + [Status.OUTCOME_UNKNOWN, Status.NOT_EXECUTED] * cancelled
    withheld = [(each.id, each.status) for each in desk.notices if isinstance(each, ToolNotRun)]
    assert withheld == [(call.id, call.status) for call in outcome.calls if call.status is Status.NOT_EXECUTED]
    seconds = {each.name: each.seconds for each in desk.notices if isinstance(each, ToolEnded)}
    assert (seconds["fails"], seconds["nosuch"]) == (0, 0)
    assert 5 <= seconds["hangs"] <= 5 + LIMITS.stop_seconds
