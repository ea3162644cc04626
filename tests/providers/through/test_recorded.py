"""
What the real vendors sent gives the right turns, and what we would send next is what they accepted.
"""

import asyncio
import json
from pathlib import Path

import httpx2
import pytest

from rodada.providers.loopback.json_values import Json, obj
from rodada.statemachine import Conversation, Exchange, ModelTurn, Status, Stop, Text, ToolResult, UserMessage
from rodada.statemachine.request import ModelRequest
from support.line import Line, provider_at
from support.recorded import Recorded, calls_in, recordings
from support.recorded_wires import Told, asked_in, told_in
from support.tolerances import BLANK, what_counts

CHUNK = 37  # bytes: few events come whole


@pytest.mark.long
@pytest.mark.parametrize("path", recordings(), ids=lambda path: path.stem)
def test_a_recorded_conversation_is_understood_and_goes_on_as_it_did(path: Path) -> None:
    calls = calls_in(path)
    turns, sent = asyncio.run(_replayed(calls))
    assert [_told(turn) for turn in turns] == [told_in(call) for call in calls]
    assert [turn.stop for turn in turns] == [Stop.WHOLE] * len(calls)
    for call, ours in zip(calls, sent, strict=True):
        assert what_counts(call.wire, call.asked, "theirs") == what_counts(call.wire, obj(ours), "ours")


def _told(turn: ModelTurn) -> Told:
    calls = tuple((request.wire_id or "", request.name, _json(request.arguments)) for request in turn.requests)
    return Told(turn.text, calls, turn.usage.input_tokens, turn.usage.output_tokens)


def _json(value: object) -> Json:
    made: Json = json.loads(json.dumps(value))
    return made


async def _replayed(calls: list[Recorded]) -> tuple[list[ModelTurn], list[Json]]:
    """
    The turns of recorded answers, each to the request that follows from those before, and these requests.
    """
    first, line = calls[0], Line()
    given = asked_in(first)
    conversation = Conversation("c", (UserMessage("u", (Text(given.opening or BLANK),)),))
    turns: list[ModelTurn] = []
    async with httpx2.AsyncClient(transport=line) as http:
        provider = provider_at(http, first.wire, first.model, given.tokens, given.options)
        for call in calls:
            told = asked_in(call)
            if turns:
                results = zip(turns[-1].requests, told.results, strict=True)
                answered = tuple(ToolResult.of(request, Status.SUCCEEDED, text) for request, text in results)
                conversation = conversation.append(Exchange(turns[-1], answered))
            line.answers.append((call.kind, [call.sent[at : at + CHUNK] for at in range(0, len(call.sent), CHUNK)]))
            turns.append(
                await provider.ask(
                    ModelRequest(
                        conversation=conversation,
                        instructions=told.instructions,
                        tools=told.tools,
                        tools_allowed=not told.forbidden,
                        stream=call.streams,
                    ),
                    lambda delta: None,
                )
            )
    return turns, [json.loads(body) for body in line.asked]
