"""
The Responses API as a wire of the loopback server.
"""

from collections.abc import Mapping

from rodada.providers.loopback.json_values import Object, obj, text
from rodada.providers.loopback.openai_responses import formats, pairing, reasoning, replies, shape, stream, tools
from rodada.providers.loopback.openai_responses.memory import Memory
from rodada.providers.loopback.openai_responses.view import view
from rodada.providers.loopback.received import Received, first_refusal
from rodada.providers.loopback.script import Failure, Turn, WireName
from rodada.providers.loopback.wire import Ids

_PATH = "/v1/responses"
_RULES = (*shape.RULES, *tools.RULES, *formats.RULES, *pairing.RULES, *reasoning.RULES)
_NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
    "(i.e. Authorization: Bearer YOUR_KEY)."
)


def no_key(headers: Mapping[str, str]) -> Failure | None:
    """
    The refusal of a request without a key.
    """
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return None if scheme.lower() == "bearer" and key.strip() else Failure(401, _NO_KEY)


class ResponsesWire:
    """
    Implements `Wire` for POST /v1/responses, and answers every path that no other wire owns.
    """

    name: WireName = "openai"
    base_path = "/v1"
    request_id_header = "x-request-id"
    most_bytes: int | None = None

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._memory = Memory()

    def owns(self, path: str, headers: Mapping[str, str]) -> bool:
        return True

    def turn_away(self, method: str, path: str, headers: Mapping[str, str]) -> Failure | None:
        refused = no_key(headers)
        if refused is not None:
            return refused
        if path.startswith(f"{_PATH}/"):
            return Failure(404, f"Response with id '{path.rpartition('/')[2]}' not found.")
        if path != _PATH or method != "POST":
            return Failure(404, f"Invalid URL ({method} {path})")
        return None

    def too_large(self, most: int) -> Failure:
        return Failure(413, f"Request body is larger than {most} bytes.")

    def model(self, path: str, body: Object) -> str:
        return text(body.get("model"))

    def refuse(self, received: Received) -> Failure | None:
        return first_refusal(_RULES, view(received, self._memory))

    def render(self, turn: Turn, received: Received) -> Object:
        return replies.render(turn, received, self._ids)

    def remember(self, received: Received, reply: Object) -> None:
        self._memory.remember(reply)

    def streams(self, received: Received) -> bool:
        return received.body.get("stream") is True

    def frames(self, reply: Object, received: Received) -> tuple[bytes, ...]:
        return stream.frames(reply)

    def error_frame(self, failure: Failure, request_id: str) -> bytes:
        return stream.error_frame(obj(replies.envelope(failure)["error"]))

    def envelope(self, failure: Failure, request_id: str) -> Object:
        return replies.envelope(failure)
