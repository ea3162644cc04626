"""
Entries of a conversation as messages of the Anthropic Messages API. Nothing is sent here.

Each entry is converted by itself, always to the same messages: newer models bind their thinking to every message
before it, and refuse it once one of them has changed.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable
from typing import TypeAlias

from rodada.providers.anthropic_models import Traits
from rodada.providers.json_body import told_text
from rodada.providers.media import NOTHING, Taken, Takes, taken
from rodada.providers.server_tools import OURS, RUN_BY_HOST, ServerTools
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.jsontext import (
    JsonObject,
    JsonValue,
    clean_text,
    digest_text,
    dump_json,
    kept_object,
    parse_object,
)
from rodada.statemachine.media import ANY_IMAGE
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    Media,
    MediaLink,
    ModelTurn,
    Part,
    Status,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from rodada.statemachine.request import ModelRequest, ToolDeclaration

WIRE = "anthropic"
FIELD = "messages"
ServerMark: TypeAlias = tuple[str, bool]  # the id of a use, and whether it is that or a result
THOUGHTS = ("thinking", "redacted_thinking")
USES = ("server_tool_use", "mcp_tool_use")  # of the vendor's own tools, and of servers that it asks
PDF = "application/pdf"
# The most base64 characters of each. By reports the vendor's own API takes images twice as large; its other hosts do
# not, and one image too large would spoil every later call of its conversation.
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
TAKES = Takes(
    {**dict.fromkeys(IMAGES, 5 * 1024 * 1024), PDF: 30_000_000},
    longest_side=8000,
    links=frozenset({*IMAGES, ANY_IMAGE, PDF}),
)
LONGEST_TITLE = 200
FOR_HOSTS = (
    "bash_",
    "text_editor_",
    "memory_",
    "computer_",
    "browser_",
)  # types that the vendor defines and leaves to us
UNIONS = ("anyOf", "oneOf", "allOf")  # refused at the root of an input_schema


# Requests


def body_of(request: ModelRequest, traits: Traits, server_tools: ServerTools = ()) -> JsonObject:
    """
    The parts of the body that follow from the request, but its messages: system, tools (behind the loop's own those of
    the vendor) and tool_choice.
    """
    system, guidance = request.instructions, request.guidance
    if guidance and not traits.system_role:
        system = "\n\n".join(part for part in (system, guidance) if part.strip())
    body: JsonObject = {}
    if system.strip():
        body["system"] = system
    if request.tools or server_tools:
        body["tools"] = [*map(tool_of, request.tools), *server_tools]
        body["tool_choice"] = {"type": "auto" if request.tools_allowed else "none"}
    return body


def messages_behind(request: ModelRequest, traits: Traits) -> list[JsonObject]:
    """
    What stands behind the entries in a request.
    """
    if request.guidance and traits.system_role:
        # in the top-level system it would change what every thought of the active turn is bound to
        return [{"role": "system", "content": request.guidance}]
    if request.held and not request.guidance:
        return [{"role": "assistant", "content": [block for turn in request.held for block in blocks_of(turn)]}]
    return []


def to_messages(conversation: Conversation) -> list[JsonObject]:
    """
    A conversation as messages of this API, as a request would send the whole of it before a new message of the person:
    with hidden reasoning, where the conversation has any (`conversation.without_reasoning()` has none).
    """
    messages = [message for entry in conversation.entries for message in messages_of(entry)]
    known = answered(server_marks(messages))
    return [settled(message, known) for message in messages]


def messages_of(entry: Entry, bare: bool = False) -> list[JsonObject]:
    """
    An entry as messages; `bare` leaves hidden reasoning out.
    """
    if isinstance(entry, UserMessage):
        return [{"role": "user", "content": _content(taken(entry.content, TAKES))}]
    if isinstance(entry, ModelTurn):
        return [{"role": "assistant", "content": [*blocks_of(entry, bare)]}]
    asked = blocks_of(entry.turn, bare)
    return [{"role": "assistant", "content": [*asked]}, {"role": "user", "content": [*_results(entry, asked)]}]


def blocks_of(turn: ModelTurn, bare: bool = False) -> list[JsonObject]:
    """
    A turn as blocks: the received ones, if they came over this wire, else new ones.
    """
    return _echoed(turn, bare) or _built(turn)


def server_tool_fault(tool: JsonObject) -> str | None:
    """
    Why a declaration is none of a tool that the vendor runs itself.
    """
    kind = tool.get("type", "custom")
    if not isinstance(kind, str):
        return "its type must be a text"
    if kind == "custom" or "input_schema" in tool:
        return OURS
    return f"{kind!r:.80} {RUN_BY_HOST}" if kind.startswith(FOR_HOSTS) else None


def tool_of(declaration: ToolDeclaration) -> JsonObject:
    """
    A tool as the wire declares it.
    """
    schema = _sendable(declaration.schema_object)
    return {
        "name": legal(declaration.name),
        "description": declaration.description,
        "input_schema": {key: value for key, value in schema.items() if key not in UNIONS},
    }


LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MADE = re.compile(r".*__x[0-9a-f]{12}", re.DOTALL)


def legal(name: str) -> str:
    """
    A name or id in a form that the wire takes: itself where it is legal, else a readable one with a digest. Two
    names never share a form (a name that looks made is made again).
    """
    if LEGAL.fullmatch(name) and not MADE.fullmatch(name):
        return name
    return f"{re.sub('[^a-zA-Z0-9_-]', '_', name)[:48]}__x{digest_text(name)[:12]}"


def pairing_fault(messages: JsonValue) -> str | None:
    """
    Where messages break promise P1; None when each request has its one result, in order, at the head of the next
    message.
    """
    waiting: list[JsonValue] = []
    asked: list[JsonValue] = []
    for at, message in enumerate([*objects(messages), JsonObject()]):
        blocks = objects(message.get("content"))
        results = [block.get("tool_use_id") for block in of_type(blocks, "tool_result")]
        head = [block.get("tool_use_id") for block in blocks[: len(waiting)]]
        if not results == head == waiting:
            return f"message {at} must begin with the results of {waiting} and hold no others, got {results}"
        waiting = [block.get("id") for block in of_type(blocks, "tool_use")]
        asked += waiting
    twice = [name for name, count in Counter(map(str, asked)).items() if count > 1]
    return f"request ids {twice} are used twice" if twice else None


def server_marks(messages: Iterable[JsonObject]) -> tuple[ServerMark, ...]:
    """
    What messages hold of the vendor's own tools, in order: each use, and what answers an earlier one.
    """
    blocks = [block for each in messages if each["role"] == "assistant" for block in objects(each["content"])]
    return tuple(
        (told_text(block.get("id")), True)
        if block.get("type") in USES
        else (told_text(block.get("tool_use_id")), False)
        for block in blocks
        if said_in(block) is None
    )


def answered(marks: Iterable[ServerMark]) -> frozenset[str]:
    """
    Ids of the uses of the vendor's own tools behind which stands a result.
    """
    asked, found = set[str](), set[str]()
    for each, is_use in marks:
        if is_use:
            asked.add(each)
        elif each in asked:
            found.add(each)
    return frozenset(each for each in found if LEGAL.fullmatch(each))


def settled(message: JsonObject, answered: Container[str]) -> JsonObject:
    """
    A message before the active turn. One may have been left waiting for a tool of the vendor's own: its request is left
    out, for behind it the vendor takes results alone, and the person has gone on. So is what nobody asked for, as
    gateways send it, and what has no legal id: it would be refused in every later request.
    """
    if message["role"] != "assistant":
        return message
    kept: list[JsonValue] = [
        block
        for block in objects(message["content"])
        if said_in(block) is not None or told_text(block.get("id", block.get("tool_use_id"))) in answered
    ]
    return {**message, "content": kept}


def _echoed(turn: ModelTurn, bare: bool) -> list[JsonObject] | None:
    """
    The received blocks; None where they are another wire's, unreadable, or do not ask for what the turn asks for.
    """
    texts = [piece.bare if bare else piece.received for piece in turn.native] if turn.wire == WIRE else []
    blocks = [kept_object(text) for text in texts if text is not None]
    requests = iter(turn.requests)
    if len(of_type(blocks, "tool_use")) != len(turn.requests) or not all(block.get("type") for block in blocks):
        return None
    return [
        _mended(block, next(requests)) if block["type"] == "tool_use" else _with_input(block)
        for block in blocks
        if not is_blank(block)
    ]


def _with_input(block: JsonObject) -> JsonObject:
    return block if block["type"] not in USES or isinstance(block.get("input"), dict) else {**block, "input": {}}


def _mended(block: JsonObject, request: ToolRequest) -> JsonObject:
    given = block.get("input")
    sendable = isinstance(given, dict) and request.arguments is not None
    return {
        **block,
        "id": legal(request.id),
        "name": legal(request.name),
        "input": given if sendable else {},
    }


def is_blank(block: JsonObject) -> bool:
    """
    Whether it is a text of blanks.
    """
    return block.get("type") == "text" and not told_text(block.get("text")).strip()


def _built(turn: ModelTurn) -> list[JsonObject]:
    said: list[JsonObject] = [{"type": "text", "text": turn.text}] if turn.has_words else []
    return [*said, *(_asked(request) for request in turn.requests)]


def _asked(request: ToolRequest) -> JsonObject:
    return {
        "type": "tool_use",
        "id": legal(request.id),
        "name": legal(request.name),
        "input": _sendable(request.arguments),
    }


def _sendable(value: JsonObject | None) -> JsonObject:
    """
    An object without lone surrogates, which JSON can spell and no wire can carry; an empty one for what is none.
    """
    try:
        return parse_object(clean_text(dump_json(value))) or {}
    except (ValueError, RecursionError):
        return {}


def _content(found: Taken) -> JsonValue:
    text = found.text
    return [_shown(part) for part in found.parts] if text is None else text


def _shown(part: Part) -> JsonObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    source = _source(part)
    if part.media_type != PDF:
        return {"type": "image", "source": source}
    titled: JsonObject = {"title": part.name[:LONGEST_TITLE]} if part.name.strip() else {}
    return {"type": "document", "source": source, **titled}


def _source(media: Media | MediaLink) -> JsonObject:
    if isinstance(media, MediaLink):
        return {"type": "url", "url": media.url}
    return {"type": "base64", "media_type": media.media_type, "data": media.data}


def _results(exchange: Exchange, asked: list[JsonObject]) -> list[JsonObject]:
    """
    The results in one row. An error result holds text alone, so its media stand behind the last result, unless the
    turn waits for a tool of the server's own: then nothing but results may answer it.
    """
    after = NOTHING if _waits_for_server(asked) else TAKES
    shown = [
        taken(result.content, TAKES) if result.status is Status.SUCCEEDED else taken(result.content, NOTHING, after)
        for result in exchange.results
    ]
    told = zip(exchange.results, shown, of_type(asked, "tool_use"), strict=True)
    return [*(_result(*each) for each in told), *(_shown(media) for found in shown for media in found.after)]


def _waits_for_server(asked: list[JsonObject]) -> bool:
    answered = [block.get("tool_use_id") for block in asked]
    return any(block.get("id") not in answered for block in of_type(asked, "server_tool_use"))


def _result(result: ToolResult, found: Taken, call: JsonObject) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": call["id"]}
    if found.text is None or found.text.strip():
        block["content"] = _content(found)
    if result.status is not Status.SUCCEEDED:
        # an error result must say something
        block.setdefault("content", result.status.value)
        block["is_error"] = True
    if call.get("toolset_name") is not None:
        block["toolset_name"] = call["toolset_name"]
    return block


def said_in(block: JsonObject) -> str | None:
    """
    The words in a block; None for one of a tool that the vendor ran.
    """
    kind = told_text(block.get("type"))
    if kind == "text":
        return told_text(block.get("text"))
    return None if kind in USES or kind.endswith("_tool_result") else ""


def objects(value: JsonValue) -> list[JsonObject]:
    """
    The objects in a list; none for what is no list.
    """
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def of_type(blocks: list[JsonObject], kind: str) -> list[JsonObject]:
    """
    The blocks of one type.
    """
    return [block for block in blocks if block.get("type") == kind]
