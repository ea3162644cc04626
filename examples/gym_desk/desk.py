"""
The desk of a gym: a whole loop with seven tools, some of which code could do without a model's round.

    python examples/gym_desk/desk.py "What should I load for five reps of bench press?"  # needs ANTHROPIC_API_KEY
    rodada lint examples/gym_desk/desk.py
"""

import json
import sys
from datetime import date
from pathlib import Path
from typing import Literal

from rodada.providers.anthropic import Anthropic
from rodada.statemachine import Limits, Provider, RunStatus, ToolLoop
from rodada.tools import Context, ToolError, tool

INSTRUCTIONS = "You are the desk of a gym. Answer in short sentences. Weights are in kg."
Exercise = Literal["bench press", "squat", "deadlift"]
Log = dict[str, list[tuple[str, float, int]]]


def log_of(folder: Path) -> Log:
    file = folder / "log.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


@tool(reads="log")
def read_log(ctx: Context[Path], exercise: Exercise, last: int = 5) -> list[tuple[str, float, int]]:
    """
    The newest sets of an exercise: day, kg, repetitions.
    """
    return log_of(ctx.value).get(exercise, [])[-last:]


@tool(writes="log")
def log_set(ctx: Context[Path], exercise: Exercise, kg: float, repetitions: int) -> str:
    """
    Note a set that was done today.
    """
    if kg <= 0 or repetitions <= 0:
        raise ToolError("A set has some weight and some repetitions.")
    log = log_of(ctx.value)
    log.setdefault(exercise, []).append((date.today().isoformat(), kg, repetitions))
    (ctx.value / "log.json").write_text(json.dumps(log), encoding="utf-8")
    return f"noted {repetitions} x {kg:g} kg"


@tool(writes=lambda a: f"booking:{a['day']}", needs_approval=True)
def book_trainer(ctx: Context[Path], day: date) -> str:
    """
    Book an hour with a trainer; somebody of the gym must say yes.
    """
    (ctx.value / f"trainer-{day.isoformat()}").touch()
    return f"booked for {day.isoformat()}"


@tool(reads=())
def today() -> date:
    """
    The day.
    """
    return date.today()


@tool(reads=())
def one_repetition_maximum(kg: float, repetitions: int) -> float:
    """
    The weight that could be lifted once, estimated by Epley's formula.
    """
    return kg if repetitions == 1 else round(kg * (1 + repetitions / 30), 1)


@tool(reads=())
def plates(kg: float, bar: float = 20) -> list[float]:
    """
    The plates for each side of the bar, heaviest first.
    """
    left, found = (kg - bar) / 2, list[float]()
    for plate in (25.0, 20.0, 15.0, 10.0, 5.0, 2.5, 1.25):
        while left >= plate:
            found.append(plate)
            left -= plate
    return found


@tool(deterministic=True)
def working_weight(maximum: float, repetitions: int) -> float:
    """
    What to load for a number of repetitions, rounded down to what plates can make.
    """
    return maximum / (1 + repetitions / 30) // 2.5 * 2.5


TOOLS = (read_log, log_set, book_trainer, today, one_repetition_maximum, plates, working_weight)


def desk(provider: Provider) -> ToolLoop:
    """
    The loop: what is independent runs together, and a message gets at most six rounds and a minute.
    """
    return ToolLoop(
        provider,
        tools=TOOLS,
        instructions=INSTRUCTIONS,
        limits=Limits(max_rounds=6, seconds=60),
        parallel=True,
    )


def main(message: str) -> int:
    """
    Answer one message, with the log of this folder.
    """
    with desk(Anthropic("claude-opus-5-5")) as loop:
        outcome = loop.run_sync(message, context=Path.cwd())
    print(outcome.answer)
    for call in outcome.calls:
        print(f"  {call.name} {call.arguments}: {call.status.value}", file=sys.stderr)
    return 0 if outcome.status is RunStatus.COMPLETED else 1


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
