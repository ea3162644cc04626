"""
Events check what they say by themselves.
"""

from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

import pytest
from hypothesis import given

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.events import EPOCH, EVENTS, AnyEvent, CancelRequested, ToolFinished, TurnReceived
from rodada.statemachine.messages import ModelTurn, Status, Stop, ToolRequest, ToolResult
from rodada.statemachine.plan import Plan, PlannedCall
from support import words

A, B = ToolRequest("a", "tool", "{}"), ToolRequest("b", "tool", "{}")
TURN = ModelTurn(Stop.WHOLE, requests=(A, B))


@given(words.events)
def test_every_event_is_one_of_the_eight(event: AnyEvent) -> None:
    assert type(event) in EVENTS
    assert event.at.tzinfo is UTC


def test_the_eight_are_listed_once() -> None:
    assert get_args(AnyEvent) == EVENTS
    assert len(set(EVENTS)) == 8


@pytest.mark.parametrize(
    "at",
    [datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1)))],
    ids=["naive", "elsewhere"],
)
def test_a_time_that_is_not_in_utc_is_refused(at: datetime) -> None:
    with pytest.raises(InvalidValue, match=r"Event\.at: needs a time in UTC"):
        CancelRequested(at=at)
    assert CancelRequested(at=datetime(2026, 1, 1, tzinfo=timezone(timedelta(0)))).at.year == 2026
    assert CancelRequested().at == EPOCH


@pytest.mark.parametrize("ids", [(), ("a",), ("b", "a"), ("a", "b", "c"), ("a", "c")])
def test_a_plan_names_the_turns_requests_in_order(ids: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue, match="TurnReceived: the plan must name the turn's requests in order"):
        TurnReceived(1, TURN, Plan(tuple(PlannedCall(each) for each in ids)))
    assert TurnReceived(1, TURN, Plan((PlannedCall("a"), PlannedCall("b")))).plan.ids == ("a", "b")


@pytest.mark.parametrize("status", Status)
def test_a_call_that_never_started_cannot_have_finished(status: Status) -> None:
    result = ToolResult.of(A, status, "")
    if status in (Status.NOT_EXECUTED, Status.DENIED):
        with pytest.raises(InvalidValue, match=f"ToolFinished: a started call cannot be {status.value}"):
            ToolFinished(result)
    else:
        assert ToolFinished(result).result is result
