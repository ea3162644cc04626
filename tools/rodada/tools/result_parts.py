"""
What a tool returned, as the parts that the model is shown.

Media, and links to them, are shown as what they are where they are returned alone, in a list or tuple, or in
`ToolResultParts`; so are bytes that begin as PNG, JPEG, GIF, WebP or PDF. Everything else is a text; media deeper
inside a value are told in it.
"""

from collections.abc import Iterable
from typing import cast

import attrs

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.media_types import type_of_bytes
from rodada.statemachine.messages import Media, MediaLink, Part, Text, is_part
from rodada.tools.value_text import BLANK, result_text

FAILED = "Failed; nothing more was told."
MOST_MEDIA_BYTES = 10_000_000


def _given_parts(parts: "str | Part | Iterable[str | Part]") -> tuple[Part, ...]:
    given: Iterable[object] = (parts,) if isinstance(parts, str | Text | Media | MediaLink) else parts
    return tuple(_given_part(part) for part in given)


def _given_part(part: object) -> Part:
    if isinstance(part, str):
        return Text(part)
    if is_part(part):
        return part
    raise InvalidValue("ToolResultParts.parts", f"takes texts, Media and MediaLink, got a {type(part).__name__}")


@attrs.frozen
class ToolResultParts:
    """
    Returned by a tool to say what the model is shown, part by part, and whether the call failed: this is the way to
    report a failure with content. What a text says never decides that.

    Attributes:
        parts: texts, `Media` and `MediaLink`, in the order in which the model sees them; one may be given alone.
        failed: the result is an error to the model, in the record and on every wire.

    Raises:
        InvalidValue: a part is none of these.
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


def _medium(value: object) -> Media | MediaLink | None:
    kind = type(value)
    if kind is Media or kind is MediaLink:
        return cast("Media | MediaLink", value)
    # Not `in`: comparing classes by == runs code of a metaclass.
    if not (kind is bytes or kind is bytearray or kind is memoryview):
        return None
    try:
        data = bytes(cast(bytes, value))
    except ValueError:  # a memoryview that was released; its text form tells why it has none
        return None
    media_type = type_of_bytes(data)
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
        elif isinstance(part, MediaLink) or part.text.strip():
            kept.append(part)
    return tuple(kept) or (Text(blank),)
