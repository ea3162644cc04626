"""
What is imported is taken by every wire, through the real SDKs; and what a wire was sent is imported as it stands.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings

from rodada.providers.loopback import Call, Turn, WireName
from rodada.providers.loopback.json_values import Object, objs
from rodada.statemachine import AnyTool, ApprovalAsked, Conversation, Limits, Media, RunStatus, Text, ToolLoop
from rodada.statemachine.errors import UnreadableMessages
from rodada.statemachine.jsontext import JsonValue
from rodada.tools import ToolError, ToolResultParts, tool
from support.stage import MODELS, WIRES, Stage
from support.stored_messages import EXPORT, IMPORT, junk, messages
from support.wire_pairs import pair_faults
from support.words import conversations

WHOLE = Limits(history_messages=None, max_attempts=1)
PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png", "plot.png")
PDF = Media.of(b"%PDF-1.7\n", "application/pdf")
LISTS = {"openai": "input", "google": "contents"}
relaxed = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
every_wire = pytest.mark.parametrize("wire", WIRES)


@tool(reads="log")
async def fetch(n: int) -> object:
    """Fetch an entry."""
    match n:
        case 0:
            raise ToolError("no such entry")
        case 1:
            return ["before", PNG, "after", PDF]
        case 2:
            return ToolResultParts(["half of it", PNG], failed=True)
        case _:
            return "" if n == 3 else f"entry {n}"


@tool(needs_approval=True)
async def drop(n: int) -> str:
    """Drop an entry."""
    return f"dropped {n}"


TOOLS: tuple[AnyTool, ...] = (fetch, drop)


def sent(stage: Stage, wire: WireName, conversation: Conversation, model: str = "") -> Object:
    """
    The body of a request with a new message, which the vendor's server took.
    """
    stage.server.play([Turn("So be it.")])
    loop = ToolLoop(stage.providers[model or MODELS[wire][0]], limits=WHOLE)
    outcome = stage.run(loop.run("And now?", conversation=conversation))
    assert (RunStatus.COMPLETED, None) == (outcome.status, outcome.error)
    return stage.server.requests()[-1]


def made_alike(stored: object) -> str:
    """
    Messages as JSON. Ids and names that no wire takes are sent in a made form, which is made again from itself.
    """
    return re.sub("(__x[0-9a-f]{12})+", "__x", json.dumps(stored))


@every_wire
def test_whatever_is_imported_is_taken_by_every_wire(wire: WireName, stage: Stage) -> None:
    @relaxed
    @given(messages(wire))
    def taken(stored: Sequence[JsonValue]) -> None:
        try:
            conversation = IMPORT[wire](stored).conversation
        except UnreadableMessages:
            return
        for other in WIRES:
            assert [] == pair_faults(other, sent(stage, other, conversation))

    taken()


@every_wire
def test_what_was_repaired_once_is_whole(wire: WireName) -> None:
    @relaxed
    @given(messages(wire))
    def whole(stored: Sequence[JsonValue]) -> None:
        try:
            conversation = IMPORT[wire](stored).conversation
        except UnreadableMessages:
            return
        again = IMPORT[wire](EXPORT[wire](conversation))
        assert () == again.report
        assert made_alike(EXPORT[wire](conversation)) == made_alike(EXPORT[wire](again.conversation))

    whole()


@every_wire
def test_anything_is_imported_or_refused_by_name(wire: WireName) -> None:
    @relaxed
    @given(junk(wire))
    def read(stored: Sequence[object]) -> None:
        with suppress(UnreadableMessages):
            IMPORT[wire](stored)

    read()


@every_wire
def test_any_conversation_comes_back_from_its_messages(wire: WireName) -> None:
    """
    What a wire carries: who speaks, the texts, the media that it takes, names and arguments of calls, ids where it has
    them, and of each result whether it is a success (OpenAI's: its whole status).
    """

    @relaxed
    @given(conversations())
    def back(conversation: Conversation) -> None:
        stored = EXPORT[wire](conversation)
        found = IMPORT[wire](stored)
        assert () == found.report
        assert made_alike(stored) == made_alike(EXPORT[wire](found.conversation))
        assert [type(each) for each in conversation.entries] == [type(each) for each in found.conversation.entries]

    back()


def lived(stage: Stage, model: str) -> tuple[Object, ...]:
    """
    The requests of a conversation with every kind of result, played by a model.
    """
    calls = [Call("fetch", {"n": n}) for n in range(5)]
    script = [
        Turn("Let me see.", calls, reasoning=True),
        Turn(calls=[Call("fetch", {"n": 7}), Call("drop", {"n": 1})], reasoning=True),
        Turn("That is it.", reasoning=True),
        Turn("You are welcome.", reasoning=True),
    ]
    stage.server.play(script)
    loop = ToolLoop(stage.providers[model], tools=TOOLS, limits=WHOLE)

    async def talk() -> None:
        async with loop.start([Text("What is this?"), PNG]) as live:
            async for event in live.events():
                if isinstance(event, ApprovalAsked):
                    live.deny(event.id, by="ana", reason="keep it")
            outcome = await live.outcome()
        await loop.run("Thanks.", conversation=outcome.conversation)

    stage.run(talk())
    return stage.server.requests()


@pytest.mark.parametrize(("wire", "model"), [(wire, model) for wire in WIRES for model in MODELS[wire]])
def test_every_request_that_was_sent_comes_in_as_it_stands(wire: WireName, model: str, stage: Stage) -> None:
    requests = [body[LISTS.get(wire, "messages")] for body in lived(stage, model)]
    found = [IMPORT[wire](objs(each)) for each in requests]

    assert [()] * 4 == [each.report for each in found]
    if model == MODELS[wire][0]:
        assert requests == [EXPORT[wire](each.conversation) for each in found]


@pytest.mark.parametrize("onto", WIRES)
@every_wire
def test_a_stored_history_goes_on_with_another_vendor(wire: WireName, onto: WireName, stage: Stage) -> None:
    stored = objs(lived(stage, MODELS[wire][0])[-1][LISTS.get(wire, "messages")])
    conversation = IMPORT[wire](stored).conversation

    for model in MODELS[onto]:
        assert [] == pair_faults(onto, sent(stage, onto, conversation, model))
