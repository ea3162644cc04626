"""
Arguments: whatever text a model sends, the function gets what its signature says, or the model gets a short reason.
"""

import json
import warnings
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from rodada.statemachine.messages import Status
from rodada.tools import tool
from rodada.tools.arguments import Refusal
from support.tool_calls import request, told

SHORT = 1200


@tool
def now() -> str:
    return "noon"


@tool
def lift(exercise: str, kg: float = 20.0, note: str | None = "none") -> str:
    return f"{exercise!r} {kg!r} {note!r}"


def refused(raw: str, tool: Any = lift) -> str:
    status, text = told(tool, raw)
    assert status is Status.FAILED
    assert text.startswith(f"{tool.name} was not run; its arguments: ")
    assert len(text) < SHORT
    return text.partition("its arguments: ")[2]


def test_f026_empty_arguments_are_an_empty_object() -> None:
    assert told(now, "") == (Status.SUCCEEDED, "noon")
    assert told(now, "  \n") == (Status.SUCCEEDED, "noon")
    assert refused("") == (
        "exercise: is required. It takes exercise: string, kg: number (optional), note: string or null (optional)."
    )


@pytest.mark.parametrize(
    ("raw", "kind"),
    [("[1]", "an array"), ('"x"', "a string"), ("null", "null"), ("3", "a number"), ("true", "a boolean")],
)
def test_f027_json_that_is_no_object_is_refused(raw: str, kind: str) -> None:
    assert refused(raw) == (
        f"they are {kind}, not a JSON object; {len(raw)} characters came, beginning with {raw!r}. Send one JSON object."
    )


def test_an_object_that_is_nested_too_deeply_is_refused_for_that() -> None:
    raw = '{"exercise":' * 101 + "1" + "}" * 101
    assert refused(raw).startswith("they are nested more than 100 levels deep; ")


def test_f028_arguments_encoded_twice_are_refused_and_never_passed_as_a_text() -> None:
    assert refused(json.dumps(json.dumps({"exercise": "squat"}))).startswith("they are a string, not a JSON object")


@pytest.mark.parametrize("raw", ["{" + "x" * 200_000, '{"exercise":"' + "y" * 200_000, "[" * 200_000, "z" * 200_000])
def test_f030_a_refusal_never_echoes_a_large_payload(raw: str) -> None:
    assert f"{len(raw)} characters came" in refused(raw)


@pytest.mark.parametrize(
    "sent",
    [
        {"exercise": ["y" * 200_000]},
        {"exercise": "squat", "kg": "y" * 200_000},
        {"exercise": "squat", "y" * 200_000: 1},
        {"exercise": "squat"} | {f"{at}" + "y" * 1000: at for at in range(200)},
    ],
)
def test_f030_a_refusal_never_echoes_large_values_or_names(sent: dict[str, Any]) -> None:
    assert refused(json.dumps(sent)).count("y") < 250


