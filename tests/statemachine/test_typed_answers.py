"""
`output_type`: a completed run has its answer as a value; one whose answer never has the type is incomplete, and what
the model said is told as `partial`.
"""

import asyncio
import json
from dataclasses import dataclass

import pytest
from attrs import define
from pydantic import BaseModel, ConfigDict, field_serializer

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import (
    Ended,
    Limits,
    ModelTurn,
    Notice,
    Outcome,
    Reason,
    RunStatus,
    Stop,
    ToolLoop,
    TurnEnded,
    TurnKind,
    UserMessage,
)
from rodada.statemachine.errors import InvalidValue, ProviderOverloaded
from rodada.statemachine.output_types import output_of
from rodada.tools import tool
from support.scene import rows


class Plan(BaseModel):
    title: str
    days: int = 3


@dataclass
class Goal:
    kg: int


@tool(reads="log")
def look(n: int) -> str:
    """Look an entry up."""
    return f"entry {n}"


LOOK = Call("look", {"n": 1})
GOOD, BAD = '{"title": "Strength"}', '{"name": "Strength"}'
PLAN = Plan(title="Strength")
SCHEMA = output_of(Plan).schema


def schemas(model: Scripted) -> list[str | None]:
    return [request.output_schema for request in model.requests]


def test_a_completed_run_has_its_answer_as_a_value() -> None:
    outcome = ToolLoop(Scripted([Turn(GOOD)]), output_type=Plan).run_sync("plan my week")
    assert (RunStatus.COMPLETED, GOOD, PLAN) == (outcome.status, outcome.answer, outcome.output)
    assert {"title": "Strength", "days": 3} == outcome.to_json()["output"]


def test_a_run_may_ask_for_another_type_than_its_loop() -> None:
    loop = ToolLoop(Scripted([Turn('{"kg": 80}'), Turn(GOOD), Turn("Hello.")]), output_type=Plan)
    assert Goal(80) == loop.run_sync("and a goal?", output_type=Goal).output
    assert PLAN == loop.run_sync("plan my week", output_type=None).output
    untyped = loop.evolve(output_type=None).run_sync("hello")
    assert (RunStatus.COMPLETED, "Hello.", None) == (untyped.status, untyped.answer, untyped.output)


def test_without_a_type_nothing_is_asked_for_and_nothing_is_read() -> None:
    model = Scripted([Turn(GOOD)])
    outcome = ToolLoop(model).run_sync("hello")
    assert ([None], None, None) == (schemas(model), outcome.output, outcome.to_json()["output"])


def test_the_type_is_asked_for_in_every_call_and_only_the_answer_need_have_it() -> None:
    model = Scripted([Turn("Let me look.", [LOOK]), Turn(GOOD)])
    outcome = ToolLoop(model, tools=[look], output_type=Plan).run_sync("plan my week")
    assert (RunStatus.COMPLETED, PLAN, ("Let me look.",)) == (outcome.status, outcome.output, outcome.narration)
    assert [SCHEMA, SCHEMA] == schemas(model)


def test_an_answer_that_has_not_the_type_is_asked_for_once_more() -> None:
    model = Scripted([Turn(BAD), Turn(GOOD)])
    outcome = ToolLoop(model, output_type=Plan).run_sync("plan my week")
    assert ["model_called", "flaw_asked_again", "answer_kept", "answer_stored"] == rows(outcome)
    assert (PLAN, "", [SCHEMA, SCHEMA]) == (outcome.output, outcome.partial, schemas(model))
    assert [GOOD] == [entry.text for entry in outcome.appended if isinstance(entry, ModelTurn)]


def test_a_second_one_ends_the_run_as_incomplete_with_what_was_said_as_partial() -> None:
    outcome = ToolLoop(Scripted([Turn(BAD), Turn("No.")]), output_type=Plan).run_sync("plan my week")
    assert ["model_called", "flaw_asked_again", "flawed_too_often"] == rows(outcome)
    assert (RunStatus.INCOMPLETE, Reason.MALFORMED) == (outcome.status, outcome.reason)
    assert ("engine", "No.", None) == (outcome.answer_by, outcome.partial, outcome.output)
    assert "no Plan: the answer is no JSON object" == outcome.detail
    assert [UserMessage] == [type(entry) for entry in outcome.appended]


def test_the_closing_call_asks_for_no_type_and_its_words_are_the_answer() -> None:
    model = Scripted([Turn(calls=[LOOK]), Turn(calls=[LOOK])], closing=Turn("I looked. Shall I go on?"))
    loop = ToolLoop(model, tools=[look], output_type=Plan, limits=Limits(max_rounds=1))
    outcome = loop.run_sync("plan my week")
    assert [SCHEMA, SCHEMA, None] == schemas(model)
    assert (RunStatus.INCOMPLETE, "I looked. Shall I go on?") == (outcome.status, outcome.answer)
    assert None is outcome.output


