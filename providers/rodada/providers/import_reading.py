"""
Stored messages as plain JSON: a stranger's data, read with the place of everything, and refused by name.
"""

import base64
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from attrs import frozen

from rodada.providers.imported import LONGEST_TOLD, Change, ChangeKind
from rodada.statemachine.errors import UnreadableMessages
from rodada.statemachine.jsontext import (
    DEEPEST,
    JsonError,
    JsonObject,
    JsonValue,
    clean_text,
    dump_json,
    parse_json,
    parse_object,
)
from rodada.statemachine.messages import Part, Text

DEEPEST_STORED = 2 * DEEPEST  # arguments may be as deep as the wires take them, and stand some levels down
LARGEST = 2**53
MOST_BITS = 10_000  # Python writes and reads no longer integers
KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


@frozen
class Place:
    """
    Where in the stored messages something stands.
    """

    wire: str
    index: int
    path: str

    def inside(self, key: str | int) -> "Place":
        """
        The place of a member.
        """
        return Place(self.wire, self.index, f"{self.path}[{key}]" if isinstance(key, int) else f"{self.path}.{key}")

    def unreadable(self, expected: str, found: object) -> UnreadableMessages:
        """
        The error for something that cannot be read.
        """
        return self.refused(expected, kind_of(found))

    def refused(self, expected: str, told: str) -> UnreadableMessages:
        """
        The same where its kind does not say what is wrong.
        """
        return UnreadableMessages(self.wire, self.index, self.path, expected, told)

    def strange_role(self, known: str, role: JsonValue) -> UnreadableMessages:
        """
        The error for a message of nobody who speaks on the wire.
        """
        return self.inside("role").refused(known, repr(shown(role)) if isinstance(role, str) else kind_of(role))

    def change(self, kind: ChangeKind, told: str = "", content: str = "") -> Change:
        """
        What had to be changed here.
        """
        return Change(kind, self.index, self.path, shown(told), content)


def shown(told: str) -> str:
    """
    A stranger's name or id as one bounded line.
    """
    line = " ".join(told.split())
    return line if len(line) <= LONGEST_TOLD else line[:LONGEST_TOLD] + " ..."


def kind_of(value: object) -> str:
    """
    What something is, without its content.
    """
    return KINDS.get(type(value), f"a {type(value).__name__:.80}")


# From whatever was stored to JSON


def read_messages(wire: str, given: object) -> Iterator[tuple[Place, JsonObject, Iterable[Change]]]:
    """
    The messages as JSON objects, each with its place and what had to be mended to make it JSON. Objects of the vendors'
    SDKs become what they would be sent as.

    Raises:
        UnreadableMessages: no list, or a message that is no object of JSON.
    """
    if not isinstance(given, list | tuple):
        raise UnreadableMessages(wire, None, "", "a list of messages", kind_of(given))
    for index, each in enumerate(cast("Sequence[object]", given)):
        place = Place(wire, index, f"[{index}]")
        value, mended = _sendable(place, _plain(place, (), each))
        if not isinstance(value, dict):
            raise place.unreadable("an object", value)
        yield place, value, [place.change(ChangeKind.MENDED_TEXT)] if mended else []


def _plain(place: Place, trail: tuple[str | int, ...], value: object) -> JsonValue:
    if len(trail) > DEEPEST_STORED:
        raise place.refused(f"at most {DEEPEST_STORED} levels", "more of them")
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return _number(_at(place, trail), value) if abs(value) > LARGEST or value != value else value
    if isinstance(value, dict):
        members = cast("dict[object, object]", value).items()
        return {key: _plain(place, (*trail, key), each) for key, each in _named(place, trail, members)}
    if isinstance(value, list | tuple):
        return [_plain(place, (*trail, at), each) for at, each in enumerate(cast("Sequence[object]", value))]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return _plain(place, (*trail, 0), _dumped(_at(place, trail), value))


def _number(place: Place, value: float) -> float:
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int) and value.bit_length() <= MOST_BITS:
        return value
    raise place.refused("a number that JSON can hold", "another one")


def _named(
    place: Place, trail: tuple[str | int, ...], members: Iterable[tuple[object, object]]
) -> Iterator[tuple[str, object]]:
    for key, each in members:
        if not isinstance(key, str):
            raise _at(place, trail).unreadable("keys that are strings", key)
        yield key, each


