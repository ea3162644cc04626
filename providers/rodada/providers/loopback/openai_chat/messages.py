"""
Messages of Chat Completions: the fields that each role has and what they hold.
"""

import json
import re
from collections.abc import Iterator, Mapping

from rodada.providers.loopback.json_values import Json, Object, obj, text
from rodada.providers.loopback.media import data_url, seen_type
from rodada.providers.loopback.openai_chat.view import bad, empty_array
from rodada.providers.loopback.openai_responses.fields import (
    FETCHED,
    download_refusals,
    invalid_type,
    missing_parameter,
    unknown_parameter,
)
from rodada.providers.loopback.script import Failure

_LONGEST_ID = 64
_NAME = "^[a-zA-Z0-9_-]+$"
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "tool_calls", "audio", "function_call"),
    "tool": ("role", "content", "tool_call_id"),
}
_PARTS: Mapping[str, tuple[str, ...]] = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
_PART_FIELDS: Mapping[str, str] = {
    "text": "text",
    "image_url": "image_url",
    "refusal": "refusal",
    "input_audio": "input_audio",
    "file": "file",
}
_CALL = ("id", "type", "function")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_DETAILS = ("auto", "low", "high")


def message_refusals(path: str, message: Json, further: tuple[str, ...]) -> Iterator[Failure]:
    """
    What is wrong with one message; `further` are fields that this server knows beside OpenAI's.
    """
    if not isinstance(message, dict):
        yield invalid_type(path, "an object", message)
        return
    role = text(message.get("role"))
    if "role" not in message:
        yield missing_parameter(f"{path}.role")
    elif role not in _FIELDS:
        words = ", ".join(f"'{each}'" for each in _FIELDS)
        message_text = f"Invalid value: {message['role']!r}. Supported values are: {words}."
        yield bad(message_text, f"{path}.role", "invalid_value")
    else:
        yield from _role_refusals(path, role, message, further if role == "assistant" else ())


def _role_refusals(path: str, role: str, message: Object, further: tuple[str, ...]) -> Iterator[Failure]:
    known = (*_FIELDS[role], *further)
    yield from (unknown_parameter(f"{path}.{key}") for key in message if key not in known)
    if role == "tool":
        yield from _id_refusals(f"{path}.tool_call_id", message, "tool_call_id")
    if role == "assistant" and "tool_calls" in message:
        yield from _calls_refusals(f"{path}.tool_calls", message["tool_calls"])
    yield from _content_refusals(path, role, message)


def _content_refusals(path: str, role: str, message: Object) -> Iterator[Failure]:
    content = message.get("content")
    may_lack = role == "assistant" and (message.get("tool_calls") or message.get("refusal"))
    if content is None and not may_lack:
        if "content" not in message and role != "assistant":
            yield missing_parameter(f"{path}.content")
        else:
            yield bad("Invalid value for 'content': expected a string, got null.", f"{path}.content")
    elif isinstance(content, list):
        if not content:
            yield empty_array(f"{path}.content")
        for at, part in enumerate(content):
            yield from _part_refusals(f"{path}.content[{at}]", part, _PARTS[role])
    elif content is not None and not isinstance(content, str):
        yield invalid_type(f"{path}.content", "one of a string or array of objects", content)


def _part_refusals(path: str, part: Json, kinds: tuple[str, ...]) -> Iterator[Failure]:
    if not isinstance(part, dict):
        yield invalid_type(path, "an object", part)
        return
    kind = text(part.get("type"))
    if kind not in kinds:
        words = ", ".join(f"'{each}'" for each in kinds)
        yield bad(f"Invalid value: '{kind}'. Supported values are: {words}.", f"{path}.type", "invalid_value")
        return
    name = _PART_FIELDS[kind]
    yield from (unknown_parameter(f"{path}.{key}") for key in part if key not in ("type", name))
    if name not in part:
        yield missing_parameter(f"{path}.{name}")
    elif kind in ("text", "refusal") and not isinstance(part[name], str):
        yield invalid_type(f"{path}.{name}", "a string", part[name])
    elif kind == "image_url":
        yield from _image_refusals(f"{path}.image_url", part["image_url"])
    elif kind == "file":
        yield from _file_refusals(f"{path}.file", part["file"])


