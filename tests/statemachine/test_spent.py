"""
What a run has used can be looked at while it goes on; its cost closes it when the model asks on.
"""

import asyncio

import pytest

from rodada.statemachine import Limits, Outcome, Price, Reason, RunStatus, Spent, Status, ToolLoop, Usage
from rodada.statemachine.errors import InvalidValue
from support.clock import HeldClock, idle
from support.held import HeldProvider, HeldTool
from support.scene import rows, statuses

ONE = Price(input=1_000_000, output=1_000_000)  # a token costs 1
FOUR = Usage(input_tokens=3, output_tokens=1)


class Till:
    """
    A loop with a tool, whose model asks for it.
    """

    def __init__(self, limits: Limits, *prices: Price, approvals: int = 0) -> None:
        self.provider, self.clock = HeldProvider(), HeldClock()
        self.tool = HeldTool("a", approvals=approvals)
        self.loop = ToolLoop(self.provider, tools=[self.tool], limits=limits, prices=prices, clock=self.clock)

    async def asks(self, usage: Usage = FOUR) -> None:
        await idle()
        self.provider.call("a", usage=usage)
        await idle()

    async def finishes(self) -> None:
        self.tool.calls[-1].finish()
        await idle()


def closed(limits: Limits, *usages: Usage, prices: tuple[Price, ...] = (ONE,)) -> Outcome:
    """
    The outcome of a run whose model asks for a tool with these tokens, once after another, and then says something.
    """

    async def scene() -> Outcome:
        till = Till(limits, *prices)
        async with till.loop.start("hello") as live:
            for number, usage in enumerate(usages, 1):
                await till.asks(usage)
                if len(till.tool.calls) == number:
                    await till.finishes()
            till.provider.say("so far")
            return await live.outcome()

    return asyncio.run(scene())


def test_the_cost_is_judged_when_the_model_asks_on_and_closes_the_run() -> None:
    outcome = closed(Limits(max_cost=8), FOUR, FOUR)
    assert (outcome.status, outcome.reason, outcome.answer) == (RunStatus.INCOMPLETE, Reason.MAX_COST, "so far")
    assert statuses(outcome) == [("a", Status.SUCCEEDED), ("a", Status.NOT_EXECUTED)]
    assert "answer_out_of_money" in rows(outcome)
    assert "none of the money for one message is known to be left" in outcome.calls[1].text


def test_a_limit_that_is_met_exactly_is_met() -> None:
    tenth = Price(input=100_000, output=0)
    outcome = closed(Limits(max_cost=0.8), *[Usage(input_tokens=1, output_tokens=0)] * 8, prices=(tenth,))
    assert (outcome.reason, outcome.rounds) == (Reason.MAX_COST, 7)


def test_an_answer_stands_whatever_it_cost() -> None:
    outcome = closed(Limits(max_cost=8.5), FOUR, FOUR)
    assert (outcome.status, outcome.reason, outcome.rounds) == (RunStatus.COMPLETED, None, 2)


def test_where_tokens_and_money_are_gone_at_once_the_tokens_are_the_reason() -> None:
    assert closed(Limits(max_cost=4, max_tokens_total=4), FOUR).reason is Reason.MAX_TOKENS_TOTAL


@pytest.mark.parametrize("unknown", [Usage(), Usage(input_tokens=1)])
def test_a_call_whose_cost_is_not_known_leaves_nothing_of_the_money(unknown: Usage) -> None:
    outcome = closed(Limits(max_cost=1000), FOUR, unknown)
    assert (outcome.reason, outcome.cost) == (Reason.MAX_COST, None)
    assert closed(Limits(), FOUR, unknown).status is RunStatus.COMPLETED


def test_a_model_without_a_price_leaves_nothing_of_the_money() -> None:
    outcome = closed(Limits(max_cost=1000), FOUR, prices=(Price(model="other", input=1, output=1),))
    assert (outcome.reason, outcome.cost) == (Reason.MAX_COST, None)


def test_a_limited_cost_needs_prices() -> None:
    with pytest.raises(InvalidValue, match=r"^Limits\.max_cost: is judged by prices: give ToolLoop\(prices="):
        ToolLoop(HeldProvider(), limits=Limits(max_cost=1))
    with pytest.raises(InvalidValue, match=r"^Limits\.max_cost"):
        ToolLoop(HeldProvider()).start("hello", limits=Limits(max_cost=1))
    with pytest.raises(InvalidValue, match=r"^ToolLoop\.prices: takes a Price, got a tuple"):
        ToolLoop(HeldProvider(), prices=[("gpt", 1)])  # type: ignore[list-item]  # pyright: ignore


@pytest.mark.parametrize("alone", [ONE, None])
def test_prices_are_a_list(alone: object) -> None:
    with pytest.raises(InvalidValue, match=r"^ToolLoop\.prices: takes a Iterable, got a "):
        ToolLoop(HeldProvider(), prices=alone)  # type: ignore[arg-type]  # pyright: ignore


def test_two_prices_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidValue, match=r"^ToolLoop\.prices: 'gpt' has 2 prices$"):
        ToolLoop(HeldProvider(), prices=[Price(model="gpt", input=1, output=1), Price(model="gpt", input=2, output=1)])


def test_what_is_spent_can_be_looked_at_while_the_run_goes_on() -> None:
    limits = Limits(max_cost=100, seconds=60)

    async def scene() -> tuple[Spent, Spent, Outcome]:
        till = Till(limits, ONE)
        live = till.loop.start("hello")
        before = live.spent
        async with live:
            await till.asks()
            await till.clock.advance(2.5)
            during = live.spent
            await till.finishes()
            till.provider.say("done", usage=FOUR)
            return before, during, await live.outcome()

    before, during, outcome = asyncio.run(scene())
    assert before == Spent(limits=limits, rounds=0, model_calls=0, usage=Usage(), cost=0.0, seconds=0.0)
    assert during == Spent(limits=limits, rounds=1, model_calls=1, usage=FOUR, cost=4.0, seconds=2.5)
    assert (outcome.cost, outcome.to_json()["cost"]) == (8.0, 8.0)


def test_a_run_that_has_ended_spends_no_more_time() -> None:
    async def scene() -> float:
        till = Till(Limits())
        async with till.loop.start("hello") as live:
            await till.clock.advance(3)
            till.provider.say("done")
            await live.outcome()
            await till.clock.advance(1000)
            return live.spent.seconds

    assert asyncio.run(scene()) == 3.0


def test_without_prices_nothing_is_said_of_the_cost() -> None:
    assert closed(Limits(), FOUR, prices=()).cost is None


def test_the_time_that_people_take_is_not_spent() -> None:
    async def scene() -> list[float]:
        till = Till(Limits(), approvals=1)
        async with till.loop.start("hello") as live:
            await till.asks()
            await till.clock.advance(3600)
            waiting = live.spent.seconds
            live.approve(till.provider.requests[-1].request_ids((None,))[0], by="ana")
            await till.clock.advance(2)
            seconds = [waiting, live.spent.seconds]
            await till.finishes()
            till.provider.say("done")
            await live.outcome()
        return seconds

    assert asyncio.run(scene()) == [0.0, 2.0]