def test_f030_a_tag_that_came_is_not_echoed() -> None:
    class Cat(BaseModel):
        kind: Literal["cat"]

    class Dog(BaseModel):
        kind: Literal["dog"]

    @tool
    def feed(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> str:
        return pet.kind

    assert refused(json.dumps({"pet": {"kind": "y" * 10_000}}), feed).startswith(
        "pet: its tag is none of 'cat', 'dog'. "
    )


def test_f031_an_unknown_argument_is_refused_by_name() -> None:
    assert refused('{"exercise":"squat","tool_code":"x"}').startswith("tool_code: is no argument of this tool. ")


def test_f031_no_made_up_field_name_is_an_argument() -> None:
    assert refused('{"p0":"squat"}').startswith("exercise: is required; p0: is no argument of this tool. ")


def test_f031_a_type_error_inside_the_tool_is_no_matter_of_its_arguments() -> None:
    @tool
    def broken(n: int) -> int:
        return n + "1"  # type: ignore[operator]

    assert told(broken, '{"n":1}') == (
        Status.FAILED,
        "broken failed: it raised TypeError. Its details are withheld.",
    )


def test_f032_null_counts_as_absent_where_there_is_a_default_that_null_does_not_fit() -> None:
    assert told(lift, '{"exercise":"squat","kg":null}') == (Status.SUCCEEDED, "'squat' 20.0 'none'")
    assert told(lift, '{"exercise":"squat","note":null}') == (Status.SUCCEEDED, "'squat' 20.0 None")
    assert told(lift, '{"exercise":"squat","kg":null,"note":null}') == (Status.SUCCEEDED, "'squat' 20.0 None")
    assert refused('{"exercise":null,"kg":null}').startswith("exercise: Input should be a valid string. ")
    assert refused('{"exercise":"squat","kg":null,"x":null}').startswith("x: is no argument of this tool. ")


def test_f032_to_have_a_default_and_to_take_null_are_two_facts_of_the_schema() -> None:
    @tool
    def note(text: str | None, times: int = 3, by: str | None = None) -> None: ...

    schema = json.loads(note.declaration.schema)
    assert (["text"], "integer") == (schema["required"], schema["properties"]["times"]["type"])
    either = [{"type": "string"}, {"type": "null"}]
    assert [either, either] == [schema["properties"][name]["anyOf"] for name in ("text", "by")]


def test_wrong_values_are_named_with_what_was_expected() -> None:
    class Item(BaseModel):
        name: str
        parts: int

    @tool
    def pack(items: list[Item], size: Literal["s", "m"], on: date) -> None: ...

    assert refused('{"items":[{"name":"a","parts":1},{"name":3,"parts":2}],"size":"l","on":"soon"}', pack) == (
        "items.1.name: Input should be a valid string; size: Input should be 's' or 'm'; "
        "on: Input should be a valid date or datetime, input is too short. "
        "It takes items: array, size: string, on: string."
    )
    assert refused("{}", pack).startswith("items: is required; size: is required; on: is required. ")


def test_of_a_type_that_the_schema_names_the_kind_is_told() -> None:
    class Size(Enum):
        SMALL = "s"

    class Mixed(Enum):
        ONE = 1
        TWO = "two"

    class Item(BaseModel):
        inside: "Item | None" = None

    @tool
    def pack(size: Size, mixed: Mixed | None, item: Item) -> None: ...

    takes = "It takes size: string, mixed: one of a list or null, item: object."
    assert refused('{"mixed":1,"item":{}}', pack) == f"size: is required. {takes}"


def test_many_problems_are_counted() -> None:
    raw = json.dumps({f"x{at}": 1 for at in range(9)} | {"exercise": "squat"})
    assert "; and 6 more. " in refused(raw)


@pytest.mark.parametrize(
    "raw",
    [
        '{"exercise":"squat","exercise":"bench"}',
        '{"exercise":"squat","kg":NaN}',
        '{"exercise":"squat","kg":Infinity}',
        '{"exercise":"squat","kg":1e999}',
        '{"exercise":"squat","kg":"NaN"}',
        '{"exercise":"squat","kg":' + "1" * 5000 + "}",
        '{"exercise":' + "[" * 500 + "]" * 500 + "}",
        '{"exercise":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_strict_json_does_not_know_is_refused(raw: str) -> None:
    assert refused(raw)


def test_f039_lone_surrogates_in_arguments_are_replaced() -> None:
    assert told(lift, '{"exercise":"a\\udc97b"}') == (Status.SUCCEEDED, "'a\ufffdb' 20.0 'none'")


def test_json_forms_become_the_types_of_the_signature() -> None:
    class Size(Enum):
        SMALL = "s"

    @tool
    def show(day: date, price: Decimal, key: UUID, size: Size, tags: set[str], pair: tuple[int, str]) -> str:
        return repr((day, price, key, size, sorted(tags), pair))

    raw = (
        '{"day":"2026-01-02","price":"1.10","key":"00000000-0000-0000-0000-000000000001","size":"s",'
        '"tags":["b","a"],"pair":[1,"x"]}'
    )
    expected = (date(2026, 1, 2), Decimal("1.10"), UUID(int=1), Size.SMALL, ["a", "b"], (1, "x"))
    assert told(show, raw) == (Status.SUCCEEDED, repr(expected))


def test_parameters_may_have_any_name() -> None:
    @tool
    def odd(schema: int, model_config: int, _private: int, self_: int, copy: int = 1) -> int:
        return schema + model_config + _private + self_ + copy

    assert told(odd, '{"schema":1,"model_config":2,"_private":3,"self_":4}') == (Status.SUCCEEDED, "11")
    assert list(json.loads(odd.declaration.schema)["properties"])[:3] == ["schema", "model_config", "_private"]


def test_a_default_stays_the_functions_own_and_needs_no_json_form() -> None:
    marker = object()

    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @tool
        def f(n: int = marker, limit: float = float("inf")) -> bool:  # type: ignore[assignment]
            return n is marker and limit == float("inf")

    assert told(f) == (Status.SUCCEEDED, "true")
    assert json.loads(f.declaration.schema)["properties"]["n"] == {"type": "integer"}


def test_a_validator_that_raises_anything_is_a_refusal_also_when_the_turn_is_planned() -> None:
    def fails(value: str) -> str:
        raise KeyError("postgres://u:pw@host")

    def says(value: str) -> str:
        raise ValueError("no such exercise")

    @tool
    def f(x: Annotated[str, AfterValidator(fails)]) -> None: ...

    @tool
    def g(x: Annotated[str, AfterValidator(says)]) -> None: ...

    assert refused('{"x":"a"}', f) == "checking them raised KeyError."
    assert f.planned(request("f", '{"x":"a"}')) is None
    assert refused('{"x":"a"}', g).startswith("x: Value error, no such exercise. ")


@given(st.text())
def test_no_text_makes_the_check_raise(raw: str) -> None:
    found = lift.arguments.check(request("lift", raw))
    assert isinstance(found, Refusal | dict)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["exercise", "kg", "note", "x", "p0"]) | st.text(), JSON, max_size=5))
def test_every_json_object_is_checked_or_refused_shortly(sent: dict[str, Any]) -> None:
    found = lift.arguments.check(request("lift", json.dumps(sent)))
    if isinstance(found, Refusal):
        assert len(found.text) < SHORT
    else:
        assert set(found) <= {"exercise", "kg", "note"}
        assert isinstance(found["exercise"], str)
