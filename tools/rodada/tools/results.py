"""
What a tool returned, as text and media for the model: one total function.

Media are shown as what they are where they are returned alone, in a list or tuple, or in `ToolResultParts`; so are
bytes that begin as PNG, JPEG, GIF, WebP or PDF. Deeper inside a value they are told by type and size.

The forms of everything else: a text stands as it is; nothing or a blank text becomes a sentence; all other values are
JSON, in which dates, times and durations are ISO 8601, an enum is its value, bytes are text where they are UTF-8 and
else "base64:...", NaN and the infinities are texts, sets are sorted lists, pydantic models, dataclasses, attrs classes
and named tuples are objects, an exception is its class's name, and any other object is its `str()`: so Decimal, UUID
and paths are texts.
"""

import base64
import dataclasses
import enum
import inspect
import math
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping, Sequence, Set, ValuesView
from datetime import date, time, timedelta
from typing import Any, cast

import attrs
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonObject, JsonValue, canonical_json, clean_text, dump_json
from rodada.statemachine.messages import Media, Part, Text, plain_text
from rodada.statemachine.signatures import signed_type

NOTHING = "Done; the tool returns no value."
BLANK = "Done; the result is an empty text."
FAILED = "Failed; nothing more was told."
LEAVES = (KeyboardInterrupt, SystemExit)
LARGEST = 20_000_000
MOST_MEDIA_BYTES = 10_000_000
COST_OF_ONE = 8
SIMPLE = frozenset({str, int, bool, type(None)})
LONGEST_KEY = 80
ODD_FLOATS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class Unshowable(Exception):
    """
    A value has no text form; the message says why.
    """


def _given_parts(parts: "str | Part | Iterable[str | Part]") -> tuple[Part, ...]:
    given: Iterable[object] = (parts,) if isinstance(parts, str | Text | Media) else parts
    return tuple(_given_part(part) for part in given)


def _given_part(part: object) -> Part:
    if isinstance(part, str):
        return Text(part)
    if isinstance(part, Text | Media):
        return part
    raise InvalidValue("ToolResultParts.parts", f"takes texts and Media, got a {type(part).__name__}")


@attrs.frozen
class ToolResultParts:
    """
    Returned by a tool to say what the model is shown, part by part, and whether the call failed: this is the way to
    report a failure with content. What a text says never decides that.

    Attributes:
        parts: texts and `Media`, in the order in which the model sees them; one may be given alone.
        failed: the result is an error to the model, in the record and on every wire.

    Raises:
        InvalidValue: a part is neither text nor `Media`.
    """

    parts: tuple[Part, ...] = attrs.field(converter=_given_parts)
    failed: bool = False


def returned_parts(value: object) -> ToolResultParts:
    """
    A returned value as the parts that the model is shown: never none, and no blank text. Media together are at most
    MOST_MEDIA_BYTES; one that goes beyond is told in a sentence.

    Raises:
        Unshowable: as `result_text` does.
    """
    # Asking the value itself, as isinstance does, would run code of its own.
    kind = type(value)
    if kind is ToolResultParts:
        given = cast(ToolResultParts, value)
        return ToolResultParts(_sayable(given.parts, FAILED if given.failed else BLANK), given.failed)
    if kind is list or kind is tuple:
        members = tuple(cast(Iterable[object], value))
        if any(_medium(member) is not None for member in members):
            return ToolResultParts(_sayable(_member_parts(members), BLANK))
    medium = _medium(value)
    return ToolResultParts(_sayable((medium,), BLANK) if medium is not None else (Text(result_text(value)),))


def _medium(value: object) -> Media | None:
    kind = type(value)
    if kind is Media:
        return cast(Media, value)
    # Not `in`: comparing classes by == runs code of a metaclass.
    if not (kind is bytes or kind is bytearray or kind is memoryview):
        return None
    try:
        data = bytes(cast(bytes, value))
    except ValueError:  # a memoryview that was released; its text form tells why it has none
        return None
    media_type = signed_type(data)
    return None if media_type is None else Media.of(data, media_type)


def _member_parts(members: tuple[object, ...]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for member in members:
        part = _medium(member) or Text(result_text(member))
        if parts and isinstance(part, Text) and isinstance(parts[-1], Text):
            parts[-1] = Text(f"{parts[-1].text}\n{part.text}")
        else:
            parts.append(part)
    return tuple(parts)


def _sayable(parts: tuple[Part, ...], blank: str) -> tuple[Part, ...]:
    room = MOST_MEDIA_BYTES
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Media) and part.size > room:
            kept.append(Text(f"{part.told} was left out: a result may hold {MOST_MEDIA_BYTES} bytes of media.\n"))
        elif isinstance(part, Media):
            room -= part.size
            kept.append(part)
        elif part.text.strip():
            kept.append(part)
    return tuple(kept) or (Text(blank),)


def cut_parts(parts: tuple[Part, ...], most: int | None) -> tuple[Part, ...]:
    """
    The parts with their texts cut, where all texts together have more than `most` characters; media are kept whole.
    """
    whole = plain_text(parts)
    if most is None or len(whole) <= most:
        return parts
    left = cut_text(whole, most)
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Media):
            kept.append(part)
        elif left and left.startswith(part.text):
            kept.append(part)
            left = left[len(part.text) :]
        elif left:
            kept.append(Text(left))
            left = ""
    return tuple(kept)


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
    except LEAVES:
        raise
    except Unshowable:
        raise
    except RecursionError:
        raise Unshowable("it is nested too deeply, or holds itself") from None
    except BaseException as error:  # noqa: BLE001 - the value's own code may raise anything
        raise Unshowable(f"turning it into text raised {error_name(error)}") from None
    return text if text.strip() else BLANK


def cut_text(text: str, most: int | None) -> str:
    """
    The text, or its beginning with a mark that tells the whole length; at most `most` characters in all.
    """
    if most is None or len(text) <= most:
        return text
    mark = f"\n[cut here: the whole text has {len(text)} characters]"
    return text[: max(0, most - len(mark))] + mark


def error_name(error: BaseException) -> str:
    """
    The name of an exception's class, fit for a text.
    """
    return clean_text(type(error).__name__[:80])


def own_text(value: object) -> str:
    """
    The `str()` of a value; where that is only Python's default, its class's name, since an address tells nothing.
    """
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return f"<{kind.__qualname__}>"
    return str(value)


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
            case Media():
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
