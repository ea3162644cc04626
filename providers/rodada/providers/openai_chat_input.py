"""
A conversation as the messages of Chat Completions: each entry becomes messages by itself.

Of a message that the wire sent, what every server takes back is echoed as it came: content and calls; further fields
where the dialect names them. Mended is only what servers refuse from their own mouth: ids that are missing, repeated
or too long, names with other characters than letters, digits, `_` and `-`, and arguments that are no JSON object or
hold half characters.
"""

import re
from collections.abc import Sequence

from rodada.providers.media import NOTHING, OF_RESULTS, Taken, Takes, taken
from rodada.providers.openai_answer import json_schema
from rodada.providers.openai_chat_dialect import OPENAI, Dialect
from rodada.providers.openai_request import (
    FILES,
    IMAGE_LINKS,
    IMAGES,
    PDF,
    file_name,
    function_of,
    instructions_of,
    legal_name,
    sayable,
    told_of,
    tool_fields,
    url_of,
)
from rodada.providers.told_type import in_words
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.jsontext import JsonObject, JsonValue, clean_json, digest_text, kept_object
from rodada.statemachine.messages import (
    Entry,
    ModelTurn,
    Part,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
    plain_text,
)
from rodada.statemachine.request import ModelRequest, ToolDeclaration

WIRE = "openai_chat"
FIELD = "messages"
LONGEST_ID = 64
LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")  # hosts of older models take no more than 40
SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
# Servers that want it back refuse a turn without it, also one of another origin, and some an empty one.
REASONING = "reasoning_content"
NO_REASONING = " "


def request_fields(request: ModelRequest) -> JsonObject:
    """
    The part of the body that the request decides, but its messages.
    """
    return {**tool_fields(request, _tool), **_format_field(request)}


def as_understood(request: ModelRequest, dialect: Dialect = OPENAI) -> ModelRequest:
    """
    The request in the form that a server understands: the type of an answer is told in words where it cannot be asked
    for.
    """
    native = dialect.json_schema == "always" or (dialect.json_schema == "without_tools" and not request.tools)
    return request if native else in_words(request)


def _format_field(request: ModelRequest) -> JsonObject:
    if request.output_schema is None:
        return {}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema(request.output_schema)}}


def to_messages(conversation: Conversation, *, dialect: Dialect = OPENAI) -> list[JsonObject]:
    """
    A conversation as messages of Chat Completions, as a request would send the whole of it.
    """
    return [message for entry in conversation.entries for message in entry_messages(entry, dialect)]


def entry_messages(entry: Entry, dialect: Dialect = OPENAI) -> list[JsonObject]:
    """
    The messages of one entry.
    """
    shown = Takes(
        {**(IMAGES if dialect.images else {}), **(FILES if dialect.files else {})},
        links=IMAGE_LINKS if dialect.images and dialect.links else frozenset(),
    )
    if isinstance(entry, UserMessage):
        return [{"role": "user", "content": _user_content(taken(entry.content, shown))}]
    if isinstance(entry, ModelTurn):
        return [turn_message(entry, dialect)]
    asked = turn_message(entry.turn, dialect)
    told = [taken(result.content, NOTHING, shown) for result in entry.results]
    return [asked, *map(_tool_message, called(asked), entry.results, told), *_media_message(told)]


def turn_message(turn: ModelTurn, dialect: Dialect = OPENAI) -> JsonObject:
    """
    The one message of a turn: made from the received one where this wire sent it, else from its text and requests.
    """
    received = _received(turn)
    own = bool(received) and len(called(received)) == len(turn.requests)
    source: JsonObject = received if own else {}
    made = [_call(request, own, dialect) for request in turn.requests]
    further = [_further(call, dialect) for call in called(source)] or [JsonObject() for _ in made]
    calls: list[JsonValue] = [{**call, **more} for call, more in zip(made, further, strict=True)]
    asked: JsonObject = {"tool_calls": calls} if calls else {}
    return {"role": "assistant", "content": _content(source, turn), **_thought(source, dialect), **asked}


