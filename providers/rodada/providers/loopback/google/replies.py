"""
Turns of a script as bodies of generateContent.
"""

import base64
import json
from collections.abc import Mapping
from typing import cast

from rodada.providers.loopback.google.memory import part_digest
from rodada.providers.loopback.google.models import signs_always
from rodada.providers.loopback.google.stream import wants_stream
from rodada.providers.loopback.json_values import Json, Object, obj, objs, seal
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import Call, Failure, Stop, Turn, UnspeakableTurn, Usage
from rodada.providers.loopback.wire import Ids

_WORDS: Mapping[Stop, str] = {
    "whole": "STOP",
    "cut": "MAX_TOKENS",
    "paused": "CONTINUATION",
    "malformed": "MALFORMED_FUNCTION_CALL",
    "refused": "SAFETY",
    "unknown": "OTHER",
}
_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def render(turn: Turn, received: Received, ids: Ids, with_ids: bool) -> Object:
    """
    The turn as a GenerateContentResponse with one candidate.
    """
    parts = _thought(turn, received)
    if turn.unknown:
        parts.append({"aPartOfTomorrow": {"data": "?"}})
    parts += _search(turn, received, ids)
    if turn.text:
        parts.append({"text": turn.text})
    for call in turn.calls:
        parts.append({"functionCall": _call(call, received, ids, with_ids)})
    if turn.reasoning or (turn.calls and signs_always(received.model)):
        if wants_stream(received) and parts and not turn.calls:
            parts.append({"text": ""})  # the signature comes last, when the text is out already
        _sign(parts, ids.fresh("ts_", received.raw))
    word = turn.word or _WORDS[turn.stop]
    candidate: Object = {"content": {"role": "model", "parts": cast(Json, parts)}, "finishReason": word, "index": 0}
    if word == "CONTINUATION":
        candidate["continuationToken"] = _bytes(seal("google-continuation", ids.fresh("ct_")))
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(turn.usage),
        "modelVersion": received.model,
        "responseId": ids.fresh("resp_"),
    }


def envelope(failure: Failure) -> Object:
    """
    The error as Google says it.
    """
    status = failure.kind or _STATUSES.get(failure.status)
    status = status or ("INTERNAL" if failure.status >= 500 else "FAILED_PRECONDITION")
    error: Object = {"code": failure.status, "message": failure.message, "status": status}
    if failure.details:
        error["details"] = [*failure.details]
    return {"error": error}


def _thought(turn: Turn, received: Received) -> list[Object]:
    config = obj(obj(received.body.get("generationConfig")).get("thinkingConfig"))
    wanted = config.get("includeThoughts") or config.get("include_thoughts")
    return [{"text": "Let me think about this.", "thought": True}] if turn.reasoning and wanted else []


def _search(turn: Turn, received: Received, ids: Ids) -> list[Object]:
    """
    What a turn shows of the vendor's own tools: code that it ran, or a call of theirs.
    """
    if turn.search == "none":
        return []
    declared = {key for tool in objs(received.body.get("tools")) for key in tool}
    if turn.search == "open" or not declared & {"codeExecution", "googleSearch", "code_execution", "google_search"}:
        raise UnspeakableTurn("google", "a search that was not declared, or is open")
    if declared & {"codeExecution", "code_execution"}:
        code: Object = {"executableCode": {"language": "PYTHON", "code": "print(80)"}}
        return [code, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "80\n"}}]
    name = ids.fresh("st_", received.raw)
    asked: Object = {"id": name, "toolType": "GOOGLE_SEARCH_WEB"}
    return [
        {"toolCall": {**asked, "args": {"queries": ["rodada"]}}},
        {"toolResponse": {**asked, "response": {"search_suggestions": ""}}},
    ]


def _sign(parts: list[Object], serial: str) -> None:
    """
    Signs the first call; in a turn without calls the last part.
    """
    signed = next((part for part in parts if "functionCall" in part), parts[-1] if parts else None)
    if signed is not None:
        signed["thoughtSignature"] = _bytes(seal("google", serial, part_digest(signed)))


def _call(call: Call, received: Received, ids: Ids, with_ids: bool) -> Object:
    name = (ids.fresh("fc_", received.raw) if with_ids else "") if call.id is None else call.id
    made: Object = {"name": call.name, "args": _args(call)}
    return {"id": name, **made} if name else made


def _args(call: Call) -> Json:
    if not isinstance(call.arguments, str):
        return call.arguments
    try:
        return cast(Json, json.loads(call.arguments or "{}"))
    except ValueError:
        raise UnspeakableTurn("google", "arguments that are no JSON") from None


def _bytes(token: str) -> str:
    return base64.b64encode(token.encode()).decode()


def _usage(usage: Usage) -> Json:
    return {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
        "serviceTier": "standard",
    }
