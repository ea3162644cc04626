"""
The type of an answer as the Anthropic Messages API is asked for it: `output_config.format`.
"""

from functools import lru_cache

from rodada.providers.answer_schema import AnswerDialect, answer_schema, are_plain
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, kept_object

KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "title", "description"),
        *("properties", "required", "additionalProperties", "items"),
    )
)
FORMATS = ("date-time", "date", "time", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")


def output_format(schema: str) -> JsonObject:
    """
    The format of an answer that fulfils the JSON text of a schema.
    """
    return {"type": "json_schema", "schema": kept_object(_made(schema))}


@lru_cache(maxsize=128)
def _made(schema: str) -> str:
    return dump_json(answer_schema(kept_object(schema), AnswerDialect(_takes)))


def _takes(key: str, value: JsonValue) -> bool:
    match key:
        case "enum" | "const":
            return are_plain(value)
        case "format":
            return value in FORMATS
        case "minItems":
            return value in (0, 1)
        case _:
            return key in KEYWORDS
