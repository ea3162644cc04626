"""
The command `lab`. What it leads to is imported when it is called, so that help stays quick.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

NOT_COMPLETED = 3


def lab(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="The simulated calls.")],
    max_iterations: Annotated[
        int, typer.Option(min=0, help="Rounds at most; each makes all calls that wait for nothing.")
    ] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """
    Run simulated calls, with what they need of one another, as a run of the loop on a scripted model.

    Exit codes: 0 every call has its result, 3 the iterations were used up before, 2 wrong use.
    """
    import asyncio

    from rodada.cli.errors import WrongUse
    from rodada.cli.lab.calls import read_calls
    from rodada.cli.lab.running import completed, lab_json, lab_lines, run_lab
    from rodada.cli.own_output import print_json
    from rodada.statemachine.errors import FormatError

    try:
        calls = read_calls(file)
    except FormatError as error:
        raise WrongUse(str(error)) from error
    outcome = asyncio.run(run_lab(calls, max_iterations))
    if as_json:
        print_json(lab_json(calls, outcome), sys.stdout)
    else:
        print("\n".join(lab_lines(calls, outcome)))
    raise typer.Exit(0 if completed(outcome) else NOT_COMPLETED)
