"""
Whatever a server sends in the place of a reply, through each real SDK: a turn that the conversation can go on with, or
one of our own errors.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from typing import TypeAlias

import httpx2
import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.loopback import Altered, Call, Turn, WireName
from rodada.providers.loopback.json_values import Object, obj, read
from rodada.statemachine import Conversation, Exchange, ModelTurn, Status, Text, ToolResult, UserMessage
from rodada.statemachine import Stop as Ended
from rodada.statemachine.errors import ProviderError
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from support.garbling import COMMON, ODD, Garble, Pieces, every_put, garbled, garbles, in_chunks
from support.line import Line, provider_at
from support.stage import KEY, MODELS, WIRES, AnyProvider, set_stage
from support.streams import cuts
from support.wire_pairs import pair_faults

TOOLS = (ToolDeclaration("look", "Look it up."), ToolDeclaration("goal", "Save a goal."))
OPENING = Conversation("c", (UserMessage("u", (Text("How much?"),)),))
GOOD = Turn("All is fine.")
SAID: tuple[Turn, ...] = (
    GOOD,
    Turn("Let me see.", [Call("look", {"n": [1, {"m": "two"}]}), Call("goal")], reasoning=True),
    Turn("", [Call("look", {"n": 1})], reasoning=True),
    Turn("Half of a", [Call("look", {"n": 1})], stop="cut", reasoning=True),
    Turn("No.", stop="refused"),
    Turn("I know a thing of tomorrow.", [Call("look")], unknown=True),
)
ASKS, KNOWS_MORE = 1, 5
TYPES = {False: "application/json", True: "text/event-stream"}
Sent: TypeAlias = Mapping[bool, tuple[Pieces, ...]]


@frozen
class Talk:
    """
    A provider at the end of a line, and what its vendor says in good times, streamed or not.
    """

    wire: WireName
    runner: asyncio.Runner = field(repr=False)
    line: Line = field(repr=False)
    provider: AnyProvider = field(repr=False)
    sent: Sent = field(repr=False)

    def ask(self, request: ModelRequest, chunks: list[bytes]) -> ModelTurn:
        """
        The turn that comes of a reply.
        """
        self.line.answers.append((TYPES[request.stream], chunks))
        return self.runner.run(self.provider.ask(request, lambda delta: None))


@pytest.fixture(name="talk", scope="module", params=WIRES)
def _talk(request: pytest.FixtureRequest) -> Generator[Talk]:
    wire: WireName = request.param
    sent = {streams: _recorded(wire, streams) for streams in (False, True)}
    line = Line()
    with asyncio.Runner() as runner:
        http = httpx2.AsyncClient(transport=line)
        try:
            yield Talk(wire, runner, line, provider_at(http, wire, MODELS[wire][0]), sent)
        finally:
            runner.run(http.aclose())


def _recorded(wire: WireName, streams: bool) -> tuple[Pieces, ...]:
    """
    What the loopback server sends for each turn.
    """
    found: list[Pieces] = []

    def keep(pieces: Pieces) -> Pieces:
        found.append(pieces)
        return pieces

    with set_stage() as stage:
        stage.server.play([Altered(turn, keep) for turn in SAID])
        for _ in SAID:
            stage.run(stage.provider(wire).ask(asking(streams), lambda delta: None))
    return tuple(found)


def asking(streams: bool, conversation: Conversation = OPENING) -> ModelRequest:
    return ModelRequest(
        conversation=conversation, start=len(conversation.entries) - 1, tools=TOOLS, stream=streams, seconds=30
    )


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_a_garbled_reply_is_a_turn_to_go_on_with_or_an_error_of_ours(
    talk: Talk, streams: bool, record_property: Callable[[str, object], None]
) -> None:
    ends: Counter[str] = Counter()

    @given(said=st.integers(0, len(SAID) - 1), changes=garbles, cut_at=cuts)
    def holds(said: int, changes: list[Garble], cut_at: list[int]) -> None:
        ends[_end(talk, streams, in_chunks(garbled(talk.sent[streams][said], changes), cut_at))] += 1

    holds()
    _tell(talk, streams, ends, record_property)


def test_any_value_of_a_reply_may_be_another(talk: Talk, record_property: Callable[[str, object], None]) -> None:
    _try_all(talk, False, talk.sent[False][ASKS], len(COMMON), record_property)


@pytest.mark.long
@pytest.mark.parametrize("said", range(len(SAID)))
def test_any_value_of_any_reply_may_be_any_other(
    talk: Talk, said: int, record_property: Callable[[str, object], None]
) -> None:
    _try_all(talk, False, talk.sent[False][said], len(ODD), record_property)


@pytest.mark.long
@pytest.mark.parametrize("said", [ASKS, KNOWS_MORE])
def test_any_value_of_an_event_may_be_another(
    talk: Talk, said: int, record_property: Callable[[str, object], None]
) -> None:
    _try_all(talk, True, talk.sent[True][said], len(COMMON), record_property)


def _try_all(
    talk: Talk, streams: bool, pieces: Pieces, odd: int, record_property: Callable[[str, object], None]
) -> None:
    ends = Counter(_end(talk, streams, list(change(pieces))) for change in every_put(pieces, range(odd)))
    _tell(talk, streams, ends, record_property)


def _tell(talk: Talk, streams: bool, ends: Counter[str], record_property: Callable[[str, object], None]) -> None:
    told = ", ".join(f"{count} {name}" for name, count in sorted(ends.items()))
    record_property("counted", f"garbled replies on {talk.wire}, {'streamed' if streams else 'whole'}: {told}")


def _end(talk: Talk, streams: bool, chunks: list[bytes]) -> str:
    """
    What comes of a reply: how its turn ended, or the name of the error.
    """
    try:
        turn = talk.ask(asking(streams), chunks)
    except ProviderError as error:
        if KEY in str(error):
            raise
        return type(error).__name__
    _go_on(talk, streams, turn)
    return turn.stop.value


def _go_on(talk: Talk, streams: bool, turn: ModelTurn) -> None:
    """
    What came is kept and the model is asked again: its server gets JSON in which every call has its result.
    """
    conversation = OPENING
    if turn.requests:
        results = tuple(ToolResult.of(each, Status.SUCCEEDED, "85 kg") for each in turn.requests)
        conversation = conversation.append(Exchange(turn, results))
        request = ModelRequest(conversation=conversation, tools=TOOLS, stream=streams, seconds=30)
    elif turn.stop is Ended.WHOLE and turn.has_words:
        conversation = conversation.append(turn).append(UserMessage("v", (Text("And now?"),)))
        request = asking(streams, conversation)
    else:
        return
    good = talk.ask(request, list(talk.sent[streams][0]))
    assert good.text == GOOD.text
    body: Object = obj(read(talk.line.asked[-1]))
    assert pair_faults(talk.wire, body) == []
    assert Conversation.from_json(conversation.to_json(reasoning=True)) == conversation
