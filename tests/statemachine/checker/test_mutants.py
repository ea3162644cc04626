"""
Mutants of the table are caught, or are no change, for a reason that is told.
"""

import pytest
from attrs import evolve

from rodada.statemachine.checker import Bounds, check, explore, hunt, mutants, scenes
from rodada.statemachine.checker.mutants import changes_nothing, implied_by
from rodada.statemachine.machine import FLOW
from rodada.statemachine.states import State
from rodada.statemachine.table import TABLE

SMALL = Bounds(rounds=1, requests=1, attempts=1)


def test_every_row_guard_and_destination_is_tried() -> None:
    guards = sum(len(row.guard_names) for row in TABLE)

    assert len(TABLE) * len(State) + 2 * guards == len(mutants())
    assert len({mutant.name for mutant in mutants()}) == len(mutants())


def test_a_mutant_is_the_table_with_one_change() -> None:
    for mutant in mutants():
        original = {row.name: row for row in TABLE}
        changed = [row for row in mutant.rows if original[row.name] != row]
        gone = set(original) - {row.name for row in mutant.rows}
        assert 1 == len(changed) + len(gone), mutant.name


@pytest.mark.parametrize(
    "name",
    [
        "answer_out_of_rounds: row dropped",
        "tools_started: rounds_left dropped",
        "tools_started: is_cut turned round",
        "answer_kept: goes to Finalize",
        "cancel_settled: goes to Finalize",
        "call_failed: goes to Finalize",
        "refusal_reported: goes to Error",
    ],
)
def test_a_mutant_is_caught_with_its_path(name: str) -> None:
    mutant = next(mutant for mutant in mutants() if mutant.name == name)
    violation = hunt(SMALL, mutant)

    assert violation is not None
    assert "starts" == violation.path[0]


def test_a_guard_that_others_imply_is_no_change_and_says_so() -> None:
    seen = explore(FLOW, scenes(SMALL))
    dropped = next(mutant for mutant in mutants() if mutant.name == "cancel_settled: entry_is_answer dropped")

    assert changes_nothing(dropped, seen)
    assert ("cancel_is_the_reason is True",) == implied_by(dropped, seen.answers)


def test_a_guard_that_nothing_implies_is_a_change() -> None:
    seen = explore(FLOW, scenes(SMALL))
    dropped = next(mutant for mutant in mutants() if mutant.name == "tools_started: has_reason dropped")

    assert not changes_nothing(dropped, seen)


def test_narrow_bounds_leave_rows_out_of_reach_and_say_nothing_against_the_table() -> None:
    report = check(SMALL)

    assert report.dead
    assert report.sound


def test_with_the_usual_bounds_a_row_out_of_reach_is_dead() -> None:
    assert not evolve(check(SMALL), bounds=Bounds()).sound


@pytest.mark.long
def test_all_mutants_are_caught_or_implied() -> None:
    report = check(mutants=True)

    assert report.sound
    assert len(mutants()) == len(report.caught) + len(report.survivors)
    assert all(survivor.implied_by for survivor in report.survivors)
