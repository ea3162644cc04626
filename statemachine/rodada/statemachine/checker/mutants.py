"""
Mutants of the table: one row or guard dropped, one guard turned round, one wrong destination. Each must be caught by
a promise, or be no change at all within the bounds, because other guards of its row imply the one that is gone.
"""

import itertools
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from attrs import frozen

from rodada.statemachine.checker.bounds import Bounds, scenes
from rodada.statemachine.checker.explore import Exploration, Violation, expected_answers, explore
from rodada.statemachine.machine import Flow
from rodada.statemachine.states import State
from rodada.statemachine.table import TABLE, AnyRow

Answers = Mapping[str, set[tuple[bool, ...]]]


@frozen
class Mutant:
    """
    A table with one mistake.

    Attributes:
        row: name of the row that was changed.
        change: what was done to it.
        rows: the table with the mistake.
        fits: what the changed row's guards must say, in the original's order; None where that is not what changed.
    """

    row: str
    change: str
    rows: tuple[AnyRow, ...]
    fits: tuple[bool | None, ...] | None = None

    @property
    def name(self) -> str:
        """
        Row and change.
        """
        return f"{self.row}: {self.change}"


@frozen
class Caught:
    """
    A mutant, and the violation that it led to.
    """

    name: str
    violation: Violation


@frozen
class Survivor:
    """
    A mutant that changes nothing within the bounds: `implied_by` are the answers of its row's other guards that
    imply the one that is gone. Without any it was simply not caught.
    """

    row: str
    name: str
    implied_by: tuple[str, ...]


def mutants(table: tuple[AnyRow, ...] = TABLE) -> tuple[Mutant, ...]:
    """
    Every mutant of a table.
    """
    return tuple(itertools.chain.from_iterable(_mutants_of(table, index) for index in range(len(table))))


def _mutants_of(table: tuple[AnyRow, ...], index: int) -> Iterator[Mutant]:
    row = table[index]
    others = (table[:index], table[index + 1 :])

    def changed(change: str, *now: AnyRow, fits: tuple[bool | None, ...] | None = None) -> Mutant:
        return Mutant(row.name, change, (*others[0], *now, *others[1]), fits)

    yield changed("row dropped")
    for state in State:
        if state is not row.to:
            yield changed(f"goes to {state.value}", row.going(state))
    wanted = expected_answers(row)
    for place, guard in enumerate(row.guard_names):
        before, after = wanted[:place], wanted[place + 1 :]
        yield changed(f"{guard} dropped", row.dropping(place), fits=(*before, None, *after))
        yield changed(f"{guard} turned round", row.turning(place), fits=(*before, not wanted[place], *after))


def try_mutants(
    bounds: Bounds, explored: tuple[Exploration, ...], processes: int = 2
) -> tuple[tuple[Caught, ...], tuple[Survivor, ...]]:
    """
    Which mutants are caught and which survive.

    Args:
        bounds: of the exploration.
        explored: what the right table was seen to do, scene by scene, within the same bounds.
        processes: how many explore side by side.
    """
    found = mutants()
    firsts = [_first_scene(mutant, explored) for mutant in found]
    tried = [index for index, first in enumerate(firsts) if first is not None]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        hunts = pool.map(partial(_hunt, bounds), tried, [firsts[index] or 0 for index in tried], chunksize=16)
        violations = dict(zip(tried, hunts, strict=True))
    caught = tuple(Caught(found[index].name, seen) for index, seen in violations.items() if seen is not None)
    answers = _all_answers(explored)
    survivors = tuple(
        Survivor(mutant.row, mutant.name, implied_by(mutant, answers) if firsts[index] is None else ())
        for index, mutant in enumerate(found)
        if violations.get(index) is None
    )
    return caught, survivors


def _hunt(bounds: Bounds, index: int, first: int) -> Violation | None:
    return hunt(bounds, mutants()[index], first)


def hunt(bounds: Bounds, mutant: Mutant, first: int = 0) -> Violation | None:
    """
    The first violation of a mutant, beginning with scene number `first`, then smallest first.
    """
    every = scenes(bounds)
    return explore(Flow(mutant.rows), (every[first], *every[:first], *every[first + 1 :])).violation


def _first_scene(mutant: Mutant, explored: tuple[Exploration, ...]) -> int | None:
    """
    The first scene in which the mutant can differ from the original; None when it can in none.
    """
    return next((number for number, seen in enumerate(explored) if not changes_nothing(mutant, seen)), None)


def changes_nothing(mutant: Mutant, seen: Exploration) -> bool:
    """
    Whether the changed row fits exactly when the original did, for all answers of its guards that were seen (or,
    where another thing was changed, whether the row is never taken): then the mutant's exploration is the original's,
    step by step.
    """
    if mutant.fits is None:
        return mutant.row not in seen.rows
    wanted = expected_answers(_original(mutant))
    return all((said == wanted) == _matches(said, mutant.fits) for said in seen.answers.get(mutant.row, ()))


def _original(mutant: Mutant) -> AnyRow:
    return next(row for row in TABLE if row.name == mutant.row)


def _matches(said: tuple[bool, ...], wanted: tuple[bool | None, ...]) -> bool:
    return all(want is None or answer == want for answer, want in zip(said, wanted, strict=True))


def _all_answers(explored: tuple[Exploration, ...]) -> Answers:
    total = Exploration()
    for seen in explored:
        total.add(seen)
    return total.answers


def implied_by(mutant: Mutant, answers: Answers) -> tuple[str, ...]:
    """
    A smallest set of the row's other guards whose answers imply the one that was dropped; nothing when no guard was
    dropped, or the row was never considered: then only wider bounds can tell.
    """
    if mutant.fits is None or None not in mutant.fits or mutant.row not in answers:
        return ()
    original = _original(mutant)
    wanted = expected_answers(original)
    gone = mutant.fits.index(None)
    rest = [place for place in range(len(wanted)) if place != gone]
    for size in range(len(rest) + 1):
        for places in itertools.combinations(rest, size):
            met = [said for said in answers[mutant.row] if all(said[place] == wanted[place] for place in places)]
            if all(said[gone] == wanted[gone] for said in met):
                told = tuple(f"{original.guard_names[place]} is {wanted[place]}" for place in places)
                return told or ("it is always so",)
    return ()
