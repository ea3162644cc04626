"""
Turns of a script as bodies of the Responses API.
"""

import json
from collections.abc import Mapping
from typing import Literal, TypeAlias

from rodada.providers.loopback.json_values import Json, Object, obj, objs, seal, text
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Call, Failure, Stop, Turn, UnspeakableTurn, Usage
from rodada.providers.loopback.wire import Ids

_Status: TypeAlias = Literal["completed", "incomplete"]
_MOMENT = 1_790_000_000  # seconds since 1970: fixed, so that the same script gives the same bytes
_WORDS: Mapping[Stop, str | None] = {
    "whole": None,
    "cut": "max_output_tokens",
    "paused": None,
    "refused": None,
    "unknown": "a_reason_of_tomorrow",
}
_KINDS: Mapping[int, str] = {
    401: "invalid_request_error",
    403: "invalid_request_error",
    429: "rate_limit_error",
}


def render(turn: Turn, received: Received, ids: Ids) -> Object:
    """
    The turn as a Response.

    A paused turn is commentary without calls: the model says that it goes on. A refused one is a refusal in a
    completed message.
    """
    reason = _reason(turn)
    status: _Status = "completed" if reason is None else "incomplete"
    output: list[Json] = [*_reasoning(turn, received, ids), *_unknown(turn, ids), *_search(turn, received, ids)]
    output += _message(turn, status, ids)
    output += [_call(call, ids, received.raw) for call in turn.calls]
    _cut_last(output, status)
    body = received.body
    return {
        "id": ids.fresh("resp_"),
        "object": "response",
        "created_at": _MOMENT,
        "status": status,
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": received.model,
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": None,
        "reasoning": {"effort": obj(body.get("reasoning")).get("effort", "medium"), "summary": None},
        "service_tier": "default",
        "store": body.get("store", True),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "truncation": body.get("truncation", "disabled"),
        "usage": _usage(turn.usage),
        "metadata": body.get("metadata", {}),
    }


def envelope(failure: Failure) -> Object:
    """
    The error as OpenAI says it.
    """
    kind = failure.kind or _KINDS.get(failure.status)
    kind = kind or ("server_error" if failure.status >= 500 else "invalid_request_error")
    return {"error": {"message": failure.message, "type": kind, "param": failure.param, "code": failure.code}}


def _reason(turn: Turn) -> str | None:
    if turn.word is not None:
        return turn.word
    if turn.stop not in _WORDS:
        raise UnspeakableTurn("openai", f"the stop {turn.stop!r}")
    return _WORDS[turn.stop]


def _reasoning(turn: Turn, received: Received, ids: Ids) -> list[Json]:
    if not turn.reasoning:
        return []
    name = ids.fresh("rs_", received.raw)
    wanted = "summary" in obj(received.body.get("reasoning"))
    summary: list[Json] = [{"type": "summary_text", "text": "Thought about it."}] if wanted else []
    return [{"id": name, "type": "reasoning", "summary": summary, "encrypted_content": seal("openai", name)}]


def _unknown(turn: Turn, ids: Ids) -> list[Json]:
    return [{"id": ids.fresh("tom_"), "type": "an_item_of_tomorrow", "data": "?"}] if turn.unknown else []


def _search(turn: Turn, received: Received, ids: Ids) -> list[Json]:
    if turn.search == "none":
        return []
    declared = any(text(tool.get("type")).startswith("web_search") for tool in objs(received.body.get("tools")))
    if turn.search == "open" or not declared:
        raise UnspeakableTurn("openai", "a search that was not declared, or is open")
    action: Object = {"type": "search", "query": "rodada"}
    return [{"id": ids.fresh("ws_", received.raw), "type": "web_search_call", "status": "completed", "action": action}]


def _message(turn: Turn, status: _Status, ids: Ids) -> list[Json]:
    if not turn.text and turn.stop != "refused":
        return []
    note = turn.calls or turn.stop == "paused"
    return [
        {
            "id": ids.fresh("msg_"),
            "type": "message",
            "role": "assistant",
            "status": status if not turn.calls else "completed",
            "content": [_part(turn)],
            "phase": "commentary" if note else "final_answer",
        }
    ]


def _part(turn: Turn) -> Json:
    if turn.stop == "refused":
        return {"type": "refusal", "refusal": turn.text or "I cannot help with that."}
    return {"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}


def _call(call: Call, ids: Ids, unlike: bytes) -> Object:
    given = call.arguments
    arguments = given if isinstance(given, str) else json.dumps(given, separators=(",", ":"))
    return {
        "id": ids.fresh("fc_", unlike),
        "type": "function_call",
        "call_id": ids.fresh("call_", unlike) if call.id is None else call.id,
        "name": call.name,
        "arguments": arguments,
        "status": "completed",
    }


def _cut_last(output: list[Json], status: _Status) -> None:
    if output and "status" in obj(output[-1]):
        obj(output[-1])["status"] = status


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
