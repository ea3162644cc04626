"""
What nobody approved in time is denied, and never approved.
"""

import asyncio

from rodada.statemachine import (
    ApprovalAsked,
    Conversation,
    Limits,
    ModelTurn,
    Outcome,
    Status,
    Stop,
    Text,
    ToolRequest,
    UserMessage,
)
from rodada.statemachine.drivers.expiry import Expiry
from rodada.statemachine.events import ApprovalDecided, HistoryAppended, TurnReceived
from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.run import Run, new_run
from rodada.statemachine.states import State
from support.clock import HeldClock, idle
from support.held import HeldTool
from support.scene import Scene, play, statuses
from support.walks import after


def asking(*within_ms: int | None, at_ms: int = 0) -> Run:
    """
    A run that has asked for one approval of each call, with these times for it.
    """
    ids = [f"c{position}" for position in range(len(within_ms))]
    turn = ModelTurn(Stop.WHOLE, requests=tuple(ToolRequest(each, "a", "{}") for each in ids))
    plan = Plan(
        tuple(PlannedCall(each, approvals=1, within_ms=within) for each, within in zip(ids, within_ms, strict=True))
    )
    run = new_run("run", UserMessage("m", (Text("hello"),)), Conversation())
    return after(run, HistoryAppended(), TurnReceived(1, turn, plan, mono_ms=at_ms))


def expired(*moments: tuple[float, Run]) -> list[tuple[str, float]]:
    """
    Which questions expired and when, where the run stood so at these seconds.
    """
    found: list[tuple[str, float]] = []

    async def scene() -> None:
        clock = HeldClock()
        expiry = Expiry(clock, lambda request_id: found.append((request_id, clock.mono())))
        for seconds, run in moments:
            await clock.advance(seconds - clock.mono())
            expiry.follow(run, round(clock.mono() * 1000))
        expiry.cancel()
        assert clock.pending == 0

    asyncio.run(scene())
    return found


def test_each_question_that_is_open_for_a_time_only_expires_at_its_own() -> None:
    run = asking(60_000, None, 90_000, at_ms=2_000)
    assert expired((2, run), (1000, run)) == [("c0", 62.0), ("c2", 92.0)]


def test_what_was_decided_does_not_expire() -> None:
    run = asking(60_000, 60_000)
    decided = after(run, ApprovalDecided("c0", True, "ana", mono_ms=1_000))
    assert expired((0, run), (1, decided), (1000, decided)) == [("c1", 60.0)]
    denied = after(decided, ApprovalDecided("c1", False, "ana", mono_ms=1_000))
    assert expired((0, run), (1, denied), (1000, denied)) == []


def test_a_question_whose_time_was_over_before_expires_at_once() -> None:
    run = asking(60_000)
    assert expired((500, run), (501, run)) == [("c0", 500.0)]


def test_a_yes_that_comes_late_approves_nothing_before_the_expiry_is_told_either() -> None:
    run = asking(60_000, at_ms=2_000)
    late = after(run, ApprovalDecided("c0", True, "ana", mono_ms=62_000))
    assert late == run
    assert after(run, ApprovalDecided("c0", True, "ana", mono_ms=61_999)).state is State.EXECUTE_TOOLS
    assert after(run, ApprovalDecided("c0", False, "ana", mono_ms=62_000)).state is State.APPEND_HISTORY


def test_in_a_run_it_is_denied_in_the_engines_words_and_the_rest_goes_on() -> None:
    async def scene() -> tuple[Outcome, list[ApprovalAsked]]:
        a, b = HeldTool("a", approvals=1, within_ms=60_000), HeldTool("b", approvals=1, within_ms=3_600_000)
        it = Scene(Limits(seconds=10, closing_seconds=4), tools=(a, b))
        async with it.start() as live:
            await it.asks("a", "b")
            await it.clock.advance(60)
            live.approve(it.provider.requests[-1].request_ids((None, None))[1], by="ana")
            await idle()
            b.calls[0].finish()
            await it.says("done")
            outcome = await live.outcome()
            asked = [notice async for notice in live.events(after=0) if isinstance(notice, ApprovalAsked)]
        assert (a.calls, it.clock.pending) == ([], 0)
        return outcome, asked

    outcome, asked = play(scene)
    assert statuses(outcome) == [("a", Status.DENIED), ("b", Status.SUCCEEDED)]
    assert outcome.calls[0].text == "Not executed: it was not approved in time."
    assert [(notice.approvals, notice.requester_counts, notice.within) for notice in asked] == [
        (1, True, 60.0),
        (1, True, 3600.0),
    ]
    assert [ToolRequest(notice.id, notice.name, notice.arguments).digest for notice in asked] == [
        notice.digest for notice in asked
    ]
