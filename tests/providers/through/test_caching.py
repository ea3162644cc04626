"""
What vendors cache: each request of a run begins with the bytes of the one before it.
"""

import json
import re
from itertools import pairwise

import pytest

from rodada.providers.loopback import Call, Received, Turn, WireName
from rodada.statemachine import Limits, Media, Outcome, ToolLoop
from rodada.tools import ToolResultParts, tool
from support.stage import WIRES, Stage

HISTORY = {"anthropic": "messages", "openai": "input", "openai_chat": "messages", "google": "contents"}
PREFIX = {
    "anthropic": ("tools", "system"),
    "openai": ("tools", "instructions"),
    "openai_chat": ("tools",),
    "google": ("tools", "systemInstruction"),
}


@tool(reads=())
def look(day: str) -> str:
    """
    Look a day up.
    """
    return f"{day}: 80 kg"


@tool(reads=())
async def shoot(day: str) -> ToolResultParts:
    """
    Show a day.
    """
    return ToolResultParts(["half of it", Media.of(b"\x89PNG\r\n\x1a\n", "image/png")], failed=day == "Sunday")


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


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_what_is_mended_shown_or_paused_changes_nothing_that_was_sent(
    stage: Stage, wire: WireName, parallel: bool
) -> None:
    """
    But for the end: where a pause goes on, it is the same turn.
    """
    paused = [Turn("Wait.", stop="paused", reasoning=True)] if wire in ("anthropic", "google") else []
    odd = [Call("shoot", '{"day": 3, "of": "\\ud83d"}', id="a b"), Call("nope", id="same"), Call("look", {}, id="same")]
    shown = [Call("shoot", {"day": day}) for day in ("Sunday", "Monday")]
    stage.server.play([Turn("So.", shown, reasoning=True), *paused, Turn(calls=odd), Turn("You lift 80 kg.")])
    loop = ToolLoop(stage.provider(wire), tools=[look, shoot], instructions="Keep the log.", parallel=parallel)
    assert stage.run(loop.run("How much?")).answer == "You lift 80 kg."

    received = stage.server.received
    for earlier, later in pairwise(received):
        for name in PREFIX[wire]:
            assert bytes_of(earlier, name) == bytes_of(later, name)
        history = HISTORY[wire]
        assert bytes_of(later, history).startswith(bytes_of(earlier, history).rstrip(b"]}"))
    assert len(received) == 3 + len(paused)


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
