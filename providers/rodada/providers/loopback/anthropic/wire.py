"""
The Messages API as a wire of the loopback server.
"""

from collections.abc import Mapping

from rodada.providers.loopback.anthropic import formats, pairing, replies, shape, sources, stream, thinking, tools
from rodada.providers.loopback.anthropic.memory import Memory
from rodada.providers.loopback.anthropic.view import view
from rodada.providers.loopback.frames import frame
from rodada.providers.loopback.json_values import Object, text
from rodada.providers.loopback.received import Received, first_refusal
from rodada.providers.loopback.script import Failure, Turn, WireName
from rodada.providers.loopback.wire import Ids

_PATH = "/v1/messages"
_RULES = (*shape.RULES, *sources.RULES, *tools.RULES, *formats.RULES, *pairing.RULES, *thinking.RULES)


class AnthropicWire:
    """
    Implements `Wire` for POST /v1/messages.
    """

    name: WireName = "anthropic"
    base_path = ""
    request_id_header = "request-id"
    most_bytes: int | None = 32_000_000

    def __init__(self, ids: Ids, stripped_thinking: bool) -> None:
        self._ids = ids
        self._stripped_thinking = stripped_thinking
        self._memory = Memory()

    def owns(self, path: str, headers: Mapping[str, str]) -> bool:
        return path.startswith(_PATH) or "anthropic-version" in headers

    def turn_away(self, method: str, path: str, headers: Mapping[str, str]) -> Failure | None:
        if path != _PATH:
            return Failure(404, f"Not found: {path}")
        if method != "POST":
            return Failure(405, "Method Not Allowed", kind="invalid_request_error")
        if not (headers.get("x-api-key") or headers.get("authorization")):
            return Failure(401, "x-api-key header is required")
        return None

    def too_large(self, most: int) -> Failure:
        return Failure(413, f"Request exceeds the maximum size of {most} bytes")

    def model(self, path: str, body: Object) -> str:
        return text(body.get("model"))

    def refuse(self, received: Received) -> Failure | None:
        return first_refusal(_RULES, view(received, self._memory, self._stripped_thinking))

    def render(self, turn: Turn, received: Received) -> Object:
        return replies.render(turn, received, self._ids)

    def remember(self, received: Received, reply: Object) -> None:
        self._memory.remember(received.body, reply)

    def streams(self, received: Received) -> bool:
        return received.body.get("stream") is True

    def frames(self, reply: Object, received: Received) -> tuple[bytes, ...]:
        return stream.frames(reply)

    def error_frame(self, failure: Failure, request_id: str) -> bytes:
        return frame(replies.envelope(failure, request_id), "error")

    def envelope(self, failure: Failure, request_id: str) -> Object:
        return replies.envelope(failure, request_id)
