"""
A Response as the events of a stream, and what a request may say of one, on this wire and on Chat Completions.
"""

from collections.abc import Iterator

from rodada.providers.loopback.frames import frame, pieces
from rodada.providers.loopback.json_values import Json, Object, objs, text
from rodada.providers.loopback.openai_responses.fields import invalid_type, unknown_parameter
from rodada.providers.loopback.openai_responses.view import bad
from rodada.providers.loopback.script import Failure

_ENDS = ("completed", "incomplete", "failed")
_TEXTS = {  # the field of an item that comes piece by piece, and the first part of its events' names
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}
_PARTS = {"output_text": ("text", "output_text"), "refusal": ("refusal", "refusal")}


def stream_refusal(body: Object, *options: str) -> Failure | None:
    """
    What is wrong with `stream` and `stream_options`, of which the wire knows these options, each true or false.
    """
    wanted, told = body.get("stream"), body.get("stream_options")
    if wanted is not None and not isinstance(wanted, bool):
        return invalid_type("stream", "a boolean", wanted)
    if told is None:
        return None
    if not wanted:
        return bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    if not isinstance(told, dict):
        return invalid_type("stream_options", "an object", told)
    alien = next((key for key in told if key not in options), None)
    if alien is not None:
        return unknown_parameter(f"stream_options.{alien}")
    wrong = next((key for key, value in told.items() if not isinstance(value, bool)), None)
    return None if wrong is None else invalid_type(f"stream_options.{wrong}", "a boolean", told[wrong])


def frames(response: Object) -> tuple[bytes, ...]:
    """
    Its events in order, numbered.
    """
    events = enumerate(_events(response))
    return tuple(frame({**event, "sequence_number": n}, text(event["type"])) for n, event in events)


def error_frame(error: Object) -> bytes:
    """
    An error, as the documentation shows it: in the event itself.
    """
    told: Object = {key: error.get(key) for key in ("message", "param")}
    return frame({"type": "error", "code": error.get("code") or error.get("type"), **told}, "error")


def _events(response: Object) -> Iterator[Object]:
    end = text(response.get("status"))
    begun: Object = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(objs(response.get("output"))):
        yield from _item(index, item)
    yield {"type": f"response.{end if end in _ENDS else 'completed'}", "response": response}


def _item(index: int, item: Object) -> Iterator[Object]:
    place: Object = {"output_index": index, "item_id": item.get("id")}
    start, events = _said(item, place)
    yield {"type": "response.output_item.added", "output_index": index, "item": start}
    yield from events
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _said(item: Object, place: Object) -> tuple[Object, list[Object]]:
    kind = text(item.get("type"))
    begun: Object = {**item, "status": "in_progress"} if "status" in item else {**item}
    if kind in _TEXTS:
        field, name = _TEXTS[kind]
        return {**begun, field: ""}, [*_pieces(name, field, text(item.get(field)), place)]
    if kind == "message":
        return {**begun, "content": []}, [*_parts(objs(item.get("content")), place)]
    if kind == "reasoning":
        # Of the encrypted content a part comes first: what is echoed must be the one of the end.
        part = text(item.get("encrypted_content"))[:8]
        return {**begun, "summary": [], "encrypted_content": part}, [*_summary(objs(item.get("summary")), place)]
    return begun, []


def _parts(parts: list[Object], place: Object) -> Iterator[Object]:
    for at, part in enumerate(parts):
        here: Object = {**place, "content_index": at}
        known = _PARTS.get(text(part.get("type")))
        begun = part if known is None else {**part, known[0]: ""}
        yield {"type": "response.content_part.added", **here, "part": begun}
        if known is not None:
            yield from _pieces(known[1], known[0], text(part.get(known[0])), here)
        yield {"type": "response.content_part.done", **here, "part": part}


def _summary(parts: list[Object], place: Object) -> Iterator[Object]:
    for at, part in enumerate(parts):
        here: Object = {**place, "summary_index": at}
        yield {"type": "response.reasoning_summary_part.added", **here, "part": {**part, "text": ""}}
        yield from _pieces("reasoning_summary_text", "text", text(part.get("text")), here)
        yield {"type": "response.reasoning_summary_part.done", **here, "part": part}


def _pieces(name: str, field: str, whole: str, place: Object) -> Iterator[Object]:
    for piece in pieces(whole):
        yield {"type": f"response.{name}.delta", **place, "delta": piece}
    done: Json = whole
    yield {"type": f"response.{name}.done", **place, field: done}
