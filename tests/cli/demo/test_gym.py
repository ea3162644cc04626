"""
The gym assistant's tools do what they say; the scripted model asks with figures that stand in the log.
"""

import asyncio
import json
from datetime import date

import pytest

from rodada.cli.demo.desk import new_desk
from rodada.cli.demo.gym import Lift, compute_record, gym_tools, read_training_log
from rodada.cli.demo.scenes import OCTOBER
from rodada.statemachine import Status, ToolRequest, ToolResult
from rodada.statemachine.ports import CallSetting
from rodada.tools import ToolError


def test_the_log_is_read_by_exercise_and_month() -> None:
    assert read_training_log("squat", "2026-08") == [
        Lift(date=date(2026, 8, 6), kg=95, reps=5),
        Lift(date=date(2026, 8, 20), kg=100, reps=5),
    ]
    assert read_training_log("juggling", "2026-08") == []


def test_the_script_asks_with_what_the_log_says() -> None:
    assert [Lift.model_validate(lift) for lift in OCTOBER] == read_training_log("bench press", "2026-10")


def test_a_record_is_the_heaviest_lift_and_of_equal_ones_that_with_most_repetitions() -> None:
    lifts = [Lift(date=date(2026, 1, day), kg=kg, reps=reps) for day, kg, reps in ((1, 60, 3), (2, 75, 1), (3, 75, 4))]
    assert compute_record(lifts) == {
        "first_kg": 60,
        "best_kg": 75,
        "best_date": date(2026, 1, 3),
        "improvement_kg": 15,
        "estimated_one_rep_max_kg": 85.0,
    }


def test_no_lifts_no_record() -> None:
    with pytest.raises(ToolError, match="read the training log first"):
        compute_record([])


def test_goals_lie_on_the_desk_and_a_later_one_replaces_an_earlier_one() -> None:
    with new_desk() as desk:
        tools = {tool.name: tool for tool in gym_tools(desk)}
        before = dict(desk.goals)
        told = [tools["save_goal"]("squat", kg) for kg in (110, 112.5)]
        after, folder = dict(desk.goals), desk.folder
    assert (before, after) == ({}, {"squat": 112.5})
    assert told == ["Saved: the goal for squat is 110 kg.", "Saved: the goal for squat is 112.5 kg."]
    assert not folder.exists()


def test_the_coach_gets_the_question_and_may_reply() -> None:
    async def ask_and_reply() -> tuple[ToolResult, str]:
        with new_desk() as desk:
            asked = {tool.name: tool for tool in gym_tools(desk)}["ask_coach"]
            request = ToolRequest("c1", "ask_coach", json.dumps({"question": "Is 150 kg wise?"}))
            call = asyncio.create_task(asked.call(request, CallSetting()).run())
            await desk.coach_asked.wait()
            waits = not call.done()
            desk.coach_replied.set()
            assert waits
            return await call, (desk.folder / "coach_inbox.txt").read_text(encoding="utf-8")

    result, inbox = asyncio.run(ask_and_reply())
    assert (result.status, result.text) == (Status.SUCCEEDED, "The coach has read the question.")
    assert inbox == "Is 150 kg wise?"
