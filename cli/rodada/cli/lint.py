"""
The command `lint`.
"""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rodada.statemachine.jsontext import JsonObject
    from rodada.tools.lint import Judged

FOUND = 1
ADVICE = {
    "should_leave_the_loop": "its arguments alone decide the result: call it in code, or say deterministic=True",
    "declared_deterministic_but_is_not": "it says deterministic=True, and more than its arguments decides the result",
}


def lint(
    source: Annotated[str, typer.Argument(metavar="FILE.py|MODULE", help="Where the tools are; read, never run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """
    Find tools that should leave the loop: code alone can do their work.

    Also the other way round: tools that say deterministic=True and do I/O. Exit codes: 0 nothing found, 1 something
    found, 2 wrong use.
    """
    from rodada.cli.errors import WrongUse
    from rodada.cli.own_output import print_json
    from rodada.tools.errors import ToolLoadError
    from rodada.tools.lint import lint_tools

    try:
        judged = lint_tools(source)
    except ToolLoadError as error:
        raise WrongUse(str(error)) from error
    if as_json:
        print_json(_report(source, judged), sys.stdout)
    else:
        print("\n".join(_lines(source, judged)))
    raise typer.Exit(FOUND if any(each.is_finding for each in judged) else 0)


def _report(source: str, judged: "tuple[Judged, ...]") -> "JsonObject":
    return {
        "source": source,
        "findings": [_tool_json(each) for each in judged if each.is_finding],
        "others": [_tool_json(each) for each in judged if not each.is_finding],
    }


def _tool_json(judged: "Judged") -> "JsonObject":
    return {
        "tool": judged.name,
        "line": judged.line,
        "verdict": judged.verdict.value,
        "reason": judged.reason,
        "evidence": [{"line": fact.line, "what": fact.what} for fact in judged.evidence],
        "doubts": [{"line": fact.line, "what": fact.what} for fact in judged.doubts],
    }


def _lines(source: str, judged: "tuple[Judged, ...]") -> Iterator[str]:
    from rodada.cli.plain import one_line

    for each in judged:
        if each.is_finding:
            yield one_line(f"{source}:{each.line}: {each.name}: {ADVICE[each.verdict.value]} ({each.reason})")
    found = sum(each.is_finding for each in judged)
    yield f"{len(judged)} tools, {found} to change"
