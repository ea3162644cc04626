"""
Frozen values to JSON and back: one codec for events, orders, runs and conversations, driven by their annotations.

An attrs value becomes an object with its class name under "type"; enums become their values, times ISO 8601, tuples
lists. Documents that are stored carry a format name with a version: a reader accepts its own and every earlier one,
and refuses a later one by name. Every stored field must be there, so that a damaged document is never read as a shorter
one; whoever adds a field raises the version and fills it in for earlier documents.
"""

import enum
import re
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from datetime import datetime
from functools import cache
from typing import TypeVar, cast

import attrs

from rodada.statemachine.errors import FormatError, InvalidValue
from rodada.statemachine.jsontext import JsonObject, JsonValue

T = TypeVar("T")
Decoder = Callable[[JsonValue, str], object]
LONGEST_SHOWN = 80
UNSTORED = {"unstored": True}  # metadata of a field that no JSON form has


def encode(value: object) -> JsonValue:
    """
    The JSON value of a frozen value.
    """
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple):
        return [encode(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, enum.Enum):
        return cast(JsonValue, value.value)
    if isinstance(value, datetime):
        return value.isoformat()
    return _encode_attrs(value)


def decode(kind: type[T], value: JsonValue, path: str = "$") -> T:
    """
    The value of class `kind` that some JSON stands for.

    Raises:
        FormatError: it is not of that form; `path` says where.
    """
    return cast(T, _decoder(cast(Hashable, kind))(value, path))


def document(name: str, version: int, content: JsonObject) -> JsonObject:
    """
    A stored document: its format, then its content.
    """
    return {"format": f"{name}/{version}", **content}


def read_document(name: str, newest: int, value: JsonValue) -> tuple[int, JsonObject]:
    """
    Version and content of a stored document.

    Raises:
        FormatError: another format, or a version later than this library knows.
    """
    if not isinstance(value, dict):
        raise FormatError("$", f"expected a JSON object of format {name}/{newest}")
    found = value.get("format")
    label, _, version = found.partition("/") if isinstance(found, str) else ("", "", "")
    if label != name or not re.fullmatch("[1-9][0-9]*", version):
        raise FormatError("$.format", f"expected {name}/{newest} or earlier, found {_kind_of(found)}")
    if len(version) > len(str(newest)) or int(version) > newest:
        later = f"{name}/{version[:LONGEST_SHOWN]}"
        raise FormatError("$.format", f"{later} is later than {name}/{newest}: read it with a newer rodada")
    return int(version), {key: item for key, item in value.items() if key != "format"}


def _is_stored(field: "attrs.Attribute[object]") -> bool:
    return field.init and not field.metadata.get("unstored")


@cache
def _names(kind: Hashable) -> tuple[str, ...]:
    return tuple(field.name for field in attrs.fields(cast(type, kind)) if _is_stored(field))


def _encode_attrs(value: object) -> JsonObject:
    if not attrs.has(type(value)):
        raise TypeError(f"no plain value: {type(value).__name__}")
    found: JsonObject = {"type": type(value).__name__}
    for name in _names(cast(Hashable, type(value))):
        found[name] = encode(getattr(value, name))
    return found


@cache
def _decoder(kind: object) -> Decoder:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(typing.get_args(kind))
    if origin is tuple:
        return _decode_tuple(typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _decode_enum(kind)
    if kind is datetime:
        return _decode_time
    if isinstance(kind, type) and attrs.has(kind):
        return _decode_attrs(kind)
    if kind in (str, int, float, bool, type(None)):
        return _decode_plain(cast(type, kind))
    raise TypeError(f"no decoder for {kind!r}")


def _decode_plain(kind: type) -> Decoder:
    accepted = (int, float) if kind is float else (kind,)

    def decode_plain(value: JsonValue, path: str) -> object:
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise FormatError(path, f"expected {kind.__name__}, found {_kind_of(value)}")
        return value

    return decode_plain


def _decode_time(value: JsonValue, path: str) -> object:
    try:
        return datetime.fromisoformat(cast(str, value))
    except (TypeError, ValueError):
        raise FormatError(path, f"expected an ISO 8601 time, found {_kind_of(value)}") from None


def _decode_enum(kind: type[enum.Enum]) -> Decoder:
    known = {str(member.value): member for member in kind}

    def decode_enum(value: JsonValue, path: str) -> object:
        # The class itself would show what it does not know, however deeply that is nested.
        if not isinstance(value, str) or value not in known:
            raise FormatError(path, f"expected one of {', '.join(known)}; found {_kind_of(value)}")
        return known[value]

    return decode_enum


def _decode_tuple(args: tuple[object, ...]) -> Decoder:
    if len(args) == 2 and args[1] is ...:
        return _decode_row(args[0])
    return _decode_fixed(args)


def _decode_row(item: object) -> Decoder:
    def decode_row(value: JsonValue, path: str) -> object:
        if not isinstance(value, list):
            raise FormatError(path, f"expected a list, found {_kind_of(value)}")
        one = _decoder(item)
        return tuple(one(part, f"{path}[{index}]") for index, part in enumerate(value))

    return decode_row


def _decode_fixed(items: tuple[object, ...]) -> Decoder:
    def decode_fixed(value: JsonValue, path: str) -> object:
        if not isinstance(value, list) or len(value) != len(items):
            raise FormatError(path, f"expected a list of {len(items)}, found {_kind_of(value)}")
        return tuple(
            _decoder(item)(part, f"{path}[{index}]")
            for index, (item, part) in enumerate(zip(items, value, strict=True))
        )

    return decode_fixed


def _decode_union(options: tuple[object, ...]) -> Decoder:
    tagged = {option.__name__: option for option in options if isinstance(option, type) and attrs.has(option)}
    plain = [option for option in options if option not in tagged.values()]

    def decode_union(value: JsonValue, path: str) -> object:
        tag = value.get("type") if isinstance(value, dict) else None
        if isinstance(tag, str) and tag in tagged:
            return _decoder(tagged[tag])(value, path)
        for option in plain:
            try:
                return _decoder(option)(value, path)
            except FormatError:
                continue
        expected = [*tagged, *(getattr(option, "__name__", str(option)) for option in plain)]
        raise FormatError(path, f"expected {' or '.join(expected)}, found {_kind_of(value)}")

    return decode_union


def _decode_attrs(kind: type) -> Decoder:
    hints = typing.get_type_hints(kind)
    fields: Mapping[str, attrs.Attribute[object]] = {
        field.name: field for field in attrs.fields(kind) if _is_stored(field)
    }

    def decode_attrs(value: JsonValue, path: str) -> object:
        if not isinstance(value, dict) or value.get("type") != kind.__name__:
            raise FormatError(path, f"expected {kind.__name__}, found {_kind_of(value)}")
        unknown = [key for key in value if key != "type" and key not in fields]
        if unknown:
            raise FormatError(path, f"{kind.__name__} has no field {unknown[0][:LONGEST_SHOWN]!r}")
        missing = [name for name in fields if name not in value]
        if missing:
            raise FormatError(path, f"{kind.__name__} lacks {', '.join(missing)}")
        given: dict[str, object] = {
            field.alias or name: _decoder(hints[name])(value[name], f"{path}.{name}") for name, field in fields.items()
        }
        try:
            return kind(**given)
        except InvalidValue as error:
            raise FormatError(path, str(error)) from error

    return decode_attrs


def _kind_of(value: JsonValue) -> str:
    if isinstance(value, dict):
        tag = value.get("type")
        return f"an object of type {tag[:LONGEST_SHOWN]!r}" if isinstance(tag, str) else "an object without a type"
    if isinstance(value, list):
        return f"a list of {len(value)}"  # never its items: they may be nested too deeply to be shown
    return f"{type(value).__name__} {value[:LONGEST_SHOWN]!r}" if isinstance(value, str) else _plainly(value)


def _plainly(value: float | bool | None) -> str:
    if isinstance(value, int) and value.bit_length() > LONGEST_SHOWN:
        return "a huge number"
    return repr(value)
