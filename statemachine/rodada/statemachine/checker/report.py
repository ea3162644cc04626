"""
What a check found, as one value: the command line prints it, a test asserts on it.
"""

from attrs import frozen

from rodada.statemachine.checker.bounds import Bounds, Scene, scenes
from rodada.statemachine.checker.explore import Exploration, explore
from rodada.statemachine.checker.mutants import Caught, Survivor, try_mutants
from rodada.statemachine.checker.promises import RUN_PROMISES, STEP_PROMISES
from rodada.statemachine.machine import FLOW
from rodada.statemachine.table import TABLE


@frozen
class CheckReport:
    """
    What a check found.

    Attributes:
        bounds: how far it went.
        scenes: what was explored.
        seen: runs, steps, rows, ends, and the first violation.
        dead: rows that no run takes within the bounds.
        caught: mutants and the promise that caught each.
        survivors: mutants that were not caught, with what implies them.
    """

    bounds: Bounds
    scenes: tuple[Scene, ...]
    seen: Exploration
    dead: tuple[str, ...]
    caught: tuple[Caught, ...] = ()
    survivors: tuple[Survivor, ...] = ()

    @property
    def sound(self) -> bool:
        """
        No promise is broken, no row is dead, and every survivor is implied by other guards. Within bounds narrower
        than the usual ones a row may be out of reach, which says nothing against the table.
        """
        unexplained = [each.name for each in self.survivors if not each.implied_by and each.row not in self.dead]
        return self.seen.violation is None and not unexplained and not (self.dead and self.bounds.cover(Bounds()))


def check(bounds: Bounds = Bounds(), *, mutants: bool = False) -> CheckReport:
    """
    Explore the table within some bounds, and its mutants if asked.
    """
    played = scenes(bounds)
    explored = tuple(explore(FLOW, (scene,)) for scene in played)
    seen = Exploration()
    for each in explored:
        seen.add(each)
    dead = tuple(row.name for row in TABLE if row.name not in seen.rows)
    caught, survivors = try_mutants(bounds, explored) if mutants and seen.violation is None else ((), ())
    return CheckReport(bounds, played, seen, dead, caught, survivors)


def promises() -> tuple[tuple[str, str], ...]:
    """
    Name and sentence of each promise that runs and steps are held against.
    """
    return tuple((each.__name__, " ".join((each.__doc__ or "").split())) for each in (*RUN_PROMISES, *STEP_PROMISES))
