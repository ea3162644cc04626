"""
JSON as the wires send it: parsed strictly, cleaned of what cannot be sent again, digested in one canonical form.
"""

import hashlib
import json
import math
from collections.abc import Iterable
from typing import TypeAlias, cast

from rodada.statemachine.errors import InvalidValue

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, "JsonValue"]


DEEPEST = 100


class JsonError(ValueError):
    """
    A text is no JSON by the strict reading (RFC 8259: no NaN, no Infinity, no key twice).
    """


def clean_text(text: str) -> str:
    """
    Replace lone surrogates by U+FFFD: no wire can encode them. What comes out is a plain text: a subclass, such as
    Markup or an enum of texts, may show or join itself as something else than it says.
    """
    if type(text) is not str:
        if not isinstance(cast(object, text), str):
            raise InvalidValue("text", f"takes a str, got a {type(text).__name__}")
        text = str.__str__(text)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_json(text: str) -> JsonValue:
    """
    Parse strictly.

    Raises:
        JsonError: broken JSON, NaN or Infinity, a key that stands twice in one object, nesting too deep, or a
            number too long or too large to read.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_float, object_pairs_hook=_object)
        return cast(JsonValue, value)
    except RecursionError:
        raise JsonError("nested too deeply") from None
    except ValueError as error:
        raise JsonError(str(error)) from None


def parse_object(text: str) -> JsonObject | None:
    """
    The object that a text holds, or None when it is no JSON object, or one nested deeper than every wire takes.
    Blank text is the empty object: servers send it for a call without arguments.
    """
    if not text.strip():
        return {}
    try:
        value = parse_json(text)
    except JsonError:
        return None
    return value if isinstance(value, dict) and not _is_too_deep(text, value) else None


def kept_object(text: str) -> JsonObject:
    """
    The object in a piece of a turn that was received and kept, however deep it is nested; empty when it holds none.
    """
    try:
        value = parse_json(text)
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}


def dump_json(value: JsonValue) -> str:
    """
    Compact JSON text in the given key order.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def canonical_json(value: JsonValue) -> str:
    """
    JSON text that is the same for equal values, whatever their key order.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)


def clean_json(text: str) -> str:
    """
    The text without lone surrogates; in that of an object escaped ones are mended too, for whoever reads it finds them.
    """
    clean = clean_text(text)
    held = parse_object(clean) if "\\ud" in clean.lower() else None
    if held is None:
        return clean
    found = dump_json(held)
    mended = clean_text(found)
    return clean if mended == found else mended


def digest_text(text: str) -> str:
    """
    SHA-256 of a text, in hex.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_arguments(raw: str) -> str:
    """
    Digest of a call's arguments: of their canonical form where they are an object, else of the text.
    """
    arguments = parse_object(raw)
    return digest_text(raw if arguments is None else canonical_json(arguments))


def _is_too_deep(text: str, value: JsonObject) -> bool:
    if text.count("{") + text.count("[") <= DEEPEST:
        return False
    level: list[JsonObject | list[JsonValue]] = [value]
    for _ in range(DEEPEST):
        level = [each for holder in level for each in _held(holder) if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def _held(holder: JsonObject | list[JsonValue]) -> Iterable[JsonValue]:
    return holder.values() if isinstance(holder, dict) else holder


def _no_constant(name: str) -> None:
    raise JsonError(f"{name} is no JSON value")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonError(f"{text[:80]} is too large a number")
    return value


def _object(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    found: JsonObject = {}
    for key, value in pairs:
        if key in found:
            raise JsonError(f"key {key[:80]!r} stands twice in one object")
        found[key] = value
    return found
