"""
Rules about tools and tool_choice.
"""

import re
from collections.abc import Callable, Iterator

from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text
from rodada.providers.loopback.openai_responses.fields import invalid_type, missing_parameter, unknown_parameter
from rodada.providers.loopback.openai_responses.strict import schema_fault
from rodada.providers.loopback.openai_responses.view import View, bad
from rodada.providers.loopback.script import Failure

_NAME = "^[a-zA-Z0-9_-]+$"
_LONGEST_NAME = 64
_FUNCTION = (
    *("type", "name", "parameters", "strict", "description", "async", "defer_loading", "allowed_callers"),
    "output_schema",
)
_HOSTED = (
    *("web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11", "file_search"),
    *("code_interpreter", "image_generation", "mcp", "local_shell", "shell", "apply_patch", "computer"),
    *("computer_use_preview", "tool_search", "namespace", "programmatic_tool_calling"),
)
_MODES = ("none", "auto", "required")


def tools_are_tools(view: View) -> Failure | None:
    """
    Function tools are flat, with a legal name, a schema for an object and known fields alone.
    """
    given = view.body.get("tools", [])
    if not isinstance(given, list):
        return invalid_type("tools", "an array of objects", given)
    found = (refusal for at, tool in enumerate(given) for refusal in _tool_refusals(f"tools[{at}]", tool))
    return next(found, None)


def names_are_unique(view: View) -> Failure | None:
    """
    No two tools of one name.
    """
    names = [text(tool["name"]) for tool in objs(view.body.get("tools")) if "name" in tool]
    doubled = next((name for name in names if names.count(name) > 1), None)
    return None if doubled is None else bad(f"Duplicate tool name found: '{doubled}'.", "tools")


def choice_has_tools(view: View) -> Failure | None:
    """
    No tool_choice without tools.
    """
    choice = view.body.get("tool_choice")
    if choice is None or items(view.body.get("tools")):
        return None
    said = choice if isinstance(choice, str) else text(obj(choice).get("type"))
    return bad(f"Tool choice '{said}' must be specified with 'tools' parameter.", "tool_choice")


def choice_is_known(view: View) -> Failure | None:
    """
    tool_choice is one of its words, or names declared tools.
    """
    choice = view.body.get("tool_choice")
    if isinstance(choice, str) and choice not in _MODES:
        words = ", ".join(f"'{word}'" for word in _MODES)
        return bad(f"Invalid value: '{choice}'. Supported values are: {words}.", "tool_choice", "invalid_value")
    declared = [tool.get("name") for tool in objs(view.body.get("tools"))]
    alien = next((name for name in _chosen(obj(choice)) if name not in declared), None)
    return None if alien is None else bad(f"Tool choice '{alien}' not found in 'tools' parameter.", "tool_choice")


def _chosen(choice: Object) -> list[str]:
    match choice.get("type"):
        case "function" | "custom":
            return [text(choice.get("name"))]
        case "allowed_tools":
            return [text(tool.get("name")) for tool in objs(choice.get("tools"))]
        case _:
            return []


def _tool_refusals(path: str, tool: Json) -> Iterator[Failure]:
    if not isinstance(tool, dict):
        yield invalid_type(path, "an object", tool)
    elif "type" not in tool:
        yield missing_parameter(f"{path}.type")
    elif tool["type"] in ("function", "custom"):
        yield from _name_refusals(path, tool)
        if tool["type"] == "function":
            yield from _function_refusals(path, tool)
    elif tool["type"] not in _HOSTED:
        words = ", ".join(f"'{word}'" for word in ("function", "custom", *_HOSTED))
        message = f"Invalid value: '{text(tool['type'])}'. Supported values are: {words}."
        yield bad(message, f"{path}.type", "invalid_value")


def _name_refusals(path: str, tool: Object) -> Iterator[Failure]:
    name = text(tool.get("name"))
    if "name" not in tool:
        yield missing_parameter(f"{path}.name")
    elif not re.match(_NAME, name):
        message = f"Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern"
        yield bad(f"{message} '{_NAME}'.", f"{path}.name", "invalid_value")
    elif len(name) > _LONGEST_NAME:
        message = (
            f"Invalid '{path}.name': string too long. Expected a string with maximum length {_LONGEST_NAME}, but got "
            f"a string with length {len(name)} instead."
        )
        yield bad(message, f"{path}.name", "string_above_max_length")


def _function_refusals(path: str, tool: Object) -> Iterator[Failure]:
    yield from (unknown_parameter(f"{path}.{key}") for key in tool if key not in _FUNCTION)
    fault = schema_fault(tool.get("parameters"), tool.get("strict") is True)
    if fault is not None:
        message = f"Invalid schema for function '{text(tool.get('name'))}': {fault}"
        yield bad(message, f"{path}.parameters", "invalid_function_parameters")


RULES: tuple[Callable[[View], Failure | None], ...] = (
    tools_are_tools,
    names_are_unique,
    choice_has_tools,
    choice_is_known,
)
