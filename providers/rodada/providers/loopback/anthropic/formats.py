"""
Rules about the format that an answer shall have.
"""

from collections.abc import Callable, Iterator, Sequence

from rodada.providers.loopback.anthropic.blocks import unknown
from rodada.providers.loopback.anthropic.tools import schema_nodes
from rodada.providers.loopback.anthropic.view import View, bad
from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text
from rodada.providers.loopback.script import Failure

_PATH = "output_config.format"
_UNENFORCED = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"),
    *("minLength", "maxLength", "maxItems", "minProperties", "maxProperties", "uniqueItems", "prefixItems"),
    *("oneOf", "not", "if", "patternProperties", "propertyNames", "discriminator"),
)
_FORMATS = ("date-time", "date", "time", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid", "text")
_FEWEST_ITEMS = (0, 1)
_MOST_OPTIONAL, _MOST_UNIONS = 24, 16


def format_is_a_schema(view: View) -> Failure | None:
    """
    output_config.format is a JSON Schema that the vendor can hold a model to: closed objects, no limits, no type that
    holds itself.
    """
    given = obj(view.body.get("output_config")).get("format")
    fault = None if given is None else next(_format_faults(given), None)
    return None if fault is None else bad(fault)


def _format_faults(given: Json) -> Iterator[str]:
    if not isinstance(given, dict):
        yield f"{_PATH}: Input should be a valid dictionary"
        return
    yield from unknown(_PATH, given, ("type", "schema"))
    if given.get("type") != "json_schema":
        yield f"{_PATH}.type: Input should be 'json_schema'"
    if not isinstance(given.get("schema"), dict):
        yield f"{_PATH}.schema: Field required"
        return
    schema = obj(given["schema"])
    yield from (f"{_PATH}.schema: {fault}" for node in schema_nodes(schema) for fault in _node_faults(node))
    yield from _size_faults([*schema_nodes(schema)])
    definitions = obj(schema.get("$defs"))
    if any(name in _reached(name, definitions) for name in definitions):
        yield f"{_PATH}.schema: Circular reference detected in schema definitions"


def _size_faults(nodes: Sequence[Object]) -> Iterator[str]:
    optional = sum(name not in items(node.get("required")) for node in nodes for name in obj(node.get("properties")))
    unions = sum("anyOf" in node or isinstance(node.get("type"), list) for node in nodes)
    why = "which would make grammar compilation inefficient"
    if optional > _MOST_OPTIONAL:
        yield f"Schemas contains too many optional parameters ({optional}), {why} (limit: {_MOST_OPTIONAL})."
    if unions > _MOST_UNIONS:
        yield f"Schemas contains too many parameters with union types ({unions}), {why} (limit: {_MOST_UNIONS})."


def _node_faults(node: Object) -> Iterator[str]:
    kind = text(node.get("type"))
    if "$ref" in node and len(node) > 1:
        yield "A schema with $ref must have no other keys"
    if not {"type", "anyOf", "allOf", "$ref", "enum", "const"} & node.keys():
        yield "Schema type is missing"
    if kind == "object" and node.get("additionalProperties") is not False:
        yield "For 'object' type, 'additionalProperties' must be explicitly set to false"
    yield from (f"For '{kind}' type, property '{key}' is not supported" for key in _UNENFORCED if key in node)
    if node.get("minItems", 0) not in _FEWEST_ITEMS:
        yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if text(node.get("format")) not in ("", *_FORMATS):
        yield f"String format '{text(node['format'])}' is not supported"


def _reached(name: str, definitions: Object) -> frozenset[str]:
    """
    The definitions that one leads to.
    """
    found: frozenset[str] = frozenset()
    waiting = [name]
    while waiting:
        names = _references(definitions.get(waiting.pop())) - found
        found |= names
        waiting += names
    return found


def _references(value: Json) -> frozenset[str]:
    within = [*obj(value).values(), *items(value)]
    reference = text(obj(value).get("$ref"))
    own = {reference.rpartition("/")[2]} if reference else set[str]()
    return frozenset(own).union(*map(_references, within))


def nothing_is_cited(view: View) -> Failure | None:
    """
    Beside a format no tool has its results cited.
    """
    cited = any(obj(tool.get("citations")).get("enabled") is True for tool in objs(view.body.get("tools")))
    if not cited or "format" not in obj(view.body.get("output_config")):
        return None
    return bad(f"{_PATH}: citations cannot be enabled together with an output format")


RULES: tuple[Callable[[View], Failure | None], ...] = (format_is_a_schema, nothing_is_cited)
