"""
The calls of a lab, read from a JSON file and refused where they could never run.
"""

import graphlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, cast

from attrs import field, frozen

from rodada.cli.lab.references import referred
from rodada.statemachine.errors import FormatError
from rodada.statemachine.jsontext import JsonError, JsonObject, JsonValue, canonical_json, parse_json

T = TypeVar("T")

FIELDS = ("id", "name", "arguments", "depends_on", "deterministic", "seconds", "fails", "result")
LONGEST_ID = 100


@frozen(kw_only=True)
class LabCall:
    """
    One simulated call.

    Attributes:
        id: unique in the lab.
        name: of the tool.
        arguments: what it is called with; may refer to the results of other calls.
        needs: ids of the calls that must succeed before: `depends_on`, and those that the arguments refer to.
        deterministic: whether plain code answers it, at once.
        seconds: how long it takes, when a tool answers it.
        fails: why it fails; "" when it succeeds.
        result: what it gives, in a list; empty for its own arguments.
    """

    id: str
    name: str
    arguments: JsonObject = field(factory=dict[str, JsonValue])
    needs: tuple[str, ...] = ()
    deterministic: bool = False
    seconds: float = 0.0
    fails: str = ""
    result: tuple[JsonValue, ...] = ()


def read_calls(path: Path) -> tuple[LabCall, ...]:
    """
    The calls of a file, in its order.

    Raises:
        FormatError: it cannot be read, is no JSON, is malformed, names an unknown id, or has a cycle.
    """
    try:
        return calls_of(parse_json(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise FormatError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FormatError(str(path), "expected JSON in UTF-8") from None
    except JsonError as error:
        raise FormatError(str(path), f"is no JSON: {error}") from None


def calls_of(value: JsonValue) -> tuple[LabCall, ...]:
    """
    The calls that some JSON stands for.

    Raises:
        FormatError: malformed, an unknown or a repeated id, a cycle, or deterministic calls that contradict each other.
    """
    listed = value.get("calls") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(listed, list) or len(value) > 1:
        raise FormatError("$", 'expected an object {"calls": [...]}')
    calls = tuple(_call(each, f"calls[{position}]") for position, each in enumerate(listed))
    _check_ids(calls)
    _check_cycles(calls)
    _check_ends(calls)
    return calls


def order_of(calls: tuple[LabCall, ...]) -> tuple[str, ...]:
    """
    The ids of calls without a cycle, each behind those that it needs.
    """
    return tuple(graphlib.TopologicalSorter({call.id: call.needs for call in calls}).static_order())


def _call(value: JsonValue, place: str) -> LabCall:
    if not isinstance(value, dict):
        raise FormatError(place, "expected an object")
    unknown = [key for key in value if key not in FIELDS]
    if unknown:
        raise FormatError(place, f"has no field {unknown[0][:LONGEST_ID]!r}; these are there: {', '.join(FIELDS)}")
    arguments = _taken(value, "arguments", dict, {}, place)
    return LabCall(
        id=_word(value, "id", place),
        name=_word(value, "name", place),
        arguments=cast(JsonObject, arguments),
        needs=tuple(dict.fromkeys((*_depends_on(value, place), *referred(arguments, f"{place}.arguments")))),
        deterministic=_taken(value, "deterministic", bool, False, place),
        seconds=_seconds(value, place),
        fails=_fails(value, place),
        result=(value["result"],) if "result" in value else (),
    )


def _taken(value: JsonObject, key: str, kind: type[T], otherwise: T, place: str) -> T:
    found = value.get(key, otherwise)
    if not isinstance(found, kind):
        wanted = {"dict": "an object", "list": "a list", "bool": "true or false"}
        raise FormatError(f"{place}.{key}", f"expected {wanted[kind.__name__]}")
    return found


def _word(value: JsonObject, key: str, place: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found.isprintable() or not 0 < len(found.strip()) == len(found) <= LONGEST_ID:
        raise FormatError(f"{place}.{key}", f"expected a text of 1 to {LONGEST_ID} printable characters")
    return found


def _depends_on(value: JsonObject, place: str) -> list[str]:
    ids = cast("list[JsonValue]", _taken(value, "depends_on", list, [], place))
    if not all(isinstance(each, str) for each in ids):
        raise FormatError(f"{place}.depends_on", "expected a list of ids")
    return cast("list[str]", ids)


def _seconds(value: JsonObject, place: str) -> float:
    seconds = value.get("seconds", 0.0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise FormatError(f"{place}.seconds", "expected a number of seconds >= 0")
    return float(seconds)


def _fails(value: JsonObject, place: str) -> str:
    match value.get("fails", False):
        case False:
            return ""
        case True:
            return f"{value['id']} failed."
        case str(text) if text.strip():
            return text
        case _:
            raise FormatError(f"{place}.fails", "expected true, false or the text of the error")


def _check_ids(calls: tuple[LabCall, ...]) -> None:
    places: dict[str, int] = {}
    for position, call in enumerate(calls):
        if call.id in places:
            raise FormatError(f"calls[{position}].id", f"{call.id!r} is the id of calls[{places[call.id]}] too")
        places[call.id] = position
    for position, call in enumerate(calls):
        _check_needs(call, places, f"calls[{position}]")


def _check_needs(call: LabCall, known: Mapping[str, int], place: str) -> None:
    for needed in call.needs:
        if needed not in known:
            raise FormatError(place, f"{call.id!r} needs {needed[:LONGEST_ID]!r}, and there is no call with that id")


def _check_cycles(calls: tuple[LabCall, ...]) -> None:
    try:
        order_of(calls)
    except graphlib.CycleError as error:
        cycle = cast("list[str]", error.args[1])[::-1]
        raise FormatError("calls", f"these wait for one another: {' needs '.join(cycle)}") from None


def _check_ends(calls: tuple[LabCall, ...]) -> None:
    # The loop answers a deterministic call once for all with the same name and arguments.
    first: dict[tuple[str, str], int] = {}
    for position, call in enumerate(calls):
        if not call.deterministic:
            continue
        same = first.setdefault((call.name, canonical_json(call.arguments)), position)
        if (call.result, call.fails) != (calls[same].result, calls[same].fails):
            told = f"{call.id!r} is deterministic and ends otherwise than calls[{same}], which has the same"
            raise FormatError(f"calls[{position}]", f"{told} name and arguments")
