"""
The JSON Schema of an answer in the part of the language that a vendor holds its models to.

What a vendor does not know is told in the description beside it, for what a model is not told it gets wrong; the
answer is checked against all of it when it comes. An object that names its properties is closed, for vendors demand
it, and further ones would say nothing to the type. One that names none, such as a mapping, stays open: closed it could
hold nothing.
"""

from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json

UNSAID = frozenset({"discriminator", "title"})  # what the rest of the schema says already
WITHIN = frozenset({"items", "additionalProperties"})
MANY = frozenset({"anyOf", "oneOf", "allOf"})
NAMED = frozenset({"properties", "$defs"})


@frozen
class AnswerDialect:
    """
    What one vendor takes.

    Attributes:
        takes: whether a keyword may stand with its value.
        all_required: each property must be required; the model then fills in every default.
    """

    takes: Callable[[str, JsonValue], bool]
    all_required: bool = False


def answer_schema(schema: JsonObject, dialect: AnswerDialect) -> JsonObject:
    """
    A schema in a vendor's dialect.
    """
    if "$ref" in schema:
        return _reference(schema)
    renamed = {"anyOf" if key == "oneOf" and "anyOf" not in schema else key: value for key, value in schema.items()}
    made = {key: _value(key, value, dialect) for key, value in renamed.items() if dialect.takes(key, value)}
    properties = made.get("properties")
    if isinstance(properties, dict):
        made.setdefault("additionalProperties", False)
        if dialect.all_required:
            made["required"] = [*properties]
    return _described(made, {key: value for key, value in renamed.items() if key not in made.keys() | UNSAID})


def _reference(schema: JsonObject) -> JsonObject:
    # Nothing may stand beside a reference, so one with a description stands inside a union of one.
    alone: JsonObject = {"$ref": schema["$ref"]}
    said = _described(
        {key: value for key, value in schema.items() if key == "description"},
        {key: value for key, value in schema.items() if key not in ("$ref", "description")},
    )
    return {"anyOf": [alone], **said} if said else alone


def _described(made: JsonObject, untaken: JsonObject) -> JsonObject:
    if not untaken:
        return made
    said = made.get("description")
    told = dump_json(untaken)
    return {**made, "description": f"{said}\n\n{told}" if said else told}


def _value(key: str, value: JsonValue, dialect: AnswerDialect) -> JsonValue:
    if key in NAMED and isinstance(value, dict):
        return {name: _inner(each, dialect) for name, each in value.items()}
    if key in WITHIN:
        return _inner(value, dialect)
    if key in MANY and isinstance(value, list):
        return [_inner(each, dialect) for each in value]
    return value


def _inner(value: JsonValue, dialect: AnswerDialect) -> JsonValue:
    return answer_schema(value, dialect) if isinstance(value, dict) else value


def nodes_of(schema: JsonValue) -> Iterator[JsonObject]:
    """
    A schema and every one within it.
    """
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        for each in _members(key, value):
            yield from nodes_of(each)


def _members(key: str, value: JsonValue) -> Iterable[JsonValue]:
    if key in NAMED and isinstance(value, dict):
        return value.values()
    if key in MANY and isinstance(value, list):
        return value
    return (value,) if key in WITHIN else ()


def are_plain(choices: JsonValue) -> bool:
    """
    Whether no choice of an `enum` or a `const` is a list or an object: vendors take no such ones.
    """
    given = choices if isinstance(choices, list) else [choices]
    return not any(isinstance(each, dict | list) for each in given)
