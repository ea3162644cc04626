"""
The checker: explores every run that a table can reach within bounds, and holds each one against the promises.
"""

from rodada.statemachine.checker.bounds import Bounds, Scene, scenes
from rodada.statemachine.checker.explore import Exploration, Violation, explore
from rodada.statemachine.checker.mutants import Caught, Mutant, Survivor, hunt, mutants, try_mutants
from rodada.statemachine.checker.report import CheckReport, check, promises

__all__ = [
    "Bounds",
    "Caught",
    "CheckReport",
    "Exploration",
    "Mutant",
    "Scene",
    "Survivor",
    "Violation",
    "check",
    "explore",
    "hunt",
    "mutants",
    "promises",
    "scenes",
    "try_mutants",
]
