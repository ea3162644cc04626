"""
A type of the host's as the type of an answer: its schema, what it reads, and what it refuses without a word of the
model's.
"""

import json
import time
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NamedTuple, cast

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypedDict

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.output import Fits, Misfit, Reading
from rodada.statemachine.output_types import PROBLEMS_TOLD, output_of


class Day(BaseModel):
    exercise: str
    kg: float = Field(gt=0)


class Plan(BaseModel):
    """A week of training."""

    title: str
    days: list[Day] = []


class Tree(BaseModel):
    kg: float
    next: "list[Tree]" = []


@dataclass
class Goal:
    kg: int


class Entry(TypedDict):
    kg: int


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kg: int


def refused(value: str) -> str:
    raise OSError(value)


class Guarded(BaseModel):
    key: Annotated[str, AfterValidator(refused)]


def schema(kind: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output_of(kind).schema)
    return found


def told(reading: Reading) -> str:
    assert isinstance(reading, Misfit)
    return reading.told


def test_the_schema_is_that_of_the_type_with_names_that_say_something() -> None:
    day = {
        "title": "Day",
        "type": "object",
        "properties": {"exercise": {"type": "string"}, "kg": {"type": "number", "exclusiveMinimum": 0}},
        "required": ["exercise", "kg"],
    }
    assert schema(Plan) == {
        "$defs": {"Day": day},
        "title": "Plan",
        "description": "A week of training.",
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "days": {"type": "array", "items": {"$ref": "#/$defs/Day"}, "default": []},
        },
        "required": ["title"],
    }


def test_a_type_that_holds_itself_has_its_object_at_the_root() -> None:
    found = schema(Tree)
    assert {"$defs": {"Tree": found["$defs"]["Tree"]}, **found["$defs"]["Tree"]} == found


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Plan, '{"title": "A"}', Plan(title="A")),
        (Plan, '{"title":"A","days":[{"exercise":"x","kg":2}]}', Plan(title="A", days=[Day(exercise="x", kg=2)])),
        (Tree, '{"kg": 1, "next": [{"kg": 2}]}', Tree(kg=1, next=[Tree(kg=2)])),
        (Goal, '{"kg": 80}', Goal(80)),
        (Entry, '{"kg": 80}', {"kg": 80}),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Plan, ' \n{"title": "A"}\n', Plan(title="A")),
        (Plan, '```json\n{"title": "A"}\n```', Plan(title="A")),
        (Plan, '```\n{"title": "A"}\n```\n', Plan(title="A")),
        (Plan, r'{"title": "half \ud83d"}', Plan(title="half �")),
    ],
)
def test_an_answer_is_read_as_a_value_of_the_type(kind: object, text: str, value: object) -> None:
    assert Fits(value) == output_of(kind).read(text)


@pytest.mark.parametrize(
    "text",
    [
        "Here it is:",
        'Here it is: {"title": "A"}',
        '```json\n{"title": "A"}\n```\nDone.',
        '{"title": "A", "title": "B"}',
        '{"title": NaN}',
        '["title"]',
        '"title"',
        '{"title": ',
        '{"a":' * 200 + "1" + "}" * 200,
        "```json\n```",
        "```json\n\n```",
        "```\n \n```",
    ],
)
def test_what_is_no_json_object_does_not_fit(text: str) -> None:
    assert Misfit("no Plan: the answer is no JSON object") == output_of(Plan).read(text)


class Easy(BaseModel):
    days: int = 3


@pytest.mark.parametrize("text", ["", " \n", "```json\n\n```", "```\n \n \n```"])
def test_nothing_is_no_value_whose_parts_may_all_be_left_out(text: str) -> None:
    assert Misfit("no Easy: the answer is no JSON object") == output_of(Easy).read(text)


@pytest.mark.parametrize("text", ["```json" + "\n" * 200_000, "```" + " \n" * 200_000 + "x", "\n" * 200_000 + "```"])
def test_blank_lines_without_end_take_no_time(text: str) -> None:
    began = time.process_time()
    assert Misfit("no Plan: the answer is no JSON object") == output_of(Plan).read(text)
    assert time.process_time() - began < 5


def test_what_is_wrong_is_told_by_places_and_kinds() -> None:
    text = '{"days": [{"exercise": 5, "kg": -1}]}'
    expected = "no Plan: title: missing; days.0.exercise: string_type; days.0.kg: greater_than"
    assert Misfit(expected) == output_of(Plan).read(text)


def test_many_problems_are_counted() -> None:
    text = json.dumps({"title": "A", "days": [{}] * 50})
    assert told(output_of(Plan).read(text)).endswith(f"; and {100 - PROBLEMS_TOLD} more")


SECRET = "hunter2"


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Closed, f'{{"kg": 1, "{SECRET}": 1}}', "no Closed: ?: extra_forbidden"),
        (dict[str, Goal], f'{{"{SECRET}": {{}}}}', "no dict: ?.kg: missing"),
        (Goal, f'{{"kg": "{SECRET}"}}', "no Goal: kg: int_parsing"),
        (Guarded, f'{{"key": "{SECRET}"}}', "no Guarded: checking it raised OSError"),
        (Plan, SECRET, "no Plan: the answer is no JSON object"),
    ],
)
def test_no_word_of_the_model_is_told(kind: object, text: str, expected: str) -> None:
    assert Misfit(expected) == output_of(kind).read(text)


class Deep(BaseModel):
    a: "Deep | None" = None
    last: int = 0


def test_what_is_told_is_short() -> None:
    text = '{"a": ' * 90 + '{"last": "x"}' + "}" * 90
    assert len(told(output_of(Deep).read(text))) < 200


class Thing:
    pass


@pytest.mark.parametrize("kind", [str, int, list[Plan], Plan | Goal, Any, bool, tuple[int, str]])
def test_a_type_that_is_no_json_object_is_refused(kind: object) -> None:
    with pytest.raises(InvalidValue, match="is no JSON object, which every vendor wants") as caught:
        output_of(kind)
    assert "output_type" == caught.value.what


called: list[int] = []


def counted(*, kg: int) -> int:
    called.append(kg)
    return kg


class Pair(NamedTuple):
    kg: int
    reps: int = 5


class Paired(BaseModel):
    best: Pair


def test_a_named_tuple_may_stand_in_a_type() -> None:
    assert Fits(Paired(best=Pair(80))) == output_of(Paired).read('{"best": [80]}')


HOLDING = create_model("Holding", of=(cast(Any, counted), ...))


@pytest.mark.parametrize("kind", [counted, partial(counted), Annotated[counted, "kg"], HOLDING])
def test_a_function_is_no_type_wherever_it_stands(kind: object) -> None:
    with pytest.raises(InvalidValue, match=r"\(TypeError: a function is no type\); it takes a pydantic model"):
        output_of(kind).read('{"kg": 80}')
    assert [] == called


@pytest.mark.parametrize("kind", [Thing, Plan(title="A"), 5, "Plan", refused, len])
def test_what_no_json_can_stand_for_is_refused_with_what_is_taken(kind: object) -> None:
    with pytest.raises(InvalidValue, match="it takes a pydantic model, a dataclass, a TypedDict"):
        output_of(kind)