def _dumped(place: Place, value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if not callable(dump) or isinstance(value, type):
        raise place.unreadable("values of JSON, or objects of the vendor's SDK", value)
    try:
        return dump(mode="json", by_alias=True, exclude_none=True)
    except Exception:  # noqa: BLE001 - whatever a strange object does, it is none of an SDK
        raise place.unreadable("objects that their SDK can write as JSON", value) from None


def _at(place: Place, trail: tuple[str | int, ...]) -> Place:
    for key in trail:
        place = place.inside(shown(key) if isinstance(key, str) else key)
    return place


def _sendable(place: Place, value: JsonValue) -> tuple[JsonValue, bool]:
    """
    The value as it can be sent, and whether lone surrogates in it were replaced.
    """
    try:
        text = dump_json(value)
        clean = clean_text(text)
        return (value, False) if clean is text or clean == text else (parse_json(clean), True)
    except (JsonError, ValueError, RecursionError):
        raise place.refused("JSON that can be sent", "keys that are one without their lone surrogates") from None


# Members of a message


def object_at(place: Place, value: JsonValue) -> JsonObject:
    """
    The value as an object.

    Raises:
        UnreadableMessages: it is none.
    """
    if not isinstance(value, dict):
        raise place.unreadable("an object", value)
    return value


def list_at(place: Place, value: JsonValue) -> list[JsonValue]:
    """
    The value as a list; an absent one is empty.

    Raises:
        UnreadableMessages: it is none.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise place.unreadable("a list", value)
    return value


def objects_at(place: Place, value: JsonValue) -> Iterator[tuple[Place, JsonObject]]:
    """
    The members of a list of objects, each with its place; an absent list is empty.

    Raises:
        UnreadableMessages: it is none.
    """
    for at, each in enumerate(list_at(place, value)):
        yield place.inside(at), object_at(place.inside(at), each)


def content_at(place: Place, value: JsonValue, kind: str) -> Sequence[tuple[Place, JsonObject]]:
    """
    The parts of a content, each with its place; one that is a text alone is one part of that kind.

    Raises:
        UnreadableMessages: it is neither a text nor a list of objects.
    """
    return [(place, {"type": kind, "text": value})] if isinstance(value, str) else list(objects_at(place, value))


def text_at(place: Place, value: JsonValue) -> str:
    """
    The value as a text; an absent one is empty.

    Raises:
        UnreadableMessages: it is none.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise place.unreadable("a string", value)
    return value


def id_at(place: Place, value: JsonValue) -> str | None:
    """
    The value as the id of a call; None where it is absent or empty.

    Raises:
        UnreadableMessages: it is no string.
    """
    return text_at(place, value) or None


def known_fields(place: Place, given: JsonObject, known: Iterable[str]) -> tuple[JsonObject, Iterable[Change]]:
    """
    The known fields of an object, nulls left out, and the change where there were others.
    """
    names = frozenset(known)
    others: JsonObject = {key: value for key, value in given.items() if key not in names and value is not None}
    found: JsonObject = {key: value for key, value in given.items() if key in names and value is not None}
    told = ", ".join(sorted(others))
    return found, [place.change(ChangeKind.UNKNOWN_FIELDS, told, dump_json(others))] if others else []


def left_out(place: Place, part: JsonObject, told: str = "") -> Change:
    """
    The change for a part that the wire does not take there.
    """
    kind = part.get("type")
    return place.change(ChangeKind.UNKNOWN_PART, told or (kind if isinstance(kind, str) else ""), dump_json(part))


def unreadable_arguments(place: Place, raw: str) -> list[Change]:
    """
    The change for a call's arguments that no wire takes.
    """
    return [place.change(ChangeKind.UNREADABLE_ARGUMENTS, content=raw)] if parse_object(raw) is None else []


def instructions_in(place: Place, parts: Iterable[tuple[Place, JsonObject]], known: Iterable[str]) -> list[Change]:
    """
    The changes for a message of instructions: its texts, and whatever else stands in it.
    """
    texts: list[str] = []
    changes: list[Change] = []
    for at, part in parts:
        if part.get("text") is None:
            changes.append(left_out(at, part))
            continue
        found, others = known_fields(at, part, known)
        texts.append(text_at(at.inside("text"), found.get("text")))
        changes += others
    return [place.change(ChangeKind.SYSTEM_TEXT, content="\n\n".join(texts)), *changes]


# Parts


def told_in_words(place: Place, part: JsonObject, told: str) -> Iterator[Part | Change]:
    """
    A part as its JSON, and the change that this is.
    """
    text = dump_json(part)
    yield place.change(ChangeKind.TOLD_IN_WORDS, told, text)
    yield Text(text)


def parted(found: Iterable[Part | Change]) -> tuple[tuple[Part, ...], list[Change]]:
    """
    Parts and changes, each for themselves.
    """
    parts: list[Part] = []
    changes: list[Change] = []
    for each in found:
        if isinstance(each, Change):
            changes.append(each)
        else:
            parts.append(each)
    return tuple(parts), changes
