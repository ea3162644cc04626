"""
What vendors cache: each request of a run begins with the bytes of the one before it.
"""

import json
import re

import pytest

from rodada.providers.loopback import Call, Received, Turn, WireName
from rodada.statemachine import Limits, Outcome, ToolLoop
from rodada.tools import tool
from support.stage import WIRES, Stage

HISTORY = {"anthropic": "messages", "openai": "input", "openai_chat": "messages", "google": "contents"}
PREFIX = {
    "anthropic": ("tools", "system"),
    "openai": ("tools", "instructions"),
    "openai_chat": ("tools",),
    "google": ("tools", "systemInstruction"),
}


@tool
def look(day: str) -> str:
    """
    Look a day up.
    """
    return f"{day}: 80 kg"


def asked_three_times(stage: Stage, wire: WireName) -> tuple[Received, ...]:
    """
    The requests of a run of two rounds.
    """
    days = [Turn("Let me look.", [Call("look", {"day": day})], reasoning=True) for day in ("ação ✓", "Tuesday")]
    stage.server.play([*days, Turn("You lift 80 kg.", reasoning=True)])

    async def scene() -> Outcome:
        loop = ToolLoop(stage.provider(wire), tools=[look], instructions="Keep the log.", limits=Limits(max_rounds=3))
        return await loop.run("How much?")

    assert stage.run(scene()).answer == "You lift 80 kg."
    return stage.server.received


def bytes_of(received: Received, name: str) -> bytes:
    """
    The bytes of a field of the body, in whichever of JSON's forms they came.
    """
    text = received.raw.decode()
    found = [
        text[at.end() : json.JSONDecoder().raw_decode(text, at.end())[1]]
        for at in re.finditer(f'"{name}": ?', text)
        if json.JSONDecoder().raw_decode(text, at.end())[0] == received.body[name]
    ]
    assert len(found) == 1
    return found[0].encode()


@pytest.mark.parametrize("wire", WIRES)
def test_each_request_begins_with_the_bytes_of_the_one_before(stage: Stage, wire: WireName) -> None:
    first, second, third = asked_three_times(stage, wire)

    for earlier, later in ((first, second), (second, third)):
        for name in PREFIX[wire]:
            assert bytes_of(earlier, name) == bytes_of(later, name)
        history = HISTORY[wire]
        assert bytes_of(later, history).startswith(bytes_of(earlier, history).removesuffix(b"]"))


def test_anthropic_is_asked_to_cache_what_it_was_sent(stage: Stage) -> None:
    bodies = [each.body for each in asked_three_times(stage, "anthropic")]
    assert [body["cache_control"] for body in bodies] == [{"type": "ephemeral"}] * 3


def test_openai_is_told_which_requests_belong_together(stage: Stage) -> None:
    """
    By a key that says nothing of the conversation's id, which may be the host's own.
    """
    keys = [[each.body["prompt_cache_key"] for each in asked_three_times(stage, "openai")] for _ in range(2)]
    assert [len(set(each)) for each in keys] == [1, 1]
    assert keys[0] != keys[1]
    assert all(re.fullmatch("[0-9a-f]{32}", str(key)) for each in keys for key in each)
