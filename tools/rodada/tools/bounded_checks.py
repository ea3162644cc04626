"""
A stranger's JSON Schema, checked within bounds. A few lines of schema can ask for work without end: a regular
expression that backtracks, or references that double at each step; and a check holds up the event loop. So regular
expressions are not run, and a check that takes too many steps is given up: whoever wrote the schema checks it, too.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rodada.statemachine.jsontext import JsonObject, JsonValue

if TYPE_CHECKING:
    from jsonschema import ValidationError

Keyword: TypeAlias = "Callable[[Any, Any, Any, Any], Iterable[ValidationError] | None]"

MOST_STEPS = 20_000
# The last two look for what other keywords have seen, and on that way run regular expressions and follow references.
UNCHECKED = ("pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties")


class TooManySteps(Exception):
    """
    A check was given up.
    """


class BoundedChecks:
    """
    A schema that is ready to check values within bounds.

    Args:
        kind: the class of `jsonschema` for the schema's dialect.
        schema: one that is a schema.
        registry: where its references are looked up.
    """

    def __init__(self, kind: Any, schema: JsonObject, registry: Any) -> None:
        library: Any = import_module("jsonschema.validators")
        self._counted = threading.local()  # runs of several threads check at once
        known = cast(Mapping[str, Keyword], kind.VALIDATORS)
        checks = {name: self._bounded(name, check) for name, check in known.items()}
        self._validator: Any = library.extend(kind, checks)(_in_one_dialect(schema), registry=registry)

    def iter_errors(self, instance: JsonValue) -> "Iterator[ValidationError]":
        """
        Everything that is wrong with a value.

        Raises:
            TooManySteps: it cannot be said within the bounds.
        """
        self._counted.steps = 0
        yield from self._validator.iter_errors(instance)

    def _bounded(self, name: str, check: Keyword) -> Keyword:
        if name in UNCHECKED:
            return _passed

        def bounded(validator: Any, value: Any, instance: Any, schema: Any) -> "Iterable[ValidationError] | None":
            self._counted.steps += 1
            if self._counted.steps > MOST_STEPS:
                raise TooManySteps
            if name == "additionalProperties" and "patternProperties" in schema:
                return None  # what is additional there is a question to regular expressions
            return check(validator, value, instance, schema)

        return bounded


def _passed(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> None:
    return None


def _in_one_dialect(schema: JsonValue) -> Any:
    """
    The schema without the names of dialects: a part that names its own would be checked by another class.
    """
    if isinstance(schema, dict):
        own = {name: value for name, value in schema.items() if name != "$schema" or not isinstance(value, str)}
        return {name: _in_one_dialect(value) for name, value in own.items()}
    if isinstance(schema, list):
        return [_in_one_dialect(each) for each in schema]
    return schema
