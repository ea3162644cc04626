"""
Turns of a script as bodies of the Messages API.
"""

import json
from collections.abc import Mapping
from typing import cast

from rodada.providers.loopback.anthropic.messages import messages_of
from rodada.providers.loopback.anthropic.models import binds_thinking
from rodada.providers.loopback.anthropic.prefix import prefix_of_reply
from rodada.providers.loopback.json_values import Json, Object, digest, obj, objs, seal, text
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Call, Failure, Stop, Turn, UnspeakableTurn, Usage
from rodada.providers.loopback.wire import Ids

_WORDS: Mapping[Stop, str] = {
    "whole": "end_turn",
    "cut": "max_tokens",
    "paused": "pause_turn",
    "refused": "refusal",
    "unknown": "a_stop_reason_of_tomorrow",
}
_KINDS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def render(turn: Turn, received: Received, ids: Ids) -> Object:
    """
    The turn as a Message.
    """
    content: list[Json] = [*_open_results(received), *_thinking(turn, received, ids), *_unknown(turn), *_text(turn)]
    content += _search(turn, received, ids)
    content += [_tool_use(call, ids, received.raw) for call in turn.calls]
    if turn.stop == "paused" and turn.search == "none":
        content += _server_search(ids)
    word = _word(turn)
    return {
        "id": ids.fresh("msg_"),
        "type": "message",
        "role": "assistant",
        "model": received.model,
        "content": content,
        "stop_reason": word,
        "stop_sequence": _stop_sequence(received) if word == "stop_sequence" else None,
        "stop_details": _details(turn) if word == "refusal" else None,
        "usage": _usage(turn.usage),
    }


def envelope(failure: Failure, request_id: str) -> Object:
    """
    The error as the Messages API says it.
    """
    kind = failure.kind or _KINDS.get(failure.status) or ("api_error" if failure.status >= 500 else _KINDS[400])
    error: Object = {"type": kind, "message": failure.message}
    if failure.code is not None:
        error["details"] = {"error_code": failure.code}
    return {"type": "error", "error": error, "request_id": request_id}


def _word(turn: Turn) -> str:
    if turn.word is not None:
        return turn.word
    if turn.stop not in _WORDS:
        raise UnspeakableTurn("anthropic", f"the stop {turn.stop!r}")
    return "tool_use" if turn.stop == "whole" and turn.calls else _WORDS[turn.stop]


def _thinking(turn: Turn, received: Received, ids: Ids) -> list[Json]:
    if not turn.reasoning:
        return []
    display = obj(received.body.get("thinking")).get("display")
    omitted = binds_thinking(received.model) and display != "summarized"
    said = "" if omitted else "Let me think about this."
    serial = ids.fresh("th_", received.raw)
    signature = seal("anthropic", serial, digest(said), prefix_of_reply(received.body))
    return [{"type": "thinking", "thinking": said, "signature": signature}]


def _unknown(turn: Turn) -> list[Json]:
    return [{"type": "a_block_of_tomorrow", "data": "?"}] if turn.unknown else []


def _text(turn: Turn) -> list[Json]:
    return [{"type": "text", "text": turn.text}] if turn.text else []


def _tool_use(call: Call, ids: Ids, unlike: bytes) -> Json:
    name = ids.fresh("toolu_", unlike) if call.id is None else call.id
    return {"type": "tool_use", "id": name, "name": call.name, "input": _input(call)}


def _input(call: Call) -> Json:
    if not isinstance(call.arguments, str):
        return call.arguments
    try:
        return cast(Json, json.loads(call.arguments or "{}"))
    except ValueError:
        raise UnspeakableTurn("anthropic", "arguments that are no JSON") from None


def _search(turn: Turn, received: Received, ids: Ids) -> list[Json]:
    if turn.search == "none":
        return []
    if not any(text(tool.get("type")).startswith("web_search_") for tool in objs(received.body.get("tools"))):
        raise UnspeakableTurn("anthropic", "a search that was not declared")
    use, result = _server_search(ids)
    return [use, result] if turn.search == "done" else [use]


def _open_results(received: Received) -> list[Json]:
    """
    The results of what the last turn left open.
    """
    said = [each for each in messages_of(received.body) if each.role == "assistant"][-1:]
    done = [block.get("tool_use_id") for each in said for block in each.blocks]
    uses = [block for each in said for block in each.of_type("server_tool_use")]
    return [_searched(text(block.get("id"))) for block in uses if block.get("id") not in done]


def _searched(name: str) -> Json:
    return {"type": "web_search_tool_result", "tool_use_id": name, "content": []}


def _server_search(ids: Ids) -> list[Json]:
    name = ids.fresh("srvtoolu_")
    return [
        {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "rodada"}},
        _searched(name),
    ]


def _stop_sequence(received: Received) -> Json:
    sequences = received.body.get("stop_sequences")
    return text(sequences[0]) if isinstance(sequences, list) and sequences else None


def _details(turn: Turn) -> Json:
    return {"type": "refusal", "category": "general_harms", "explanation": turn.text or "I cannot help with that."}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input - usage.cached - usage.cache_write,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
        "service_tier": "standard",
    }
