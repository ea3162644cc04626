"""
Which calls wait for which: exactly those that conflict, in request order.
"""

from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.scheduling import EVERYTHING, Touches, scheduled

NAMES = st.frozensets(st.sampled_from("abc"), max_size=2)
TOUCHES = st.builds(Touches, NAMES, NAMES) | st.just(EVERYTHING)


def planned(*touches: Touches) -> Plan:
    return scheduled((PlannedCall(f"c{number}"), each) for number, each in enumerate(touches))


def waits(plan: Plan) -> list[set[int]]:
    """
    For each call all that it waits for, directly or through others.
    """
    places = {call.id: number for number, call in enumerate(plan.calls)}
    found: list[set[int]] = []
    for call in plan.calls:
        direct = {places[before] for before in call.after}
        found.append(direct.union(*(found[before] for before in direct)))
    return found


def closure_of_conflicts(touches: list[Touches]) -> list[set[int]]:
    """
    What must be waited for: earlier conflicting calls, and what those wait for.
    """
    found: list[set[int]] = []
    for number, each in enumerate(touches):
        direct = {before for before in range(number) if touches[before].conflicts(each)}
        found.append(direct.union(*(found[before] for before in direct)))
    return found


@given(st.lists(TOUCHES, max_size=9))
def test_each_call_waits_for_what_it_conflicts_with_and_for_nothing_else(touches: list[Touches]) -> None:
    assert closure_of_conflicts(touches) == waits(planned(*touches))


def test_reads_of_one_resource_run_together_and_a_write_waits_for_them() -> None:
    plan = planned(Touches(frozenset("a")), Touches(frozenset("a")), Touches(writes=frozenset("a")))

    assert [(), (), ("c0", "c1")] == [call.after for call in plan.calls]


def test_what_touches_nothing_shared_waits_for_no_other_than_a_call_that_touches_everything() -> None:
    plan = planned(Touches(writes=frozenset("a")), Touches(), EVERYTHING, Touches())

    assert [(), (), ("c0", "c1"), ("c2",)] == [call.after for call in plan.calls]


def test_ten_thousand_calls_make_a_small_plan() -> None:
    plan = planned(*(Touches(writes=frozenset({str(number % 100)})) for number in range(10_000)))

    assert 9_900 == sum(len(call.after) for call in plan.calls)
