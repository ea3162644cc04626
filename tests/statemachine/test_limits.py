"""
Limits are checked when they are built; unlimited must be said.
"""

import math

import pytest
from attrs import asdict, evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.limits import AMOUNTS, COUNTS, OPTIONAL, SECONDS, Limits
from support import words

NAMES = [field.name for field in fields(Limits)]
NO_NUMBERS: list[object] = ["1", True, [], math.nan, math.inf, -math.inf, 10**400]


@given(words.limits())
def test_what_can_be_built_is_in_range(limits: Limits) -> None:
    assert all(value is None or value >= 0 for value in asdict(limits).values())
    assert limits.seconds is None or limits.closing_seconds <= limits.seconds


def test_the_defaults_are_those_of_the_contract() -> None:
    assert asdict(Limits()) == {
        "max_rounds": 10,
        "max_attempts": 3,
        "max_pauses": 5,
        "max_repeats": None,
        "max_parallel": 8,
        "max_tokens_total": None,
        "max_cost": None,
        "seconds": 300,
        "closing_seconds": 20,
        "call_seconds": 120,
        "tool_seconds": 60,
        "stop_seconds": 5,
        "max_result_chars": 100_000,
        "max_request_bytes": None,
        "history_messages": 20,
    }


def test_every_limit_is_checked() -> None:
    assert {*COUNTS, *AMOUNTS, *SECONDS} == set(NAMES)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_number_is_refused_by_name(name: str, value: object) -> None:
    unlimited = ", or None for unlimited" if name in OPTIONAL else ""
    with pytest.raises(InvalidValue, match=rf"^Limits\.{name}: needs a [a-z ]+ >= \d+{unlimited}; got ") as refused:
        Limits(**{name: value})  # type: ignore[arg-type]
    assert refused.value.what == f"Limits.{name}"


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_is_a_whole_number_and_has_its_least(name: str) -> None:
    assert getattr(evolve(Limits(), **{name: COUNTS[name]}), name) == COUNTS[name]
    for wrong in (COUNTS[name] - 1, COUNTS[name] + 0.5):
        with pytest.raises(InvalidValue, match=rf"^Limits\.{name}: needs a whole number >= {COUNTS[name]}"):
            Limits(**{name: wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_none_is_unlimited_where_that_may_be_said(name: str) -> None:
    if name in OPTIONAL:
        assert getattr(Limits(**{name: None}), name) is None  # type: ignore[arg-type]
    else:
        with pytest.raises(InvalidValue, match=rf"^Limits\.{name}: needs a [a-z ]+ >= \d; got None$"):
            Limits(**{name: None})  # type: ignore[arg-type]


@given(st.floats(0, 10**6))
def test_the_closing_call_has_twenty_seconds_or_half_of_a_shorter_time(seconds: float) -> None:
    assert Limits(seconds=seconds).closing_seconds == min(20, seconds / 2)


def test_what_is_kept_for_closing_must_fit() -> None:
    assert Limits(seconds=None).closing_seconds == 20
    assert Limits(seconds=5, closing_seconds=5).closing_seconds == 5
    with pytest.raises(InvalidValue, match=r"6 s kept for the closing call do not fit into seconds=5"):
        Limits(seconds=5, closing_seconds=6)
    with pytest.raises(InvalidValue, match=r"Limits\.closing_seconds"):
        evolve(Limits(), seconds=10)
