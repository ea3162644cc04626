"""
What comes over the Gemini wire (generateContent), as pure conversion: a reply to a turn.
"""

from collections.abc import Mapping

from rodada.providers.google_wire import TOKEN, WIRE, WITHOUT_DATA, unsigned, wire_name
from rodada.providers.json_body import told_count, told_output
from rodada.providers.paragraphs import Paragraphs
from rodada.providers.wire_calls import WireCall, requests_of
from rodada.statemachine.errors import ProviderGarbled, ProviderRejected
from rodada.statemachine.jsontext import (
    JsonError,
    JsonObject,
    JsonValue,
    clean_text,
    dump_json,
    kept_object,
    parse_json,
)
from rodada.statemachine.messages import (
    ModelTurn,
    Piece,
    Served,
    Stop,
    ToolRequest,
    Usage,
)
from rodada.statemachine.request import ModelRequest

VENDORS_OWN = frozenset({"executableCode", "codeExecutionResult", "toolCall", "toolResponse"})
STOPS: Mapping[str, Stop] = {
    "STOP": Stop.WHOLE,
    "MAX_TOKENS": Stop.CUT,
    "CONTINUATION": Stop.PAUSED,
    "MALFORMED_FUNCTION_CALL": Stop.MALFORMED,
    "UNEXPECTED_TOOL_CALL": Stop.MALFORMED,
    "MALFORMED_RESPONSE": Stop.MALFORMED,
    "SAFETY": Stop.REFUSED,
    "RECITATION": Stop.REFUSED,
    "LANGUAGE": Stop.REFUSED,
    "BLOCKLIST": Stop.REFUSED,
    "PROHIBITED_CONTENT": Stop.REFUSED,
    "SPII": Stop.REFUSED,
    "ESCALATION": Stop.REFUSED,
    "PUP_LIMITED_DISABLED": Stop.REFUSED,
    "MODEL_ARMOR": Stop.REFUSED,
    "IMAGE_SAFETY": Stop.UNKNOWN,
    "IMAGE_PROHIBITED_CONTENT": Stop.UNKNOWN,
    "IMAGE_OTHER": Stop.UNKNOWN,
    "IMAGE_RECITATION": Stop.UNKNOWN,
    "NO_IMAGE": Stop.UNKNOWN,
    "OTHER": Stop.UNKNOWN,
    "FINISH_REASON_UNSPECIFIED": Stop.UNKNOWN,
}

# Stop words that are errors: no turn came, and the same request would end the same way.
FAILURES: Mapping[str, str] = {
    "MISSING_THOUGHT_SIGNATURE": "the request lacked a thought signature that the model needs",
    "TOO_MANY_TOOL_CALLS": "the server's own tools were called too often",
}


def read_turn(text: str, request: ModelRequest, model: str) -> ModelTurn:
    """
    The turn that a response body holds.

    Raises:
        ProviderGarbled: it is not what the wire promises.
        ProviderRejected: a stop word that says the request itself was wrong.
    """
    try:
        return _turn(as_object(parse_json(text), "the body"), request, model)
    except (ValueError, RecursionError) as error:
        raise ProviderGarbled(WIRE, f"the answer is not what the wire promises ({error})") from None


def _turn(body: JsonObject, request: ModelRequest, model: str) -> ModelTurn:
    candidates = body.get("candidates")
    if not candidates:
        return _blocked(body, model)
    candidate = as_object(as_list(candidates, "candidates")[0], "the candidate")
    word = _word(candidate.get("finishReason"))
    if word in FAILURES:
        raise ProviderRejected(WIRE, FAILURES[word], code=word)
    parts = _parts(candidate)
    stop = _stop(word, candidate, parts)
    token = [_token_piece(candidate)] if stop is Stop.PAUSED else []
    return ModelTurn(
        stop=stop,
        text=said_before(request).text_of(map(said_in, parts)),
        requests=_requests(parts, request) if stop is Stop.WHOLE else (),
        stop_word=word,
        usage=_usage(body),
        native=(*(Piece(dump_json(part), bare_part(part)) for part in parts), *token),
        wire=WIRE,
        model=_word(body.get("modelVersion")) or model,
        response_id=_word(body.get("responseId")),
        served=Served(service_tier=_tier(body)),
    )


def _blocked(body: JsonObject, model: str) -> ModelTurn:
    """
    A turn without candidates: the vendor declined to read the prompt.
    """
    feedback = as_object(body.get("promptFeedback") or {}, "promptFeedback")
    word = _word(feedback.get("blockReason"))
    if not word:
        raise JsonError("there is no candidate and no reason for it")
    return ModelTurn(
        stop=Stop.REFUSED,
        stop_word=word,
        usage=_usage(body),
        model=_word(body.get("modelVersion")) or model,
        response_id=_word(body.get("responseId")),
        served=Served(service_tier=_tier(body)),
    )


