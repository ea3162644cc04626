"""
A body of Chat Completions as a turn of the model.

Whether a turn asks for tools is decided by its calls: servers say `stop` beside calls. Calls that a model writes into
its text are text. Of several choices the first is taken, for only one is asked for.
"""

from collections.abc import Mapping

from rodada.providers.json_body import raw_arguments, told_count, told_object, told_output, told_text
from rodada.providers.openai_chat_input import WIRE, called
from rodada.providers.openai_failures import told_error
from rodada.providers.openai_request import legal_name
from rodada.providers.wire_calls import WireCall, requests_of
from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.messages import ModelTurn, Piece, Served, Stop, ToolRequest, Usage
from rodada.statemachine.request import ModelRequest

STOPS: Mapping[str, Stop] = {
    "stop": Stop.WHOLE,
    "tool_calls": Stop.WHOLE,
    "function_call": Stop.WHOLE,
    "length": Stop.CUT,
    "max_tokens": Stop.CUT,  # gateways that pass on another vendor's word
    "model_length": Stop.CUT,  # Mistral
    "content_filter": Stop.REFUSED,
}
ASKING = frozenset({"tool_calls", "function_call"})
# What may be kept of a message when hidden reasoning is left out.
OPEN_FIELDS = frozenset({"role", "content", "refusal", "tool_calls", "function_call"})
OPEN_CALL_FIELDS = frozenset({"id", "type", "function"})


def read_turn(body: JsonObject, request: ModelRequest, secret: str = "") -> ModelTurn:
    """
    The turn that a body holds; its request ids are new in the conversation of `request`, and no error shows `secret`.

    Raises:
        ProviderGarbled: not the form that the wire promises.
        ProviderError: the body, whatever its HTTP status, says that the call failed.
    """
    choice = _choice(body, secret)
    message = told_object(choice.get("message"))
    if not message:
        raise ProviderGarbled(WIRE, "the answer has no message")
    calls = called(message)
    stop, word = _stop(choice, message, calls)
    return ModelTurn(
        stop=stop,
        stop_word=word,
        text=visible_text(message),
        requests=_requests(calls, request) if stop in (Stop.WHOLE, Stop.CUT) else (),
        usage=_usage(body.get("usage")),
        native=(Piece(dump_json(message), dump_json(bare_message(message))),),
        wire=WIRE,
        model=told_text(body.get("model")),
        response_id=told_text(body.get("id")),
        served=Served(service_tier=told_text(body.get("service_tier")) or None),
    )


def _choice(body: JsonObject, secret: str) -> JsonObject:
    choices = body.get("choices")
    choice = told_object(choices[0]) if isinstance(choices, list) and choices else {}
    failure = told_error(WIRE, body, secret) or told_error(WIRE, choice, secret)
    if failure is not None:
        raise failure
    if not choice:
        raise ProviderGarbled(WIRE, "the answer has no choice")
    return choice


def _stop(choice: JsonObject, message: JsonObject, calls: list[JsonObject]) -> tuple[Stop, str]:
    word = told_text(choice.get("finish_reason"))
    if told_text(message.get("refusal")):
        return Stop.REFUSED, "refusal"
    foreign = next((_kind(call) for call in calls if _kind(call) != "function"), None)
    if foreign is not None:
        return Stop.MALFORMED, foreign
    stop = STOPS.get(word, Stop.UNKNOWN)
    if word in ASKING and not calls:
        return Stop.MALFORMED, word  # a call that the server could not read from the model's text
    return stop, word


def _kind(call: JsonObject) -> str:
    if isinstance(call.get("function"), dict):
        return "function"
    return told_text(call.get("type")) or "a call of no kind"


def _requests(calls: list[JsonObject], request: ModelRequest) -> tuple[ToolRequest, ...]:
    return requests_of([_wire_call(call, told_object(call.get("function"))) for call in calls], request, legal_name)


def _wire_call(call: JsonObject, function: JsonObject) -> WireCall:
    return WireCall(
        told_text(call.get("id")), told_text(function.get("name")), raw_arguments(function.get("arguments"))
    )


def visible_text(message: JsonObject) -> str:
    """
    What the person may see of a message.
    """
    content = message.get("content")
    parts = [told_object(part) for part in content] if isinstance(content, list) else []
    said = "".join(told_text(part.get("text")) for part in parts if part.get("type") == "text")
    return told_text(message.get("refusal")) or told_text(content) or said


def bare_message(message: JsonObject) -> JsonObject:
    """
    A message without what may be hidden reasoning.
    """
    kept: JsonObject = {name: value for name, value in message.items() if name in OPEN_FIELDS}
    calls = kept.get("tool_calls")
    if isinstance(calls, list):
        kept["tool_calls"] = [
            {name: value for name, value in told_object(call).items() if name in OPEN_CALL_FIELDS} for call in calls
        ]
    if isinstance(kept.get("content"), list):
        kept["content"] = visible_text(message)  # parts of a list may be hidden reasoning
    return kept


def _usage(told: JsonValue) -> Usage:
    usage = told_object(told)
    read = told_object(usage.get("prompt_tokens_details"))
    written = told_object(usage.get("completion_tokens_details"))
    sent = told_count(usage.get("prompt_tokens"))
    return Usage(
        input_tokens=sent,
        cached_input_tokens=told_count(read.get("cached_tokens")),
        cache_write_tokens=told_count(read.get("cache_write_tokens")),
        output_tokens=told_output(usage.get("completion_tokens"), sent, usage.get("total_tokens")),
        reasoning_tokens=told_count(written.get("reasoning_tokens")),
    )
