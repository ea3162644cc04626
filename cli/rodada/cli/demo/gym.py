"""
The gym assistant: its instructions and its tools. The tools are real; what they read is a small training log.
"""

from datetime import date
from typing import Annotated

from pydantic import BaseModel, Field

from rodada.cli.demo.desk import Desk
from rodada.cli.demo.records import records
from rodada.tools import ToolError, tool
from rodada.tools.loading import AnyFunctionTool

INSTRUCTIONS = (
    "You are a gym assistant. Today is 31 October 2026. Exercises in the training log: bench press, squat, deadlift. "
    "Use the tools for every figure; never guess one. Answer briefly, in plain text."
)

Month = Annotated[str, Field(pattern=r"^\d{4}-\d{2}$", description="year and month, such as 2026-10")]


class Lift(BaseModel):
    """
    The best set of a training day.
    """

    date: date
    kg: float
    reps: int


@tool(reads="training_log")
def read_training_log(exercise: str, month: Month) -> list[Lift]:
    """
    Read the lifts of one exercise in one month, oldest first.
    """
    rows = [row for row in records("training_log.csv") if row["exercise"] == exercise and row["date"][:7] == month]
    return [Lift(date=date.fromisoformat(row["date"]), kg=float(row["kg"]), reps=int(row["reps"])) for row in rows]


@tool(reads=())
def compute_record(lifts: list[Lift]) -> dict[str, object]:
    """
    Compute the record and the improvement in some lifts of one exercise, oldest first.
    """
    if not lifts:
        raise ToolError("There are no lifts to compute a record from: read the training log first.")
    best = max(lifts, key=lambda lift: (lift.kg, lift.reps))
    return {
        "first_kg": lifts[0].kg,
        "best_kg": best.kg,
        "best_date": best.date,
        "improvement_kg": best.kg - lifts[0].kg,
        "estimated_one_rep_max_kg": round(best.kg * (1 + best.reps / 30), 1),
    }


def gym_tools(desk: Desk) -> tuple[AnyFunctionTool, ...]:
    """
    The tools of a gym assistant at a desk.
    """

    @tool(writes="goals")
    def save_goal(exercise: str, kg: Annotated[float, Field(gt=0, le=500)]) -> str:
        """
        Save the person's goal for an exercise, in kg.
        """
        desk.save_goal(exercise, kg)
        return f"Saved: the goal for {exercise} is {kg:g} kg."

    @tool(reads="body_weight")
    def read_body_weight() -> str:
        """
        Read the person's body weight from the export of their scales.
        """
        return (desk.folder / "body_weight.csv").read_text(encoding="utf-8")

    @tool(writes="coach", timeout=20)
    async def ask_coach(question: str) -> str:
        """
        Ask the person's coach a question and wait for the answer.
        """
        desk.ask_coach(question)
        await desk.coach_replied.wait()
        return "The coach has read the question."

    return (read_training_log, compute_record, save_goal, read_body_weight, ask_coach)
