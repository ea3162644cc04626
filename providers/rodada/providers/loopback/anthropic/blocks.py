"""
Content blocks: the fields that each type has, and the roles that may say it.
"""

import re
from collections.abc import Iterator, Mapping

from attrs import field, frozen

from rodada.providers.loopback.json_values import Json, Object, obj, text
from rodada.providers.loopback.shapes import shape

_NAMES = {"id": r"^[a-zA-Z0-9_-]+$", "name": r"^[a-zA-Z0-9_-]{1,64}$"}


@frozen
class Shape:
    """
    The fields of a block and what they hold; a "?" marks an optional one.
    """

    roles: tuple[str, ...]
    fields: Mapping[str, str] = field(converter=shape)


_USER, _MODEL, _BOTH, _RESULT = ("user",), ("assistant",), ("user", "assistant"), ("result",)
_SERVER_RESULT = Shape(_MODEL, "type tool_use_id:id content cache_control?:cache caller?:object")
_SHAPES: Mapping[str, Shape] = {
    "thinking": Shape(_MODEL, "type thinking:string signature:string"),
    "redacted_thinking": Shape(_MODEL, "type data:string"),
    "tool_use": Shape(_MODEL, "type id:id name:name input:object cache_control?:cache caller?:object toolset_name?"),
    "tool_result": Shape(
        _USER,
        "type tool_use_id:id content?:result is_error?:boolean cache_control?:cache toolset_name?",
    ),
    "image": Shape(_USER + _RESULT, "type source:object cache_control?:cache transformations?"),
    "document": Shape(_USER + _RESULT, "type source:object cache_control?:cache citations? context? title?"),
    "search_result": Shape(_USER + _RESULT, "type content source:string title:string cache_control?:cache citations?"),
    "tool_reference": Shape(_RESULT, "type tool_name:string cache_control?:cache"),
    "container_upload": Shape(_BOTH, "type file_id:string cache_control?:cache"),
    "server_tool_use": Shape(_MODEL, "type id:id name:string input:object cache_control?:cache caller?:object"),
    "web_search_tool_result": _SERVER_RESULT,
    "web_fetch_tool_result": _SERVER_RESULT,
    "code_execution_tool_result": _SERVER_RESULT,
    "bash_code_execution_tool_result": _SERVER_RESULT,
    "text_editor_code_execution_tool_result": _SERVER_RESULT,
    "tool_search_tool_result": _SERVER_RESULT,
    "a_block_of_tomorrow": Shape(_MODEL, "type data:string"),
}
_ASSISTANT_TEXT = Shape(_MODEL, "type text:string cache_control?:cache citations?")
_TEXT = Shape(("user", "system", "result"), "type text:string cache_control?:cache")
_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "object": dict, "list": list}
_EXPECTED = {"string": "a valid string", "boolean": "a valid boolean", "object": "a valid dictionary"}


def faults(path: str, role: str, block: Json) -> Iterator[str]:
    """
    What is wrong with one block that stands in a message of this role, or in a "result".
    """
    if not isinstance(block, dict):
        yield f"{path}: Input should be a valid dictionary"
        return
    kind = text(block.get("type"))
    known = (_ASSISTANT_TEXT if role == "assistant" else _TEXT) if kind == "text" else _SHAPES.get(kind)
    if known is None:
        yield f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
    elif role not in known.roles:
        where = " or ".join(f"`{each}`" for each in known.roles)
        yield f"{path}: `{kind}` blocks can only be in {where} messages"
    else:
        yield from _field_faults(f"{path}.{kind}", known.fields, block)


def cache_faults(path: str, marker: Json) -> Iterator[str]:
    """
    What is wrong with a cache_control; null is none.
    """
    if marker is None:
        return
    yield from unknown(path, obj(marker), ("type", "ttl"))
    if obj(marker).get("type") != "ephemeral":
        yield f"{path}.type: Input should be 'ephemeral'"
    if obj(marker).get("ttl", "5m") not in ("5m", "1h"):
        yield f"{path}.ttl: Input should be '5m' or '1h'"


def unknown(path: str, given: Object, known: tuple[str, ...]) -> Iterator[str]:
    """
    The keys that the vendor does not know.
    """
    return (f"{path}.{key}: Extra inputs are not permitted" for key in given if key not in known)


def _field_faults(path: str, fields: Mapping[str, str], block: Object) -> Iterator[str]:
    yield from unknown(path, block, tuple(name.rstrip("?") for name in fields))
    for name, kind in fields.items():
        key = name.rstrip("?")
        if key in block:
            yield from _value_faults(f"{path}.{key}", kind, block[key])
        elif not name.endswith("?"):
            yield f"{path}.{key}: Field required"


def _value_faults(path: str, kind: str, value: Json) -> Iterator[str]:
    match kind:
        case "cache":
            yield from cache_faults(path, value)
        case "result":
            yield from _result_faults(path, value)
        case "id" | "name":
            if not isinstance(value, str):
                yield f"{path}: Input should be a valid string"
            elif not re.match(_NAMES[kind], value):
                yield f"{path}: String should match pattern '{_NAMES[kind]}'"
        case _:
            if kind in _TYPES and not isinstance(value, _TYPES[kind]):
                yield f"{path}: Input should be {_EXPECTED[kind]}"


def _result_faults(path: str, content: Json) -> Iterator[str]:
    if isinstance(content, list):
        for index, part in enumerate(content):
            yield from faults(f"{path}.{index}", "result", part)
    elif not isinstance(content, str):
        yield f"{path}: Input should be a valid string or a valid list"
