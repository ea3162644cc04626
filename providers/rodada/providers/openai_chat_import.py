"""
Stored messages of Chat Completions as a conversation.
"""

from collections.abc import Iterable, Iterator, Sequence

from rodada.providers.import_media import image_link, media_of, media_of_url
from rodada.providers.import_reading import (
    Place,
    content_at,
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
from rodada.providers.import_steps import Call, Result, Said, Step, Turn
from rodada.providers.imported import Change, Imported
from rodada.providers.importing import UNANSWERED, Source, repaired
from rodada.providers.json_body import raw_arguments
from rodada.providers.openai_chat_input import WIRE
from rodada.providers.openai_chat_output import bare_message
from rodada.providers.openai_request import heard_parts
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.messages import Media, MediaLink, Part, Piece, Text


def from_messages(messages: Sequence[object], *, unanswered: str = UNANSWERED) -> Imported:
    """
    Stored messages as a conversation.

    Args:
        messages: as they stand in the `messages` of a request: dicts, or objects of the SDK among them.
        unanswered: what the model is told of a call whose result was not stored.

    Raises:
        UnreadableMessages: what is no message of this API; `AmbiguousResult` where a result may answer several calls.
    """
    return repaired(Source(WIRE, unanswered=unanswered), _steps(messages))


def _steps(messages: object) -> Iterator[Step | Change]:
    for place, message, mended in read_messages(WIRE, messages):
        yield from mended
        match message.get("role"):
            case "system" | "developer":
                _, others = known_fields(place, message, ("role", "content"))
                yield from others
                yield from instructions_in(place, _content(place, message), ("type", "text"))
            case "user":
                yield from _said(place, message)
            case "assistant":
                yield from _turn(place, message)
            case "tool" | "function":
                yield from _result(place, message)
            case other:
                raise place.strange_role("system, developer, user, assistant, tool or function", other)


def _content(place: Place, message: JsonObject) -> Iterable[tuple[Place, JsonObject]]:
    return content_at(place.inside("content"), message.get("content"), "text")


def _text(place: Place, part: JsonObject) -> str:
    return text_at(place.inside("text"), part.get("text"))


# The person


def _said(place: Place, message: JsonObject) -> Iterator[Step | Change]:
    _, others = known_fields(place, message, ("role", "content"))
    parts, changes = parted(each for at, part in _content(place, message) for each in _parts(at, part))
    yield from others
    yield from changes
    yield Said(place, parts)


def _parts(place: Place, part: JsonObject) -> Iterator[Part | Change]:
    kind = part.get("type")
    if kind == "text":
        found, others = known_fields(place, part, ("type", "text"))
        yield from others
        yield Text(_text(place, found))
    elif kind in ("image_url", "input_audio", "file"):
        yield from _shown(place, part, str(kind))
    else:
        yield left_out(place, part)


def _shown(place: Place, part: JsonObject, kind: str) -> Iterator[Part | Change]:
    given = part.get(kind)
    inner = object_at(place.inside(kind), {"url": given} if isinstance(given, str) else given)
    media = _media(kind, inner)
    if media is None:
        yield from told_in_words(place, part, kind)
        return
    _, beside = known_fields(place, part, ("type", kind))
    _, others = known_fields(place.inside(kind), inner, ("url", "data", "format", "filename", "file_data"))
    yield from (*beside, *others)
    yield media


def _media(kind: str, inner: JsonObject) -> Media | MediaLink | None:
    if kind == "image_url":
        return media_of_url(inner.get("url")) or image_link(inner.get("url"))
    if kind == "file":
        return media_of_url(inner.get("file_data"), inner.get("filename"))
    return media_of(inner.get("data"), f"audio/{inner.get('format')}")


# The model


def _turn(place: Place, message: JsonObject) -> Iterator[Step | Change]:
    texts: list[str] = []
    for at, part in _content(place, message):
        if part.get("type") in ("text", "refusal"):
            texts.append(text_at(at, part.get(str(part["type"]))))
        else:
            yield left_out(at, part)
    refusal = text_at(place.inside("refusal"), message.get("refusal"))
    calls: list[Call] = []
    named: list[JsonValue] = []
    for at, call in _calls(place, message):
        read = _call(at, call)
        if read is None:
            yield left_out(at, call, "a call without a name")
            continue
        yield from unreadable_arguments(at, read.raw)
        calls.append(read)
        named.append(call)
    text = "".join(texts)
    spoken, others = known_fields(place, message, message.keys() - _overruled(message, text))
    yield from others
    if "tool_calls" in spoken:
        spoken["tool_calls"] = named
    said = text or refusal or _transcript(place, message)
    yield Turn(place, said, tuple(calls), (Piece(dump_json(spoken), dump_json(bare_message(spoken))),))


def _overruled(message: JsonObject, text: str) -> list[str]:
    """
    The fields whose place is taken: by words, by calls of today's form, and by what a recording says.
    """
    by = {"refusal": text, "function_call": message.get("tool_calls"), "audio": message.get("audio")}
    return [name for name, other in by.items() if other]


def _transcript(place: Place, message: JsonObject) -> str:
    audio = message.get("audio")
    return text_at(place.inside("audio"), audio.get("transcript")) if isinstance(audio, dict) else ""


def _calls(place: Place, message: JsonObject) -> Iterator[tuple[Place, JsonObject]]:
    inside = place.inside("tool_calls")
    yield from objects_at(inside, message.get("tool_calls"))
    old = message.get("function_call")
    if old and not message.get("tool_calls"):
        yield place.inside("function_call"), {"function": object_at(place.inside("function_call"), old)}


def _call(place: Place, call: JsonObject) -> Call | None:
    """
    A call, also one of a custom tool; None without a name.
    """
    kind, key = ("custom", "input") if "custom" in call else ("function", "arguments")
    asked = object_at(place.inside(kind), call.get(kind))
    name = text_at(place.inside(kind).inside("name"), asked.get("name"))
    call_id = id_at(place.inside("id"), call.get("id"))
    return Call(place, call_id, name, raw_arguments(asked.get(key))) if name else None


# The results


def _result(place: Place, message: JsonObject) -> Iterator[Step | Change]:
    found, others = known_fields(place, message, ("role", "content", "tool_call_id", "name"))
    yield from others
    parts, changes = parted(each for at, part in _content(place, _as_text(found)) for each in _parts(at, part))
    yield from changes
    status, told = heard_parts(parts)
    call_id = id_at(place.inside("tool_call_id"), found.get("tool_call_id"))
    yield Result(place, call_id, told, status, id_at(place.inside("name"), found.get("name")))


def _as_text(message: JsonObject) -> JsonObject:
    content: JsonValue = message.get("content")
    if content is None or isinstance(content, str | list):
        return message
    return {**message, "content": dump_json(content)}