def called(message: JsonObject) -> list[JsonObject]:
    """
    The calls of a message of the model; a `function_call` of the wire's first years is one without an id.
    """
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        return [call if isinstance(call, dict) else {} for call in calls]
    old = message.get("function_call")
    return [{"type": "function", "function": old}] if isinstance(old, dict) and old else []


def pairing_fault(messages: Sequence[JsonObject]) -> str | None:
    """
    What breaks promise P1 in the messages, or None: straight after each turn one tool message for each of its
    calls, in their order, and no id twice.
    """
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message.get("role") == "tool":
            answered = str(message.get("tool_call_id"))
            if not waiting or waiting.pop(0) != answered:
                return f"the result of call {answered} stands in the wrong place"
            continue
        if waiting:
            return f"call {waiting[0]} has no result straight after its turn"
        for call in called(message):
            call_id = str(call.get("id"))
            if call_id in seen:
                return f"id {call_id} stands on two calls"
            seen.add(call_id)
            waiting.append(call_id)
    return f"call {waiting[0]} has no result" if waiting else None


def system_message(request: ModelRequest) -> list[JsonObject]:
    """
    The instructions. At the start, and one: templates of open models refuse a second one, or one elsewhere.
    """
    said = instructions_of(request)
    return [{"role": "system", "content": said}] if said else []


def _tool(tool: ToolDeclaration) -> JsonObject:
    return {"type": "function", "function": function_of(tool)}


def _user_content(message: Taken) -> JsonValue:
    return message.text if message.text is not None else [_part(part) for part in message.parts]


def _part(part: Part) -> JsonObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if part.media_type != PDF:
        return {"type": "image_url", "image_url": {"url": url_of(part)}}
    return {"type": "file", "file": {"filename": file_name(part), "file_data": url_of(part)}}


def _tool_message(call: JsonObject, result: ToolResult, told: Taken) -> JsonObject:
    content = sayable(told_of(result, plain_text(told.parts)))
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


def _media_message(told: Sequence[Taken]) -> list[JsonObject]:
    # A tool message takes texts alone.
    media: list[JsonValue] = [_part(each) for of_result in told for each in of_result.after]
    return [{"role": "user", "content": [_part(Text(OF_RESULTS)), *media]}] if media else []


def _received(turn: ModelTurn) -> JsonObject:
    # A turn of this wire is one message; more pieces than that are of nobody we know.
    pieces = turn.native if turn.wire == WIRE else ()
    return kept_object(pieces[0].received) if len(pieces) == 1 else {}


def _content(received: JsonObject, turn: ModelTurn) -> JsonValue:
    content = received.get("content")
    if isinstance(content, str) and (content.strip() or turn.requests):
        return content
    if isinstance(content, list) and content and all(map(_is_plain_part, content)):
        return content
    return turn.text if turn.has_words or not turn.requests else None


def _is_plain_part(part: JsonValue) -> bool:
    return isinstance(part, dict) and part.keys() == {"type", "text"} and part["type"] == "text"


def _thought(received: JsonObject, dialect: Dialect) -> JsonObject:
    further = _further(received, dialect)
    if REASONING in dialect.echoed and not further.get(REASONING):
        further[REASONING] = NO_REASONING
    return further


def _further(received: JsonObject, dialect: Dialect) -> JsonObject:
    return {name: received[name] for name in dialect.echoed if received.get(name) is not None}


def _call(request: ToolRequest, own: bool, dialect: Dialect) -> JsonObject:
    return {
        "id": _call_id(request.id, own, dialect),
        "type": "function",
        "function": {"name": legal_name(request.name), "arguments": _arguments(request)},
    }


def _call_id(request_id: str, own: bool, dialect: Dialect) -> str:
    if dialect.short_ids:
        return request_id if SHORT_ID.fullmatch(request_id) else digest_text(request_id)[:9]
    fits = len(request_id) <= LONGEST_ID if own else LEGAL_ID.fullmatch(request_id)
    return request_id if fits else f"call_{digest_text(request_id)[:32]}"


def _arguments(request: ToolRequest) -> str:
    return clean_json(request.raw) if request.raw.strip() and request.arguments is not None else "{}"
