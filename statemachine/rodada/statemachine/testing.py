"""
What tests of a host say of a run: which calls there were, and along which rows it went.

A failure shows the calls, or the rows, that there were. `ToolLoop.using(provider=...)` puts another model in the place
of a loop's own, and `RODADA_OFFLINE=1` in the environment makes every vendor's provider raise before it opens a socket.
"""

from collections.abc import Iterator, Mapping
from types import EllipsisType
from typing import TypeAlias

from rodada.statemachine.jsontext import JsonValue, canonical_json, parse_object
from rodada.statemachine.messages import Status
from rodada.statemachine.outcome import CallRecord, Outcome

Rows: TypeAlias = str | EllipsisType

WITHHELD = (Status.NOT_EXECUTED, Status.DENIED)


def assert_called(outcome: Outcome, name: str, /, **arguments: JsonValue) -> CallRecord:
    """
    The first call of a tool that was let through, whatever came of it.

    Args:
        outcome: of the run.
        name: of the tool.
        arguments: those that the call must have, among others; compared as JSON.

    Raises:
        AssertionError: there was no such call; withheld and denied ones are none.
    """
    found = next(_calls(outcome, name, arguments), None)
    assert found is not None, f"{_shown(name, arguments)} was not called; {_told(outcome)}"
    return found


def assert_not_called(outcome: Outcome, name: str, /, **arguments: JsonValue) -> None:
    """
    No call of a tool, or none with such arguments, was let through.

    Raises:
        AssertionError: there was one.
    """
    found = next(_calls(outcome, name, arguments), None)
    assert found is None, f"{_shown(name, arguments)} was called; {_told(outcome)}"


def assert_path(outcome: Outcome, *rows: Rows) -> None:
    """
    The run went along these rows of the table, in this order; `...` stands for any number of others.

    Raises:
        AssertionError: it went another way.
    """
    went = tuple(step.row for step in outcome.transitions)
    wanted = ", ".join("..." if row is ... else row for row in rows)
    assert _fits(rows, went), f"the path was not {wanted}; it was {', '.join(went) or 'empty'}"


def _calls(outcome: Outcome, name: str, arguments: Mapping[str, JsonValue]) -> Iterator[CallRecord]:
    for call in outcome.calls:
        if call.name == name and call.status not in WITHHELD and _has(call, arguments):
            yield call


def _has(call: CallRecord, arguments: Mapping[str, JsonValue]) -> bool:
    given = parse_object(call.arguments) or {}
    return all(key in given and canonical_json(given[key]) == canonical_json(arguments[key]) for key in arguments)


def _fits(rows: tuple[Rows, ...], went: tuple[str, ...]) -> bool:
    if not rows:
        return not went
    first, *rest = rows
    if first is ...:
        return any(_fits(tuple(rest), went[skipped:]) for skipped in range(len(went) + 1))
    return bool(went) and went[0] == first and _fits(tuple(rest), went[1:])


def _shown(name: str, arguments: Mapping[str, JsonValue]) -> str:
    return f"{name}({', '.join(f'{key}={canonical_json(value)}' for key, value in arguments.items())})"


def _told(outcome: Outcome) -> str:
    calls = [f"{call.name} {call.arguments} ({call.status.value})" for call in outcome.calls]
    return f"the calls were: {'; '.join(calls) or 'none'}"
