"""
Input items of the Responses API: the fields that each type has and what they hold.
"""

import json
import re
from collections.abc import Iterator, Mapping

from rodada.providers.loopback.json_values import Json, Object, kind_of, text
from rodada.providers.loopback.media import data_url, is_fetched, seen_type
from rodada.providers.loopback.openai_responses.items import kind
from rodada.providers.loopback.openai_responses.view import bad
from rodada.providers.loopback.script import Failure
from rodada.providers.loopback.shapes import shape

_LONGEST_ID = 64
_LONGEST_ARGUMENTS = 1_048_576
_NAME = "^[a-zA-Z0-9_-]+$"
_STATUSES = ("in_progress", "completed", "incomplete")
_ROLES = ("user", "system", "developer", "assistant")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
FETCHED = ("https://", "http://")
_DETAILS = ("low", "high", "auto", "original")
_INPUT_PARTS: Mapping[str, str] = {
    "input_text": "type text:string prompt_cache_breakpoint?",
    "input_image": "type detail? file_id? image_url? prompt_cache_breakpoint?",
    "input_file": "type file_data? file_id? file_url? filename? detail? prompt_cache_breakpoint?",
}
_OUTPUT_PARTS: Mapping[str, str] = {
    "output_text": "type text:string annotations? logprobs?",
    "refusal": "type refusal:string",
}
_ITEMS: Mapping[str, str] = {
    "message": "type? role:role content:content id?:id status?:status phase?:phase_or_null",
    "reasoning": "type id?:id summary:list encrypted_content? content?:list",
    "function_call": (
        "type call_id:call_id name:name arguments:arguments id?:id status?:status async? namespace?:string caller?"
    ),
    "function_call_output": "type call_id:call_id output:output id? status?:status_or_null caller? name? namespace?",
    "custom_tool_call": "type call_id:call_id name:name input:string id?:id async? namespace?:string caller?",
    "custom_tool_call_output": "type call_id:call_id output:output id? caller?",
    "item_reference": "type? id:string",
}
_PREFIXES = {"function_call": "fc", "message": "msg", "reasoning": "rs", "custom_tool_call": "ctc"}
# Types of hosted tools, of the service itself, and of tomorrow: carried, not looked into.
_OPAQUE = re.compile(
    r"\w+_call|\w+_call_output|mcp_\w+|compaction\w*|program\w*|image_\w+|tool_search\w*|\w+_of_tomorrow"
)


def item_refusals(path: str, item: Json) -> Iterator[Failure]:
    """
    What is wrong with one item.
    """
    if not isinstance(item, dict):
        yield invalid_type(path, "an object", item)
        return
    sort = kind(item)
    if sort in _ITEMS:
        yield from _field_refusals(path, sort, _ITEMS[sort], item)
    elif not _OPAQUE.fullmatch(sort):
        yield bad(f"Invalid value: '{sort}'. Supported values are: {_quoted(_ITEMS)}.", path, "invalid_value")


def unknown_parameter(path: str) -> Failure:
    """
    A name that the API does not know.
    """
    return bad(f"Unknown parameter: '{path}'.", path, "unknown_parameter")


def missing_parameter(path: str) -> Failure:
    """
    A name that the API wants.
    """
    return bad(f"Missing required parameter: '{path}'.", path, "missing_required_parameter")


def invalid_type(path: str, expected: str, value: Json) -> Failure:
    """
    A value of a type that the API does not take.
    """
    got = "null" if value is None else f"{kind_of(value)}"
    return bad(f"Invalid type for '{path}': expected {expected}, but got {got} instead.", path, "invalid_type")


def _field_refusals(path: str, sort: str, spec: str, given: Object) -> Iterator[Failure]:
    fields = shape(spec)
    known = {name.rstrip("?") for name in fields}
    yield from (unknown_parameter(f"{path}.{key}") for key in given if key not in known)
    for name, holds in fields.items():
        key = name.rstrip("?")
        if key in given:
            yield from _value_refusals(f"{path}.{key}", holds, sort, given)
        elif not name.endswith("?"):
            yield missing_parameter(f"{path}.{key}")


def _value_refusals(path: str, holds: str, sort: str, given: Object) -> Iterator[Failure]:
    value = given[path.rpartition(".")[2]]
    match holds:
        case "string":
            yield from _string(path, value)
        case "list":
            if not isinstance(value, list):
                yield invalid_type(path, "an array", value)
        case "role":
            yield from _one_of(path, value, _ROLES)
        case "status":
            yield from _one_of(path, value, _STATUSES)
        case "status_or_null" if value is not None:
            yield from _one_of(path, value, _STATUSES)
        case "phase_or_null" if value is not None:
            yield from _one_of(path, value, ("commentary", "final_answer"))
        case "id":
            yield from _id(path, value, _PREFIXES[sort], given)
        case "call_id":
            yield from _call_id(path, value)
        case "name":
            yield from _name(path, value)
        case "arguments":
            yield from _arguments(path, value)
        case "output":
            yield from _parts(path, value, _INPUT_PARTS)
        case "content":
            by_model = given.get("role") == "assistant"
            yield from _parts(path, value, _OUTPUT_PARTS if by_model else _INPUT_PARTS)
        case _:
            pass


def _string(path: str, value: Json) -> Iterator[Failure]:
    if not isinstance(value, str):
        yield invalid_type(path, "a string", value)


def _one_of(path: str, value: Json, words: tuple[str, ...]) -> Iterator[Failure]:
    if value is None:
        yield invalid_type(path, f"one of {_quoted(words)}", value)
    elif value not in words:
        yield bad(f"Invalid value: {value!r}. Supported values are: {_quoted(words)}.", path, "invalid_value")


