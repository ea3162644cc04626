"""
A reply to a call that wants a stream is read for what it is, whatever its headers call it.
"""

import json
from collections.abc import Mapping

import pytest
from attrs import evolve

from rodada.providers.loopback import Body, Raw
from rodada.providers.loopback.frames import frame
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderTooLarge,
    ProviderUnreachable,
)
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import ModelTurn, Stop
from rodada.statemachine.notice import Delta
from support.openai_wires import CHAT, KEY, RESPONSES, OpenAIWire, asking, started

pytestmark = pytest.mark.parametrize("wire", [RESPONSES, CHAT], ids=lambda wire: wire.name)

ASKING = evolve(asking(started()), stream=True)
MESSAGE: JsonObject = {"type": "message", "content": [{"type": "output_text", "text": "Fine."}]}
BODIES: Mapping[str, JsonObject] = {
    "openai_responses": {"id": "r", "status": "completed", "output": [MESSAGE]},
    "openai_chat": {
        "id": "r",
        "choices": [{"message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}],
    },
}
EVENTS: Mapping[str, JsonObject] = {
    "openai_responses": {"type": "response.completed", "response": BODIES["openai_responses"]},
    "openai_chat": {"id": "r", "choices": [{"delta": {"content": "Fine."}, "finish_reason": "stop"}]},
}
TYPES = [
    "text/event-stream",
    "Text/Event-Stream; charset=utf-8",
    "text/plain",
    "application/octet-stream",
    "application/json",
    "",
]
DENIED: JsonObject = {"error": {"message": f"Incorrect API key provided: {KEY}.", "code": 401}}


def turn(wire: OpenAIWire, sent: bytes, kind: str) -> ModelTurn:
    """
    The turn of a reply with these bytes, whose headers call it of this kind.
    """
    heard: list[Delta] = []
    reply = Raw(sent, headers={"content-type": kind})
    return wire.play([reply], lambda provider: provider.ask(ASKING, heard.append))[0]


def failure(wire: OpenAIWire, sent: bytes, kind: str = "text/event-stream") -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        turn(wire, sent, kind)
    assert KEY not in repr((caught.value, str(caught.value)))
    return caught.value


@pytest.mark.parametrize("kind", TYPES)
def test_a_stream_is_read_as_one_whatever_its_headers_call_it(wire: OpenAIWire, kind: str) -> None:
    told = turn(wire, frame(EVENTS[wire.name]), kind)
    assert (told.text, told.stop, told.response_id) == ("Fine.", Stop.WHOLE, "r")


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_whole_answer_is_read_as_one_whatever_its_headers_call_it(
    wire: OpenAIWire, indent: int | None, kind: str
) -> None:
    sent = json.dumps(BODIES[wire.name], indent=indent).replace("\n", "\r\n").encode()
    assert turn(wire, sent, kind) == wire.one(Body(BODIES[wire.name]))


@pytest.mark.parametrize("kind", TYPES)
def test_an_error_in_place_of_a_stream_is_told(wire: OpenAIWire, kind: str) -> None:
    told = failure(wire, json.dumps(DENIED).encode(), kind)
    assert (type(told), told.message) == (ProviderAuthentication, "Incorrect API key provided: ***.")


@pytest.mark.parametrize("before", [b"", b": ping\n\nevent: of_tomorrow\nid: 1\ndata: {}\n\n"])
def test_an_error_beside_the_events_of_a_stream_is_told(wire: OpenAIWire, before: bytes) -> None:
    assert type(failure(wire, before + json.dumps(DENIED).encode())) is ProviderAuthentication
    assert type(failure(wire, before + json.dumps(DENIED).encode() + b"\n\ndata: [DONE]\n\n")) is ProviderAuthentication


def test_an_error_as_a_field_of_an_event_is_told(wire: OpenAIWire) -> None:
    # So llama.cpp told it up to September 2025.
    error = {"code": 400, "message": "It is too long.", "type": "exceed_context_size_error"}
    told = failure(wire, b"error: " + json.dumps(error).encode() + b"\n\ndata: [DONE]\n\n")
    assert (type(told), told.message, told.status) == (ProviderTooLarge, "It is too long.", 400)


@pytest.mark.parametrize("sent", [b"", b": ping\n\n", b"<html>", b"error: it", b"[1]", b"\xff", b'{"error'])
def test_what_is_neither_a_stream_nor_an_answer_is_a_lost_connection_or_garbled(wire: OpenAIWire, sent: bytes) -> None:
    assert type(failure(wire, sent)) is ProviderUnreachable
    assert type(failure(wire, sent, "text/html")) is ProviderGarbled


def test_events_without_data_keep_a_stream_open(wire: OpenAIWire) -> None:
    assert turn(wire, b"data:\n\n" + frame(EVENTS[wire.name]), "text/event-stream").text == "Fine."
