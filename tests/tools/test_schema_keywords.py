"""
Keywords that the library checks by comparing everything with everything, or in floating point.
"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from rodada.statemachine.jsontext import JsonValue
from rodada.tools.arguments import Refusal
from rodada.tools.json_schema import schema_arguments
from support.tool_calls import request

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, -0.0, 0.5, "", "1", "true", "null"]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from("ab"), each),
    max_leaves=6,
)


LIBRARY: Any = Draft202012Validator


def fits(schema: dict[str, Any], value: JsonValue, *, by_stranger: bool = False) -> bool:
    whole: dict[str, Any] = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    arguments = schema_arguments("here", whole, by_stranger=by_stranger)
    return not isinstance(arguments.check(request("f", json.dumps({"x": value}))), Refusal)


@given(st.lists(values, max_size=4))
def test_items_are_unique_where_the_library_says_so(items: list[Any]) -> None:
    schema = {"uniqueItems": True}
    assert fits(schema, items) == LIBRARY(schema).is_valid(items)


@given(st.lists(values, min_size=1, max_size=4), values)
def test_a_value_is_one_of_a_list_where_the_library_says_so(listed: list[Any], value: Any) -> None:
    schema = {"enum": listed}
    assert fits(schema, value) == LIBRARY(schema).is_valid(value)


@pytest.mark.parametrize(
    ("value", "step"), [(19.99, 0.01), (0.3, 0.1), (1e300, 1e-300), (10**400, 0.1), (4, 2), (-1.5, 0.5)]
)
def test_a_multiple_is_one_as_it_is_written(value: float, step: float) -> None:
    assert fits({"multipleOf": step}, value)


@pytest.mark.parametrize(("value", "step"), [(19.995, 0.01), (0.35, 0.1), (5, 2), (1.5, 1)])
def test_what_is_no_multiple_is_none(value: float, step: float) -> None:
    assert not fits({"multipleOf": step}, value)


def test_false_asks_for_nothing_and_other_values_are_left_alone() -> None:
    assert fits({"uniqueItems": False}, [1, 1])
    assert fits({"uniqueItems": True}, "aa")
    assert fits({"multipleOf": 2}, "a")


@pytest.mark.parametrize("by_stranger", [True, False])
def test_thousands_of_objects_are_compared_in_one_pass(by_stranger: bool) -> None:
    objects: list[Any] = [{"at": at} for at in range(5_000)]
    assert fits({"uniqueItems": True}, objects, by_stranger=by_stranger)
    assert not fits({"uniqueItems": True}, [*objects, {"at": 0}], by_stranger=by_stranger)
    assert fits({"items": {"enum": objects}}, objects, by_stranger=by_stranger)
    assert not fits({"items": {"enum": objects}}, [*objects, {"at": -1}], by_stranger=by_stranger)
