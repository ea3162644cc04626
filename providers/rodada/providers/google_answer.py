"""
The type of an answer as Gemini is asked for it: settings of the generation.
"""

from functools import lru_cache

from rodada.providers.answer_schema import AnswerDialect, answer_schema
from rodada.providers.google_schema import KEYWORDS, is_choice, wire_schema
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, kept_object

MIME_TYPE = "application/json"


def typed_answer(schema: str) -> JsonObject:
    """
    The settings for an answer that fulfils the JSON text of a schema.
    """
    return {"responseMimeType": MIME_TYPE, "responseJsonSchema": kept_object(_made(schema))}


@lru_cache(maxsize=128)
def _made(schema: str) -> str:
    return dump_json(wire_schema(answer_schema(kept_object(schema), AnswerDialect(_takes))))


def _takes(key: str, value: JsonValue) -> bool:
    if key == "enum" and isinstance(value, list):
        return all(map(is_choice, value))
    return is_choice(value) if key == "const" else key in KEYWORDS
