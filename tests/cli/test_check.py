"""
`rodada check`: what was explored, what holds, and its exit code.
"""

import json

import pytest

from rodada.cli import check_report
from rodada.statemachine.checker import Bounds, CheckReport, Exploration, Violation, check, promises, scenes
from rodada.statemachine.checker.mutants import Caught, Survivor
from rodada.statemachine.table import TABLE
from support.command_line import Desk

SMALL = "rounds=0,requests=1,attempts=1,pauses=0,approvers=1"
BROKEN = Violation("nothing: is right", "1 rounds, plain", ("starts", "model_called: HistoryAppended"))


def report(
    violation: Violation | None = None,
    dead: tuple[str, ...] = (),
    caught: tuple[Caught, ...] = (),
    survivors: tuple[Survivor, ...] = (),
) -> CheckReport:
    seen = Exploration(runs=1234, steps=5678, refused=9, rows={"model_called": 3}, ends={"Finalize answered": 2})
    seen.violation = violation
    return CheckReport(Bounds(), scenes(Bounds()), seen, dead, caught, survivors)


def lines(found: CheckReport, *, killers: bool = False) -> list[str]:
    return list(check_report.report_lines(found, killers=killers))


def test_it_says_what_was_explored_and_what_holds() -> None:
    told = lines(report())
    assert told[:3] == [
        "bounds: rounds=2, requests=2, attempts=2, pauses=1, approvers=2",
        "scenes: 18, each with every order of events, honest and dishonest",
        "  0 rounds, plain             requests<=1, max_rounds=0, max_attempts=1, max_pauses=0",
    ]
    assert "explored: 1,234 states, 5,678 steps; 9 dishonest events, each refused" in told
    assert f"rows used: 1 of {len(TABLE)}" in told
    assert {"        3  model_called", "        0  answer_stored", "        2  Finalize answered"} <= set(told)
    assert {f"  {sentence}" for _, sentence in promises()} <= set(told)
    assert told[-1] == "sound"


def test_a_broken_promise_is_told_with_its_path() -> None:
    told = lines(report(BROKEN, dead=("all_denied",)))
    assert told[-6:] == [
        "broken:",
        "  nothing: is right (1 rounds, plain)",
        "    starts",
        "    model_called: HistoryAppended",
        "rows out of reach within these bounds: all_denied",
        "NOT SOUND within these bounds",
    ]


CAUGHT = (Caught("answer_stored: row dropped", BROKEN), Caught("answer_kept: row dropped", BROKEN))
SURVIVORS = (Survivor("a", "a: g dropped", ("h is True", "i is False")), Survivor("b", "b: g dropped", ()))


def test_mutants_are_told_with_what_caught_them_and_what_implies_the_survivors() -> None:
    told = lines(report(caught=CAUGHT, survivors=SURVIVORS))
    assert told[-7:] == [
        "mutants: 4, caught 2, survived 2",
        "caught by:",
        "        2  nothing",
        "survivors, which change nothing because:",
        "  a: g dropped: h is True and i is False",
        "  b: g dropped: NOT CAUGHT",
        "NOT SOUND within these bounds",
    ]


def test_each_mutants_killer_can_be_printed_with_its_path() -> None:
    told = lines(report(caught=CAUGHT[:1]), killers=True)
    assert told[-7:] == [
        "killers:",
        "  answer_stored: row dropped",
        "    nothing: is right (1 rounds, plain)",
        "      starts",
        "      model_called: HistoryAppended",
        "no survivors",
        "sound",
    ]


def test_the_report_as_json() -> None:
    found = check_report.report_json(report(BROKEN, ("all_denied",), CAUGHT[:1], SURVIVORS[:1]))
    violation = {"promise": "nothing: is right", "scene": "1 rounds, plain", "path": list(BROKEN.path)}
    assert found == {
        "sound": False,
        "bounds": {"rounds": 2, "requests": 2, "attempts": 2, "pauses": 1, "approvers": 2},
        "scenes": [scene.name for scene in scenes(Bounds())],
        "promises": dict(promises()),
        "states": 1234,
        "steps": 5678,
        "refused": 9,
        "rows": {**{row.name: 0 for row in TABLE}, "model_called": 3},
        "dead": ["all_denied"],
        "ends": {"Finalize answered": 2},
        "violation": violation,
        "caught": [{"mutant": "answer_stored: row dropped", **violation}],
        "survivors": [{"mutant": "a: g dropped", "implied_by": ["h is True", "i is False"]}],
    }


def test_rows_out_of_reach_of_narrow_bounds_are_named_and_exit_0(desk: Desk) -> None:
    said = desk.command("check", "--bounds", SMALL)
    assert (said.code, said.err) == (0, "")
    found = check(Bounds.parse(SMALL))
    assert said.out.splitlines() == lines(found)
    assert found.dead


def test_a_sound_table_exits_0(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(bounds: Bounds, *, mutants: bool) -> CheckReport:
        assert (bounds, mutants) == (Bounds(), True)
        return report()

    monkeypatch.setattr("rodada.statemachine.checker.check", checked)
    said = desk.command("check", "--mutants", "--json")
    assert (said.code, json.loads(said.out)["sound"]) == (0, True)
    assert desk.command("check", "--killers").code == 0


def test_bounds_that_reach_no_row_of_a_mutant_are_no_crash(desk: Desk) -> None:
    said = desk.command("check", "--bounds", SMALL, "--mutants", "--json")
    found = json.loads(said.out)
    assert (said.code, said.err) == (0, "")
    unreached = [each for each in found["survivors"] if each["mutant"].startswith("all_denied: ")]
    assert {"mutant": "all_denied: row dropped", "implied_by": []} in unreached
    assert all(each["implied_by"] == [] for each in unreached)