def _stop(word: str, candidate: JsonObject, parts: list[JsonObject]) -> Stop:
    stop = STOPS.get(word, Stop.UNKNOWN)
    if stop in (Stop.WHOLE, Stop.PAUSED) and any("functionResponse" in part for part in parts):
        return Stop.MALFORMED  # only we may say what a call gave: sent back, it would answer none
    if stop is Stop.PAUSED and not _word(candidate.get(TOKEN)):
        return Stop.CUT  # nothing could resume it
    return stop


def _token_piece(candidate: JsonObject) -> Piece:
    """
    What resumes a paused turn. It is kept without reasoning too: a run that is resumed from its journal needs it.
    """
    piece = dump_json({TOKEN: _word(candidate[TOKEN])})
    return Piece(piece, piece)


def _parts(candidate: JsonObject) -> list[JsonObject]:
    content = as_object(candidate.get("content") or {}, "the content")
    return [_clean(as_object(part, "a part")) for part in as_list(content.get("parts") or [], "parts")]


def _clean(part: JsonObject) -> JsonObject:
    """
    The part with lone surrogates replaced, and then without its signature, which is bound to what was replaced.
    """
    text = dump_json(part)
    clean = clean_text(text)
    return part if clean == text else unsigned(as_object(parse_json(clean), "a part"))


def said_before(request: ModelRequest) -> Paragraphs:
    """
    What the turn that goes on said before its pauses.
    """
    paragraphs = Paragraphs(is_typed=request.output_schema is not None)
    for part in held_parts(request):
        paragraphs.heard(said_in(part))
    return paragraphs


def said_in(part: JsonObject) -> str | None:
    """
    The words in a part; None for one of a tool that the vendor ran.
    """
    text = part.get("text", "")
    if not isinstance(text, str):
        raise JsonError("a part's text is no text")
    if text and not part.get("thought"):
        return text
    return "" if VENDORS_OWN.isdisjoint(part) else None


def bare_part(part: JsonObject) -> str | None:
    """
    The part without hidden reasoning and signature.
    """
    kept = unsigned(part)
    if part.get("thought") or WITHOUT_DATA.issuperset(kept) or kept == {"text": ""}:
        return None
    return dump_json(kept)


def _requests(parts: list[JsonObject], request: ModelRequest) -> tuple[ToolRequest, ...]:
    """
    What a turn asks for, the pieces before its pauses included.
    """
    asked = [part for part in (*held_parts(request), *parts) if "functionCall" in part]
    calls = [as_object(part["functionCall"], "a call") for part in asked]
    return requests_of([WireCall(_word(call.get("id")), _name(call), _raw(call)) for call in calls], request, wire_name)


def held_parts(request: ModelRequest) -> list[JsonObject]:
    """
    What the turn that goes on said before its pauses.
    """
    return [kept_object(piece.received) for turn in request.held for piece in turn.native]


def _raw(call: JsonObject) -> str:
    args = call.get("args")
    return dump_json({} if args is None else args)


def _name(call: JsonObject) -> str:
    name = _word(call.get("name"))
    if not name:
        raise JsonError("a call has no name")
    return name


def _usage(body: JsonObject) -> Usage:
    told = as_object(body.get("usageMetadata") or {}, "usageMetadata")
    sent = _sum(told, "promptTokenCount", "toolUsePromptTokenCount")
    said = _sum(told, "candidatesTokenCount", "thoughtsTokenCount")
    return Usage(
        input_tokens=sent,
        cached_input_tokens=_sum(told, "cachedContentTokenCount"),
        output_tokens=told_output(said, sent, told.get("totalTokenCount")),
        reasoning_tokens=_sum(told, "thoughtsTokenCount"),
    )


def _tier(body: JsonObject) -> str | None:
    usage = body.get("usageMetadata")
    return _word(usage.get("serviceTier")) or None if isinstance(usage, dict) else None


def _sum(told: JsonObject, *names: str) -> int | None:
    counts = [count for name in names if (count := told_count(told.get(name))) is not None]
    return told_count(sum(counts)) if counts else None


def as_object(value: JsonValue, what: str) -> JsonObject:
    """
    The value as an object; JsonError where it is none.
    """
    if not isinstance(value, dict):
        raise JsonError(f"{what} is no object")
    return value


def as_list(value: JsonValue, what: str) -> list[JsonValue]:
    """
    The value as a list; JsonError where it is none.
    """
    if not isinstance(value, list):
        raise JsonError(f"{what} is no list")
    return value


def _word(value: JsonValue) -> str:
    return clean_text(value) if isinstance(value, str) else ""
