"""
Schemas of function tools: what is refused of any, and what of a strict one.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from rodada.providers.loopback.json_values import Json, Object, items, obj, text

_REFUSED = (
    *("oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "prefixItems", "uniqueItems"),
    *("propertyNames", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas"),
)
_FORMATS = ("date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
_MOST_CHOICES, _MANY_CHOICES, _MOST_CHOSEN = 1000, 250, 15_000
_TYPED = ("type", "anyOf", "$ref", "enum", "const")


def schema_fault(schema: Json, strict: bool) -> str | None:
    """
    What is wrong with the parameters of a function, as the API's message says it.
    """
    if schema is None:
        return None
    if obj(schema).get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{obj(schema).get('type')}\"'."
    faults = chain(_choice_faults(_enums(schema)), _strict_faults("()", obj(schema)))
    fault = next(faults, None) if strict else None
    if fault is None and "properties" not in obj(schema):
        return "In context=(), object schema missing properties."
    return fault


def _enums(schema: Json) -> list[Sequence[Json]]:
    own = [items(obj(schema).get("enum"))]
    return own + [found for _, inner in _inner(obj(schema)) for found in _enums(inner)]


def _choice_faults(enums: Sequence[Sequence[Json]]) -> Iterator[str]:
    count = sum(map(len, enums))
    if count > _MOST_CHOICES:
        yield f"Expected at most {_MOST_CHOICES} enum values in total within a schema, but got {count}."
    for each in enums:
        length = sum(len(str(value)) for value in each)
        if len(each) > _MANY_CHOICES and length > _MOST_CHOSEN:
            yield f"Expected at most {_MOST_CHOSEN} characters in enum values, but got {length}."


def _strict_faults(path: str, schema: Object) -> Iterator[str]:
    for key in _REFUSED:
        if key in schema:
            yield f"In context={path}, '{key}' is not permitted."
    if not any(key in schema for key in _TYPED):
        yield f"In context={path}, schema must have a 'type' key."
    if text(schema.get("format")) not in ("", *_FORMATS):
        yield f"In context={path}, '{schema['format']}' is not a valid format."
    if schema.get("type") == "object":
        yield from _object_faults(path, schema)
    if schema.get("type") == "array" and "items" not in schema:
        yield f"In context={path}, array schema missing items."
    for name, inner in _inner(schema):
        yield from _strict_faults(f"{path[:-1]}{', ' if path != '()' else ''}'{name}')", inner)


def _object_faults(path: str, schema: Object) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield f"In context={path}, 'additionalProperties' is required to be supplied and to be false."
    required = items(schema.get("required"))
    missing = [name for name in obj(schema.get("properties")) if name not in required]
    if missing or not isinstance(schema.get("required", []), list):
        yield (
            f"In context={path}, 'required' is required to be supplied and to be an array including every key in "
            f"properties. Missing '{missing[0] if missing else ''}'."
        )


def _inner(schema: Object) -> Iterator[tuple[str, Object]]:
    for key in ("properties", "$defs", "definitions"):
        yield from ((name, obj(inner)) for name, inner in obj(schema.get(key)).items())
    if "items" in schema:
        yield "items", obj(schema["items"])
    for index, inner in enumerate(items(schema.get("anyOf"))):
        yield f"anyOf[{index}]", obj(inner)
