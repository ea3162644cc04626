"""
Schemas of strangers: what they may ask for ends, and all else is checked as ever.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.tools.arguments import Refusal
from rodada.tools.json_schema import schema_arguments
from support.tool_calls import request

STRING = {"type": "string"}
DIALECTS = ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema")
EVIL = "(a+)+$"
LONG = "a" * 40 + "!"


def checked(schema: dict[str, Any], raw: str, *, by_stranger: bool = True) -> dict[str, object] | Refusal:
    return schema_arguments("here", {"type": "object", **schema}, by_stranger=by_stranger).check(request("f", raw))


def doubling(levels: int, **root: Any) -> dict[str, Any]:
    steps: dict[str, Any] = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(levels)}
    return {**root, "allOf": [{"$ref": "#/$defs/s0"}], "$defs": {**steps, f"s{levels}": {}}}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"pattern": EVIL}}},
        {"properties": {"x": {"$schema": DIALECTS[0], "pattern": EVIL}}},
        {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$schema": DIALECTS[1], "pattern": EVIL}}},
        {"patternProperties": {EVIL: STRING}, "additionalProperties": False},
        {"patternProperties": {EVIL: STRING}, "unevaluatedProperties": False},
        {"propertyNames": {"pattern": EVIL}},
    ],
)
def test_a_regular_expression_is_not_run(schema: dict[str, Any], dialect: str) -> None:
    raw = f'{{"x":"{LONG}","{LONG}":"y"}}'

    assert {"x": LONG, LONG: "y"} == checked({"$schema": dialect, **schema}, raw)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_references_that_double_are_given_up(dialect: str) -> None:
    schema = doubling(40)
    nested = {"properties": {"x": {"$schema": dialect, "$ref": "#"}}, **schema}

    given_up = Refusal("checking them raised TooManySteps")
    assert given_up == checked({"$schema": dialect, "properties": {"x": schema["allOf"][0]}, **schema}, '{"x":1}')
    assert given_up == checked(nested, '{"x":{"x":1}}')


def test_each_check_has_its_own_bounds() -> None:
    arguments = schema_arguments("here", {"type": "object", **doubling(10)}, by_stranger=True)

    assert [{}] * 10 == [arguments.check(request("f")) for _ in range(10)]


def test_a_schema_that_refers_to_itself_is_followed() -> None:
    tree = {"properties": {"n": {"type": "integer"}, "in": {"type": "array", "items": {"$ref": "#"}}}}

    assert {"n": 1, "in": [{"n": 2}]} == checked(tree, '{"n":1,"in":[{"n":2}]}')
    refused = checked(tree, '{"n":1,"in":[{"n":"x"}]}')
    assert isinstance(refused, Refusal)
    assert refused.text.startswith("in.0.n: should be of type integer")


Schema: TypeAlias = dict[str, Any]
LEAVES: list[Schema] = [
    {"type": "integer"},
    STRING,
    {"enum": [1, "a", None]},
    {"const": 3},
    {"minimum": 2},
    {"maxLength": 1},
    {"not": {"type": "null"}},
]


def either(one: Schema, other: Schema) -> Schema:
    return {"anyOf": [one, other]}


def array(each: Schema) -> Schema:
    return {"type": "array", "items": each}


def thing(inner: Schema) -> Schema:
    return {"type": "object", "properties": {"x": inner}, "required": ["x"]}


def more(inner: Schema) -> Schema:
    return {"additionalProperties": inner}


def around(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.one_of(st.builds(either, inner, inner), *(st.builds(each, inner) for each in (array, thing, more)))


SCHEMAS: st.SearchStrategy[Schema] = st.recursive(st.sampled_from(LEAVES), around, max_leaves=6)
VALUES = st.recursive(
    st.sampled_from(["1", "3", '"a"', '"long"', "null", "true", "2.5"]),
    lambda inner: st.one_of(
        st.builds("[{}]".format, inner), st.builds('{{"x":{}}}'.format, inner), st.builds('{{"y":{}}}'.format, inner)
    ),
    max_leaves=4,
)


@given(SCHEMAS, VALUES)
def test_all_else_is_checked_as_it_is_for_a_schema_of_our_own(schema: dict[str, Any], value: str) -> None:
    whole, raw = {"properties": {"x": schema}}, f'{{"x":{value}}}'

    assert checked(whole, raw, by_stranger=False) == checked(whole, raw)


def test_checks_in_several_threads_have_bounds_of_their_own() -> None:
    arguments = schema_arguments(
        "here", {"type": "object", "properties": {"x": {"items": {"type": "integer"}}}}, by_stranger=True
    )
    raw = json.dumps({"x": list(range(15_000))})

    def check(_: int) -> bool:
        return isinstance(arguments.check(request("f", raw)), dict)

    with ThreadPoolExecutor(4) as threads:
        assert [True] * 12 == list(threads.map(check, range(12)))
