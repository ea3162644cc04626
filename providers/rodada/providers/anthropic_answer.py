"""
The type of an answer as the Anthropic Messages API is asked for it: `output_config.format`. A type that it refuses is
told in words instead: one with a mapping, with a part that may be anything, or one that holds itself; and one with more
optional properties or unions than it compiles. So is every type beside a tool that cites.
"""

from collections.abc import Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from rodada.providers.answer_schema import AnswerDialect, answer_schema, are_plain, nodes_of
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, kept_object

KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "title", "description"),
        *("properties", "required", "additionalProperties", "items"),
    )
)
SAYING = ("type", "anyOf", "allOf", "$ref", "enum", "const")
DEFINED = "#/$defs/"
MOST_OPTIONAL, MOST_UNIONS = 24, 16
FORMATS = ("date-time", "date", "time", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")


def output_format(schema: str) -> JsonObject:
    """
    The format of an answer that fulfils the JSON text of a schema.
    """
    return {"type": "json_schema", "schema": kept_object(_made(schema))}


def cites(tool: JsonObject) -> bool:
    """
    Whether a tool of the vendor's own has the model cite what it found: beside one no format is taken.
    """
    citations = tool.get("citations")
    return isinstance(citations, dict) and citations.get("enabled") is True


@lru_cache(maxsize=128)
def may_be_asked(schema: str) -> bool:
    """
    Whether the vendor takes the format for the JSON text of a schema.
    """
    made = kept_object(_made(schema))
    nodes = [*nodes_of(made)]
    may_be_compiled = sum(map(_optional, nodes)) <= MOST_OPTIONAL and sum(map(_is_union, nodes)) <= MOST_UNIONS
    return may_be_compiled and all(map(_says_what_it_is, nodes)) and not _holds_itself(made)


def _optional(node: JsonObject) -> int:
    properties, required = node.get("properties"), node.get("required")
    named = len(properties) if isinstance(properties, dict) else 0
    return named - (len(required) if isinstance(required, list) else 0)


def _is_union(node: JsonObject) -> bool:
    return "anyOf" in node or isinstance(node.get("type"), list)


def _says_what_it_is(node: JsonObject) -> bool:
    is_open = node.get("type") == "object" and node.get("additionalProperties") is not False
    return not is_open and any(key in node for key in SAYING)


def _holds_itself(schema: JsonObject) -> bool:
    definitions = schema.get("$defs")
    named = definitions.items() if isinstance(definitions, dict) else ()
    try:
        TopologicalSorter({name: set(_references(each)) for name, each in named}).prepare()
    except CycleError:
        return True
    return False


def _references(schema: JsonValue) -> Iterator[str]:
    for node in nodes_of(schema):
        if "$ref" in node:
            yield str(node["$ref"]).removeprefix(DEFINED)


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
