"""
Rules about tools and tool_choice.
"""

import re
from collections.abc import Callable, Iterator

from rodada.providers.loopback.anthropic.blocks import cache_faults, unknown
from rodada.providers.loopback.anthropic.models import may_be_forced
from rodada.providers.loopback.anthropic.view import View, bad
from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text
from rodada.providers.loopback.script import Failure

_NAME = r"^[a-zA-Z0-9_-]{1,64}$"
_KNOWN = (
    *("name", "input_schema", "description", "strict", "input_examples", "cache_control", "defer_loading"),
    *("allowed_callers", "eager_input_streaming", "type"),
)
_OWN = re.compile(
    r"(web_search|web_fetch|code_execution|tool_search_tool_bm25|tool_search_tool_regex|bash|memory|text_editor"
    r"|browser_toolset|computer_toolset)(?:_\d{8})?"
)
_OWN_NAMES = {"text_editor": ("str_replace_based_edit_tool", "str_replace_editor")}
_CHOICES = {
    "auto": ("type", "disable_parallel_tool_use"),
    "any": ("type", "disable_parallel_tool_use"),
    "tool": ("type", "name", "disable_parallel_tool_use"),
    "none": ("type",),
}
_NOT_STRICT = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "maxItems", "minProperties", "maxProperties"),
)


def tools_are_tools(view: View) -> Failure | None:
    """
    Client tools have a legal name, an object schema without a union at its top, and known fields alone.
    """
    given = view.body.get("tools", [])
    if not isinstance(given, list):
        return bad("tools: Input should be a valid list")
    found = (fault for at, tool in enumerate(given) for fault in _tool_faults(f"tools.{at}", tool))
    fault = next(found, None)
    return None if fault is None else bad(fault)


def names_are_unique(view: View) -> Failure | None:
    """
    No two tools of one name.
    """
    names = [tool.get("name") for tool in objs(view.body.get("tools")) if "name" in tool]
    return None if len(names) == len({*map(text, names)}) else bad("tools: Tool names must be unique.")


def choice_has_tools(view: View) -> Failure | None:
    """
    No tool_choice, not even "none", without tools.
    """
    if view.body.get("tool_choice") is None or items(view.body.get("tools")):
        return None
    return bad("tool_choice: tool_choice may only be specified while providing tools.")


def choice_is_known(view: View) -> Failure | None:
    """
    tool_choice is one of its four forms, with the keys of that form.
    """
    choice = view.body.get("tool_choice")
    if choice is None:
        return None
    kind = text(obj(choice).get("type"))
    if kind not in _CHOICES:
        return bad(f"tool_choice: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    alien = next(unknown(f"tool_choice.{kind}", obj(choice), _CHOICES[kind]), None)
    return None if alien is None else bad(alien)


def chosen_tool_exists(view: View) -> Failure | None:
    """
    The tool that is forced is declared.
    """
    choice = obj(view.body.get("tool_choice"))
    names = [tool.get("name") for tool in objs(view.body.get("tools"))]
    if choice.get("type") != "tool" or choice.get("name") in names:
        return None
    return bad(f"Tool '{text(choice.get('name'))}' not found in provided tools")


def choice_may_be_forced(view: View) -> Failure | None:
    """
    "any" and "tool" are refused by the newest models, and together with manual thinking.
    """
    kind = text(obj(view.body.get("tool_choice")).get("type"))
    if kind not in ("any", "tool"):
        return None
    if not may_be_forced(view.model):
        return bad(f"tool_choice: type '{kind}' is not supported by this model.")
    if obj(view.body.get("thinking")).get("type") == "enabled":
        return bad("Thinking may not be enabled when tool_choice forces tool use.")
    return None


def _tool_faults(path: str, tool: Json) -> Iterator[str]:
    if not isinstance(tool, dict):
        yield f"{path}: Input should be a valid dictionary"
    elif tool.get("type") in (None, "custom"):
        yield from _client_tool_faults(f"{path}.custom", tool)
    else:
        yield from _own_tool_faults(path, tool)


def _own_tool_faults(path: str, tool: Object) -> Iterator[str]:
    kind = text(tool.get("type"))
    found = _OWN.fullmatch(kind)
    if found is None:
        yield f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    elif not found[1].endswith("_toolset") and tool.get("name") not in _OWN_NAMES.get(found[1], (found[1],)):
        yield f"{path}.{kind}.name: Input should be '{_OWN_NAMES.get(found[1], (found[1],))[0]}'"


def _client_tool_faults(path: str, tool: Object) -> Iterator[str]:
    yield from unknown(path, tool, _KNOWN)
    for key in ("name", "input_schema"):
        if key not in tool:
            yield f"{path}.{key}: Field required"
    if not re.match(_NAME, text(tool.get("name"))):
        yield f"{path}.name: String should match pattern '{_NAME}'"
    if not isinstance(tool.get("description", ""), str):
        yield f"{path}.description: Input should be a valid string"
    yield from cache_faults(f"{path}.cache_control", tool.get("cache_control"))
    yield from _schema_faults(f"{path}.input_schema", tool.get("input_schema"))
    if tool.get("strict") is True:
        yield from _strict_faults(path, tool.get("input_schema"))


def _schema_faults(path: str, schema: Json) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{path}: Input should be a valid dictionary"
    elif "type" not in schema:
        yield f"{path}.type: Field required"
    elif schema["type"] != "object":
        yield f"{path}.type: Input should be 'object'"
    elif {"oneOf", "allOf", "anyOf"} & schema.keys():
        yield f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level"


def _strict_faults(path: str, schema: Json) -> Iterator[str]:
    for node in schema_nodes(schema):
        kind = text(node.get("type"))
        if kind == "object" and node.get("additionalProperties") is not False:
            yield f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        limits = [key for key in _NOT_STRICT if key in node]
        if limits:
            yield f"{path}: For '{kind}' type, properties {', '.join(limits)} are not supported"


def schema_nodes(schema: Json) -> Iterator[Object]:
    """
    The schema and every schema in it.
    """
    if not isinstance(schema, dict):
        return
    yield schema
    for key in ("properties", "$defs", "definitions"):
        for inner in obj(schema.get(key)).values():
            yield from schema_nodes(inner)
    for inner in (schema.get("items"), *items(schema.get("anyOf")), *items(schema.get("allOf"))):
        yield from schema_nodes(inner)


RULES: tuple[Callable[[View], Failure | None], ...] = (
    tools_are_tools,
    names_are_unique,
    choice_has_tools,
    choice_is_known,
    chosen_tool_exists,
    choice_may_be_forced,
)
