"""
Stored contents of generateContent as a conversation.

Calls of this wire may have no ids. Their responses are then told apart by name and position: the wire's own rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

from rodada.providers.google_output import VENDORS_OWN, bare_part
from rodada.providers.google_wire import TAKES, WIRE
from rodada.providers.import_media import link_of, media_of
from rodada.providers.import_reading import (
    Place,
    id_at,
    instructions_in,
    known_fields,
    left_out,
    object_at,
    objects_at,
    parted,
    read_messages,
    text_at,
    told_in_words,
    unreadable_arguments,
)
from rodada.providers.import_steps import Call, Result, Step, Turn, said_between
from rodada.providers.imported import Change, Imported
from rodada.providers.importing import UNANSWERED, Source, repaired
from rodada.providers.json_body import raw_arguments
from rodada.providers.media import retold, taken
from rodada.providers.paragraphs import Paragraphs
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, parse_object
from rodada.statemachine.messages import MediaLink, Part, Piece, Status, Text

# The fields of which a part has exactly one.
DATA = (
    *("text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode"),
    *("codeExecutionResult", "toolCall", "toolResponse"),
)
BESIDE = ("thought", "thoughtSignature", "videoMetadata", "partMetadata", "mediaResolution")
SPOKEN = frozenset(DATA) - {"functionResponse"}  # by a model
INNER: Mapping[str, tuple[str, ...]] = {
    "functionCall": ("id", "name", "args"),
    "functionResponse": ("id", "name", "response", "parts"),
    "inlineData": ("mimeType", "data", "displayName"),
    "fileData": ("mimeType", "fileUri", "displayName"),
}


def from_messages(messages: Sequence[object], *, model: str = "", unanswered: str = UNANSWERED) -> Imported:
    """
    Stored contents as a conversation.

    Args:
        messages: as they stand in the `contents` of a request, in either spelling of the fields: dicts, or objects of
            the SDK.
        model: that gave the turns, where known. Signatures hold for one model, so no other is sent them; those of an
            unknown one are sent to any.
        unanswered: what the model is told of a call whose result was not stored.

    Raises:
        UnreadableMessages: what is no content of this API; `AmbiguousResult` where a response may answer several calls.
    """
    return repaired(Source(WIRE, has_ids=False, model=model, unanswered=unanswered), _steps(messages))


def _steps(messages: object) -> Iterator[Step | Change]:
    for place, content, mended in read_messages(WIRE, messages):
        yield from mended
        found, others = known_fields(place, content, ("role", "parts"))
        yield from others
        parts = [(at, _spelled(part)) for at, part in objects_at(place.inside("parts"), found.get("parts"))]
        match found.get("role") or _guessed(parts):
            case "user" | "function" | "tool":
                yield from _said(place, parts)
            case "model":
                yield from _spoken(place, parts)
            case "system":
                yield from instructions_in(place, parts, ("text",))
            case other:
                raise place.strange_role("user, model, function, tool or system", other)


def _guessed(parts: Iterable[tuple[Place, JsonObject]]) -> str:
    # as the SDK does it
    return "model" if any("functionCall" in part for _, part in parts) else "user"


def _spelled(given: JsonObject) -> JsonObject:
    """
    An object with its own fields in camelCase and without nulls, and so those of its members that the wire knows.
    """
    found: JsonObject = {}
    for key, value in given.items():
        name = re.sub(r"_([a-z])", lambda letter: letter[1].upper(), key)
        if value is None:
            continue
        if name in found:  # in both spellings: the second one is a stranger
            name = key
        found[name] = _spelled(value) if name in INNER and isinstance(value, dict) else value
    return found


# The person, and the results


def _said(place: Place, parts: Iterable[tuple[Place, JsonObject]]) -> Iterator[Step | Change]:
    found = (_result(*each) if "functionResponse" in each[1] else _parts(*each) for each in parts)
    return said_between(place, chain.from_iterable(found))


def _parts(place: Place, part: JsonObject) -> Iterator[Part | Change]:
    kind = _kind(part)
    if kind == "text":
        found, others = known_fields(place, part, ("text",))
        yield from others
        yield Text(text_at(place.inside("text"), found["text"]))
    elif kind == "inlineData":
        yield from _inline(place, part)
    elif kind == "fileData":
        yield from _file(place, part)
    else:
        yield left_out(place, part, kind)


def _kind(part: JsonObject) -> str:
    """
    The one field of a part that holds its data; "" where there is none, or several.
    """
    found = [name for name in DATA if name in part]
    return found[0] if len(found) == 1 else ""


def _inline(place: Place, part: JsonObject) -> Iterator[Part | Change]:
    blob, others = known_fields(place, object_at(place.inside("inlineData"), part["inlineData"]), INNER["inlineData"])
    media = media_of(blob.get("data"), blob.get("mimeType"), blob.get("displayName"))
    _, beside = known_fields(place, part, ("inlineData",))
    yield from (*others, *beside)
    yield left_out(place, part, "broken base64") if media is None else media


def _link(file: JsonObject) -> MediaLink | None:
    link = link_of(file.get("fileUri"), file.get("mimeType"), file.get("displayName"))
    return link if link is not None and TAKES.fits(link) else None


def _file(place: Place, part: JsonObject) -> Iterator[Part | Change]:
    file, others = known_fields(place, object_at(place.inside("fileData"), part["fileData"]), INNER["fileData"])
    link = _link(file)
    if link is None:
        yield from told_in_words(place, part, "fileData")
        return
    _, beside = known_fields(place, part, ("fileData",))
    yield from (*others, *beside)
    yield link


def _result(place: Place, part: JsonObject, *, is_misplaced: bool = False) -> Iterator[Result | Change]:
    inside = place.inside("functionResponse")
    found, others = known_fields(inside, object_at(inside, part["functionResponse"]), INNER["functionResponse"])
    _, beside = known_fields(place, part, ("functionResponse",))
    yield from (*others, *beside)
    shown = [(at, _spelled(each)) for at, each in objects_at(inside.inside("parts"), found.get("parts"))]
    parts, changes = parted(each for at, inner in shown for each in _parts(at, inner))
    yield from changes
    media = [each for each in parts if not isinstance(each, Text)]
    told = [each for each in parts if isinstance(each, Text)]
    status, text = _response(found.get("response"))
    name = id_at(inside.inside("name"), found.get("name"))
    call_id = id_at(inside.inside("id"), found.get("id"))
    yield Result(place, call_id, (*retold(text, media), *told), status, name, is_misplaced)


def _response(response: JsonValue) -> tuple[Status, str]:
    """
    Status and text of a response. By the wire's convention `output` holds a result and `error` a failure; everything
    else is the result as a whole.
    """
    if not isinstance(response, dict):
        return Status.SUCCEEDED, "" if response is None else dump_json(response)
    status = Status.FAILED if "error" in response and "output" not in response else Status.SUCCEEDED
    inner = next(iter(response.values()), None)
    if response.keys() in ({"output"}, {"error"}) and isinstance(inner, str):
        return status, inner
    return status, dump_json(response)


# The model


def _spoken(place: Place, parts: Sequence[tuple[Place, JsonObject]]) -> Iterator[Step | Change]:
    """
    The turns of a content. Where responses stand among its parts, under the wrong role, what follows them is a turn of
    its own: it was said after them.
    """
    if not parts:
        yield Turn(place)
    for of_tools, group in groupby(parts, lambda each: _kind(each[1]) == "functionResponse"):
        if of_tools:
            for at, part in group:
                yield from _result(at, part, is_misplaced=True)
        else:
            yield from _turn(place, group)


def _turn(place: Place, parts: Iterable[tuple[Place, JsonObject]]) -> Iterator[Step | Change]:
    texts: list[str] = []
    paragraphs = Paragraphs()
    calls: list[Call] = []
    native: list[Piece] = []
    for at, part in parts:
        found, changes = _part(at, part)
        yield from changes
        if found is None:
            continue
        if "text" in found and not found.get("thought"):
            texts.append(paragraphs.heard(text_at(at.inside("text"), found["text"])))
        elif not VENDORS_OWN.isdisjoint(found):
            paragraphs.heard(None)
        if "functionCall" in found:
            call = _call(at.inside("functionCall"), found["functionCall"])
            calls.append(call)
            yield from unreadable_arguments(call.place, call.raw)
        native.append(Piece(dump_json(found), bare_part(found)))
    yield Turn(place, "".join(texts), tuple(calls), tuple(native))


def _part(place: Place, part: JsonObject) -> tuple[JsonObject | None, Iterable[Change]]:
    """
    A part of a turn in the form in which the wire takes it back; None for one that it would refuse.
    """
    kind = _kind(part)
    inner = part.get(kind)
    if kind not in SPOKEN or not isinstance(inner, str if kind == "text" else dict):
        return None, [left_out(place, part, kind)]
    found, others = known_fields(place, part, (kind, *(name for name in BESIDE if _is_good(name, part.get(name)))))
    changes: Iterable[Change] = ()
    if kind == "functionCall" and isinstance(inner, dict):
        found[kind], changes = known_fields(place.inside(kind), {**inner, **_read_args(inner)}, INNER[kind])
        if not text_at(place.inside(kind).inside("name"), inner.get("name")):
            return None, [left_out(place, part, "a call without a name")]
    if kind == "fileData" and isinstance(inner, dict) and _link(inner) is None:
        return None, [left_out(place, part, kind)]
    if kind == "inlineData" and isinstance(inner, dict):
        media = media_of(inner.get("data"), inner.get("mimeType"))
        if media is None or taken((media,), TAKES).parts != (media,):
            return None, [left_out(place, part, kind)]
        _, changes = known_fields(place.inside(kind), inner, ("mimeType", "data"))
        found[kind] = {"mimeType": media.media_type, "data": media.data}
    return found, [*others, *changes]


def _read_args(call: JsonObject) -> JsonObject:
    """
    The arguments of a call that are stored as their text.
    """
    args = call.get("args")
    read = parse_object(args) if isinstance(args, str) else None
    return {} if read is None else {"args": read}


def _is_good(name: str, value: JsonValue) -> bool:
    if name == "thought":
        return isinstance(value, bool)
    if name == "thoughtSignature":
        return isinstance(value, str) and media_of(value, "application/octet-stream") is not None
    return True


def _call(place: Place, call: JsonValue) -> Call:
    asked = object_at(place, call)
    args = asked.get("args")
    call_id = id_at(place.inside("id"), asked.get("id"))
    raw = "{}" if args is None else raw_arguments(args)
    return Call(place, call_id, text_at(place.inside("name"), asked.get("name")), raw)