def test_an_answer_of_the_type_in_the_closing_call_is_words_and_no_output() -> None:
    model = Scripted([Turn(calls=[LOOK])], closing=Turn(GOOD))
    outcome = ToolLoop(model, tools=[look], output_type=Plan, limits=Limits(max_rounds=0)).run_sync("plan")
    assert (RunStatus.INCOMPLETE, GOOD, None) == (outcome.status, outcome.answer, outcome.output)


def test_the_pieces_of_a_paused_turn_are_one_answer() -> None:
    model = Scripted([Turn('{"title": ', stop=Stop.PAUSED), Turn('"Strength"}')])
    outcome = ToolLoop(model, output_type=Plan).run_sync("plan my week")
    assert (RunStatus.COMPLETED, PLAN, GOOD) == (outcome.status, outcome.output, outcome.answer)


def test_a_failed_call_between_leaves_the_value_of_the_answer_alone() -> None:
    busy = Turn(error=ProviderOverloaded("scripted", "busy", retry_after=0.0))
    outcome = ToolLoop(Scripted([busy, Turn(GOOD)]), output_type=Plan).run_sync("plan my week")
    assert (RunStatus.COMPLETED, PLAN) == (outcome.status, outcome.output)


def test_an_answer_that_could_not_be_stored_is_no_output() -> None:
    class Broken:
        async def append(self, conversation_id: str, after: int, entries: tuple[object, ...]) -> None:
            if after:
                raise OSError

    outcome = ToolLoop(Scripted([Turn(GOOD)]), output_type=Plan, history=Broken()).run_sync("plan my week")
    assert (RunStatus.FAILED, None) == (outcome.status, outcome.output)


async def noticed(loop: ToolLoop[Plan]) -> tuple[list[Notice], Outcome[Plan]]:
    async with loop.start("plan my week") as live:
        return [notice async for notice in live.events(after=0)], await live.outcome()


def test_watchers_are_told_which_answer_was_dropped_and_which_stands() -> None:
    loop = ToolLoop(Scripted([Turn(BAD), Turn(GOOD)]), output_type=Plan, stream=True)
    seen, outcome = asyncio.run(noticed(loop))
    ended = [(each.kind, each.text) for each in seen if isinstance(each, TurnEnded)]
    assert [(TurnKind.DISCARDED, BAD), (TurnKind.ANSWER, GOOD)] == ended
    assert PLAN == outcome.output
    told = next(each for each in seen if isinstance(each, Ended)).to_json()["outcome"]
    assert isinstance(told, dict)
    assert {"title": "Strength", "days": 3} == told["output"]


class Unsayable(BaseModel):
    kg: int

    @field_serializer("kg")
    def say(self, kg: int) -> int:
        raise OSError


@pytest.mark.parametrize("answer", ['{"kg": 80}', '```json\n{"kg": 80}\n```'])
def test_a_value_that_cannot_be_said_is_told_as_it_came(answer: str) -> None:
    outcome = ToolLoop(Scripted([Turn(answer)]), output_type=Unsayable).run_sync("a goal")
    assert {"kg": 80} == outcome.to_json()["output"]


class Loose(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="constants")

    kg: float


def test_the_json_of_an_outcome_is_json_whatever_the_value() -> None:
    outcome = ToolLoop(Scripted([Turn('{"kg": "NaN"}')]), output_type=Loose).run_sync("a goal")
    assert '{"kg": "NaN"}' == json.dumps(outcome.to_json()["output"], allow_nan=False)


def test_an_outcome_is_hashable_though_its_output_is_not() -> None:
    outcome = ToolLoop(Scripted([Turn(GOOD)]), output_type=Plan).run_sync("plan my week")
    assert {outcome: 1} == {outcome: 1}


@define
class Shelf:
    kg: int


@pytest.mark.parametrize("kind", [str, list[Plan], Shelf, 5])
def test_a_type_that_cannot_be_asked_for_is_refused_when_the_loop_is_built(kind: type[object]) -> None:
    with pytest.raises(InvalidValue, match=r"^output_type: "):
        ToolLoop(Scripted(), output_type=kind)
    with pytest.raises(InvalidValue, match=r"^output_type: "):
        ToolLoop(Scripted()).start("hello", output_type=kind)
    with pytest.raises(InvalidValue, match=r"^output_type: "):
        ToolLoop(Scripted()).evolve(output_type=kind)
