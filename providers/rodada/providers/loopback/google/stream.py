"""
A GenerateContentResponse as the events of a stream: each is a whole response with some of the parts.
"""

from collections.abc import Iterator

from rodada.providers.loopback.frames import frame, pieces
from rodada.providers.loopback.json_values import Object, obj, objs, text
from rodada.providers.loopback.received import Received

METHOD = "streamGenerateContent"

_PLAIN = frozenset({"text", "thought"})


def wants_stream(received: Received) -> bool:
    """
    Whether the request is one for a stream.
    """
    return received.path.endswith(f":{METHOD}")


def frames(reply: Object) -> tuple[bytes, ...]:
    """
    Its events in order. How it ended stands in the last one alone.
    """
    return tuple(frame(chunk, end="\r\n") for chunk in _chunks(reply))


def _chunks(reply: Object) -> Iterator[Object]:
    candidate = next(iter(objs(reply.get("candidates"))), Object())
    content = obj(candidate.get("content"))
    parts = [piece for part in objs(content.get("parts")) for piece in _pieces(part)]
    if not parts:
        yield reply
        return
    feedback: Object = {"promptFeedback": reply["promptFeedback"]} if "promptFeedback" in reply else {}
    begun: Object = {**_begun(reply), **feedback}
    for part in parts[:-1]:
        said: Object = {"content": {**content, "parts": [part]}, "index": candidate.get("index", 0)}
        yield {"candidates": [said], **begun}
        begun = _begun(reply)
    yield {**reply, "candidates": [{**candidate, "content": {**content, "parts": [parts[-1]]}}]}


def _begun(reply: Object) -> Object:
    """
    What stands around the candidate before it has ended: the tokens as far as they are counted.
    """
    around: Object = {key: reply[key] for key in ("modelVersion", "responseId") if key in reply}
    usage = obj(reply.get("usageMetadata"))
    told: Object = {"promptTokenCount": usage.get("promptTokenCount"), "candidatesTokenCount": 1}
    return {**around, "usageMetadata": told} if usage else around


def _pieces(part: Object) -> list[Object]:
    """
    A plain text in pieces; what is signed comes whole, and so does a call.
    """
    if "text" not in part or not _PLAIN.issuperset(part):
        return [part]
    return [{**part, "text": piece} for piece in pieces(text(part["text"]))]
