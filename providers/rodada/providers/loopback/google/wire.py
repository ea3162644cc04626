"""
generateContent as a wire of the loopback server.
"""

import re
from collections.abc import Mapping

from rodada.providers.loopback.frames import frame
from rodada.providers.loopback.google import blobs, formats, pairing, replies, shape, signatures, stream, tools
from rodada.providers.loopback.google.fields import UnreadableField, normal
from rodada.providers.loopback.google.memory import Memory
from rodada.providers.loopback.google.view import bad, view
from rodada.providers.loopback.json_values import Object
from rodada.providers.loopback.received import Received, first_refusal
from rodada.providers.loopback.script import Failure, Turn, WireName
from rodada.providers.loopback.wire import Ids

_PATH = re.compile(r"/v1(?:beta)?/models/([^/:]+):(\w+)")
_RULES = (*shape.RULES, *blobs.RULES, *tools.RULES, *formats.RULES, *pairing.RULES, *signatures.RULES)
_NO_KEY = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other "
    "form of API consumer identity to call this API."
)
_NO_ARRAY = "the loopback server streams events, not the array that the vendor sends without alt=sse"


class GoogleWire:
    """
    Implements `Wire` for POST /v1/models/{model}:generateContent and :streamGenerateContent, and the same under
    /v1beta.
    """

    name: WireName = "google"
    base_path = ""
    request_id_header = "x-goog-request-id"
    most_bytes: int | None = 100_000_000

    def __init__(self, ids: Ids, with_ids: bool) -> None:
        self._ids = ids
        self._memory = Memory()
        self._with_ids = with_ids

    def owns(self, path: str, headers: Mapping[str, str]) -> bool:
        return path.startswith(("/v1beta/", "/v1/models/")) or "x-goog-api-key" in headers

    def turn_away(self, method: str, path: str, headers: Mapping[str, str]) -> Failure | None:
        found = _PATH.fullmatch(path)
        if found is None or method != "POST" or found[2] not in ("generateContent", stream.METHOD):
            return Failure(404, f"Requested entity was not found: {method} {path}")
        if not headers.get("x-goog-api-key"):
            return Failure(403, _NO_KEY)
        return None

    def too_large(self, most: int) -> Failure:
        return bad(f"Request payload size exceeds the limit: {most} bytes.")

    def model(self, path: str, body: Object) -> str:
        found = _PATH.fullmatch(path)
        return found[1] if found else ""

    def refuse(self, received: Received) -> Failure | None:
        if stream.wants_stream(received) and "alt=sse" not in received.query.split("&"):
            return bad(_NO_ARRAY)
        try:
            body = normal(received.body)
        except UnreadableField as error:
            return error.refusal
        return first_refusal(_RULES, view(received, body, self._memory))

    def render(self, turn: Turn, received: Received) -> Object:
        return replies.render(turn, received, self._ids, self._with_ids)

    def remember(self, received: Received, reply: Object) -> None:
        self._memory.remember(reply)

    def streams(self, received: Received) -> bool:
        return stream.wants_stream(received)

    def frames(self, reply: Object, received: Received) -> tuple[bytes, ...]:
        return stream.frames(reply)

    def error_frame(self, failure: Failure, request_id: str) -> bytes:
        return frame(replies.envelope(failure), end="\r\n")

    def envelope(self, failure: Failure, request_id: str) -> Object:
        return replies.envelope(failure)
