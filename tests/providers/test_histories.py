"""
A history is converted once: each entry when it is first sent, in the form in which it is sent, and a call costs no more
late in a run than early. What is kept of one request never shows in another.
"""

import asyncio
import gc
import random
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any, cast
from weakref import ref

import httpx2
import pytest
from attrs import evolve

from rodada.providers import anthropic_history, google_history, openai_chat_history, openai_responses_history
from rodada.providers.anthropic_models import Traits
from rodada.providers.kept import Kept
from rodada.providers.loopback import WireName
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, parse_json
from rodada.statemachine.messages import ModelTurn, Piece, Stop, UserMessage
from rodada.statemachine.notice import Delta
from rodada.statemachine.request import ModelRequest, ToolDeclaration
from support.calls_made import calls_made
from support.long_conversations import REPLIES, conversation, exchange, provider_of, user
from support.stage import WIRES

CONVERTED: dict[WireName, tuple[Any, str]] = {
    "anthropic": (anthropic_history, "messages_of"),
    "openai": (openai_responses_history, "entry_items"),
    "openai_chat": (openai_chat_history, "entry_messages"),
    "google": (google_history, "entry_contents"),
}
LOOK = ToolDeclaration("look", "Look a day up.")


def unwatched(delta: Delta) -> None:
    pass


class Line:
    """
    A provider on an event loop of its own, and what it sends.
    """

    def __init__(self, wire: WireName) -> None:
        self.sent = b""
        self.runner = asyncio.Runner()
        self.wire: WireName = wire
        self.http = httpx2.AsyncClient(transport=httpx2.MockTransport(self._reply))
        self.provider = provider_of(wire, self.http)

    def close(self) -> None:
        """
        Leave nothing open.
        """
        self.runner.run(self.http.aclose())
        self.runner.close()

    def _reply(self, sent: httpx2.Request) -> httpx2.Response:
        self.sent = sent.content
        return httpx2.Response(200, content=dump_json(REPLIES[self.wire]))

    def ask(self, request: ModelRequest) -> JsonObject:
        """
        The body of one call.
        """
        assert self.runner.run(self.provider.ask(request, unwatched)).text == "Hi."
        body: Any = parse_json(self.sent.decode())
        return body  # type: ignore[no-any-return]


LineOn = Callable[[WireName], Line]


@pytest.fixture
def line_on() -> Generator[LineOn]:
    """
    A line to each wire, closed at the end.
    """
    with ExitStack() as lines:
        yield lambda wire: lines.enter_context(closing(Line(wire)))


def asking(rounds: Conversation, start: int = 0, selected: int = 0, **more: Any) -> ModelRequest:
    return ModelRequest(conversation=rounds, start=start, selected=selected, tools=(LOOK,), **more)


