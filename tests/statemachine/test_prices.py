"""
What a call costs by the host's prices; what cannot be known is not guessed.
"""

import sys
from functools import reduce

import pytest

from rodada.statemachine import ModelTurn, Price, Stop, Usage
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.prices import added, cost_of

OPUS = Price(model="claude-opus", input=5, output=25, cached_input=0.5, cache_write=6.25)
MINI = Price(model="claude-opus-5-mini", input=1, output=2)
OTHER = Price(input=3, output=4)
USAGE = Usage(input_tokens=1_000_000, cached_input_tokens=600_000, cache_write_tokens=100_000, output_tokens=10_000)


def turn(model: str, usage: Usage = USAGE) -> ModelTurn:
    return ModelTurn(Stop.WHOLE, "said", usage=usage, model=model)


def test_each_kind_of_token_has_its_price() -> None:
    assert cost_of(turn("claude-opus-5-5"), (OPUS,)) == pytest.approx(0.3 * 5 + 0.6 * 0.5 + 0.1 * 6.25 + 0.01 * 25)


def test_input_of_a_cache_costs_as_other_input_where_nothing_else_is_said() -> None:
    assert cost_of(turn("anything"), (OTHER,)) == pytest.approx(3 + 0.04)


def test_hidden_reasoning_is_a_part_of_the_output_and_not_paid_twice() -> None:
    usage = Usage(input_tokens=0, output_tokens=1_000_000, reasoning_tokens=900_000)
    assert cost_of(turn("anything", usage), (OTHER,)) == 4


@pytest.mark.parametrize(
    ("model", "price"), [("claude-opus-5-mini-2026", MINI), ("claude-opus-5-5", OPUS), ("gemini", OTHER), ("", OTHER)]
)
@pytest.mark.parametrize("prices", [(OPUS, MINI, OTHER), (OTHER, MINI, OPUS)])
def test_the_longest_name_that_fits_counts(model: str, price: Price, prices: tuple[Price, ...]) -> None:
    assert cost_of(turn(model), prices) == price.of(USAGE)


@pytest.mark.parametrize(
    ("usage", "prices"),
    [
        (USAGE, (OPUS, MINI)),
        (USAGE, ()),
        (Usage(), (OTHER,)),
        (Usage(input_tokens=1), (OTHER,)),
        (Usage(output_tokens=1), (OTHER,)),
    ],
)
def test_without_a_price_or_without_tokens_the_cost_is_not_known(usage: Usage, prices: tuple[Price, ...]) -> None:
    assert cost_of(turn("gpt", usage), prices) is None


def test_more_cached_tokens_than_input_make_no_call_cheaper_than_they_cost() -> None:
    odd = Usage(input_tokens=10, cached_input_tokens=1_000_000, output_tokens=0)
    assert cost_of(turn("claude-opus-5-5", odd), (OPUS,)) == 0.5


def test_costs_are_added_as_the_decimals_that_they_are() -> None:
    price = Price(input=100_000, output=0.1)
    one = price.of(Usage(input_tokens=1, output_tokens=0))
    assert (one, price.of(Usage(input_tokens=3, output_tokens=3_000_000))) == (0.1, 0.6)
    assert reduce(added, [0.1] * 8) == 0.8


def test_a_cost_without_measure_is_still_a_number_that_json_has() -> None:
    most = Usage(input_tokens=2**53 - 1, output_tokens=2**53 - 1)
    for price in (sys.float_info.max, 10**300):
        assert Price(input=price, output=price).of(most) == sys.float_info.max
    assert added(sys.float_info.max, sys.float_info.max) == sys.float_info.max


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), True, "1", 10**400])
@pytest.mark.parametrize("name", ["input", "output", "cached_input", "cache_write"])
def test_a_price_that_is_none_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidValue, match=rf"^Price\.{name}: takes a number >= 0, for a million tokens; got "):
        Price(**{"input": 1, "output": 1, name: value})  # type: ignore[arg-type]


def test_input_and_output_must_be_priced() -> None:
    with pytest.raises(InvalidValue, match=r"^Price\.input"):
        Price(input=None, output=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidValue, match=r"^Price\.model: takes a text; got 3"):
        Price(model=3, input=1, output=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
