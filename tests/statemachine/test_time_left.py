"""
The time that a run has left: for work, for a call, and for its closing call.
"""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.checker.bounds import Bounds, scenes
from rodada.statemachine.checker.world import first_run
from rodada.statemachine.limits import Limits
from rodada.statemachine.run import Run
from rodada.statemachine.states import Reason
from rodada.statemachine.time_left import seconds_for_call, seconds_left, seconds_to_deadline
from support import words

BASE = first_run(scenes(Bounds())[0])
times = st.integers(0, 10**6)


def timed(run: Run = BASE, **changes: Any) -> Run:
    return evolve(run, limits=Limits(seconds=60, closing_seconds=10, call_seconds=20), **changes)


def test_a_run_that_goes_on_leaves_the_closing_seconds_and_a_closing_one_uses_them() -> None:
    assert seconds_left(timed(), 15_000) == 35
    assert seconds_left(timed(reason=Reason.DEADLINE), 15_000) == 45
    assert seconds_left(timed(people_ms=5_000), 15_000) == 40
    assert seconds_left(evolve(BASE, limits=Limits(seconds=None)), 10**9) is None


def test_a_call_has_its_own_seconds_and_never_more_than_the_run() -> None:
    assert seconds_for_call(timed(), 0) == 20
    assert seconds_for_call(timed(), 45_000) == 5
    assert seconds_for_call(timed(), 55_000) == -5
    assert seconds_for_call(timed(reason=Reason.DEADLINE), 0) == 60
    unlimited = evolve(BASE, limits=Limits(seconds=None, call_seconds=None))
    assert seconds_for_call(unlimited, 10**9) is None
    assert seconds_for_call(evolve(unlimited, limits=Limits(seconds=None, call_seconds=7)), 10**9) == 7
    closing = evolve(unlimited, reason=Reason.CUT, limits=Limits(seconds=None, call_seconds=7))
    assert seconds_for_call(closing, 10**9) == 7


def test_the_deadline_does_not_come_nearer_while_people_are_waited_for() -> None:
    assert seconds_to_deadline(timed(), 15_000) == 35
    assert seconds_to_deadline(timed(people_ms=5_000), 15_000) == 40
    assert seconds_to_deadline(timed(asked_ms=0), 15_000) is None
    assert seconds_to_deadline(evolve(BASE, limits=Limits(seconds=None)), 0) is None


@given(words.limits(), times, times, times)
def test_waiting_for_people_costs_nothing(limits: Limits, now: int, waited: int, later: int) -> None:
    run = evolve(BASE, limits=limits)
    left, after = seconds_left(run, now), seconds_left(evolve(run, people_ms=waited), now + waited)
    assert left == (None if after is None else pytest.approx(after))
    sooner, nearer = seconds_for_call(run, now), seconds_for_call(run, now + later)
    assert (sooner is None and nearer is None) or (sooner or 0) >= (nearer or 0)