def conversions(wire: WireName, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """
    The entries that are converted from now on.
    """
    module, name = CONVERTED[wire]
    convert: Callable[..., object] = getattr(module, name)
    converted: list[object] = []

    def counted(entry: object, *others: Any, **more: Any) -> object:
        converted.append(entry)
        return convert(entry, *others, **more)

    monkeypatch.setattr(module, name, counted)
    return converted


@pytest.mark.parametrize("wire", WIRES)
def test_each_entry_of_a_run_is_converted_once(
    line_on: LineOn, wire: WireName, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted = conversions(wire, monkeypatch)
    line, whole = line_on(wire), conversation(wire, 9)
    for rounds in range(10):
        asked = asking(evolve(whole, entries=whole.entries[: rounds + 1]))
        line.ask(asked)
        line.ask(evolve(asked, stream=True))
    line.ask(asking(whole, guidance="Say what you found.", tools_allowed=False))
    assert [id(entry) for entry in whole.entries] == [id(entry) for entry in converted]


@pytest.mark.parametrize("wire", WIRES)
def test_what_the_person_said_is_converted_once_though_its_turn_is_over(
    line_on: LineOn, wire: WireName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Its media are the largest that a conversation has: their bytes are kept once.
    """
    converted = conversions(wire, monkeypatch)
    line, said = line_on(wire), [user(), user("And now?")]
    first = Conversation("c", (said[0],))
    line.ask(asking(first))
    line.ask(asking(first.append(ModelTurn(Stop.WHOLE, "80 kg.")).append(said[1]), start=2))
    told = [id(entry) for entry in converted if isinstance(entry, UserMessage)]
    assert [id(entry) for entry in said] == told


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_call_costs_no_more_late_in_a_run_than_early(line_on: LineOn, wire: WireName, stored: bool) -> None:
    """
    Of a run itself, and of one that begins behind a long stored conversation.
    """
    line, whole = line_on(wire), conversation(wire, 300)

    def asked(rounds: int) -> ModelRequest:
        entries = whole.entries[: rounds + 1]
        return (
            asking(Conversation("c", (*entries, user("And now?"))), start=len(entries))
            if stored
            else asking(Conversation("c", entries))
        )

    costs: list[int] = []
    for rounds in (3, 300):
        line.ask(asked(rounds - 1))
        request = asked(rounds)
        costs.append(calls_made(partial(_quietly, line, request)))
    early, late = costs
    assert late < early * 1.1


def _quietly(line: Line, request: ModelRequest) -> None:
    line.runner.run(line.provider.ask(request, unwatched))


def requests_of(wire: WireName) -> list[ModelRequest]:
    """
    Of one conversation as it goes on, is selected from, is branched, and loses its reasoning.
    """
    first = conversation(wire, 3)
    answered = first.append(ModelTurn(Stop.WHOLE, "80 kg."))
    second = Conversation("c", (*answered.entries, user("And squats?"), exchange(wire, 7), exchange(wire, 8)))
    other = Conversation("d", (*answered.entries, user("Why?"), exchange(wire, 9)))
    return [
        asking(first),
        asking(second, start=5),
        asking(second, start=5, selected=5),
        asking(second),
        asking(other, start=5),
        asking(second.without_reasoning(), start=5),
        asking(second, start=5, guidance="Say what you found.", tools_allowed=False),
        asking(first, instructions="Be brief."),
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_what_is_kept_of_one_request_never_shows_in_another(line_on: LineOn, wire: WireName) -> None:
    requests = requests_of(wire)
    expected = [line_on(wire).ask(request) for request in requests]
    assert 6 <= len({dump_json(body) for body in expected})
    line, order = line_on(wire), [*range(len(requests))] * 3
    random.Random(7).shuffle(order)
    for at in order:
        assert expected[at] == line.ask(requests[at])


@pytest.mark.parametrize("wire", WIRES)
def test_nothing_is_kept_of_a_conversation_that_is_gone(line_on: LineOn, wire: WireName) -> None:
    line, whole = line_on(wire), conversation(wire, 3)
    line.ask(asking(whole))
    gone = [ref(entry) for entry in whole.entries]
    history = line.provider._history
    kept = [each for each in _all_kept(history) if each._made]
    assert [4] == [len(each._made) for each in kept]
    del whole
    gc.collect()
    assert [None] * 4 == [entry() for entry in gone]
    assert [({}, {})] == [(each._made, each._sources) for each in kept]


def _all_kept(history: object) -> list[Any]:
    found: list[Any] = []
    held: list[Any] = [*vars(history).values()]
    for each in held:
        many = cast("dict[bool, object]", each) if isinstance(each, dict) else {True: each}
        found += [one for one in many.values() if isinstance(one, Kept)]
    return found


# What an entry's form depends on beside itself


def test_ids_of_the_wire_that_come_again_are_left_out_each_time(line_on: LineOn) -> None:
    """
    Some servers give the same ids in every turn.
    """
    line = line_on("openai")
    turns = [
        ModelTurn(Stop.WHOLE, "80 kg.", native=(Piece(said, said),), wire="openai_responses")
        for said in ['{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"."}]}']
        * 2
    ]
    whole = Conversation("c", (user(), turns[0], user(), turns[1], user()))
    for _ in range(2):
        sent: Any = line.ask(asking(whole, start=4))["input"]
        assert [None, "msg_1", None, None, None] == [item.get("id") for item in sent]


def test_a_request_for_a_tool_of_the_vendors_is_left_out_when_the_person_has_gone_on(line_on: LineOn) -> None:
    search: JsonObject = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    waiting = exchange("anthropic", 0)
    asked = dump_json(search)
    waiting = evolve(waiting, turn=evolve(waiting.turn, native=(*waiting.turn.native, Piece(asked, asked))))
    answer = ModelTurn(
        Stop.WHOLE,
        "80.",
        native=tuple(Piece(dump_json(each), dump_json(each)) for each in _answer(found)),
        wire="anthropic",
    )
    line = line_on("anthropic")

    def kinds(request: ModelRequest) -> list[JsonValue]:
        sent: Any = line.ask(request)["messages"]
        return [block["type"] for block in sent[1]["content"] if block["type"] != "thinking"]

    begun, more = (user(), waiting), user("And?")
    for _ in range(2):
        assert ["tool_use", "tool_use", "server_tool_use"] == kinds(asking(Conversation("c", begun)))
        assert ["tool_use", "tool_use"] == kinds(asking(Conversation("c", (*begun, more)), start=2))
        answered = Conversation("c", (*begun, answer, more))
        assert ["tool_use", "tool_use", "server_tool_use"] == kinds(asking(answered, start=3))


def _answer(found: JsonObject) -> list[JsonObject]:
    return [found, {"type": "text", "text": "80."}]


def test_two_providers_keep_apart_what_they_send() -> None:
    """
    Newer models of Anthropic take no thought from before the active turn, older ones do.
    """
    whole = Conversation("c", (*conversation("anthropic", 1).entries, user("And now?")))
    models = ("claude-opus-4-8", "claude-opus-5-5")
    histories = [anthropic_history.AnthropicHistory(Traits.of(model)) for model in models]
    for _ in range(2):
        sent = [dump_json(history.of(asking(whole, start=2)).value) for history in histories]
        assert [True, False] == ["thinking" in each for each in sent]
