"""
Whether a tool's schema may be declared strict to OpenAI. Nothing is changed to make it fit: an optional argument that
were made required would always be filled in. So `strict` is said where the schema fulfils every rule on every level.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_object

KEYWORDS = frozenset(
    (
        *("type", "enum", "const", "anyOf", "$ref", "$defs", "definitions", "title", "description"),
        *("properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format"),
    )
)
DEFINED = ("$defs", "definitions")
TYPED = ("type", "anyOf", "$ref", "enum", "const")
FORMATS = ("date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
MOST_PROPERTIES = 5000
MOST_CHOICES = 1000
MOST_NAMED = 120_000  # characters of all names and choices
MANY_CHOICES, MOST_CHOSEN = 250, 15_000  # an `enum` of more than the one has at most the other in characters
DEEPEST = 5  # what older hosts take; the newest take 10

# The server's engine has neither look-around nor back references, and refuses the whole tool for one.
FOREIGN_PATTERN = re.compile(r"\(\?|\\[1-9k]")


@lru_cache(maxsize=1024)
def may_be_strict(schema: str) -> bool:
    """
    Whether the JSON text of a schema fulfils the rules of strict tools. Asked again in every call, hence kept.
    """
    root = parse_object(schema) or {}
    nodes = list(_nodes(root, 1))
    return (
        root.get("type") == "object"
        and "anyOf" not in root
        and _is_of_size([node for node, _ in nodes])
        and all(depth <= DEEPEST and _fulfils(node) for node, depth in nodes)
    )


def _is_of_size(nodes: Sequence[JsonObject]) -> bool:
    names = [name for node in nodes for name in _mapping(node.get("properties"))]
    defined = [name for node in nodes for key in DEFINED for name in _mapping(node.get(key))]
    choices = [_choices(node.get("enum")) for node in nodes]
    constants = [str(node["const"]) for node in nodes if "const" in node]
    told = (*names, *defined, *constants, *chain.from_iterable(choices))
    return (
        len(names) <= MOST_PROPERTIES
        and sum(map(len, choices)) <= MOST_CHOICES
        and sum(map(len, told)) <= MOST_NAMED
        and all(len(each) <= MANY_CHOICES or sum(map(len, each)) <= MOST_CHOSEN for each in choices)
    )


def _choices(value: JsonValue) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _fulfils(node: JsonObject) -> bool:
    if "$ref" in node:
        return set(node) == {"$ref"} and str(node["$ref"]).startswith("#/")
    return (
        node.keys() <= KEYWORDS
        and any(key in node for key in TYPED)
        and node.get("format", FORMATS[0]) in FORMATS
        and FOREIGN_PATTERN.search(str(node.get("pattern", ""))) is None
        and (not _is(node, "array") or isinstance(node.get("items"), dict))
        and (not _is(node, "object") or _is_closed(node))
    )


def _is_closed(node: JsonObject) -> bool:
    required, names = node.get("required"), _mapping(node.get("properties"))
    return (
        node.get("additionalProperties") is False and isinstance(required, list) and {*names} == {*map(str, required)}
    )


def _is(node: JsonObject, kind: str) -> bool:
    said = node.get("type")
    return kind in said if isinstance(said, list) else said == kind


def _nodes(node: JsonValue, depth: int) -> Iterator[tuple[JsonObject, int]]:
    if not isinstance(node, dict):
        return
    yield node, depth
    for key in DEFINED:
        for each in _mapping(node.get(key)).values():
            yield from _nodes(each, depth)
    choices = node.get("anyOf")
    inner = [*_mapping(node.get("properties")).values(), node.get("items")]
    for each in (*inner, *(choices if isinstance(choices, list) else ())):
        yield from _nodes(each, depth + 1)


def _mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}
