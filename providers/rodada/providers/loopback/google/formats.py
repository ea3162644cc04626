"""
Rules about the format that an answer shall have.
"""

from collections.abc import Callable

from rodada.providers.loopback.google.models import answers_json_beside_tools
from rodada.providers.loopback.google.tools import json_schema_faults
from rodada.providers.loopback.google.view import View, bad
from rodada.providers.loopback.json_values import Object, obj, objs, text
from rodada.providers.loopback.script import Failure

_CONFIG = "* GenerateContentRequest.generation_config"
_JSON = "application/json"
_SCHEMAS = ("responseSchema", "responseJsonSchema")


def schema_is_of_json(view: View) -> Failure | None:
    """
    A schema is in one of the two notations, and asks for JSON.
    """
    config = _config(view)
    given = [name for name in _SCHEMAS if name in config]
    if len(given) > 1:
        return bad(f"{_CONFIG}: only one of response_schema and response_json_schema may be set.")
    if given and config.get("responseMimeType") != _JSON:
        return bad(f"{_CONFIG}.response_mime_type: a response schema needs the response mime type '{_JSON}'.")
    return None


def schema_is_a_schema(view: View) -> Failure | None:
    """
    responseJsonSchema is a schema that the API takes.
    """
    if "responseJsonSchema" not in _config(view):
        return None
    path = f"{_CONFIG}.response_json_schema"
    fault = next(json_schema_faults(path, _config(view)["responseJsonSchema"]), None)
    return None if fault is None else bad(fault)


def tools_go_with_json(view: View) -> Failure | None:
    """
    Before Gemini 3 no function declarations where JSON is asked for.
    """
    declared = any(tool.get("functionDeclarations") for tool in objs(view.body.get("tools")))
    kind = text(_config(view).get("responseMimeType"))
    if kind != _JSON or not declared or answers_json_beside_tools(view.model):
        return None
    return bad(f"Function calling with a response mime type: '{_JSON}' is unsupported")


def _config(view: View) -> Object:
    return obj(view.body.get("generationConfig"))


RULES: tuple[Callable[[View], Failure | None], ...] = (schema_is_of_json, schema_is_a_schema, tools_go_with_json)
