"""
Chat Completions as a wire of the loopback server.
"""

from collections.abc import Collection, Mapping

from rodada.providers.loopback.frames import frame
from rodada.providers.loopback.json_values import Object, obj, text
from rodada.providers.loopback.openai_chat import formats, pairing, replies, shape, stream, tools, wishes
from rodada.providers.loopback.openai_chat.deviations import Deviation, deviated, shows_reasoning
from rodada.providers.loopback.openai_chat.view import view
from rodada.providers.loopback.openai_responses.replies import envelope
from rodada.providers.loopback.openai_responses.wire import no_key
from rodada.providers.loopback.received import Received, first_refusal
from rodada.providers.loopback.script import Failure, Turn, WireName
from rodada.providers.loopback.wire import Ids

_PATH = "/v1/chat/completions"
_RULES = (*shape.RULES, *tools.RULES, *formats.RULES, *pairing.RULES, *wishes.RULES)


class ChatWire:
    """
    Implements `Wire` for POST /v1/chat/completions, for each model as OpenAI does it or as another server does.
    """

    name: WireName = "openai_chat"
    base_path = "/v1"
    request_id_header = "x-request-id"
    most_bytes: int | None = None

    def __init__(self, ids: Ids, deviations: Mapping[str, Collection[Deviation]]) -> None:
        self._ids = ids
        self._deviations = {model: frozenset(names) for model, names in deviations.items()}

    def owns(self, path: str, headers: Mapping[str, str]) -> bool:
        return path == _PATH or path.startswith(f"{_PATH}/")

    def turn_away(self, method: str, path: str, headers: Mapping[str, str]) -> Failure | None:
        if path != _PATH or method != "POST":
            return Failure(404, f"Invalid URL ({method} {path})")
        return no_key(headers)

    def too_large(self, most: int) -> Failure:
        return Failure(413, f"Request body is larger than {most} bytes.")

    def model(self, path: str, body: Object) -> str:
        return text(body.get("model"))

    def refuse(self, received: Received) -> Failure | None:
        return first_refusal(_RULES, view(received, self._of(received)))

    def render(self, turn: Turn, received: Received) -> Object:
        deviations = self._of(received)
        body = replies.render(turn, received, self._ids, reasoning_shown=shows_reasoning(deviations))
        return deviated(body, deviations)

    def remember(self, received: Received, reply: Object) -> None:
        """
        Nothing: no rule of this wire compares an echo with what was sent.
        """

    def streams(self, received: Received) -> bool:
        return received.body.get("stream") is True

    def frames(self, reply: Object, received: Received) -> tuple[bytes, ...]:
        wanted = obj(received.body.get("stream_options")).get("include_usage") is True
        return stream.frames(reply, self._of(received), usage=wanted)

    def error_frame(self, failure: Failure, request_id: str) -> bytes:
        return frame(envelope(failure))

    def envelope(self, failure: Failure, request_id: str) -> Object:
        return envelope(failure)

    def _of(self, received: Received) -> frozenset[Deviation]:
        return self._deviations.get(received.model, frozenset())
