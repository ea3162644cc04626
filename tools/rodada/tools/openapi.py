"""
The schema notation of Gemini's `parameters` (OpenAPI 3.0: `OBJECT`, `nullable`) as JSON Schema.
"""

from rodada.statemachine.jsontext import JsonObject, JsonValue

NAMES = {
    "any_of": "anyOf",
    **{f"{end}_{of}": f"{end}{of.title()}" for end in ("min", "max") for of in ("items", "length", "properties")},
    "property_ordering": "propertyOrdering",
}
COUNTS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})


def json_schema(value: JsonValue) -> JsonValue:
    """
    The schema as JSON Schema; what is JSON Schema already stays as it is.
    """
    if not isinstance(value, dict):
        return value
    made = {NAMES.get(key, key): _value(NAMES.get(key, key), each) for key, each in value.items() if key != "nullable"}
    return _nullable(made) if value.get("nullable") is True else made


def _value(key: str, value: JsonValue) -> JsonValue:
    match key, value:
        case "type", str():
            return value.lower()
        case "properties", dict():
            return {name: json_schema(each) for name, each in value.items()}
        case "anyOf", list():
            return [json_schema(each) for each in value]
        case "items", _:
            return json_schema(value)
        case _, str() if key in COUNTS and value.isdecimal():
            return int(value)
        case _:
            return value


def _nullable(schema: JsonObject) -> JsonObject:
    kind, choices = schema.get("type"), schema.get("enum")
    null: JsonObject = {"enum": [*choices, None]} if isinstance(choices, list) else {}
    if isinstance(kind, str):
        return {**schema, "type": [kind, "null"], **null}
    return {"anyOf": [schema, {"type": "null"}]}
