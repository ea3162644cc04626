"""
A body of the Responses API as a turn of the model.
"""

from collections.abc import Iterator, Mapping

from rodada.providers.json_body import raw_arguments, told_count, told_object, told_output, told_text
from rodada.providers.openai_failures import from_told_error, told_error
from rodada.providers.openai_request import legal_name
from rodada.providers.openai_responses_input import CALLS, OUTPUTS, WIRE, WITH_OPTIONAL_ID, without_id
from rodada.providers.wire_calls import WireCall, requests_of
from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.messages import ModelTurn, Piece, Served, Stop, ToolRequest, Usage
from rodada.statemachine.request import ModelRequest

INCOMPLETE_STOPS: Mapping[str, Stop] = {
    "max_output_tokens": Stop.CUT,
    "content_filter": Stop.REFUSED,
    "max_messages": Stop.UNKNOWN,
    "steered": Stop.UNKNOWN,
}
# Only calls in the background, which are never made, have these.
NOT_AN_ANSWER = frozenset({"cancelled", "queued", "in_progress"})


def read_turn(body: JsonObject, request: ModelRequest, secret: str = "") -> ModelTurn:
    """
    The turn that a body holds; its request ids are new in the conversation of `request`, and no error shows `secret`.

    Raises:
        ProviderGarbled: not the form that the wire promises.
        ProviderError: the body says that the response failed.
    """
    _check_status(body, secret)
    items = _items(body)
    stop, word = _stop(body, items)
    return ModelTurn(
        stop=stop,
        stop_word=word,
        text=visible_text(items),
        requests=_requests(items, request) if stop in (Stop.WHOLE, Stop.CUT) else (),
        usage=_usage(body.get("usage")),
        native=pieces_of(items),
        wire=WIRE,
        model=told_text(body.get("model")),
        response_id=told_text(body.get("id")),
        served=Served(service_tier=told_text(body.get("service_tier")) or None),
    )


def _check_status(body: JsonObject, secret: str) -> None:
    status = body.get("status")
    if not isinstance(status, str):
        raise told_error(WIRE, body, secret) or ProviderGarbled(WIRE, "the answer has no status")
    if status in NOT_AN_ANSWER:
        raise ProviderGarbled(WIRE, f"the answer is not finished: its status is {status}", code=status)
    if status == "failed":
        raise from_told_error(WIRE, body.get("error"), secret)


def _items(body: JsonObject) -> list[JsonObject]:
    output = body.get("output")
    if not isinstance(output, list):
        raise ProviderGarbled(WIRE, "the answer has no list of output items")
    items = [told_object(item) for item in output]
    if not all(isinstance(item.get("type"), str) for item in items):
        raise ProviderGarbled(WIRE, "an output item has no type")
    return items


def _stop(body: JsonObject, items: list[JsonObject]) -> tuple[Stop, str]:
    status = told_text(body.get("status"))
    if any(part.get("type") == "refusal" for part in _parts(items)):
        return Stop.REFUSED, "refusal"
    foreign = _unanswerable(items)
    if foreign:
        return Stop.MALFORMED, foreign
    if status == "incomplete":
        reason = told_text(told_object(body.get("incomplete_details")).get("reason"))
        return INCOMPLETE_STOPS.get(reason, Stop.UNKNOWN), reason or status
    return _finished(items) if status == "completed" else (Stop.UNKNOWN, status)


def _finished(items: list[JsonObject]) -> tuple[Stop, str]:
    calls = [item for item in items if item.get("type") in CALLS]
    if any(call.get("status") not in (None, "completed") for call in calls):
        return Stop.CUT, "completed"
    messages = _messages(items)
    if messages and not calls and all(map(_is_commentary, messages)):
        return Stop.MALFORMED, "commentary"
    return Stop.WHOLE, "completed"


def _unanswerable(items: list[JsonObject]) -> str:
    """
    The type of an item with which no later request would be taken: a call that waits for somebody's output but is none
    of ours, and what only we may say.
    """
    answered = {told_text(item.get("call_id")) for item in items if told_text(item.get("type")).endswith("_output")}
    for item in items:
        kind, call_id = told_text(item.get("type")), told_text(item.get("call_id"))
        if kind.endswith("_call") and kind not in CALLS and call_id and call_id not in answered:
            return kind
        if kind in OUTPUTS or (kind == "message" and item.get("role", "assistant") != "assistant"):
            return kind
    return ""


def _requests(items: list[JsonObject], request: ModelRequest) -> tuple[ToolRequest, ...]:
    calls = [
        WireCall(told_text(item.get("call_id")), told_text(item.get("name")), asked_arguments(item))
        for item in items
        if item.get("type") in CALLS
    ]
    return requests_of(calls, request, legal_name)


def asked_arguments(call: JsonObject) -> str:
    """
    A call's arguments, or a custom call's input, as text.
    """
    return raw_arguments(call.get("arguments" if call["type"] == "function_call" else "input"))


def visible_text(items: list[JsonObject]) -> str:
    """
    What the person may see. Beside an answer notes on the way to it are left out: they are no part of it.
    """
    messages = _messages(items)
    answers = [message for message in messages if not _is_commentary(message)]
    shown = messages if any(item.get("type") in CALLS for item in items) else answers or messages
    return "\n\n".join(filter(None, map(_message_text, shown)))


def _messages(items: list[JsonObject]) -> list[JsonObject]:
    return [item for item in items if item.get("type") == "message"]


def _is_commentary(message: JsonObject) -> bool:
    return message.get("phase") == "commentary"


def _message_text(message: JsonObject) -> str:
    if isinstance(message.get("content"), str):  # a stored message may have it so
        return told_text(message["content"])
    return "".join(
        told_text(part.get("refusal" if part.get("type") == "refusal" else "text")) for part in _parts([message])
    )


def _parts(items: list[JsonObject]) -> Iterator[JsonObject]:
    for message in _messages(items):
        content = message.get("content")
        yield from map(told_object, content if isinstance(content, list) else [])


def pieces_of(items: list[JsonObject]) -> tuple[Piece, ...]:
    """
    The items of a turn as they are kept. One whose id it cannot lose, such as the vendor's own tools leave, is bound by
    it to the reasoning before it: without that it would be refused, in every later request. So it goes too, whatever it
    is, for of two that belong together one alone would be refused as well.
    """
    bound = any(item.get("type") == "reasoning" for item in items)
    return tuple(_piece(item, bound) for item in items)


def _piece(item: JsonObject, bound: bool) -> Piece:
    hidden = item.get("type") == "reasoning" or "encrypted_content" in item
    goes_too = bound and item.get("type") not in WITH_OPTIONAL_ID
    return Piece(dump_json(item), None if hidden or goes_too else dump_json(without_id(item)))


def _usage(told: JsonValue) -> Usage:
    usage = told_object(told)
    read, written = told_object(usage.get("input_tokens_details")), told_object(usage.get("output_tokens_details"))
    sent = told_count(usage.get("input_tokens"))
    return Usage(
        input_tokens=sent,
        cached_input_tokens=told_count(read.get("cached_tokens")),
        cache_write_tokens=told_count(read.get("cache_write_tokens")),
        output_tokens=told_output(usage.get("output_tokens"), sent, usage.get("total_tokens")),
        reasoning_tokens=told_count(written.get("reasoning_tokens")),
    )
