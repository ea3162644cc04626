"""
What is sent over the Gemini wire (generateContent), as pure conversion: entries to contents, tools to declarations.

Everything is plain JSON and not the SDK's models: those drop fields and kinds of parts that they do not know, and
refuse to send them (google-genai 3.6.1), so that a turn could not be sent back as it was received.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import NoReturn

from attrs import frozen

from rodada.providers.failures import broken_pairs
from rodada.providers.google_answer import typed_answer
from rodada.providers.google_schema import wire_schema
from rodada.providers.media import NOTHING, Taken, Takes, taken
from rodada.providers.server_tools import OURS, RUN_BY_HOST, ServerTools
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import ProviderRejected
from rodada.statemachine.jsontext import (
    JsonObject,
    JsonValue,
    clean_text,
    dump_json,
    kept_object,
    parse_object,
)
from rodada.statemachine.messages import (
    Entry,
    Media,
    MediaLink,
    ModelTurn,
    Part,
    Status,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
    told_text,
)
from rodada.statemachine.request import ModelRequest, ToolDeclaration

WIRE = "google"
CONTENTS = "contents"
USER = "user"

# The most base64 characters of each type: in a message or behind results, and inside a result (Gemini 3 and later).
MOST_DATA = 15_000_000
TYPES = (
    *("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"),
    *("audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"),
    *("video/mp4", "video/mpeg", "video/mov", "video/avi", "video/x-flv", "video/webm", "video/wmv"),
    "video/3gpp",
)
# What it fetches from anywhere; from its own addresses it takes all of the above too.
LINKS = frozenset(
    (
        *("image/png", "image/jpeg", "image/webp", "image/bmp", "application/pdf", "application/json"),
        *("text/plain", "text/html", "text/css", "text/csv", "text/xml", "text/rtf", "text/javascript"),
    )
)
TAKES = Takes(dict.fromkeys(TYPES, MOST_DATA), links=LINKS, google_links=LINKS.union(TYPES))
TAKES_IN_RESULT = Takes(dict.fromkeys(("image/png", "image/jpeg", "image/webp", "application/pdf"), MOST_DATA))

# Base64 of the value by which Google lets a call pass that its model never made.
STAND_IN = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="

# A part that has nothing else has no data, and the API refuses it when it comes back.
WITHOUT_DATA = frozenset({"thought", "thoughtSignature", "partMetadata"})

OF_LOOPS = frozenset({"functionDeclarations", "function_declarations", "name", "parameters"})
FOR_HOSTS = frozenset({"computerUse", "computer_use"})

TOKEN = "continuationToken"  # noqa: S105


# What is known of models


def sees_results(model: str) -> bool:
    """
    Whether a function response may hold media: Gemini 3 and later. For others they stand behind the last response.
    """
    return signs_calls(model)


def types_beside_tools(model: str) -> bool:
    """
    Whether the type of an answer may be asked for while there are tools: Gemini 3 and later.
    """
    return signs_calls(model)


def signs_calls(model: str) -> bool:
    """
    Whether the model signs the first call of every step and refuses an unsigned one in the active turn: Gemini 3
    and later. A name that tells no version counts as new.
    """
    version = re.match(r"gemini-(\d+)", model.removeprefix("models/"))
    return version is None or int(version[1]) >= 3


def is_another(served: str, asked: str) -> bool:
    """
    Whether a turn was surely served by another model than the one that is asked now: signatures do not survive the
    change. An alias ("-latest") may stand for any.
    """
    asked = asked.removeprefix("models/")
    related = served.startswith(asked) or asked.startswith(served)
    return not (related or asked.endswith("-latest"))


# One entry to contents


def to_messages(conversation: Conversation, *, model: str = "") -> list[JsonObject]:
    """
    A conversation as contents of this API, as a request would send the whole of it before a new message of the person:
    with signatures, where the conversation has any (`conversation.without_reasoning()` has none).

    Args:
        conversation: any.
        model: that will read them; without it one of the newest, and every signature is kept.
    """
    return [content for entry in conversation.entries for content in entry_contents(entry, model, active=False)]


def entry_contents(entry: Entry, model: str, *, active: bool) -> list[JsonObject]:
    """
    The contents of one entry; `active` when it stands in the active turn, where signatures are enforced.
    """
    if isinstance(entry, UserMessage):
        return [_content(USER, [_shown(part) for part in _joined(taken(entry.content, TAKES))])]
    if isinstance(entry, ModelTurn):
        return [_model_content(entry, model, active)]
    asked = _model_content(entry.turn, model, active)
    return [asked, _results_content(_calls(asked), entry.results, model)]


def _joined(found: Taken) -> tuple[Part, ...]:
    return found.parts if found.text is None else (Text(found.text),)


def _shown(part: Part) -> JsonObject:
    if isinstance(part, Text):
        return {"text": part.text}
    if isinstance(part, MediaLink):
        return {"fileData": {"mimeType": part.media_type, "fileUri": part.url}}
    return _inline(part)


def _inline(media: Media) -> JsonObject:
    return {"inlineData": {"mimeType": media.media_type, "data": media.data}}


def _content(role: str, parts: Sequence[JsonObject]) -> JsonObject:
    return {"role": role, "parts": list(parts)}


def _content_parts(content: JsonObject) -> list[JsonObject]:
    parts = content["parts"]
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _model_content(turn: ModelTurn, model: str, active: bool) -> JsonObject:
    parts = _received_parts(turn) or _built_parts(turn)
    if active and signs_calls(model):
        parts = _with_stand_in(parts)
    if not active and is_another(turn.model, model):
        parts = [unsigned(part) for part in parts]
    return _content("model", parts)


def _received_parts(turn: ModelTurn) -> list[JsonObject]:
    """
    The parts as they were received; none when they are another wire's, or ask for other calls than the turn does.
    A turn whose calls had to be mended is no longer the one that was signed, and goes without signatures.
    """
    if turn.wire != WIRE:
        return []
    pieces = [_without_empty_id(kept_object(piece.received)) for piece in turn.native]
    parts = [piece for piece in pieces if not WITHOUT_DATA.union({TOKEN}).issuperset(piece)]
    if sum("functionCall" in part for part in parts) != len(turn.requests):
        return []
    requests = iter(turn.requests)
    mended = [_with_call(part, next(requests)) if "functionCall" in part else part for part in parts]
    return parts if mended == parts else [unsigned(part) for part in mended]


def unsigned(part: JsonObject) -> JsonObject:
    """
    A part without its signature.
    """
    return {key: value for key, value in part.items() if key != "thoughtSignature"}


def _without_empty_id(part: JsonObject) -> JsonObject:
    call = part.get("functionCall")
    if not isinstance(call, dict) or call.get("id") != "":
        return part
    return {**part, "functionCall": {key: value for key, value in call.items() if key != "id"}}


def _with_call(part: JsonObject, request: ToolRequest) -> JsonObject:
    """
    The part with what the wire would refuse in its call mended: a repeated id, arguments that are no object. The
    name stays as the model wrote it.
    """
    call = part["functionCall"] if isinstance(part["functionCall"], dict) else {}
    sendable = isinstance(call.get("args"), dict | None) and request.arguments is not None
    args: JsonObject = {} if sendable else {"args": {}}
    return {**part, "functionCall": {**call, **_id(request), **args}}


def _built_parts(turn: ModelTurn) -> list[JsonObject]:
    said: list[JsonObject] = [{"text": turn.text}] if turn.has_words else []
    own = turn.wire == WIRE
    calls: list[JsonObject] = [{"functionCall": _built_call(request, own)} for request in turn.requests]
    return said + calls


def _built_call(request: ToolRequest, own: bool) -> JsonObject:
    call: JsonObject = {"name": wire_name(request.name), "args": _args(request)}
    return {**_id(request), **call} if own else call


def _args(request: ToolRequest) -> JsonObject:
    """
    The arguments without lone surrogates, which an escape in another wire's text can spell; empty for what is none.
    """
    given = request.arguments
    return parse_object(clean_text(dump_json(given))) or {} if given else {}


def _id(request: ToolRequest) -> JsonObject:
    """
    The id as it is sent: ours, which is the wire's own where that is usable; none where the wire gave none.
    """
    return {"id": request.id} if request.wire_id else {}


def _with_stand_in(parts: list[JsonObject]) -> list[JsonObject]:
    """
    The parts with the first call signed by the stand-in, if it has no signature: the turn is another wire's, or was
    stored without its signatures (these models always sign). A signature that came on an empty text behind the calls
    is left to speak for them.
    """
    first = next((at for at, part in enumerate(parts) if "functionCall" in part), None)
    if first is None or "thoughtSignature" in parts[first]:
        return parts
    if _is_signed_behind(parts[first:]):
        return parts
    return [*parts[:first], {**parts[first], "thoughtSignature": STAND_IN}, *parts[first + 1 :]]


def _is_signed_behind(parts: Iterable[JsonObject]) -> bool:
    """
    Whether behind calls, before any further words, stands a signature without a call. With words comes another piece of
    the turn, which a pause parted from this one, and its signature speaks for itself.
    """
    others = (part for part in parts if "functionCall" not in part)
    said = list(takewhile(lambda part: part.get("thought") or not part.get("text"), others))
    return any("thoughtSignature" in part for part in said)


def _calls(content: JsonObject) -> list[JsonObject]:
    calls = [part.get("functionCall") for part in _content_parts(content)]
    return [call for call in calls if isinstance(call, dict)]


def _results_content(calls: Sequence[JsonObject], results: Sequence[ToolResult], model: str) -> JsonObject:
    """
    The results, each under the id and the name of its call, in one content; behind them the media that no response
    may hold, and all links: the API takes none inside a response.
    """
    here = TAKES_IN_RESULT if sees_results(model) else NOTHING
    shown = [taken(result.content, here, TAKES) for result in results]
    told = zip(calls, results, shown, strict=True)
    responses: list[JsonObject] = [{"functionResponse": _response(*each)} for each in told]
    return _content(USER, [*responses, *(_shown(media) for found in shown for media in found.after)])


def _response(call: JsonObject, result: ToolResult, found: Taken) -> JsonObject:
    """
    One result. Its text is one string, never an object: the API reads `$ref` keys in it as references of its own.
    Media inside it are told in the text too, which says where among the texts they stand.
    """
    kind = "output" if result.status is Status.SUCCEEDED else "error"
    named: JsonObject = {key: value for key, value in call.items() if key in ("id", "name")}
    media: list[JsonValue] = [_inline(part) for part in found.parts if isinstance(part, Media)]
    text = told_text(found.parts) if found.text is None else found.text
    return {**named, "response": {kind: text}, **({"parts": media} if media else {})}


def wire_name(name: str) -> str:
    """
    A tool's name in a form that the wire takes: itself where it is legal, else its legal characters and a digest,
    so that different names stay different.
    """
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"_{re.sub(r'[^A-Za-z0-9_.:-]', '_', name)[:100]}_{digest}"


# What stands around the contents


@frozen
class VendorsOwn:
    """
    Tools that the vendor runs itself.

    Attributes:
        tools: their declarations, sent as they stand behind those of the loop.
        on_cloud: whether Vertex AI is asked, which has no word for both kinds at once.
    """

    tools: ServerTools = ()
    on_cloud: bool = False


NONE_OF_THEM = VendorsOwn()


def server_tool_fault(tool: JsonObject) -> str | None:
    """
    Why a declaration is none of a tool that the vendor runs itself.
    """
    if OF_LOOPS.intersection(tool) or tool.get("type") == "function":
        return OURS
    return f"computer use {RUN_BY_HOST}" if FOR_HOSTS.intersection(tool) else None


def frame(request: ModelRequest, own: VendorsOwn = NONE_OF_THEM) -> JsonObject:
    """
    The body without contents: system instructions with the closing guidance, tools (behind the loop's those of the
    vendor), their settings, the type of the answer, the token that resumes a paused turn.

    Raises:
        ProviderRejected: a paused turn is to be resumed and its token is lost.
    """
    body: JsonObject = {}
    system = "\n\n".join(filter(None, (request.instructions, request.guidance)))
    if system:
        body["systemInstruction"] = _content(USER, [{"text": system}])
    functions: list[JsonValue] = [_declaration(tool) for tool in request.tools]
    tools: list[JsonValue] = [{"functionDeclarations": functions}] if functions else []
    if tools or own.tools:
        body["tools"] = [*tools, *own.tools]
    config = _tool_config(request, own)
    if config:
        body["toolConfig"] = config
    if request.output_schema is not None:
        body["generationConfig"] = typed_answer(request.output_schema)
    if request.held:
        body[TOKEN] = _token(request.held[-1])
    return body


def _tool_config(request: ModelRequest, own: VendorsOwn) -> JsonObject:
    if not request.tools:
        return {}
    closed: JsonObject = {} if request.tools_allowed else {"functionCallingConfig": {"mode": "NONE"}}
    mixed: JsonObject = {"includeServerSideToolInvocations": True} if own.tools and not own.on_cloud else {}
    return {**closed, **mixed}


def _token(held: ModelTurn) -> str:
    pieces = [kept_object(piece.received) for piece in held.native if held.wire == WIRE]
    found = next((piece[TOKEN] for piece in reversed(pieces) if TOKEN in piece), None)
    if isinstance(found, str):
        return found
    raise ProviderRejected(WIRE, "the paused turn cannot be resumed: its continuation token is not there")


def _declaration(tool: ToolDeclaration) -> JsonObject:
    declared: JsonObject = {"name": wire_name(tool.name)}
    if tool.description.strip():
        declared["description"] = tool.description
    schema = tool.schema_object
    if schema.get("properties") or schema.get("additionalProperties"):
        declared["parametersJsonSchema"] = wire_schema(schema)
    return declared


def stand_ins(content: JsonObject) -> int:
    """
    The calls in a content that were signed by the stand-in.
    """
    return sum(part.get("thoughtSignature") == STAND_IN for part in _content_parts(content))


# The pairing, before sending


def check_pairs(contents: Sequence[JsonObject]) -> None:
    """
    Refuse to send a history that breaks promise P1.

    Raises:
        ProviderRejected: a call without its response straight after its turn, or a response without a call. That is
            a fault of this library and never a person's.
    """
    if not contents or contents[0]["role"] != USER or contents[-1]["role"] != USER:
        _broken("the contents must start and end with the user")
    for turn, after in pairwise([_content("model", []), *contents]):
        calls, responses = _told(turn, "functionCall"), _told(after, "functionResponse")
        if calls != responses:
            _broken(f"the calls {calls} are answered by {responses}")


def _told(content: JsonObject, kind: str) -> list[tuple[JsonValue, JsonValue]]:
    found = [part.get(kind) for part in _content_parts(content)]
    return [(each.get("id"), each.get("name")) for each in found if isinstance(each, dict)]


def _broken(what: str) -> NoReturn:
    raise broken_pairs(WIRE, what)