def _id(path: str, value: Json, prefix: str, given: Object) -> Iterator[Failure]:
    if not isinstance(value, str):
        yield invalid_type(path, "a string", value)
    elif len(value) > _LONGEST_ID:
        yield _too_long(path, value, _LONGEST_ID)
    elif not value.startswith(prefix) and given.get("role") in (None, "assistant"):
        message = f"Invalid '{path}': '{value}'. Expected an ID that begins with '{prefix}'."
        yield bad(message, path, "invalid_value")


def _call_id(path: str, value: Json) -> Iterator[Failure]:
    if not isinstance(value, str):
        yield invalid_type(path, "a string", value)
    elif not value:
        message = f"Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string"
        yield bad(f"{message} instead.", path, "empty_string")
    elif len(value) > _LONGEST_ID:
        yield _too_long(path, value, _LONGEST_ID)


def _name(path: str, value: Json) -> Iterator[Failure]:
    if not isinstance(value, str):
        yield invalid_type(path, "a string", value)
    elif not re.match(_NAME, value):
        message = f"Invalid '{path}': string does not match pattern. Expected a string that matches the pattern"
        yield bad(f"{message} '{_NAME}'.", path, "invalid_value")


def _arguments(path: str, value: Json) -> Iterator[Failure]:
    if not isinstance(value, str):
        yield invalid_type(path, "a string", value)
    elif len(value) > _LONGEST_ARGUMENTS:
        yield _too_long(path, value, _LONGEST_ARGUMENTS)
    else:
        try:
            json.loads(value)
        except ValueError as error:
            yield bad(f"Invalid '{path}': the arguments are not valid JSON: {error}", path, "invalid_value")


def _parts(path: str, value: Json, shapes: Mapping[str, str]) -> Iterator[Failure]:
    if isinstance(value, str):
        return
    if not isinstance(value, list):
        yield invalid_type(path, "one of a string or array of objects", value)
        return
    for index, part in enumerate(value):
        yield from _part(f"{path}[{index}]", part, shapes)


def _part(path: str, part: Json, shapes: Mapping[str, str]) -> Iterator[Failure]:
    if not isinstance(part, dict):
        yield invalid_type(path, "an object", part)
        return
    sort = text(part.get("type"))
    if sort not in shapes:
        yield bad(f"Invalid value: '{sort}'. Supported values are: {_quoted(shapes)}.", path, "invalid_value")
        return
    yield from _field_refusals(path, sort, shapes[sort], part)
    if sort == "input_image":
        yield from _image(path, part)
    if sort == "input_file":
        yield from _file(path, part)


def _image(path: str, part: Object) -> Iterator[Failure]:
    if part.get("detail") is not None:
        yield from _one_of(f"{path}.detail", part["detail"], _DETAILS)
    url = part.get("image_url")
    if url is None:
        if part.get("file_id") is None:
            yield missing_parameter(f"{path}.image_url")
        return
    where = f"{path}.image_url"
    if text(url).startswith(FETCHED):
        yield from download_refusals(where, url)
        return
    told, data = data_url(url)
    if data is None:
        message = (
            f"Invalid '{where}'. Expected a valid URL or a base64-encoded data URL, but got a value that is neither."
        )
        yield bad(message, where, "invalid_value")
    elif told not in _IMAGES or seen_type(data) not in _IMAGES:
        message = (
            f"The image data you provided does not represent a valid image. Supported formats: {_quoted(_IMAGES)}."
        )
        yield bad(message, where, "invalid_image_format")


def download_refusals(path: str, url: Json) -> Iterator[Failure]:
    """
    What is wrong with an address from which the API shall fetch something.
    """
    if not is_fetched(url, FETCHED):
        yield bad(f"Error while downloading {text(url)}.", path, "invalid_value")


def _file(path: str, part: Object) -> Iterator[Failure]:
    given = [name for name in ("file_id", "file_url", "filename") if part.get(name) is not None]
    if len(given) > 1:
        message = f"Mutually exclusive parameters: '{path}'. Ensure you are only providing one of: {_quoted_or(given)}."
        yield bad(message, path, "mutually_exclusive_parameters")
        return
    if part.get("file_url") is not None:
        yield from download_refusals(f"{path}.file_url", part["file_url"])
    data = part.get("file_data")
    if data is None:
        if part.get("file_id") is None and part.get("file_url") is None:
            yield missing_parameter(f"{path}.file_id")
        return
    if not text(part.get("filename")):
        yield missing_parameter(f"{path}.filename")
        return
    told, found = data_url(data)
    where = f"{path}.file_data"
    if found is None:
        message = f"Invalid '{where}'. Expected a base64-encoded data URL, such as 'data:application/pdf;base64,...'."
        yield bad(message, where, "invalid_value")
    elif told == "application/pdf" and seen_type(found) != told:
        yield bad("The file you provided could not be read as a PDF.", where, "invalid_value")


def _too_long(path: str, value: str, most: int) -> Failure:
    message = (
        f"Invalid '{path}': string too long. Expected a string with maximum length {most}, but got a string with "
        f"length {len(value)} instead."
    )
    return bad(message, path, "string_above_max_length")


def _quoted_or(words: list[str]) -> str:
    return " or ".join(f"'{word}'" for word in words)


def _quoted(words: "Mapping[str, str] | tuple[str, ...]") -> str:
    return ", ".join(f"'{word}'" for word in words)
