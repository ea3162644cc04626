"""
Tools as the asyncio driver runs them: to their end, cut off, side by side, and after somebody approved.
"""

from datetime import timedelta
from typing import Literal

import pytest

from rodada.statemachine import (
    ApprovalAsked,
    Kind,
    Limits,
    Origin,
    Outcome,
    PlannedCall,
    Reason,
    RunStatus,
    Status,
    ToolRequest,
)
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.ports import CallSetting
from support.clock import START, idle
from support.held import HeldCall, HeldTool
from support.scene import Scene, play, rows, statuses

# To their end, or cut off


def test_a_write_may_finish_within_its_grace_after_a_cancel() -> None:
    async def scene() -> tuple[Outcome, int]:
        a = HeldTool("a")
        it = Scene(Limits(stop_seconds=5), tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            live.cancel()
            await it.clock.advance(3.9)
            a.calls[0].finish("saved")
            return await live.outcome(), a.calls[0].cancels

    outcome, cancels = play(scene)
    assert [("a", Status.SUCCEEDED)] == statuses(outcome)
    assert 0 == cancels


def test_a_write_that_does_not_finish_in_time_is_cancelled_and_told_as_unknown() -> None:
    async def scene() -> tuple[Outcome, int]:
        a = HeldTool("a")
        it = Scene(Limits(stop_seconds=5), tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            live.cancel()
            await it.clock.advance(5)
            return await live.outcome(), a.calls[0].cancels

    outcome, cancels = play(scene)
    assert [("a", Status.OUTCOME_UNKNOWN)] == statuses(outcome)
    assert "may have taken effect" in outcome.calls[0].text
    assert 1 == cancels


def test_the_grace_of_a_stop_leaves_the_closing_call_its_share() -> None:
    async def scene() -> tuple[Outcome, float | None]:
        a = HeldTool("a", stubborn=True)
        it = Scene(Limits(seconds=2, closing_seconds=1), tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            await it.clock.advance(1.5)
            it.provider.say("closing")
            outcome = await live.outcome()
        a.calls[0].finish()
        return outcome, it.provider.requests[-1].seconds

    outcome, seconds = play(scene)
    assert (Reason.DEADLINE, "closing") == (outcome.reason, outcome.answer)
    assert 0.5 == seconds


def test_what_was_refused_when_it_was_planned_never_runs() -> None:
    """
    Its arguments would pass by now, but nobody was asked to approve it.
    """
    changes: list[int] = []

    class Fickle(HeldTool):
        def planned(self, request: ToolRequest) -> PlannedCall | None:
            return super().planned(request) if changes else None

        def call(self, request: ToolRequest, setting: CallSetting) -> HeldCall:
            changes.append(1)
            return super().call(request, setting)

    async def scene() -> Outcome:
        it = Scene(tools=(Fickle("a", approvals=1),))
        async with it.start() as live:
            await it.asks("a")
            it.provider.say("done")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.FAILED)] == statuses(outcome)
    assert "did not pass their checks" in outcome.calls[0].text


def test_a_cut_off_read_may_simply_be_asked_again() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", Kind.READ)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            live.cancel()
            return await live.outcome()

    assert "may simply be asked again" in play(scene).calls[0].text


def test_a_tool_that_will_not_end_is_left_behind_and_named() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", Kind.READ, stubborn=True)
        it = Scene(Limits(stop_seconds=5), tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            live.cancel()
            await it.clock.advance(5)
            outcome = await live.outcome()
        a.calls[0].finish()
        return outcome

    outcome = play(scene)
    assert [("a", Status.OUTCOME_UNKNOWN)] == statuses(outcome)
    assert outcome.still_running == tuple(call.id for call in outcome.calls)


def test_a_thread_that_cannot_be_stopped_is_named() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", Kind.READ, thread=True)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            live.cancel()
            return await live.outcome()

    outcome = play(scene)
    assert outcome.still_running == tuple(call.id for call in outcome.calls)


@pytest.mark.parametrize(
    ("own", "after"),
    [("usual", 60.0), (2.0, 2.0)],
    ids=["the usual limit", "the tool's own"],
)
def test_a_tool_is_cut_off_when_its_time_is_over(own: float | Literal["usual"], after: float) -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", own_seconds=own)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            await it.clock.advance(after)
            it.provider.say("done")
            return await live.outcome()

    outcome = play(scene)
    assert RunStatus.COMPLETED is outcome.status
    assert [("a", Status.OUTCOME_UNKNOWN)] == statuses(outcome)
    assert f"Timed out after {after:g} s" in outcome.calls[0].text


def test_a_tool_without_a_limit_of_its_own_may_take_long() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", own_seconds=None)
        it = Scene(Limits(seconds=None), tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            await it.clock.advance(100_000)
            a.calls[0].finish("at last")
            await it.says("done")
            return await live.outcome()

    assert [("a", Status.SUCCEEDED)] == statuses(play(scene))


def test_f074_a_tool_that_cancels_itself_has_failed() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            a.calls[0].end.cancel()
            await it.says("done")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.FAILED)] == statuses(outcome)
    assert RunStatus.COMPLETED is outcome.status


def test_a_toolbox_cannot_lie_about_a_started_call() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a")
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            a.calls[0].finish("never ran", Status.NOT_EXECUTED)
            await it.says("done")
            return await live.outcome()

    assert [("a", Status.FAILED)] == statuses(play(scene))


# Side by side


def test_independent_calls_run_together_and_their_results_keep_request_order() -> None:
    async def scene() -> Outcome:
        a, b, c = HeldTool("a", writes="x"), HeldTool("b", writes="y"), HeldTool("c", writes="x")
        it = Scene(tools=(a, b, c), parallel=True)
        async with it.start() as live:
            await it.asks("a", "b", "c")
            assert (1, 1, 0) == (len(a.calls), len(b.calls), len(c.calls))
            b.calls[0].finish("B")
            await idle()
            a.calls[0].finish("A")
            await idle()
            c.calls[0].finish("C")
            await it.says("done")
            return await live.outcome()

    assert ["A", "B", "C"] == [call.text for call in play(scene).calls]


def test_no_more_calls_run_at_once_than_the_limit_allows() -> None:
    async def scene() -> list[int]:
        a = HeldTool("a", Kind.READ)
        it = Scene(Limits(max_parallel=2), tools=(a,), parallel=True)
        async with it.start() as live:
            await it.asks("a", "a", "a")
            counts = [len(a.calls)]
            a.calls[1].finish()
            await idle()
            counts.append(len(a.calls))
            live.cancel()
        return counts

    assert [2, 3] == play(scene)


def test_a_call_is_told_what_surrounds_it() -> None:
    async def scene() -> tuple[CallSetting, str, str]:
        a = HeldTool("a", Kind.READ)
        it = Scene(Limits(seconds=10, closing_seconds=4), tools=(a,))
        async with it.loop.start("hello", context={"db": 1}, origin=Origin(actor="ana")) as live:
            await it.clock.advance(1)
            it.provider.call("a")
            await idle()
            a.settings[0].cancel("enough")
            outcome = await live.outcome()
        return a.settings[0], live.id, outcome.detail

    setting, run_id, detail = play(scene)
    assert ({"db": 1}, Origin(actor="ana"), run_id, 1) == (
        setting.context,
        setting.origin,
        setting.run_id,
        setting.attempt,
    )
    assert START + timedelta(seconds=6) == setting.deadline
    assert f"{run_id}/{setting.call_id}" == setting.idempotency_key
    assert "enough" == detail


# People


def test_a_call_waits_for_its_approval_and_that_time_is_not_counted() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", approvals=1)
        it = Scene(Limits(seconds=10, closing_seconds=4), tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            await it.clock.advance(3600)
            assert not a.calls
            live.approve(live_request(it), by="ana")
            await it.clock.advance(5)
            a.calls[0].finish()
            await it.says("done")
            return await live.outcome()

    outcome = play(scene)
    assert RunStatus.COMPLETED is outcome.status
    assert "approved_started" in rows(outcome)


def test_a_denial_is_told_with_who_and_why() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", approvals=1)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            live.deny(live_request(it), by="ana", reason="Too expensive.")
            await it.says("all right")
            return await live.outcome()

    outcome = play(scene)
    assert [("a", Status.DENIED)] == statuses(outcome)
    assert "Not executed: denied by ana. Too expensive." == outcome.calls[0].text


def test_two_others_must_approve_and_the_actor_or_one_of_them_twice_are_not_two() -> None:
    async def scene() -> tuple[Outcome, list[int]]:
        a = HeldTool("a", approvals=2, requester_counts=False)
        it = Scene(tools=(a,))
        started: list[int] = []
        async with it.loop.start("hello", origin=Origin(actor="eva")) as live:
            await it.asks("a")
            for who in ("eva", "ana", "ana", "eva", "bob"):
                live.approve(live_request(it), by=who)
                await idle()
                started.append(len(a.calls))
            a.calls[0].finish()
            await it.says("done")
            return await live.outcome(), started

    outcome, started = play(scene)
    assert [0, 0, 0, 0, 1] == started
    asked = rows(outcome).index("approval_asked")
    assert [
        *("requesters_vote_set_aside", "vote_kept", "second_vote_set_aside"),
        *("requesters_vote_set_aside", "approved_started"),
    ] == rows(outcome)[asked + 1 : asked + 6]


@pytest.mark.parametrize("parallel", [False, True])
def test_a_denied_call_lets_nothing_run_beside_what_stood_before_it(parallel: bool) -> None:
    async def scene() -> tuple[Outcome, list[tuple[int, int]]]:
        a, b, c = HeldTool("a", writes="r"), HeldTool("b", writes="r", approvals=1), HeldTool("c", writes="r")
        it = Scene(tools=(a, b, c), parallel=parallel)
        async with it.start() as live:
            await it.asks("a", "b", "c")
            live.deny(it.provider.requests[-1].request_ids((None, None))[1], by="ana")
            await idle()
            started = [(len(a.calls), len(c.calls))]
            a.calls[0].finish()
            await idle()
            started.append((len(a.calls), len(c.calls)))
            c.calls[0].finish()
            await it.says("done")
            return await live.outcome(), started

    outcome, started = play(scene)
    assert [(1, 0), (1, 1)] == started
    assert [("a", Status.SUCCEEDED), ("b", Status.DENIED), ("c", Status.SUCCEEDED)] == statuses(outcome)


def test_one_person_is_not_two_nor_somebody_else_under_another_form_of_the_name() -> None:
    async def scene() -> tuple[Outcome, list[int]]:
        a = HeldTool("a", approvals=2, requester_counts=False)
        it = Scene(tools=(a,))
        started: list[int] = []
        async with it.loop.start("hello", origin=Origin(actor="Eva Reis")) as live:
            await it.asks("a")
            for who in ("eva reis ", "EVA REIS", "Jos\u00e9", "Jose\u0301", "JOS\u00c9", "bob"):
                live.approve(live_request(it), by=who)
                await idle()
                started.append(len(a.calls))
            a.calls[0].finish()
            await it.says("done")
            return await live.outcome(), started

    outcome, started = play(scene)
    assert [0, 0, 0, 0, 0, 1] == started
    asked = rows(outcome).index("approval_asked")
    assert [
        *["requesters_vote_set_aside"] * 2,
        *("vote_kept", "second_vote_set_aside", "second_vote_set_aside", "approved_started"),
    ] == rows(outcome)[asked + 1 : asked + 7]


def test_where_nobody_knows_whom_a_run_is_for_nobody_can_approve_what_that_person_may_not() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", approvals=1, requester_counts=False)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            with pytest.raises(InvalidValue, match=r"nobody knows who that is: start it with origin=Origin\(actor="):
                live.approve(live_request(it), by="ana")
            live.deny(live_request(it), by="ana")
            await it.says("all right")
            return await live.outcome()

    assert [("a", Status.DENIED)] == statuses(play(scene))


def test_a_decision_on_other_arguments_is_refused() -> None:
    async def scene() -> Outcome:
        a = HeldTool("a", approvals=1)
        it = Scene(tools=(a,))
        async with it.start() as live:
            await it.asks("a")
            for decide in (live.approve, live.deny):
                with pytest.raises(InvalidValue, match="has other arguments than those that were decided on"):
                    decide(live_request(it), by="ana", digest="0" * 64)
            asked = await anext(notice async for notice in live.events(after=0) if isinstance(notice, ApprovalAsked))
            live.approve(asked.id, by="ana", digest=asked.digest)
            await idle()
            a.calls[0].finish()
            await it.says("done")
            return await live.outcome()

    assert RunStatus.COMPLETED is play(scene).status


def live_request(it: Scene) -> str:
    """
    The id that the scene's first request got.
    """
    return it.provider.requests[-1].request_ids((None,))[0]
