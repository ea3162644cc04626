"""
Stored input items of the Responses API as a conversation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, starmap

from rodada.providers.import_media import image_link, link_of, media_of_url
from rodada.providers.import_reading import (
    Place,
    content_at,
    id_at,
    instructions_in,
    known_fields,
    left_out,
    objects_at,
    parted,
    read_messages,
    text_at,
    told_in_words,
    unreadable_arguments,
)
from rodada.providers.import_steps import Call, Result, Said, Step, Turn
from rodada.providers.imported import Change, ChangeKind, Imported
from rodada.providers.importing import UNANSWERED, Source, repaired
from rodada.providers.openai_request import heard_parts
from rodada.providers.openai_responses_input import CALLS, OUTPUTS, WIRE
from rodada.providers.openai_responses_output import asked_arguments, pieces_of, visible_text
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, kept_object
from rodada.statemachine.media_types import PDF, TOLD_BY_BYTES, type_of_url
from rodada.statemachine.messages import Media, MediaLink, Part, Text

# The items of a turn, with the fields in which the wire takes them back.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "message": ("type", "role", "content", "id", "status", "phase"),
    "reasoning": ("type", "id", "summary", "encrypted_content", "content"),
    "function_call": ("type", "call_id", "name", "arguments", "id", "status", "async", "namespace", "caller"),
    "custom_tool_call": ("type", "call_id", "name", "input", "id", "async", "namespace", "caller"),
}
# What only an answer says of an item; it says nothing of what was said.
OF_ANSWERS = frozenset({"created_by", "parsed_arguments", "status", "async_"})
WORDS: Mapping[str, tuple[str, ...]] = {
    "status": ("in_progress", "completed", "incomplete"),
    "phase": ("commentary", "final_answer"),
}
STRINGS = ("id", "encrypted_content", "namespace")
# Items of the vendor's own tools that hold their results: they stand as they are.
HOSTED = frozenset(
    (
        *("web_search_call", "file_search_call", "code_interpreter_call"),
        *("mcp_call", "mcp_list_tools", "compaction"),
    )
)
SAID_PARTS: Mapping[str, tuple[str, ...]] = {
    "output_text": ("text", "annotations", "logprobs"),
    "refusal": ("refusal",),
}
SHOWN = ("input_image", "input_file")
TEXTS = ("input_text", "output_text", "text")


def from_messages(messages: Sequence[object], *, unanswered: str = UNANSWERED) -> Imported:
    """
    Stored input items as a conversation.

    Args:
        messages: as they stand in the `input` of a request, the items of answers among them: dicts, or objects of the
            SDK.
        unanswered: what the model is told of a call whose result was not stored.

    Raises:
        UnreadableMessages: what is no item of this API; `AmbiguousResult` where a result may answer several calls.
    """
    return repaired(Source(WIRE, unanswered=unanswered), _steps(messages))


def _steps(messages: object) -> Iterator[Step | Change]:
    read: list[tuple[Place, JsonObject]] = []
    hosted: set[str] = set()
    for place, item, mended in read_messages(WIRE, messages):
        yield from mended
        read.append((place, item))
    for by_model, group in groupby(read, _is_of_model):
        if by_model:
            yield from _turn(group, hosted)
        else:
            yield from chain.from_iterable(starmap(_other, group))


def _is_of_model(read: tuple[Place, JsonObject]) -> bool:
    """
    Whether an item stands in a turn. One of an unknown kind does, for what is left out there is missed.
    """
    _, item = read
    kind = _kind(item)
    return item.get("role") == "assistant" if kind == "message" else kind not in OUTPUTS


def _kind(item: JsonObject) -> str:
    kind = item.get("type")
    return kind if isinstance(kind, str) and kind else "message"


# The person, and the results


def _other(place: Place, item: JsonObject) -> Iterator[Step | Change]:
    if _kind(item) in OUTPUTS:
        yield from _result(place, item)
    elif item.get("role") == "user":
        _, others = known_fields(place, item, ("type", "role", "content", "id", "status"))
        parts, changes = parted(each for at, part in _content(place, item, "content") for each in _parts(at, part))
        yield from others
        yield from changes
        yield Said(place, parts)
    elif item.get("role") in ("system", "developer"):
        _, others = known_fields(place, item, ("type", "role", "content", "id", "status"))
        yield from others
        yield from instructions_in(place, _content(place, item, "content"), ("type", "text"))
    else:
        raise place.strange_role("user, assistant, system or developer", item.get("role"))


def _content(place: Place, item: JsonObject, key: str) -> Iterable[tuple[Place, JsonObject]]:
    return content_at(place.inside(key), item.get(key), "input_text")


def _parts(place: Place, part: JsonObject) -> Iterator[Part | Change]:
    kind = part.get("type")
    if kind in TEXTS:
        found, others = known_fields(place, part, ("type", "text"))
        yield from others
        yield Text(text_at(place.inside("text"), found.get("text")))
    elif kind in SHOWN:
        yield from _shown(place, part)
    else:
        yield left_out(place, part)


def _shown(place: Place, part: JsonObject) -> Iterator[Part | Change]:
    media = _media(part)
    if media is None:
        yield from told_in_words(place, part, str(part["type"]))
        return
    known = ("type", "image_url", "file_data", "file_url", "filename")
    # How closely an image is looked at is decided anew in each request.
    _, others = known_fields(
        place, {key: value for key, value in part.items() if (key, value) != ("detail", "auto")}, known
    )
    yield from others
    yield media


def _media(part: JsonObject) -> Media | MediaLink | None:
    if part["type"] == "input_image":
        return media_of_url(part.get("image_url")) or image_link(part.get("image_url"))
    name = part.get("filename")
    return _file_link(part.get("file_url"), name) or media_of_url(part.get("file_data"), name)


def _file_link(url: JsonValue, name: JsonValue) -> MediaLink | None:
    """
    The wire does not say what is there: a PDF, unless the address ends as another kind of file.
    """
    told = type_of_url(url) if isinstance(url, str) else None
    return link_of(url, PDF, name) if told is None or told in TOLD_BY_BYTES else None


def _result(place: Place, item: JsonObject) -> Iterator[Step | Change]:
    _, others = known_fields(place, item, ("type", "call_id", "output", "id", "status", "name"))
    yield from others
    output: JsonValue = item.get("output")
    given: JsonObject = item if output is None or isinstance(output, str | list) else {"output": dump_json(output)}
    parts, changes = parted(each for at, part in _content(place, given, "output") for each in _parts(at, part))
    yield from changes
    status, told = heard_parts(parts)
    yield Result(place, id_at(place.inside("call_id"), item.get("call_id")), told, status)


# The model


def _turn(items: Iterable[tuple[Place, JsonObject]], hosted: set[str]) -> Iterator[Step | Change]:
    kept: list[tuple[Place, JsonObject]] = []
    calls: list[Call] = []
    whole = True
    for place, item in items:
        found, changes = _item(place, item, hosted)
        yield from changes
        if found is None:
            whole = False
            continue
        kept.append((place, found))
        if found["type"] in CALLS:
            call_id = id_at(place.inside("call_id"), found.get("call_id"))
            name = text_at(place.inside("name"), found.get("name"))
            raw = asked_arguments(found)
            yield from unreadable_arguments(place, raw) if found["type"] == "function_call" else ()
            calls.append(Call(place, call_id, name, raw))
    if not kept:
        return
    native, changes = ([item for _, item in kept], ()) if whole else _unbound(kept)
    yield from changes
    turn = Turn(kept[0][0], visible_text(native), tuple(calls), pieces_of(native))
    if turn.is_blank:
        yield from (left_out(place, item) for place, item in kept if item["type"] in HOSTED and item in native)
    yield turn


def _unbound(kept: Sequence[tuple[Place, JsonObject]]) -> tuple[list[JsonObject], Iterable[Change]]:
    """
    The items of a turn of which something was left out: without reasoning, to which each item is bound that follows it.
    """
    items = [item for _, item in kept]
    if all(item["type"] != "reasoning" for item in items):
        return items, ()
    bare: list[JsonObject] = []
    changes: list[Change] = []
    for (place, item), piece in zip(kept, pieces_of(items), strict=True):
        if item["type"] == "compaction":  # it stands for all that was before it
            bare.append(item)
        elif piece.bare is not None:
            bare.append(kept_object(piece.bare))
        else:
            kind = str(item["type"])
            told = "" if kind == "reasoning" else dump_json(item)
            changes.append(place.change(ChangeKind.UNBOUND_PART, kind, told))
    return bare, changes


def _item(place: Place, item: JsonObject, hosted: set[str]) -> tuple[JsonObject | None, Iterable[Change]]:
    """
    An item of a turn in the form in which the wire takes it back; None for one that it would refuse. `hosted` are the
    ids of the vendor's own tools so far.
    """
    kind, item_id = _kind(item), item.get("id")
    if kind in HOSTED and isinstance(item_id, str) and item_id not in hosted:  # it wants each once, and under its id
        hosted.add(item_id)
        return item, ()
    if kind not in FIELDS:
        return None, [left_out(place, item)]
    if kind in CALLS and not text_at(place.inside("name"), item.get("name")):
        return None, [left_out(place, item, "a call without a name")]
    if kind == "reasoning" and not isinstance(item.get("summary", []), list):
        return None, [left_out(place, item)]
    known = [name for name in FIELDS[kind] if _is_good(name, item.get(name))]
    told: JsonObject = {key: value for key, value in item.items() if key in known or key not in OF_ANSWERS}
    found, others = known_fields(place, told, known)
    found["type"] = kind
    if kind == "custom_tool_call":
        found["input"] = asked_arguments(item)
    if kind != "message":
        return found, others
    found["content"], changes = _said_parts(place.inside("content"), item.get("content"))
    if found["content"] == []:
        return None, [*others, *(changes or [place.change(ChangeKind.BLANK)])]
    return found, [*others, *changes]


def _is_good(name: str, value: JsonValue) -> bool:
    if name in WORDS:
        return value in WORDS[name]
    return name not in STRINGS or isinstance(value, str)


def _said_parts(place: Place, content: JsonValue) -> tuple[JsonValue, list[Change]]:
    if isinstance(content, str):
        return content, []
    said: list[JsonValue] = []
    changes: list[Change] = []
    for at, part in objects_at(place, content):
        kind = "output_text" if part.get("type") in TEXTS else str(part.get("type"))
        if kind not in SAID_PARTS:
            changes.append(left_out(at, part))
            continue
        words = SAID_PARTS[kind][0]
        text_at(at.inside(words), part.get(words))
        found, others = known_fields(
            at, {key: value for key, value in part.items() if key != "parsed"}, ("type", *SAID_PARTS[kind])
        )
        said.append({words: "", **found, "type": kind})
        changes += others
    return said, changes
