"""
The command `check`.
"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rodada.statemachine.checker import Bounds

NOT_SOUND = 1


def check(
    bounds: Annotated[
        str, typer.Option(metavar="rounds=N,requests=N,...", help="How far to go; also attempts, pauses, approvers.")
    ] = "",
    mutants: Annotated[bool, typer.Option("--mutants", help="Try every small mistake in the table too.")] = False,
    killers: Annotated[bool, typer.Option("--killers", help="Also print how each mutant was caught.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """
    Check the table: every run that it can reach within bounds is held against the promises.

    Exit code 0 when it is sound: no promise is broken, no row is never taken, no mistake goes unseen; 1 when not.
    """
    from rodada.cli.check_report import report_json, report_lines
    from rodada.cli.own_output import print_json
    from rodada.statemachine import checker

    report = checker.check(_bounds(bounds), mutants=mutants or killers)
    if as_json:
        print_json(report_json(report), sys.stdout)
    else:
        print("\n".join(report_lines(report, killers=killers)))
    raise typer.Exit(0 if report.sound else NOT_SOUND)


def _bounds(text: str) -> "Bounds":
    from rodada.cli.errors import WrongUse
    from rodada.statemachine.checker import Bounds
    from rodada.statemachine.errors import InvalidValue

    try:
        return Bounds.parse(text)
    except InvalidValue as error:
        raise WrongUse(f"--bounds: {error}") from error
