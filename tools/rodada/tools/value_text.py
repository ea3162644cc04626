"""
A value as text for the model: one total function.

A text stands as it is; nothing or a blank text becomes a sentence; all other values are JSON, in which dates, times
and durations are ISO 8601, an enum is its value, bytes are text where they are UTF-8 and else "base64:...", NaN and
the infinities are texts, sets are sorted lists, pydantic models, dataclasses, attrs classes and named tuples are
objects, an exception is its class's name, media are told by type and size, and any other object is its `str()`,
without addresses: so Decimal, UUID and paths are texts.
"""

import base64
import dataclasses
import enum
import inspect
import math
import re
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from datetime import date, time, timedelta
from typing import Any, cast

import attrs
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from rodada.statemachine.jsontext import JsonObject, JsonValue, canonical_json, clean_text, dump_json
from rodada.statemachine.messages import Media, MediaLink, Text

NOTHING = "Done; the tool returns no value."
BLANK = "Done; the result is an empty text."
LET_THROUGH = (KeyboardInterrupt, SystemExit)  # no failure of a tool: whoever runs the process wants it to end
LARGEST = 20_000_000
COST_OF_ONE = 8
SIMPLE = frozenset({str, int, bool, type(None)})
LONGEST_KEY = 80
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+\b")
ODD_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class Unshowable(Exception):
    """
    A value has no text form; the message says why.
    """


def result_text(value: object) -> str:
    """
    The text of a returned value, whole.

    Raises:
        Unshowable: nothing else but KeyboardInterrupt and SystemExit is ever raised, whatever the value does.
    """
    if value is None:
        return NOTHING
    try:
        text = clean_text(_text(value))
    except LET_THROUGH:
        raise
    except Unshowable:
        raise
    except RecursionError:
        raise Unshowable("it is nested too deeply, or holds itself") from None
    except BaseException as error:  # noqa: BLE001 - the value's own code may raise anything
        raise Unshowable(f"turning it into text raised {error_name(error)}") from None
    return text if text.strip() else BLANK


def error_name(error: BaseException) -> str:
    """
    The name of an exception's class, fit for a text.
    """
    return clean_text(type(error).__name__[:80])


def own_text(value: object) -> str:
    """
    The `str()` of a value. Where that is only Python's default it is its class's name, or its `repr()` without
    addresses: they tell nothing, and are other ones when the same call is made again.
    """
    kind = type(value)
    if kind.__str__ is not object.__str__:
        return str(value)
    return f"<{kind.__qualname__}>" if kind.__repr__ is object.__repr__ else ADDRESS.sub("", str(value))


def _text(value: object) -> str:
    if type(value) is str:
        return value
    plain = _Plain().of(value)
    return plain if isinstance(plain, str) else dump_json(plain)


class _Plain:
    # One object a result: it counts what it holds, so that a small value that shows as a huge one ends.

    def __init__(self) -> None:
        self._room = LARGEST

    def of(self, value: object) -> JsonValue:
        plain = self._known(value)
        self._room -= COST_OF_ONE + (len(plain) if isinstance(plain, str) else 0)
        if self._room < 0:
            raise Unshowable(f"its text would have more than {LARGEST} characters")
        return plain

    def _known(self, value: object) -> JsonValue:
        # Most values are of these very classes, and asking a value what else it is takes ten times longer.
        kind = type(value)
        if kind in SIMPLE:
            return cast(JsonValue, value)
        if kind is dict:
            return self._object(cast(dict[Any, object], value))
        if kind is list or kind is tuple:
            return self._list(cast(Iterable[object], value))
        return self._scalar(value)

    def _scalar(self, value: object) -> JsonValue:
        match value:
            case enum.Enum():
                return self.of(value.value)
            case str():
                return str.__str__(value)
            case int():
                return int(value)
            case float():
                return float(value) if math.isfinite(value) else ODD_FLOATS[str(float(value))]
            case bytes() | bytearray() | memoryview():
                return _bytes_text(bytes(cast(bytes, value)))
            case date() | time() | timedelta():
                return str(to_jsonable_python(value))
            case BaseException():
                return error_name(value)
            case BaseModel():
                return self.of(value.model_dump(warnings=False))
            case Media() | MediaLink():
                return value.told
            case Text():
                return value.text
            case _:
                return self._container(value)

    def _container(self, value: object) -> JsonValue:
        _refuse_unfinished(value)
        fields = _fields(value)
        if fields is not None:
            return self._object(fields)
        match value:
            case Set():
                return sorted(self._list(cast(Set[object], value)), key=canonical_json)
            case Sequence() | ValuesView():
                return self._list(cast(Iterable[object], value))
            case _:
                return own_text(value)

    def _list(self, values: Iterable[object]) -> list[JsonValue]:
        return [self.of(each) for each in values]

    def _object(self, fields: Mapping[Any, object]) -> JsonObject:
        found: JsonObject = {}
        for key, value in fields.items():
            name = self._key(key)
            if name in found:
                raise Unshowable(f"two of its keys are shown alike, as {name[:LONGEST_KEY]!r}")
            found[name] = self.of(value)
        return found

    def _key(self, key: object) -> str:
        plain = self.of(key)
        return plain if isinstance(plain, str) else canonical_json(plain)


def _fields(value: object) -> Mapping[Any, object] | None:
    kind: Any = type(value)
    if isinstance(value, Mapping):
        return cast(Mapping[Any, object], value)
    if dataclasses.is_dataclass(kind):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(kind)}
    if attrs.has(kind):
        return {each.name: getattr(value, each.name) for each in attrs.fields(kind)}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return dict(zip(kind._fields, cast(tuple[object, ...], value), strict=True))
    return None


def _refuse_unfinished(value: object) -> None:
    kind = type(value).__name__
    if inspect.iscoroutine(value):
        value.close()
    if isinstance(value, Awaitable):
        raise Unshowable(f"it is a {kind} that nobody awaited: make the tool async and await it there")
    if isinstance(value, Iterator | AsyncIterator):
        raise Unshowable(f"it is a {kind}, which is not read yet: return a list, or a text")


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(value).decode("ascii")
