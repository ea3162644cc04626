"""
Arguments that refer to the result of another call: `{"$result": "c1", "path": "customer.id"}`.

The parts of a path are keys of objects or, in lists, positions from 0; without a path the whole result is meant.
"""

from collections.abc import Iterator, Mapping

from rodada.statemachine.errors import FormatError
from rodada.statemachine.jsontext import DEEPEST, JsonObject, JsonValue

RESULT, PATH = "$result", "path"


class Unresolved(Exception):
    """
    A reference leads nowhere; the message says which.
    """


def referred(value: JsonValue, place: str, depth: int = 0) -> Iterator[str]:
    """
    The ids of the calls that a value refers to. `place` is where it stands, for errors.

    Raises:
        FormatError: a malformed reference, or a value nested too deeply.
    """
    if depth > DEEPEST:
        raise FormatError(place, f"nested more than {DEEPEST} deep")
    if isinstance(value, dict) and RESULT in value:
        yield _checked(value, place)
        return
    for key, part in _parts(value):
        yield from referred(part, f"{place}{key}", depth + 1)


def resolved(value: JsonValue, results: Mapping[str, JsonValue]) -> JsonValue:
    """
    The value with every reference replaced by what it refers to.

    Raises:
        Unresolved: there is no such result, or nothing at that path of it.
    """
    if isinstance(value, list):
        return [resolved(part, results) for part in value]
    if not isinstance(value, dict):
        return value
    if RESULT in value:
        return _found(str(value[RESULT]), str(value.get(PATH, "")), results)
    return {key: resolved(part, results) for key, part in value.items()}


def _parts(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        yield from ((f".{key}", part) for key, part in value.items())
    if isinstance(value, list):
        yield from ((f"[{position}]", part) for position, part in enumerate(value))


def _checked(value: JsonObject, place: str) -> str:
    source, path = value[RESULT], value.get(PATH, "")
    if not isinstance(source, str) or not isinstance(path, str) or not value.keys() <= {RESULT, PATH}:
        raise FormatError(place, f'a reference is {{"{RESULT}": ID}} or {{"{RESULT}": ID, "{PATH}": "key.key"}}')
    return source


def _found(source: str, path: str, results: Mapping[str, JsonValue]) -> JsonValue:
    if source not in results:
        raise Unresolved(f"{source} gave no result")
    value = results[source]
    for key in path.split(".") if path else ():
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdecimal() and int(key[:9]) < len(value):
            value = value[int(key[:9])]
        else:
            raise Unresolved(f"the result of {source} has nothing at {path!r}")
    return value
