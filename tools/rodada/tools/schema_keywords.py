"""
Keywords of JSON Schema that are checked here and not by the library `jsonschema`: it compares everything with
everything, so that some thousand objects from a model hold up the event loop for minutes, and it divides in floating
point, where 19.99 is no multiple of 0.01.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from rodada.statemachine.jsontext import JsonValue, canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jsonschema import ValidationError

    Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Iterable[ValidationError] | None]


def with_own_keywords(kind: Any) -> Any:
    """
    The class of `jsonschema` for a dialect, with our checks in the place of those that it has.
    """
    library: Any = import_module("jsonschema.validators")
    own: Mapping[str, Keyword] = {"enum": _Listed(), "multipleOf": _multiple_of, "uniqueItems": _unique_items}
    return library.extend(kind, {name: check for name, check in own.items() if name in kind.VALIDATORS})


class _Listed:
    """
    Whether a value is one of a list, which is read once.
    """

    def __init__(self) -> None:
        # The list stands beside what was read of it, so that no other one comes to have its id.
        self._read: dict[int, tuple[list[JsonValue], frozenset[str]]] = {}

    def __call__(
        self, _validator: Any, listed: list[JsonValue], value: JsonValue, _schema: Any
    ) -> "Iterator[ValidationError]":
        if id(listed) not in self._read:
            self._read[id(listed)] = (listed, frozenset(map(_equality_key, listed)))
        if _equality_key(value) not in self._read[id(listed)][1]:
            yield _wrong("it is none of those listed")


def _unique_items(validator: Any, wanted: bool, value: Any, _schema: Any) -> "Iterator[ValidationError]":
    if wanted and validator.is_type(value, "array") and len(set(map(_equality_key, value))) < len(value):
        yield _wrong("an item stands twice in it")


def _multiple_of(validator: Any, step: float, value: Any, _schema: Any) -> "Iterator[ValidationError]":
    # As they are written: the float 0.01 is a little more than a hundredth.
    if validator.is_type(value, "number") and Fraction(repr(value)) % Fraction(repr(step)):
        yield _wrong("it is no multiple")


def _wrong(what: str) -> "ValidationError":
    from jsonschema import ValidationError

    return ValidationError(what)


def _equality_key(value: JsonValue) -> str:
    """
    A text that is the same for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not.
    """
    return canonical_json(_in_whole_numbers(value))


def _in_whole_numbers(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_in_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {name: _in_whole_numbers(each) for name, each in value.items()}
    return value
