"""
Each turn says who served it: the host, the model asked for, the vendor's id of the request, and the service tier.
"""

from collections.abc import Mapping

import pytest

from rodada.providers.loopback import Body, Turn, WireName
from rodada.statemachine import Conversation, ModelTurn, Outcome, Served, ToolLoop
from rodada.statemachine.jsontext import JsonObject, JsonValue
from support.stage import MODELS, WIRES, Stage

TIERS: Mapping[WireName, str | None] = {
    "anthropic": "standard",
    "openai": "default",
    "openai_chat": "default",
    "google": "standard",
}
REQUEST_IDS: Mapping[WireName, str] = {
    "anthropic": "request-id",
    "openai": "x-request-id",
    "openai_chat": "x-request-id",
    "google": "x-goog-request-id",
}
BARE: Mapping[WireName, JsonObject] = {
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi."}],
        "stop_reason": "end_turn",
    },
    "openai": {
        "status": "completed",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]},
        ],
    },
    "openai_chat": {"choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}]},
    "google": {"candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]},
}


def answer(stage: Stage, wire: WireName, reply: Turn | Body, *, stream: bool) -> ModelTurn:
    stage.server.play([reply])

    async def scene() -> Outcome:
        return await ToolLoop(stage.provider(wire), stream=stream).run("Hi?")

    said = stage.run(scene()).conversation.entries[-1]
    assert isinstance(said, ModelTurn)
    return said


def host(stage: Stage, wire: WireName) -> str:
    return stage.server.base_url(wire).split("/")[2]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_turn_says_who_served_it(stage: Stage, wire: WireName, stream: bool) -> None:
    turn = answer(stage, wire, Turn("Hi."), stream=stream)
    model = MODELS[wire][0]
    request_id = turn.served.request_id
    assert turn.served == Served(host(stage, wire), model, request_id, TIERS[wire])
    assert request_id is not None
    assert request_id.startswith("req_")
    assert (turn.model, bool(turn.response_id)) == (model, True)


@pytest.mark.parametrize("wire", WIRES)
def test_the_id_of_the_request_is_the_one_of_the_header(stage: Stage, wire: WireName) -> None:
    reply = Body(BARE[wire], headers={REQUEST_IDS[wire]: "req_of_mine"})
    assert answer(stage, wire, reply, stream=False).served == Served(
        host(stage, wire), MODELS[wire][0], "req_of_mine", None
    )


@pytest.mark.parametrize("wire", WIRES)
def test_a_tier_that_is_no_word_is_not_told(stage: Stage, wire: WireName) -> None:
    odd: JsonValue = {"of": "tomorrow"}
    tier: JsonObject = {
        "service_tier": odd,
        "usage": {"service_tier": odd},
        "usageMetadata": {"serviceTier": odd},
    }
    kept = {"anthropic": ("usage",), "google": ("usageMetadata",)}.get(wire, ("service_tier",))
    reply = Body({**BARE[wire], **{key: tier[key] for key in kept}})
    assert answer(stage, wire, reply, stream=False).served.service_tier is None


def test_who_served_is_no_part_of_what_is_stored(stage: Stage) -> None:
    """
    A conversation that is read back is equal to the one that was written, and knows no more who served it.
    """
    stage.server.play([Turn("Hi.")])
    kept = stage.run(ToolLoop(stage.provider("openai")).run("Hi?")).conversation
    read = Conversation.from_json(kept.to_json(reasoning=True))
    last = read.entries[-1]
    assert isinstance(last, ModelTurn)
    assert (read == kept, last.served) == (True, Served())
