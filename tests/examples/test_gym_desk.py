"""
The gym's desk answers over several rounds, and lint names the tools of it that code could do.
"""

import asyncio
import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import cast

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import ApprovalAsked, Outcome, Provider, RunStatus, Status, ToolLoop

FILE = Path(__file__).parents[2] / "examples" / "gym_desk" / "desk.py"


@pytest.fixture(scope="module")
def desk() -> Callable[[Provider], ToolLoop]:
    return cast("Callable[[Provider], ToolLoop]", runpy.run_path(str(FILE))["desk"])


def played(desk: Callable[[Provider], ToolLoop], folder: Path, *turns: Turn) -> Outcome:
    return desk(Scripted(turns)).run_sync("Go.", context=folder)


def texts(outcome: Outcome) -> list[str]:
    return [call.text for call in outcome.calls]


def test_a_set_is_noted_and_what_to_load_is_reckoned_from_the_log(
    desk: Callable[[Provider], ToolLoop], tmp_path: Path
) -> None:
    done = {"exercise": "squat", "kg": 100, "repetitions": 6}
    outcome = played(
        desk,
        tmp_path,
        Turn(calls=[Call("log_set", done), Call("read_log", {"exercise": "squat"}), Call("today")]),
        Turn(calls=[Call("one_repetition_maximum", {"kg": 100, "repetitions": 6})]),
        Turn(calls=[Call("working_weight", {"maximum": 120, "repetitions": 3})]),
        Turn(calls=[Call("plates", {"kg": 107.5})]),
        Turn("Load 107.5 kg."),
    )
    day = date.today().isoformat()
    assert (RunStatus.COMPLETED, "Load 107.5 kg.", 4) == (outcome.status, outcome.answer, outcome.rounds)
    assert [
        "noted 6 x 100 kg",
        f'[["{day}",100.0,6]]',
        day,
        "120.0",
        "107.5",
        "[25.0,15.0,2.5,1.25]",
    ] == texts(outcome)
    assert [call.name for call in outcome.calls if call.deterministic] == ["working_weight"]
    assert {"squat": [[day, 100.0, 6]]} == json.loads((tmp_path / "log.json").read_text(encoding="utf-8"))


def test_a_wrong_set_and_an_unknown_exercise_change_nothing(
    desk: Callable[[Provider], ToolLoop], tmp_path: Path
) -> None:
    outcome = played(
        desk,
        tmp_path,
        Turn(
            calls=[
                Call("log_set", {"exercise": "squat", "kg": 0, "repetitions": 6}),
                Call("read_log", {"exercise": "yoga"}),
            ]
        ),
        Turn("Sorry."),
    )
    assert [Status.FAILED, Status.FAILED] == [call.status for call in outcome.calls]
    assert "A set has some weight and some repetitions." == texts(outcome)[0]
    assert [] == list(tmp_path.iterdir())


async def booked(loop: ToolLoop, folder: Path, yes: bool) -> Outcome:
    async with loop.start("Go.", context=folder) as live:
        async for event in live.events():
            if isinstance(event, ApprovalAsked):
                (live.approve if yes else live.deny)(event.id, by="ana")
        return await live.outcome()


@pytest.mark.parametrize(("yes", "status"), [(True, Status.SUCCEEDED), (False, Status.DENIED)])
def test_a_trainer_is_booked_only_when_somebody_says_yes(
    desk: Callable[[Provider], ToolLoop], tmp_path: Path, yes: bool, status: Status
) -> None:
    model = Scripted([Turn(calls=[Call("book_trainer", {"day": "2026-12-01"})]), Turn("Done.")])
    outcome = asyncio.run(booked(desk(model), tmp_path, yes))
    assert [status] == [call.status for call in outcome.calls]
    assert (["trainer-2026-12-01"] if yes else []) == [each.name for each in tmp_path.iterdir()]


def test_lint_names_what_code_could_do_and_why() -> None:
    rodada = Path(sys.executable).with_name("rodada")
    said = subprocess.run([rodada, "lint", str(FILE), "--json"], capture_output=True, text=True, timeout=60)
    told = {each["tool"]: each["verdict"] for each in json.loads(said.stdout)["findings"]}
    assert (1, "") == (said.returncode, said.stderr)
    assert told == dict.fromkeys(["one_repetition_maximum", "plates"], "should_leave_the_loop")
