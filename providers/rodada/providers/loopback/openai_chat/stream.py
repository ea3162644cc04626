"""
A chat.completion as the chunks of a stream, as OpenAI sends them or as another server does.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from rodada.providers.loopback.frames import frame, pieces
from rodada.providers.loopback.json_values import Json, Object, obj, objs, text
from rodada.providers.loopback.openai_chat.deviations import Deviation

_DONE = b"data: [DONE]\n\n"
_NOT_STREAMED = ("annotations", "tool_calls", "function_call")


def frames(body: Object, deviations: AbstractSet[Deviation], *, usage: bool) -> tuple[bytes, ...]:
    """
    Its chunks in order; `usage` says whether the request asked for a chunk of it.
    """
    sent = tuple(frame(chunk) for chunk in _chunks(body, deviations, usage))
    return sent if "done_missing" in deviations else (*sent, _DONE)


def _chunks(body: Object, deviations: AbstractSet[Deviation], usage: bool) -> Iterator[Object]:
    wanted: Object = {"usage": None} if usage else {}
    head: Object = {key: value for key, value in body.items() if key not in ("choices", "usage")}
    head |= {"object": "chat.completion.chunk", **wanted}
    told = obj(body.get("usage"))
    for choice in objs(body.get("choices")):
        for count, said in enumerate(_choice(choice, deviations)):
            early: Object = {"usage": {**told, "completion_tokens": count}} if _counts_early(told, deviations) else {}
            yield {**head, "choices": [said], **early}
    if usage and "usage" in body:
        yield {**head, "choices": [], "usage": body["usage"]}


def _counts_early(told: Object, deviations: AbstractSet[Deviation]) -> bool:
    return bool(told) and "usage_in_every_chunk" in deviations


def _choice(choice: Object, deviations: AbstractSet[Deviation]) -> Iterator[Object]:
    further: Object = {key: value for key, value in choice.items() if key != "message"}
    for delta in _deltas(obj(choice.get("message")), deviations):
        yield {**further, "delta": delta, "finish_reason": None}
    yield {**further, "delta": {}}


def _deltas(message: Object, deviations: AbstractSet[Deviation]) -> Iterator[Object]:
    streamed: Object = {key: value for key, value in message.items() if key not in _NOT_STREAMED}
    yield {key: value if key == "role" else _begun(key, value) for key, value in streamed.items()}
    for key, value in streamed.items():
        if key != "role":
            yield from ({key: piece} for piece in _pieces(value))
    for at, call in enumerate(objs(message.get("tool_calls"))):
        yield from (_put("tool_calls", [each]) for each in _fragments(at, call, deviations))
    if "function_call" in message:
        whole = obj(message["function_call"])
        yield _put("function_call", {**whole, "arguments": ""})
        yield from (_put("function_call", _put("arguments", each)) for each in _pieces(whole.get("arguments")))


def _put(key: str, value: Json) -> Object:
    return {key: value}


def _begun(key: str, value: Json) -> Json:
    return "" if key == "content" and value is not None else None


def _pieces(value: Json) -> list[Json]:
    if isinstance(value, str):
        return [*pieces(value)]
    return [[part] for whole in objs(value) for part in _part_pieces(whole)]


def _part_pieces(part: Object) -> list[Json]:
    return [{**part, "text": piece} for piece in pieces(text(part.get("text")))]


def _fragments(at: int, call: Object, deviations: AbstractSet[Deviation]) -> Iterator[Object]:
    for fragment in _plain_fragments(at, call, "calls_in_one_chunk" in deviations):
        if "indexes_zero" in deviations:
            fragment["index"] = 0
        if "indexes_missing" in deviations:
            del fragment["index"]
        if "names_repeated" in deviations:
            fragment["function"] = {**obj(fragment["function"]), "name": obj(call["function"])["name"]}
        yield fragment


def _plain_fragments(at: int, call: Object, in_one: bool) -> Iterator[Object]:
    head: Object = {**call, "index": at}
    function = obj(call.get("function"))
    arguments = function.get("arguments")
    if in_one or not isinstance(arguments, str):
        yield head
        return
    yield {**head, "function": {**function, "arguments": ""}}
    yield from ({"index": at, **_put("function", {"arguments": piece})} for piece in pieces(arguments))