def _image_refusals(path: str, image: Json) -> Iterator[Failure]:
    if not isinstance(image, dict):
        yield invalid_type(path, "an object", image)
        return
    yield from (unknown_parameter(f"{path}.{key}") for key in image if key not in ("url", "detail"))
    if image.get("detail", "auto") not in _DETAILS:
        yield bad(f"Invalid value: {image['detail']!r}.", f"{path}.detail", "invalid_value")
    if text(image.get("url")).startswith(FETCHED):
        yield from download_refusals(f"{path}.url", image["url"])
        return
    told, data = data_url(image.get("url"))
    if data is None or told not in _IMAGES or seen_type(data) not in _IMAGES:
        message = (
            "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', "
            "'jpeg', 'gif', 'webp']."
        )
        yield bad(message, f"{path}.url", "invalid_image_format")


def _file_refusals(path: str, file: Json) -> Iterator[Failure]:
    if not isinstance(file, dict):
        yield invalid_type(path, "an object", file)
        return
    yield from (unknown_parameter(f"{path}.{key}") for key in file if key not in ("filename", "file_data", "file_id"))
    if text(file.get("file_id")):
        return
    if not text(file.get("filename")):
        yield missing_parameter(f"{path}.filename")
    told, data = data_url(file.get("file_data"))
    if data is None or told != "application/pdf" or seen_type(data) != told:
        message = f"Invalid '{path}.file_data'. Expected a base64-encoded data URL of a PDF file."
        yield bad(message, f"{path}.file_data", "invalid_value")


def _calls_refusals(path: str, calls: Json) -> Iterator[Failure]:
    if not isinstance(calls, list):
        yield invalid_type(path, "an array of objects", calls)
    elif not calls:
        yield empty_array(path)
    else:
        for at, call in enumerate(calls):
            yield from _call_refusals(f"{path}[{at}]", call)


def _call_refusals(path: str, call: Json) -> Iterator[Failure]:
    if not isinstance(call, dict):
        yield invalid_type(path, "an object", call)
        return
    yield from (unknown_parameter(f"{path}.{key}") for key in call if key not in _CALL)
    yield from _id_refusals(f"{path}.id", call, "id")
    if "type" not in call:
        yield missing_parameter(f"{path}.type")
    elif call["type"] != "function":
        yield bad(
            f"Invalid value: {call['type']!r}. Supported values are: 'function'.", f"{path}.type", "invalid_value"
        )
    if not isinstance(call.get("function"), dict):
        yield missing_parameter(f"{path}.function")
        return
    yield from _function_refusals(f"{path}.function", obj(call["function"]))


def _function_refusals(path: str, function: Object) -> Iterator[Failure]:
    yield from (unknown_parameter(f"{path}.{key}") for key in function if key not in ("name", "arguments"))
    for key in ("name", "arguments"):
        if key not in function:
            yield missing_parameter(f"{path}.{key}")
        elif not isinstance(function[key], str):
            yield invalid_type(f"{path}.{key}", "a string", function[key])
    name, arguments = function.get("name"), function.get("arguments")
    if isinstance(name, str) and not re.match(_NAME, name):
        message = f"Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern"
        yield bad(f"{message} '{_NAME}'.", f"{path}.name", "invalid_value")
    if isinstance(name, str) and len(name) > _LONGEST_ID:
        yield _too_long(f"{path}.name", name)
    if isinstance(arguments, str):
        yield from _json_refusals(f"{path}.arguments", arguments)


def _json_refusals(path: str, arguments: str) -> Iterator[Failure]:
    # OpenAI takes any text; servers that put it into a template do not.
    try:
        value: object = json.loads(arguments)
    except ValueError as error:
        yield bad(f"Invalid '{path}': {error}", path, "invalid_value")
        return
    if not isinstance(value, dict):
        yield bad(f"Invalid '{path}': the arguments are no JSON object.", path, "invalid_value")


def _id_refusals(path: str, holder: Object, key: str) -> Iterator[Failure]:
    value = holder.get(key)
    if key not in holder:
        yield missing_parameter(path)
    elif not isinstance(value, str):
        yield invalid_type(path, "a string", value)
    elif not value:
        message = f"Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string"
        yield bad(f"{message} instead.", path, "empty_string")
    elif len(value) > _LONGEST_ID:
        yield _too_long(path, value)


def _too_long(path: str, value: str) -> Failure:
    message = (
        f"Invalid '{path}': string too long. Expected a string with maximum length {_LONGEST_ID}, but got a string "
        f"with length {len(value)} instead."
    )
    return bad(message, path, "string_above_max_length")
