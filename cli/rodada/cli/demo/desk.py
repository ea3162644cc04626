"""
The desk that the gym assistant works at: a folder of the person's own, and a coach who has not answered yet.
"""

import asyncio
import json
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import Factory, frozen

from rodada.statemachine.jsontext import JsonValue, parse_object


@frozen(eq=False)
class Desk:
    """
    Where tools leave what they did.

    Attributes:
        folder: temporary, gone with the demo.
        coach_asked: set once a question lies in the coach's inbox.
        coach_replied: set by a coach; nobody plays one.
    """

    folder: Path
    coach_asked: asyncio.Event = Factory(asyncio.Event)
    coach_replied: asyncio.Event = Factory(asyncio.Event)

    @property
    def goals(self) -> Mapping[str, JsonValue]:
        """
        The saved goals in kg, by exercise.
        """
        file = self.folder / "goals.json"
        return (parse_object(file.read_text(encoding="utf-8")) or {}) if file.exists() else {}

    def save_goal(self, exercise: str, kg: float) -> None:
        """
        Keep a goal, in place of an earlier one.
        """
        goals = {**self.goals, exercise: kg}
        (self.folder / "goals.json").write_text(json.dumps(goals), encoding="utf-8")

    def ask_coach(self, question: str) -> None:
        """
        Put a question into the coach's inbox.
        """
        (self.folder / "coach_inbox.txt").write_text(question, encoding="utf-8")
        self.coach_asked.set()


@contextmanager
def new_desk() -> Generator[Desk]:
    """
    An empty desk, cleared away at the end.
    """
    with tempfile.TemporaryDirectory(prefix="rodada-demo-") as folder:
        yield Desk(Path(folder))
