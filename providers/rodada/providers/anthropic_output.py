"""
Replies of the Anthropic Messages API as turns.
"""

from collections.abc import Mapping
from types import MappingProxyType

from rodada.providers.anthropic_wire import THOUGHTS, WIRE, blocks_of, is_blank, legal, objects, of_type, said_in
from rodada.providers.json_body import told_count, told_text
from rodada.providers.paragraphs import Paragraphs
from rodada.providers.wire_calls import WireCall, requests_of
from rodada.statemachine.jsontext import JsonObject, JsonValue, clean_text, dump_json, parse_json
from rodada.statemachine.messages import ModelTurn, Piece, Served, Stop, ToolRequest, Usage
from rodada.statemachine.request import ModelRequest

STOPS = {
    "end_turn": Stop.WHOLE,
    "stop_sequence": Stop.WHOLE,
    "tool_use": Stop.WHOLE,
    "max_tokens": Stop.CUT,
    "model_context_window_exceeded": Stop.CUT,
    "pause_turn": Stop.PAUSED,
    "refusal": Stop.REFUSED,
}


class NotAMessage(ValueError):
    """
    A reply of status 200 is not the `message` that the Messages API promises.
    """


def turn_of(text: str, request: ModelRequest) -> ModelTurn:
    """
    The turn in the body of a reply.

    Raises:
        JsonError: it is no JSON.
        NotAMessage: it is not the form that the API promises.
    """
    return turn_of_message(parse_json(text), request)


def turn_of_message(
    value: JsonValue, request: ModelRequest, broken: Mapping[int, str] = MappingProxyType({})
) -> ModelTurn:
    """
    The turn in a message; `broken` are inputs that came as no JSON object, by the place of their block, in which an
    empty one stands.

    Raises:
        NotAMessage: it is not the form that the API promises.
    """
    message = _checked(value)
    blocks = objects(message["content"])
    word = str(message["stop_reason"])
    stop = stop_of(word, blocks)
    handed_over = stop is Stop.CUT or (stop is Stop.WHOLE and word == "tool_use")
    return ModelTurn(
        stop=stop,
        text=said_before(request).text_of(map(said_in, blocks)),
        requests=_requests(blocks, request, broken) if handed_over else (),
        stop_word=word,
        usage=usage_of(message.get("usage")),
        native=tuple(piece_of(block) for block in blocks),
        wire=WIRE,
        model=told_text(message.get("model")),
        response_id=told_text(message.get("id")),
        served=Served(service_tier=_tier(message.get("usage"))),
    )


def said_before(request: ModelRequest) -> Paragraphs:
    """
    What the turn that goes on said before its pauses.
    """
    paragraphs = Paragraphs(is_typed=request.output_schema is not None)
    for turn in request.held:
        for block in blocks_of(turn):
            paragraphs.heard(said_in(block))
    return paragraphs


def stop_of(word: str, blocks: list[JsonObject]) -> Stop:
    """
    The wire's stop reason in our words; a turn whose blocks contradict it is malformed.
    """
    stop = STOPS.get(word, Stop.UNKNOWN)
    asks = bool(of_type(blocks, "tool_use"))
    if stop in (Stop.WHOLE, Stop.CUT, Stop.PAUSED) and of_type(blocks, "tool_result"):
        return Stop.MALFORMED  # only we may say what a call gave
    if word == "tool_use" and not asks:
        return Stop.PAUSED if of_type(blocks, "server_tool_use") else Stop.MALFORMED
    if (word in ("end_turn", "pause_turn") and asks) or (stop is Stop.PAUSED and all(map(is_blank, blocks))):
        return Stop.MALFORMED
    return stop


def usage_of(usage: JsonValue) -> Usage:
    """
    Tokens of a call; the wire's `input_tokens` are only those that no cache knows.
    """
    told = usage if isinstance(usage, dict) else JsonObject()
    fresh, cached = told_count(told.get("input_tokens")), told_count(told.get("cache_read_input_tokens"))
    written = told_count(told.get("cache_creation_input_tokens"))
    details = told.get("output_tokens_details")
    return Usage(
        input_tokens=None if fresh is None else told_count(fresh + (cached or 0) + (written or 0)),
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=told_count(told.get("output_tokens")),
        reasoning_tokens=told_count(details.get("thinking_tokens")) if isinstance(details, dict) else None,
    )


def _tier(usage: JsonValue) -> str | None:
    return told_text(usage.get("service_tier")) or None if isinstance(usage, dict) else None


def _checked(message: JsonValue) -> JsonObject:
    if not isinstance(message, dict) or message.get("type") != "message":
        raise NotAMessage("it is no object of type message")
    blocks = message.get("content")
    if not isinstance(blocks, list) or len(objects(blocks)) != len(blocks):
        raise NotAMessage("its content is no list of blocks")
    if not all(told_text(block.get("type")) for block in objects(blocks)):
        raise NotAMessage("a block has no type")
    if not told_text(message.get("stop_reason")):
        raise NotAMessage("it has no stop_reason")
    if not all(told_text(block.get("name")) for block in of_type(objects(blocks), "tool_use")):
        raise NotAMessage("a tool_use block has no name")
    return message


def _requests(blocks: list[JsonObject], request: ModelRequest, broken: Mapping[int, str]) -> tuple[ToolRequest, ...]:
    calls = [
        WireCall(told_text(block.get("id")), told_text(block["name"]), broken.get(at, _input(block)))
        for at, block in enumerate(blocks)
        if block["type"] == "tool_use"
    ]
    return requests_of(calls, request, legal)


def _input(call: JsonObject) -> str:
    return dump_json(call["input"]) if "input" in call else ""


def piece_of(block: JsonObject) -> Piece:
    """
    A block as it is kept.
    """
    text = clean_text(dump_json(block))
    hidden = block["type"] in THOUGHTS or "signature" in block
    return Piece(text, None if hidden else text)
