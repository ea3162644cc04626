"""
What a host's tests say of a run: true of it, or a failure that shows what there was.
"""

import asyncio
import threading
from types import EllipsisType

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, Outcome, ToolLoop
from rodada.statemachine.testing import assert_called, assert_not_called, assert_path
from rodada.tools import tool

STATUS = Call("order_status", {"order_id": "1042", "lines": [1, 2]})
ROWS = ("model_called", "tools_started", "turn_settled", "model_called", "answer_kept", "answer_stored")


@tool(reads="orders")
def order_status(order_id: str, lines: list[int]) -> str:
    """Where an order is."""
    return "on its way"


@tool(writes="orders", needs_approval=True)
def cancel_order(order_id: str) -> str:
    """Cancel an order."""
    return "cancelled"


def answered(*turns: Turn, limits: Limits = Limits()) -> Outcome:
    return ToolLoop(Scripted(turns), tools=[order_status, cancel_order], limits=limits).run_sync("Where is it?")


def test_a_call_is_found_by_its_name_and_some_of_its_arguments() -> None:
    outcome = answered(Turn(calls=[STATUS]), Turn("On its way."))
    assert assert_called(outcome, "order_status") == outcome.calls[0]
    assert assert_called(outcome, "order_status", order_id="1042") == outcome.calls[0]
    assert assert_called(outcome, "order_status", lines=[1, 2], order_id="1042") == outcome.calls[0]
    assert_not_called(outcome, "cancel_order")
    assert_not_called(outcome, "order_status", order_id="7")


def test_a_failure_shows_the_calls_that_there_were() -> None:
    outcome = answered(Turn(calls=[STATUS]), Turn("On its way."))
    calls = 'the calls were: order_status {"order_id":"1042","lines":[1,2]} (succeeded)'
    with pytest.raises(AssertionError) as failed:
        assert_called(outcome, "order_status", order_id="7")
    assert str(failed.value) == f'order_status(order_id="7") was not called; {calls}'
    with pytest.raises(AssertionError) as failed:
        assert_not_called(outcome, "order_status")
    assert str(failed.value) == f"order_status() was called; {calls}"
    with pytest.raises(AssertionError, match="the calls were: none"):
        assert_called(answered(Turn("Hello.")), "order_status")


@pytest.mark.parametrize("wrong", [{"order_id": 1042}, {"lines": [2, 1]}, {"lines": True}, {"other": None}])
def test_arguments_are_compared_as_json(wrong: dict[str, object]) -> None:
    outcome = answered(Turn(calls=[STATUS]), Turn("On its way."))
    assert_not_called(outcome, "order_status", **wrong)  # type: ignore[arg-type]


def test_a_call_that_was_withheld_or_denied_is_none_and_one_that_failed_is_one() -> None:
    withheld = answered(Turn(calls=[STATUS]), Turn("Shall I go on?"), limits=Limits(max_rounds=0))
    assert_not_called(withheld, "order_status")
    failed = answered(Turn(calls=[Call("order_status", {"order_id": "1042"})]), Turn("No."))
    assert assert_called(failed, "order_status").status.value == "failed"

    async def denied() -> Outcome:
        loop = ToolLoop(
            Scripted([Turn(calls=[Call("cancel_order", {"order_id": "1"})]), Turn("No.")]), tools=[cancel_order]
        )
        async with loop.start("Cancel it.") as live:
            async for event in live.events():
                if type(event).__name__ == "ApprovalAsked":
                    live.deny("call_1_0", by="ana")
            return await live.outcome()

    assert_not_called(asyncio.run(denied()), "cancel_order")


@pytest.mark.parametrize(
    ("rows", "fits"),
    [
        (ROWS, True),
        ((..., "answer_stored"), True),
        (("model_called", ...), True),
        (("model_called", ..., "turn_settled", ..., "answer_stored"), True),
        ((...,), True),
        ((..., ..., "answer_stored"), True),
        ((), False),
        (ROWS[:-1], False),
        (ROWS[1:], False),
        ((*ROWS, "answer_stored"), False),
        ((..., "answer_cut", ...), False),
        (("turn_settled", ..., "tools_started", ...), False),
    ],
)
def test_a_path_is_told_whole_or_with_gaps(rows: tuple[str | EllipsisType, ...], fits: bool) -> None:
    outcome = answered(Turn(calls=[STATUS]), Turn("On its way."))
    if fits:
        assert_path(outcome, *rows)
    else:
        with pytest.raises(AssertionError, match="it was model_called, tools_started, turn_settled, model_called"):
            assert_path(outcome, *rows)


def test_another_model_answers_in_the_block_and_only_there() -> None:
    loop = ToolLoop(Scripted(reply=lambda request: Turn("I am the real one.")), tools=[order_status])
    with loop.using(provider=Scripted([Turn("I am a double."), Turn("Still.")])):
        assert loop.run_sync("Who?").answer == "I am a double."
        assert asyncio.run(loop.run("Who?")).answer == "Still."
    assert loop.run_sync("Who?").answer == "I am the real one."


def test_of_two_blocks_the_inner_one_counts_and_other_loops_go_on() -> None:
    loop, other = (ToolLoop(Scripted(reply=lambda request: Turn("real"))) for _ in range(2))
    with loop.using(provider=Scripted([Turn("outer"), Turn("outer")])):
        with loop.using(provider=Scripted([Turn("inner")])):
            assert [loop.run_sync("Who?").answer, other.run_sync("Who?").answer] == ["inner", "real"]
        assert loop.run_sync("Who?").answer == "outer"


def test_other_threads_and_tasks_are_not_in_the_block() -> None:
    loop = ToolLoop(Scripted(reply=lambda request: Turn("real")))
    answers: list[str] = []

    def ask() -> None:
        answers.append(loop.run_sync("Who?").answer)

    with loop.using(provider=Scripted([Turn("double")])):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert answers == ["real"]
