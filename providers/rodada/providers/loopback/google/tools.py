"""
Rules about function declarations and toolConfig.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

from rodada.providers.loopback.google.models import takes_both_kinds
from rodada.providers.loopback.google.view import View, bad
from rodada.providers.loopback.json_values import Json, Object, canonical, items, obj, objs, text
from rodada.providers.loopback.script import Failure

_REQUEST = "* GenerateContentRequest"
_API = "type.googleapis.com/google.ai.generativelanguage.v1beta"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_MODES = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")
_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_MOST_DECLARATIONS = 512
_BESIDE_REF = ("description", "default")


def declarations_are_named(view: View) -> Failure | None:
    """
    Names are legal, unique, and at most 512.
    """
    for path, declaration in _declarations(view):
        if not _NAME.fullmatch(text(declaration.get("name"))):
            return bad(
                f"{_REQUEST}.{path}.name: Invalid function name. Must start with a letter or an underscore. Must be "
                "alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum "
                "length of 128."
            )
    names = Counter(text(declaration.get("name")) for _, declaration in _declarations(view))
    doubled = next((name for name, count in names.items() if count > 1), None)
    if doubled is not None:
        return bad(f"Duplicate function declaration found: {doubled}")
    return bad("Too many function declarations.") if names.total() > _MOST_DECLARATIONS else None


def schemas_are_schemas(view: View) -> Failure | None:
    """
    Parameters are one object schema, in one of the two notations.
    """
    found = (fault for path, declaration in _declarations(view) for fault in _schema_faults(path, declaration))
    fault = next(found, None)
    return None if fault is None else bad(fault)


def config_has_declarations(view: View) -> Failure | None:
    """
    No function calling config without declarations, whatever the mode.
    """
    if "functionCallingConfig" not in obj(view.body.get("toolConfig")) or any(_declarations(view)):
        return None
    return bad("Function calling config is set without function_declarations.")


def kinds_of_tools_fit(view: View) -> Failure | None:
    """
    Functions beside the vendor's own tools: older models take no such thing, newer ones want to be told.
    """
    tools = objs(view.body.get("tools"))
    if not any(_declarations(view)) or all(tool.keys() <= {"functionDeclarations"} for tool in tools):
        return None
    if obj(view.body.get("toolConfig")).get("includeServerSideToolInvocations") is not True:
        return bad(
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function "
            "calling."
        )
    if not takes_both_kinds(view.received.model):
        return bad(f"Tool call context circulation is not enabled for models/{view.received.model}")
    return None


def mode_is_known(view: View) -> Failure | None:
    """
    The mode is one of its words.
    """
    mode = _config(view).get("mode", "AUTO")
    if mode in _MODES:
        return None
    return bad(
        f"Invalid value at 'tool_config.function_calling_config.mode' ({_API}.FunctionCallingConfig.Mode), "
        f"{canonical(mode)}"
    )


def allowed_names_fit(view: View) -> Failure | None:
    """
    Allowed names are declared, and only where a call may be forced.
    """
    names = items(_config(view).get("allowedFunctionNames"))
    if names and _config(view).get("mode") not in ("ANY", "VALIDATED"):
        return bad("allowed_function_names should only be set when the function calling mode is ANY or VALIDATED.")
    declared = [declaration.get("name") for _, declaration in _declarations(view)]
    alien = next((name for name in names if name not in declared), None)
    return None if alien is None else bad(f"Allowed function name '{alien}' is not declared.")


def _config(view: View) -> Object:
    return obj(obj(view.body.get("toolConfig")).get("functionCallingConfig"))


def _declarations(view: View) -> Iterator[tuple[str, Object]]:
    for at, tool in enumerate(objs(view.body.get("tools"))):
        for index, declaration in enumerate(objs(tool.get("functionDeclarations"))):
            yield f"tools[{at}].function_declarations[{index}]", declaration


def _schema_faults(path: str, declaration: Object) -> Iterator[str]:
    if "parameters" in declaration and "parametersJsonSchema" in declaration:
        yield f"{_REQUEST}.{path}: parameters and parameters_json_schema must not both be set."
    if "parameters" in declaration:
        yield from _root_faults(f"{_REQUEST}.{path}.parameters", obj(declaration["parameters"]))
    if "parametersJsonSchema" in declaration:
        yield from json_schema_faults(f"{_REQUEST}.{path}.parameters_json_schema", declaration["parametersJsonSchema"])


def _root_faults(path: str, schema: Object) -> Iterator[str]:
    if schema.get("type") != "OBJECT":
        yield f"{path}.type: parameters schema should be of type OBJECT."
    yield from _openapi_faults(path, schema)


def _openapi_faults(path: str, schema: Object) -> Iterator[str]:
    kind = schema.get("type")
    if kind is not None and kind not in _TYPES:
        yield f"Invalid value at '{path}.type' ({_API}.Type), {canonical(kind)}"
    if kind == "OBJECT" and not obj(schema.get("properties")):
        yield f"{path}.properties: should be non-empty for OBJECT type"
    if kind == "ARRAY" and "items" not in schema:
        yield f"{path}.items: missing field."
    if "enum" in schema and kind != "STRING":
        yield f"{path}.enum: only allowed for STRING type"
    for name, inner in obj(schema.get("properties")).items():
        yield from _openapi_faults(f"{path}.properties[{name}]", obj(inner))
    if "items" in schema:
        yield from _openapi_faults(f"{path}.items", obj(schema["items"]))


def json_schema_faults(path: str, schema: Json) -> Iterator[str]:
    """
    What is wrong with a schema in the newer notation.
    """
    if obj(schema).get("type") != "object":
        yield f"{path}: the schema must be of type object."
    for node in _nodes(schema):
        beside = [key for key in node if not key.startswith("$") and key not in _BESIDE_REF]
        if "$ref" in node and beside:
            yield f"{path}: a schema with $ref must not have '{beside[0]}' beside it."


def _nodes(schema: Json) -> Iterator[Object]:
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("properties", "$defs"):
        for inner in obj(schema.get(key)).values():
            yield from _nodes(inner)
    for inner in (schema.get("items"), *items(schema.get("anyOf")), *items(schema.get("oneOf"))):
        yield from _nodes(inner)


RULES: tuple[Callable[[View], Failure | None], ...] = (
    declarations_are_named,
    schemas_are_schemas,
    config_has_declarations,
    kinds_of_tools_fit,
    mode_is_known,
    allowed_names_fit,
)
