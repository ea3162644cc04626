"""
A Message as the events of a stream.
"""

import json
from collections.abc import Iterator

from rodada.providers.loopback.frames import frame, pieces
from rodada.providers.loopback.json_values import Json, Object, obj, text

_ASKS = ("tool_use", "server_tool_use")


def frames(message: Object) -> tuple[bytes, ...]:
    """
    Its events in order, with a ping among them.
    """
    return tuple(frame(event, text(event["type"])) for event in _events(message))


def _events(message: Object) -> Iterator[Object]:
    usage, content = obj(message.get("usage")), message.get("content")
    begun: Object = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}
    yield {"type": "message_start", "message": {**begun, "usage": {**usage, "output_tokens": 1}}}
    yield {"type": "ping"}
    for index, block in enumerate(content if isinstance(content, list) else []):
        yield from _block(index, obj(block))
    delta: Object = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage.get("output_tokens"), **usage}}
    yield {"type": "message_stop"}


def _block(index: int, block: Object) -> Iterator[Object]:
    start, deltas = _parts(block)
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _parts(block: Object) -> tuple[Object, list[Object]]:
    kind = block.get("type")
    if kind == "text":
        said: list[Object] = [{"type": "text_delta", "text": piece} for piece in pieces(text(block.get("text")))]
        return {**block, "text": ""}, said
    if kind == "thinking":
        thought: list[Object] = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(text(block.get("thinking")))
        ]
        signed: Object = {"type": "signature_delta", "signature": block.get("signature")}
        return {**block, "thinking": "", "signature": ""}, [*thought, signed]
    if kind in _ASKS:
        return {**block, "input": {}}, [*_input(block.get("input"))]
    return block, []


def _input(value: Json) -> Iterator[Object]:
    if value == {}:
        return  # none at all for an empty input
    for piece in ("", *pieces(json.dumps(value))):
        yield {"type": "input_json_delta", "partial_json": piece}
