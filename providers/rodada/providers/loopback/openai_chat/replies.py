"""
Turns of a script as bodies of Chat Completions, in OpenAI's own form.
"""

import json
from collections.abc import Mapping

from rodada.providers.loopback.json_values import Json, Object
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Call, Stop, Turn, UnspeakableTurn, Usage
from rodada.providers.loopback.wire import Ids

_MOMENT = 1_790_000_000  # seconds since 1970: fixed, so that the same script gives the same bytes
_WORDS: Mapping[Stop, str] = {
    "whole": "stop",
    "cut": "length",
    "refused": "stop",
    "unknown": "a_reason_of_tomorrow",
}


def render(turn: Turn, received: Received, ids: Ids, *, reasoning_shown: bool) -> Object:
    """
    The turn as a chat.completion. A refused one is a message with a refusal; hidden reasoning is shown by servers
    other than OpenAI's alone.
    """
    if turn.search != "none":
        raise UnspeakableTurn("openai_chat", "a search of the server's own")
    return {
        "id": ids.fresh("chatcmpl-"),
        "object": "chat.completion",
        "created": _MOMENT,
        "model": received.model,
        "choices": [
            {
                "index": 0,
                "message": _message(turn, received, ids, reasoning_shown),
                "logprobs": None,
                "finish_reason": _reason(turn),
            }
        ],
        "usage": _usage(turn.usage),
        "service_tier": "default",
        "system_fingerprint": "fp_00000001",
    }


def _reason(turn: Turn) -> str:
    if turn.word is not None:
        return turn.word
    if turn.stop not in _WORDS:
        raise UnspeakableTurn("openai_chat", f"the stop {turn.stop!r}")
    return "tool_calls" if turn.stop == "whole" and turn.calls else _WORDS[turn.stop]


def _message(turn: Turn, received: Received, ids: Ids, reasoning_shown: bool) -> Object:
    refused = turn.stop == "refused"
    calls: list[Json] = [_call(call, ids, received.raw) for call in turn.calls]
    thought: Object = {}
    if turn.reasoning and reasoning_shown:
        thought["reasoning_content"] = f"Thought {ids.fresh('no. ')}."
    return {
        "role": "assistant",
        "content": None if refused or (turn.calls and not turn.text) else turn.text,
        "refusal": (turn.text or "I cannot help with that.") if refused else None,
        "annotations": [],
        **thought,
        **({"a_field_of_tomorrow": "?"} if turn.unknown else {}),
        **({"tool_calls": calls} if calls else {}),
    }


def _call(call: Call, ids: Ids, unlike: bytes) -> Object:
    given = call.arguments
    arguments = given if isinstance(given, str) else json.dumps(given, separators=(",", ":"))
    return {
        "id": ids.fresh("call_", unlike) if call.id is None else call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _usage(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    }
