"""
Turns of many requests: each has its result, in request order, and a request costs no more for standing among many.
"""

import asyncio
from functools import partial

import pytest
from attrs import define, evolve

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import ApprovalAsked, Limits, Origin, Outcome, RunStatus, Status, ToolLoop
from rodada.statemachine.messages import Exchange
from rodada.statemachine.ports import AnyTool
from rodada.tools import Approval, tool
from support.calls_made import calls_made

LIMITS = Limits(seconds=None, tool_seconds=None, call_seconds=None, max_result_chars=None)


@define
class Desk:
    """
    Tools that note how many of them run at once.
    """

    running: int = 0
    most: int = 0

    async def work(self, number: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        return number

    def tools(self) -> list[AnyTool]:
        return [
            tool(name="free", reads=())(self.work),
            tool(name="read", reads="log")(self.work),
            tool(name="write", writes="log")(self.work),
            tool(name="row", writes=lambda a: f"row:{a['number'] % 7}")(self.work),
        ]


def numbered(*names: str, size: int) -> list[Call]:
    return [Call(names[at % len(names)], {"number": at}) for at in range(size)]


async def played(calls: list[Call], tools: list[AnyTool], limits: Limits, *, parallel: bool = True) -> Outcome:
    model = Scripted([Turn(calls=calls), Turn("Done.")])
    return await ToolLoop(model, tools=tools, limits=limits, parallel=parallel).run("Go.")


# Names of the tools that are asked for, requests, whether in parallel, how many may run at once, and how many do.
TURNS = {
    "one after another": (["write"], 10_000, False, 8, 1),
    "independent, eight at once": (["free"], 3_000, True, 8, 8),
    "independent, all at once": (["free"], 10_000, True, 10_000, 10_000),
    "seven rows": (["row"], 3_000, True, 10_000, 7),
    "readers between writers": (["read"] * 99 + ["write"], 3_000, True, 10_000, 99),
}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.long) if TURNS[each][1] > 3_000 else each for each in TURNS]
)
def test_thousands_of_requests_of_one_turn_have_their_results_in_order(name: str) -> None:
    names, size, parallel, at_once, most = TURNS[name]
    desk = Desk()
    limits = evolve(LIMITS, max_parallel=at_once)
    outcome = asyncio.run(played(numbered(*names, size=size), desk.tools(), limits, parallel=parallel))
    assert (RunStatus.COMPLETED, "Done.", 1) == (outcome.status, outcome.answer, outcome.rounds)
    assert [str(at) for at in range(size)] == [call.text for call in outcome.calls]
    assert {Status.SUCCEEDED} == {call.status for call in outcome.calls}
    assert (0, most) == (desk.running, desk.most)


def test_thousands_of_requests_that_fail_their_checks_are_all_answered() -> None:
    calls = [Call(("nosuch", "free", "free")[at % 3], ("{}", "{", '{"number":"x"}')[at % 3]) for at in range(3_000)]
    outcome = asyncio.run(played(calls, Desk().tools(), LIMITS))
    assert (RunStatus.COMPLETED, 3_000) == (outcome.status, len(outcome.calls))
    assert {Status.FAILED} == {call.status for call in outcome.calls}


@pytest.mark.long
def test_ten_thousand_requests_are_settled_when_the_run_is_cancelled_among_them() -> None:
    async def cancelled() -> Outcome:
        done = 0

        async def work(number: int) -> int:
            nonlocal done
            done += 1
            if number == 5_000:
                live.cancel("enough")
                await asyncio.Event().wait()
            return number

        loop = ToolLoop(
            Scripted([Turn(calls=numbered("work", size=10_000))]), tools=[tool(reads="log")(work)], limits=LIMITS
        )
        async with loop.start("Go.") as live:
            outcome = await live.outcome()
        assert 5_001 == done
        return outcome

    outcome = asyncio.run(cancelled())
    exchange = outcome.conversation.entries[-1]
    assert isinstance(exchange, Exchange)
    assert RunStatus.CANCELLED is outcome.status
    assert [request.id for request in exchange.turn.requests] == [result.id for result in exchange.results]
    assert 5_000 * [Status.SUCCEEDED] + [Status.OUTCOME_UNKNOWN] + 4_999 * [Status.NOT_EXECUTED] == [
        result.status for result in exchange.results
    ]


@pytest.mark.parametrize("name", TURNS)
def test_a_request_costs_no_more_among_many(name: str) -> None:
    names, _, parallel, _, _ = TURNS[name]
    limits = evolve(LIMITS, max_parallel=10_000)

    def run(size: int) -> None:
        asyncio.run(played(numbered(*names, size=size), Desk().tools(), limits, parallel=parallel))

    run(10)
    few, many = (calls_made(partial(run, size)) / size for size in (200, 1_000))
    assert many < few * 1.2


@pytest.mark.parametrize("approved", [True, False])
def test_nor_does_one_that_needs_approval(approved: bool) -> None:
    gated = tool(name="pay", reads=(), needs_approval=Approval(not_requester=True, within=3600))(Desk().work)

    async def decided(size: int) -> None:
        loop = ToolLoop(Scripted([Turn(calls=numbered("pay", size=size)), Turn("Done.")]), tools=[gated], limits=LIMITS)
        async with loop.start("Go.", origin=Origin(actor="eva"), asks=approved) as live:
            async for notice in live.events():
                if isinstance(notice, ApprovalAsked) and approved:
                    live.approve(notice.id, by="ana")
            outcome = await live.outcome()
        assert {Status.SUCCEEDED if approved else Status.DENIED} == {call.status for call in outcome.calls}

    def run(size: int) -> None:
        asyncio.run(decided(size))

    run(10)
    few, many = (calls_made(partial(run, size)) / size for size in (200, 900))
    assert many < few * 1.2
