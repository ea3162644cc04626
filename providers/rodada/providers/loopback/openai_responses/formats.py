"""
Rules about the format that an answer shall have.
"""

import re
from collections.abc import Callable, Iterator

from rodada.providers.loopback.json_values import Json, Object, obj, text
from rodada.providers.loopback.openai_responses.fields import invalid_type, missing_parameter, unknown_parameter
from rodada.providers.loopback.openai_responses.strict import schema_fault
from rodada.providers.loopback.openai_responses.view import View, bad
from rodada.providers.loopback.script import Failure

_NAME = "^[a-zA-Z0-9_-]+$"
_LONGEST_NAME = 64
_TYPES = ("json_object", "json_schema", "text")
_FIELDS = ("name", "schema", "strict", "description")


def format_is_known(view: View) -> Failure | None:
    """
    text.format is of a known type, and a schema in it one that the vendor takes.
    """
    given = obj(view.body.get("text")).get("format")
    if given is None:
        return None
    return next(format_refusals("text.format", given), None) or next(_flat_refusals(obj(given)), None)


def format_refusals(path: str, given: Json) -> Iterator[Failure]:
    """
    What is wrong with the type of a format.
    """
    if not isinstance(given, dict):
        yield invalid_type(path, "an object", given)
    elif "type" not in given:
        yield missing_parameter(f"{path}.type")
    elif given["type"] not in _TYPES:
        listed = ", ".join(f"'{word}'" for word in _TYPES)
        yield bad(f"Invalid value: {given['type']!r}. Supported values are: {listed}.", f"{path}.type", "invalid_value")


def schema_refusals(path: str, given: Object, where: str, code: str | None) -> Iterator[Failure]:
    """
    What is wrong with the named schema of a format; a fault of the schema itself is told of `where`, with `code`.
    """
    yield from (unknown_parameter(f"{path}.{key}") for key in given if key not in _FIELDS)
    name = text(given.get("name"))
    if "name" not in given:
        yield missing_parameter(f"{path}.name")
    elif not re.match(_NAME, name) or len(name) > _LONGEST_NAME:
        message = f"Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern"
        yield bad(f"{message} '{_NAME}'.", f"{path}.name", "invalid_value")
    fault = schema_fault(given.get("schema"), given.get("strict") is True)
    if fault is not None:
        yield bad(f"Invalid schema for response_format '{name}': {fault}", where, code)


def _flat_refusals(given: Object) -> Iterator[Failure]:
    if given["type"] != "json_schema":
        return
    if "schema" not in given:
        yield missing_parameter("text.format.schema")
    named: Object = {key: value for key, value in given.items() if key != "type"}
    yield from schema_refusals("text.format", named, "text.format.schema", "invalid_json_schema")


RULES: tuple[Callable[[View], Failure | None], ...] = (format_is_known,)
