"""
Rules about tools and tool_choice.
"""

import re
from collections.abc import Callable, Iterator

from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text
from rodada.providers.loopback.openai_chat.view import View, bad, empty_array
from rodada.providers.loopback.openai_responses.fields import invalid_type, missing_parameter, unknown_parameter
from rodada.providers.loopback.openai_responses.strict import schema_fault
from rodada.providers.loopback.script import Failure

_NAME = "^[a-zA-Z0-9_-]+$"
_LONGEST_NAME = 64
_FUNCTION = ("name", "description", "parameters", "strict")
_MODES = ("none", "auto", "required")
_WITH_TOOLS = ("tool_choice", "parallel_tool_calls")


def tools_are_tools(view: View) -> Failure | None:
    """
    Tools are functions in the nested form, with a legal name, a schema for an object and known fields alone.
    """
    if "tools" not in view.body:
        return None
    given = view.body["tools"]
    if not isinstance(given, list):
        return invalid_type("tools", "an array of objects", given)
    if not given:
        return empty_array("tools")
    return next((refusal for at, tool in enumerate(given) for refusal in _tool_refusals(f"tools[{at}]", tool)), None)


def names_are_unique(view: View) -> Failure | None:
    """
    No two tools of one name.
    """
    names = _declared(view)
    doubled = next((name for name in names if names.count(name) > 1), None)
    return None if doubled is None else bad(f"Duplicate tool name found: '{doubled}'.", "tools")


def choice_has_tools(view: View) -> Failure | None:
    """
    Neither tool_choice nor parallel_tool_calls without tools.
    """
    if items(view.body.get("tools")):
        return None
    given = next((name for name in _WITH_TOOLS if name in view.body), None)
    if given is None:
        return None
    return bad(f"Invalid value for '{given}': '{given}' is only allowed when 'tools' are specified.", given)


def choice_is_known(view: View) -> Failure | None:
    """
    tool_choice is one of its words, or names declared tools.
    """
    choice = view.body.get("tool_choice")
    if isinstance(choice, str) and choice not in _MODES:
        words = ", ".join(f"'{word}'" for word in _MODES)
        return bad(f"Invalid value: '{choice}'. Supported values are: {words}.", "tool_choice", "invalid_value")
    alien = next((name for name in _chosen(obj(choice)) if name not in _declared(view)), None)
    return None if alien is None else bad(f"Tool choice '{alien}' not found in 'tools' parameter.", "tool_choice")


def _declared(view: View) -> list[str]:
    functions = (obj(tool.get("function")) for tool in objs(view.body.get("tools")))
    return [text(function["name"]) for function in functions if "name" in function]


def _chosen(choice: Object) -> list[str]:
    match choice.get("type"):
        case "function":
            return [text(obj(choice.get("function")).get("name"))]
        case "allowed_tools":
            allowed = objs(obj(choice.get("allowed_tools")).get("tools"))
            return [text(obj(tool.get("function")).get("name")) for tool in allowed]
        case _:
            return []


def _tool_refusals(path: str, tool: Json) -> Iterator[Failure]:
    if not isinstance(tool, dict):
        yield invalid_type(path, "an object", tool)
    elif "type" not in tool:
        yield missing_parameter(f"{path}.type")
    elif tool["type"] == "function":
        yield from (unknown_parameter(f"{path}.{key}") for key in tool if key not in ("type", "function"))
        if isinstance(tool.get("function"), dict):
            yield from _function_refusals(f"{path}.function", obj(tool["function"]))
        else:
            yield missing_parameter(f"{path}.function")


def _function_refusals(path: str, function: Object) -> Iterator[Failure]:
    name = text(function.get("name"))
    if "name" not in function:
        yield missing_parameter(f"{path}.name")
    elif not re.match(_NAME, name):
        message = f"Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern"
        yield bad(f"{message} '{_NAME}'.", f"{path}.name", "invalid_value")
    elif len(name) > _LONGEST_NAME:
        message = (
            f"Invalid '{path}.name': string too long. Expected a string with maximum length {_LONGEST_NAME}, but got a "
            f"string with length {len(name)} instead."
        )
        yield bad(message, f"{path}.name", "string_above_max_length")
    yield from (unknown_parameter(f"{path}.{key}") for key in function if key not in _FUNCTION)
    fault = schema_fault(function.get("parameters"), function.get("strict") is True)
    if fault is not None:
        message = f"Invalid schema for function '{name}': {fault}"
        yield bad(message, f"{path}.parameters", "invalid_function_parameters")


RULES: tuple[Callable[[View], Failure | None], ...] = (
    tools_are_tools,
    names_are_unique,
    choice_has_tools,
    choice_is_known,
)
