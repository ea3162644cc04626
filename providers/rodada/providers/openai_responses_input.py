"""
A conversation as the input of the Responses API: each entry becomes items by itself.

Items that the wire sent are echoed as they came. Mended is only what it would refuse from its own mouth: null
fields and fields that exist in answers alone, ids that are too long or repeated, names with other characters than
letters, digits, `_` and `-`, arguments that are no JSON object or hold half characters, and reasoning
that nobody can decrypt.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rodada.providers.json_body import told_text
from rodada.providers.media import Takes, taken
from rodada.providers.openai_answer import json_schema
from rodada.providers.openai_request import (
    FILES,
    IMAGE_LINKS,
    IMAGES,
    LEGAL,
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
from rodada.providers.server_tools import OURS, RUN_BY_HOST, ServerTools
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.jsontext import JsonObject, JsonValue, clean_json, digest_text, kept_object
from rodada.statemachine.messages import (
    Entry,
    MediaLink,
    ModelTurn,
    Part,
    Status,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
    plain_text,
)
from rodada.statemachine.request import ModelRequest, ToolDeclaration

WIRE = "openai_responses"
FIELD = "input"
CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
OUTPUTS = frozenset(CALLS.values())
WITH_OPTIONAL_ID = frozenset({"reasoning", "message", *CALLS})
ID_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs", "custom_tool_call": "ctc"}
# Fields that must be there although they may be null.
NULLABLE: Mapping[str, tuple[str, ...]] = {
    "code_interpreter_call": ("code", "outputs"),
    "image_generation_call": ("result",),
}
OF_LOOPS = frozenset({"function", "custom", "namespace"})
FOR_HOSTS = frozenset({"local_shell", "apply_patch", "computer", "computer_use_preview"})
TAKES = Takes({**IMAGES, **FILES}, links=IMAGE_LINKS | {PDF})
LONGEST_ID = 64
LONGEST_ARGUMENTS = 1_048_576


def request_fields(request: ModelRequest, server_tools: ServerTools = ()) -> JsonObject:
    """
    The part of the body that the request decides, but its input, and the vendor's own tools behind the loop's.
    """
    return {
        **_instruction_field(request),
        **tool_fields(request, _tool, server_tools),
        **_text_field(request),
    }


def _text_field(request: ModelRequest) -> JsonObject:
    if request.output_schema is None:
        return {}
    return {"text": {"format": {"type": "json_schema", **json_schema(request.output_schema)}}}


def server_tool_fault(tool: JsonObject) -> str | None:
    """
    Why a declaration is none of a tool that the vendor runs itself.
    """
    kind = tool.get("type", "function")
    if not isinstance(kind, str):
        return "its type must be a text"
    if kind in OF_LOOPS:
        return OURS
    if kind in FOR_HOSTS or (kind == "shell" and not _in_container(tool)) or tool.get("execution") == "client":
        return f"{kind!r:.80} {RUN_BY_HOST}"
    if kind == "mcp" and tool.get("require_approval") != "never":
        return "nobody is asked to approve what the vendor runs: it takes require_approval='never' alone"
    return None


def _in_container(shell: JsonObject) -> bool:
    environment = shell.get("environment")
    return isinstance(environment, dict) and environment.get("type") != "local"


def to_messages(conversation: Conversation) -> list[JsonObject]:
    """
    A conversation as input items of this API, as a request would send the whole of it: with encrypted reasoning, where
    the conversation has any (`conversation.without_reasoning()` has none).
    """
    return list(_with_distinct_ids(entry_items(entry) for entry in conversation.entries))


def entry_items(entry: Entry, *, bare: bool = False) -> list[JsonObject]:
    """
    The items of one entry.
    """
    if isinstance(entry, UserMessage):
        found = taken(entry.content, TAKES)
        return [_message("user", found.text if found.text is not None else [_shown(part) for part in found.parts])]
    if isinstance(entry, ModelTurn):
        return turn_items(entry, bare=bare)
    items = turn_items(entry.turn, bare=bare)
    calls = (item for item in items if item.get("type") in CALLS)
    return [*items, *(_output(call, result) for call, result in zip(calls, entry.results, strict=True))]


def turn_items(turn: ModelTurn, *, bare: bool = False) -> list[JsonObject]:
    """
    The items of one turn: the received ones where this wire sent them, else made from its text and requests.
    """
    items = _echoed(turn, bare or _renames(turn))
    own = bool(items) and sum(item.get("type") in CALLS for item in items) == len(turn.requests)
    requests = iter(turn.requests)
    return [
        _mended_call(item, next(requests), own) if item.get("type") in CALLS else item
        for item in (items if own else _made(turn))
    ]


def pairing_fault(items: Sequence[JsonObject]) -> str | None:
    """
    What breaks promise P1 in the items, or None: straight after each turn one output for each of its calls, in
    their order, and no call_id twice.
    """
    waiting: list[tuple[str, str]] = []
    seen: set[str] = set()
    answering = False
    for item in items:
        kind, call_id = str(item.get("type")), str(item.get("call_id"))
        if kind in OUTPUTS:
            if not waiting or waiting.pop(0) != (kind, call_id):
                return f"the output of call {call_id} stands in the wrong place"
            answering = True
            continue
        if waiting and (answering or item.get("role") == "user"):
            return f"call {waiting[0][1]} has no output straight after its turn"
        answering = False
        if kind in CALLS:
            if call_id in seen:
                return f"call_id {call_id} stands on two calls"
            seen.add(call_id)
            waiting.append((CALLS[kind], call_id))
    return f"call {waiting[0][1]} has no output" if waiting else None


def output_of(result: ToolResult) -> JsonValue:
    """
    What the model is told: a text, or a list where media are in it.
    """
    found = taken(result.content, TAKES)
    text = plain_text(found.parts)
    media: list[JsonValue] = [_shown(part) for part in found.parts if not isinstance(part, Text)]
    if result.status is not Status.SUCCEEDED:
        told = told_of(result, text)
        return [{"type": "input_text", "text": told}, *media] if media else told
    if media:
        return [_shown(part) for part in found.parts]
    return sayable(text)


def _shown(part: Part) -> JsonObject:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    if part.media_type != PDF:
        return {"type": "input_image", "image_url": url_of(part), "detail": "auto"}
    if isinstance(part, MediaLink):  # which takes no name beside it
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_file", "filename": file_name(part), "file_data": url_of(part)}


def _instruction_field(request: ModelRequest) -> JsonObject:
    said = instructions_of(request)
    return {"instructions": said} if said else {}


def _tool(tool: ToolDeclaration) -> JsonObject:
    return {"type": "function", **function_of(tool)}


def _message(role: str, content: JsonValue) -> JsonObject:
    return {"type": "message", "role": role, "content": content}


def _output(call: JsonObject, result: ToolResult) -> JsonObject:
    return {"type": CALLS[str(call["type"])], "call_id": call["call_id"], "output": output_of(result)}


def _made(turn: ModelTurn) -> list[JsonObject]:
    said = [_message("assistant", turn.text)] if turn.has_words else []
    calls: list[JsonObject] = [{"type": "function_call"} for _ in turn.requests]
    return [*said, *calls]


def _mended_call(item: JsonObject, request: ToolRequest, own: bool) -> JsonObject:
    mended: JsonObject = {**item, "call_id": _call_id(request.id, own), "name": legal_name(request.name)}
    if item["type"] == "function_call":
        mended["arguments"] = _arguments(request)
    return mended


def _call_id(request_id: str, own: bool) -> str:
    fits = len(request_id) <= LONGEST_ID if own else LEGAL.fullmatch(request_id)
    return request_id if fits else f"call_{digest_text(request_id)[:48]}"


def _arguments(request: ToolRequest) -> str:
    sendable = request.raw.strip() and request.arguments is not None and len(request.raw) <= LONGEST_ARGUMENTS
    return clean_json(request.raw) if sendable else "{}"


def _renames(turn: ModelTurn) -> bool:
    """
    Whether a call is sent under another id than it came with; reasoning is bound to the items that follow it.
    """
    return any(request.wire_id != _call_id(request.id, own=True) for request in turn.requests)


def _echoed(turn: ModelTurn, bare: bool) -> list[JsonObject]:
    if turn.wire != WIRE:
        return []
    texts = (piece.bare if bare else piece.received for piece in turn.native)
    items = [_sendable(item) for text in texts if text and (item := kept_object(text))]
    if not bare and any(_is_unreadable(item) for item in items):
        return _echoed(turn, bare=True)
    # Reasoning is refused without an item that follows it in its turn.
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _sendable(item: JsonObject) -> JsonObject:
    needed = NULLABLE.get(told_text(item.get("type")), ())
    told = {key: value for key, value in item.items() if (value is not None or key in needed) and key != "created_by"}
    sent: JsonObject = {**told, **{key: None for key in needed if key not in told}}
    if sent.get("type") == "reasoning":
        sent.pop("status", None)
        sent.setdefault("summary", [])
    return sent


def _is_unreadable(item: JsonObject) -> bool:
    # Servers other than the vendor's own send reasoning in plain text and want it back.
    return item.get("type") == "reasoning" and not item.get("encrypted_content") and not item.get("content")


def _with_distinct_ids(groups: Iterable[list[JsonObject]]) -> Iterator[JsonObject]:
    # Reasoning and what follows it are bound by their ids: a turn keeps all of them or none. What cannot lose its id,
    # as the vendor's own tools leave it, stands once.
    seen: set[str] = set()
    for group in groups:
        ids = own_ids(group)
        if ids is not None and seen.isdisjoint(ids):
            seen.update(ids)
            yield from group
        else:
            yield from once(group, seen)


def once(group: Iterable[JsonObject], seen: set[str]) -> Iterator[JsonObject]:
    """
    Items without their ids, and of those that cannot lose them each id that was not seen before.
    """
    for item in map(without_id, group):
        if "id" not in item:
            yield item
        elif str(item["id"]) not in seen:
            seen.add(str(item["id"]))
            yield item


def own_ids(group: Sequence[JsonObject]) -> tuple[str, ...] | None:
    """
    The ids that the items of one entry came with; None where it cannot keep them, whatever stands before it.
    """
    ids = tuple(str(item["id"]) for item in group if "id" in item)
    return ids if all(map(_has_legal_id, group)) and len({*ids}) == len(ids) else None


def _has_own_id(item: JsonObject) -> bool:
    return item.get("type") in WITH_OPTIONAL_ID and "id" in item


def _has_legal_id(item: JsonObject) -> bool:
    prefix = ID_PREFIXES.get(str(item.get("type")), "")
    identity = str(item.get("id", prefix))
    return len(identity) <= LONGEST_ID and identity.startswith(prefix)


def without_id(item: JsonObject) -> JsonObject:
    """
    The item without its id, where the wire takes it so.
    """
    return {key: value for key, value in item.items() if key != "id"} if _has_own_id(item) else item
