"""
Tools that a vendor runs itself, within a turn: what a host may declare of them, in the vendor's own words.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, cast

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonObject, dump_json, parse_object

ServerTools: TypeAlias = tuple[JsonObject, ...]

NO_ROWS = (str, bytes, Mapping)
OURS = "is a tool that the loop runs: use ToolLoop(tools=...)"
RUN_BY_HOST = "is asked for by the model and run by you: give a tool that does it to ToolLoop(tools=...)"
TOOLS_ELSEWHERE = "use ToolLoop(tools=...), and server_tools=... for those that the vendor runs itself"


def checked_server_tools(
    provider: str, given: Iterable[Mapping[str, object]] | None, fault_of: Callable[[JsonObject], str | None]
) -> ServerTools:
    """
    A copy of the declarations, as they stand and in their order. `fault_of` says why one is none of the vendor's.

    Raises:
        InvalidValue: no row of JSON objects, one that is none of the vendor's, or two of one name.
    """
    what = f"{provider}.server_tools"
    found = tuple(_copied(f"{what}[{at}]", each) for at, each in enumerate(_rows(what, given)))
    for at, tool in enumerate(found):
        fault = fault_of(tool)
        if fault is not None:
            raise InvalidValue(f"{what}[{at}]", fault)
        if "name" in tool and any(tool["name"] == earlier.get("name") for earlier in found[:at]):
            raise InvalidValue(f"{what}[{at}]", f"is the second one named {tool['name']!r:.80}")
    return found


def names_of(tools: ServerTools) -> frozenset[str]:
    """
    The names that they take, which no tool of a loop may have beside them.
    """
    return frozenset(name for tool in tools if isinstance(name := tool.get("name"), str))


def _rows(what: str, given: object) -> Iterable[object]:
    if given is None:
        return ()
    kind = type(given)
    if issubclass(kind, Iterable) and not issubclass(kind, NO_ROWS):
        return cast("Iterable[object]", given)
    raise InvalidValue(what, f"takes a list of declarations, not a {kind.__name__}")


def _copied(what: str, given: object) -> JsonObject:
    if not isinstance(given, Mapping) or not given:
        # Not shown: it may hold the key of somebody's server.
        told = "an empty one" if isinstance(given, Mapping) else f"a {type(given).__name__}"
        raise InvalidValue(what, f"takes a declaration in the vendor's form, got {told}")
    try:
        text = dump_json(cast(JsonObject, dict(cast("Mapping[str, object]", given))))
        copy = parse_object(text.encode().decode())  # half a character has no bytes, and nothing could send it
    except (TypeError, ValueError, RecursionError):
        copy = None
    if copy is None or copy != given:
        raise InvalidValue(what, "holds something that is no JSON value")
    return copy
