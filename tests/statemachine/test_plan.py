"""
Plans: how the requests of a turn may run.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.plan import Kind, Plan, PlannedCall, one_after_another
from support import words


@given(words.any_plans)
def test_no_plan_has_a_cycle(plan: Plan) -> None:
    done: set[str] = set()
    for _ in plan.calls:
        done |= {call.id for call in plan.calls if done.issuperset(call.after)}
    assert done == set(plan.ids)


@given(st.lists(words.ids, unique=True, max_size=4))
def test_one_after_another_is_a_chain_in_request_order(ids: list[str]) -> None:
    calls = tuple(PlannedCall(each, Kind.READ, 1, False) for each in ids)
    plan = one_after_another(calls)
    assert plan.ids == tuple(ids)
    assert [call.after for call in plan.calls] == [(), *((each,) for each in ids)][: len(ids)]
    assert all((call.kind, call.approvals, call.requester_counts) == (Kind.READ, 1, False) for call in plan.calls)


@pytest.mark.parametrize("after", [("a",), ("b",), ("nobody",)])
def test_a_call_that_waits_for_itself_for_a_later_one_or_for_nobody_is_refused(after: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue, match="Plan: a may wait only for earlier requests, not for "):
        Plan((PlannedCall("a", after=after), PlannedCall("b")))


def test_what_is_said_of_nothing_is_a_write_that_needs_nobody() -> None:
    assert PlannedCall("a") == PlannedCall("a", Kind.WRITE, 0, True, ())
    assert Plan((PlannedCall("a"), PlannedCall("b"))).call("b") == PlannedCall("b")
    assert Plan().ids == ()
