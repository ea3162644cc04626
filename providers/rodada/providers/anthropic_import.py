"""
Stored messages of the Anthropic Messages API as a conversation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, groupby

from rodada.providers.anthropic_output import piece_of
from rodada.providers.anthropic_wire import LEGAL, PDF, WIRE, said_in
from rodada.providers.import_media import image_link, link_of, media_of
from rodada.providers.import_reading import (
    Place,
    content_at,
    id_at,
    instructions_in,
    known_fields,
    left_out,
    object_at,
    parted,
    read_messages,
    text_at,
    told_in_words,
    unreadable_arguments,
)
from rodada.providers.import_steps import Call, Result, Step, Turn, said_between
from rodada.providers.imported import Change, Imported
from rodada.providers.importing import UNANSWERED, Source, repaired
from rodada.providers.json_body import raw_arguments, told_text
from rodada.providers.paragraphs import Paragraphs
from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_object
from rodada.statemachine.messages import Media, MediaLink, Part, Piece, Status, Text

RESULTS_OF_SERVER = (
    *("web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result"),
    *("bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result"),
)
# The blocks of a turn: the fields that must be there, and those that may, marked by "?".
BLOCKS: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "citations?"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("name", "id?", "input?", "caller?", "toolset_name?"),
    "server_tool_use": ("id", "name", "input", "caller?"),
    "container_upload": ("file_id",),
    **dict.fromkeys(RESULTS_OF_SERVER, ("tool_use_id", "content", "caller?")),
}
FIELDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("text", "thinking", "signature", "data", "name", "id", "tool_use_id", "file_id"), str),
    **{"toolset_name": str, "citations": list, "caller": dict, "content": (dict, list)},
}
# The field of each kind of citation that must be there although it may be null: often it is stored without its nulls.
NULLABLE: Mapping[str, str] = {
    **dict.fromkeys(("char_location", "page_location", "content_block_location"), "document_title"),
    **dict.fromkeys(("search_result_location", "web_search_result_location"), "title"),
}
MAY_BE_EMPTY = ("text", "thinking")
# What people and tools say that is not carried in its own form.
IN_WORDS = ("search_result", "tool_reference", "container_upload")
SHOWN = ("image", "document")


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
    read = list(read_messages(WIRE, messages))
    whole = _whole_uses(message for _, message, _ in read)
    for place, message, mended in read:
        yield from mended
        said, others = known_fields(place, message, ("role", "content"))
        yield from others
        content = content_at(place.inside("content"), said.get("content"), "text")
        match said.get("role"):
            case "user":
                yield from _said(place, content)
            case "assistant":
                yield from _spoken(place, content, whole)
            case "system":
                yield from instructions_in(place, content, ("type", "text"))
            case other:
                raise place.strange_role("user, assistant or system", other)


def _text(place: Place, block: JsonObject) -> str:
    return text_at(place.inside("text"), block.get("text"))


# The person, and the results


def _said(place: Place, blocks: Iterable[tuple[Place, JsonObject]]) -> Iterator[Step | Change]:
    found = (_result(*each) if each[1].get("type") == "tool_result" else _parts(*each) for each in blocks)
    return said_between(place, chain.from_iterable(found))


def _parts(place: Place, block: JsonObject) -> Iterator[Part | Change]:
    kind = block.get("type")
    if kind == "text":
        found, others = known_fields(place, block, ("type", "text"))
        yield from others
        yield Text(_text(place, found))
    elif kind in SHOWN:
        yield from _shown(place, block)
    elif kind in IN_WORDS:
        yield from told_in_words(place, block, str(kind))
    else:
        yield left_out(place, block)


def _shown(place: Place, block: JsonObject) -> Iterator[Part | Change]:
    found, others = known_fields(place, block, ("type", "source", "title"))
    source = object_at(place.inside("source"), found.get("source"))
    media = _source(str(block["type"]), source, found.get("title"))
    if media is not None:
        fields = ("url",) if isinstance(media, MediaLink) else ("media_type", "data")
        _, further = known_fields(place.inside("source"), source, ("type", *fields))
        yield from (*others, *further)
        yield media
    elif source.get("type") == "base64":
        yield left_out(place, block, "broken base64")
    else:
        yield from told_in_words(place, block, str(block["type"]))


def _source(kind: str, source: JsonObject, title: JsonValue) -> Media | MediaLink | None:
    data = source.get("data")
    if source.get("type") == "url":
        return image_link(source.get("url")) if kind == "image" else link_of(source.get("url"), PDF, title)
    if source.get("type") == "text" and isinstance(data, str) and data:
        return Media.of(data.encode(), "text/plain", title if isinstance(title, str) else "")
    return media_of(data, source.get("media_type"), title) if source.get("type") == "base64" else None


def _result(place: Place, block: JsonObject, *, is_misplaced: bool = False) -> Iterator[Result | Change]:
    found, others = known_fields(place, block, ("type", "tool_use_id", "content", "is_error", "toolset_name"))
    yield from others
    content = content_at(place.inside("content"), found.get("content"), "text")
    parts, changes = parted(each for at, part in content for each in _parts(at, part))
    yield from changes
    status = Status.FAILED if found.get("is_error") in (True, "true") else Status.SUCCEEDED
    call_id = id_at(place.inside("tool_use_id"), found.get("tool_use_id"))
    yield Result(place, call_id, parts, status, is_misplaced=is_misplaced)


# The model


def _whole_uses(messages: Iterable[JsonObject]) -> frozenset[str]:
    """
    The ids of uses of the vendor's own tools that are stored with their results: it refuses one without the other.
    """
    ids: dict[bool, set[str]] = {True: set(), False: set()}
    for message in messages:
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") in ("server_tool_use", *RESULTS_OF_SERVER):
                is_use = block["type"] == "server_tool_use"
                ids[is_use].add(str(block.get("id" if is_use else "tool_use_id")))
    return frozenset(ids[True] & ids[False])


def _spoken(
    place: Place, blocks: Sequence[tuple[Place, JsonObject]], whole: AbstractSet[str]
) -> Iterator[Step | Change]:
    """
    The turns of a message. Where results stand among its blocks, under the wrong role, what follows them is a turn
    of its own: it was said after them.
    """
    if not blocks:
        yield Turn(place)
    for of_tools, group in groupby(blocks, lambda each: each[1].get("type") == "tool_result"):
        if of_tools:
            for at, block in group:
                yield from _result(at, block, is_misplaced=True)
        else:
            yield from _turn(place, group, whole)


def _turn(place: Place, blocks: Iterable[tuple[Place, JsonObject]], whole: AbstractSet[str]) -> Iterator[Step | Change]:
    texts: list[str] = []
    paragraphs = Paragraphs()
    calls: list[Call] = []
    native: list[Piece] = []
    for at, block in blocks:
        found, changes = _block(at, block, whole)
        yield from changes
        if found is None:
            continue
        texts.append(paragraphs.heard(_text(at, found) if found["type"] == "text" else said_in(found)))
        citations = found.get("citations")
        if isinstance(citations, list):
            found["citations"] = [*map(_titled, citations)]
        if found["type"] == "tool_use":
            call = _call(at, found)
            calls.append(call)
            yield from unreadable_arguments(at, call.raw)
            if not isinstance(found.get("input"), dict):
                found["input"] = parse_object(call.raw) or {}
        native.append(piece_of(found))
    yield Turn(place, "".join(texts), tuple(calls), tuple(native))


def _titled(citation: JsonValue) -> JsonValue:
    if not isinstance(citation, dict):
        return citation
    name = NULLABLE.get(told_text(citation.get("type")))
    return citation if name is None or name in citation else {**citation, name: None}


def _block(place: Place, block: JsonObject, whole: AbstractSet[str]) -> tuple[JsonObject | None, Iterable[Change]]:
    """
    A block of a turn in the form in which the wire takes it back; None for one that it would refuse.
    """
    kind = block.get("type")
    fields = BLOCKS.get(kind) if isinstance(kind, str) else None
    if fields is None or not all(_is_good(block, name) for name in fields if not name.endswith("?")):
        return None, [left_out(place, block)]
    if _half(block, whole):
        return None, [left_out(place, block)]
    good = [name.rstrip("?") for name in fields if _is_good(block, name.rstrip("?"))]
    return known_fields(place, block, ("type", *good))


def _half(block: JsonObject, whole: AbstractSet[str]) -> bool:
    if block["type"] == "server_tool_use":
        return block["id"] not in whole
    return block["type"] in RESULTS_OF_SERVER and block["tool_use_id"] not in whole


def _is_good(block: JsonObject, name: str) -> bool:
    value = block.get(name)
    if name == "input":
        return name in block and (block["type"] == "tool_use" or isinstance(value, dict))
    if name in ("id", "tool_use_id") and block["type"] != "tool_use":
        return isinstance(value, str) and LEGAL.fullmatch(value) is not None
    return isinstance(value, FIELDS[name]) and (value != "" or name in MAY_BE_EMPTY)


def _call(place: Place, block: JsonObject) -> Call:
    raw = raw_arguments(block.get("input"))
    return Call(place, id_at(place.inside("id"), block.get("id")), text_at(place.inside("name"), block["name"]), raw)
