"""
The type of an answer as both of OpenAI's wires are asked for it: strict wherever it can be said strictly.

Other than an argument of a tool, a part of an answer that may be left out is always asked for: strict knows nothing
else, and what is filled in is an answer too.
"""

from functools import lru_cache

from rodada.providers.answer_schema import AnswerDialect, answer_schema, are_plain
from rodada.providers.openai_request import legal_name
from rodada.providers.openai_strict import FOREIGN_PATTERN, FORMATS, KEYWORDS, may_be_strict
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, kept_object

NAMELESS = "answer"


def json_schema(schema: str) -> JsonObject:
    """
    Name, schema and strictness of an answer that fulfils the JSON text of a schema.
    """
    return kept_object(_made(schema))


@lru_cache(maxsize=128)
def _made(schema: str) -> str:
    given = kept_object(schema)
    named: JsonObject = {"name": legal_name(str(given.get("title") or NAMELESS))}
    made = answer_schema(given, AnswerDialect(_takes, all_required=True))
    if may_be_strict(dump_json(made)):
        return dump_json({**named, "schema": made, "strict": True})
    # The wires refuse an object whose schema names no properties, not even none.
    return dump_json({**named, "schema": {**given, "properties": given.get("properties", {})}, "strict": False})


def _takes(key: str, value: JsonValue) -> bool:
    match key:
        case "enum" | "const":
            return are_plain(value)
        case "format":
            return value in FORMATS
        case "pattern":
            return FOREIGN_PATTERN.search(str(value)) is None
        case _:
            return key in KEYWORDS
