"""
A tool's JSON Schema in the part of the language that Gemini documents; the tool's own validation knows the rest.
"""

import re
from collections.abc import Callable, Mapping

from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json

BESIDE_REF = frozenset({"$id", "$defs", "$ref", "$anchor", "description", "default"})
KEYWORDS = BESIDE_REF | {
    *("type", "format", "title", "enum", "minimum", "maximum", "anyOf", "oneOf"),
    *("items", "prefixItems", "minItems", "maxItems"),
    *("properties", "additionalProperties", "required", "propertyOrdering"),
}
REFERENCE = re.compile(r'"\$ref":"#/\$defs/([^"]*)"')

Closes = Callable[[JsonValue], bool]


def wire_schema(schema: JsonObject) -> JsonObject:
    """
    The schema with documented keywords alone. A type may hold itself, but not in a required property.
    """
    definitions = schema.get("$defs")
    if not isinstance(definitions, dict):
        return _node(schema, _never)
    reached = _reached(definitions)
    rest = _node({key: value for key, value in schema.items() if key != "$defs"}, _never)
    within = {name: _schema(each, _leading_to(name, reached)) for name, each in definitions.items()}
    return {"$defs": within, **rest}


def _node(schema: JsonObject, closes: Closes) -> JsonObject:
    kept = BESIDE_REF if "$ref" in schema else KEYWORDS
    made = {key: _value(key, value, closes) for key, value in schema.items() if key in kept}
    constant = schema.get("const")
    if is_choice(constant) and "$ref" not in schema:
        made["enum"] = [constant]
    if not all(map(is_choice, _list(made.get("enum")))):
        del made["enum"]
    required = _required(schema, closes)
    if required:
        return {**made, "required": required}
    made.pop("required", None)
    return made


def _value(key: str, value: JsonValue, closes: Closes) -> JsonValue:
    if key in ("properties", "$defs") and isinstance(value, dict):
        return {name: _schema(each, closes) for name, each in value.items()}
    if key in ("items", "additionalProperties"):
        return _schema(value, closes)
    if key in ("anyOf", "oneOf", "prefixItems") and isinstance(value, list):
        return [_schema(each, closes) for each in value]
    return value


def _schema(value: JsonValue, closes: Closes) -> JsonValue:
    return _node(value, closes) if isinstance(value, dict) else value


def _required(schema: JsonObject, closes: Closes) -> list[JsonValue]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    return [name for name in _list(schema.get("required")) if not closes(known.get(str(name)))]


def is_choice(value: JsonValue) -> bool:
    """
    Whether the vendor knows a value as one of an `enum`: a text or a number.
    """
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _never(value: JsonValue) -> bool:
    return False


def _leading_to(name: str, reached: Mapping[str, frozenset[str]]) -> Closes:
    def closes(value: JsonValue) -> bool:
        return any(name in reached.get(each, frozenset()) | {each} for each in _named(value))

    return closes


def _named(value: JsonValue) -> frozenset[str]:
    return frozenset(REFERENCE.findall(dump_json(value)))


def _reached(definitions: JsonObject) -> Mapping[str, frozenset[str]]:
    """
    The definitions that each one leads to.
    """
    found = {name: _named(each) for name, each in definitions.items()}
    while True:
        more = {name: names.union(*(found.get(each, frozenset()) for each in names)) for name, names in found.items()}
        if more == found:
            return found
        found = more
