"""
Ids of calls through each real SDK, whole and streamed: missing, empty, repeated, and of another vendor's form.
"""

import re
from collections.abc import Generator, Mapping

import pytest

from rodada.providers.loopback import Call, Deviation, Loopback, Turn, WireName
from rodada.providers.loopback.json_values import Json, Object, obj, objs, text
from rodada.providers.openai_chat import Dialect, OpenAIChat
from rodada.statemachine import (
    Conversation,
    Exchange,
    ModelTurn,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from support.desk import Desk, both_ways, every_wire, statuses
from support.stage import KEY, Stage, set_stage


def look(path: str, id: str | None = None) -> Call:
    return Call("look", {"path": path}, id)


def paired(wire: WireName, body: Object) -> list[tuple[str, str]]:
    """
    The arguments of each call in a request, with the result that stands under its id; in order where there is none.
    """
    if wire == "anthropic":
        blocks = [block for each in objs(body["messages"]) for block in objs(each["content"])]
        asked = [(text(each["id"]), text(obj(each["input"])["path"])) for each in blocks if each["type"] == "tool_use"]
        told = {text(each["tool_use_id"]): each["content"] for each in blocks if each["type"] == "tool_result"}
    elif wire == "google":
        parts = [part for each in objs(body["contents"]) for part in objs(each["parts"])]
        calls = [obj(part["functionCall"]) for part in parts if "functionCall" in part]
        responses = [obj(part["functionResponse"]) for part in parts if "functionResponse" in part]
        assert [each.get("id") for each in calls] == [each.get("id") for each in responses]
        asked = [(str(at), text(obj(call["args"])["path"])) for at, call in enumerate(calls)]
        told = {str(at): obj(each["response"])["output"] for at, each in enumerate(responses)}
    elif wire == "openai":
        items = objs(body["input"])
        asked = [(text(each["call_id"]), _path(each["arguments"])) for each in items if each["type"] == "function_call"]
        told = {text(each["call_id"]): each["output"] for each in items if each["type"] == "function_call_output"}
    else:
        messages = objs(body["messages"])
        calls = [call for each in messages for call in objs(each.get("tool_calls"))]
        asked = [(text(call["id"]), _path(obj(call["function"])["arguments"])) for call in calls]
        told = {text(each["tool_call_id"]): each["content"] for each in messages if each["role"] == "tool"}
    return [(path, text(told[id])) for id, path in asked]


def _path(arguments: Json) -> str:
    found = re.search('"path": ?"(.*?)"', text(arguments))
    return found[1] if found else ""


def results(*paths: str) -> list[tuple[str, str]]:
    return [(path, f"saw {path}") for path in paths]


WITHOUT_IDS: Mapping[str, tuple[Deviation, ...]] = {"gpt-4.1": ("ids_missing",)}


@pytest.fixture(name="nameless", scope="module")
def _nameless() -> Generator[Stage]:
    """
    Servers that give their calls no ids: an older Gemini, and a small one on Chat Completions.
    """
    with set_stage(Loopback(google_ids=False, chat_deviations=WITHOUT_IDS)) as stage:
        yield stage


@both_ways
@pytest.mark.parametrize("wire", ["google", "openai_chat"])
def test_f021_f022_calls_without_ids_are_told_apart_in_a_turn_over_turns_and_over_messages(
    nameless: Stage, wire: WireName, stream: bool
) -> None:
    desk = Desk(nameless, wire, stream)
    script = [Turn("", [look("A"), look("B")], reasoning=True), Turn("", [look("C")], reasoning=True), Turn("Done.")]
    first = desk.ask(*script)
    assert paired(wire, desk.received[2].body) == results("A", "B", "C")
    again = desk.ask(*script, before=first.conversation)
    assert paired(wire, desk.received[2].body) == results("A", "B", "C", "A", "B", "C")
    assert desk.ran == [f"look {path}" for path in "ABCABC"]
    assert [call.id for call in (*first.calls, *again.calls)] == [
        *("call_1_0", "call_1_1", "call_2_0"),
        *("call_5_0", "call_5_1", "call_6_0"),
    ]
    if wire == "google":
        assert "'id'" not in str(desk.received[2].body["contents"])


@both_ways
@every_wire
def test_f023_colliding_and_empty_ids_are_rewritten_in_step_and_good_ones_left_alone(
    wire: WireName, stream: bool
) -> None:
    with set_stage() as stage:  # afresh: a server may know a turn by its ids
        desk = Desk(stage, wire, stream)
        calls = [look("A", "x"), look("B", "x"), look("C", ""), look("D", "y")]
        outcome = desk.ask(Turn("", calls, reasoning=True), Turn("", [look("E", "y")], reasoning=True), Turn("Done."))
        assert statuses(outcome) == [Status.SUCCEEDED] * 5
        assert paired(wire, desk.received[2].body) == results(*"ABCDE")
        ids = [call.id for call in outcome.calls]
        assert (ids[0], ids[3], len({*ids})) == ("x", "y", 5)


SHORT_IDS: Mapping[str, tuple[Deviation, ...]] = {"mistral": ("short_ids_wanted",)}
FOREIGN = ("functions.write:0", "functions_write_0", "a" * 64, "a" * 65, "b" * 300, "é", "call 1", "ok")


def foreign() -> Conversation:
    """
    A history of a vendor that takes any id.
    """
    requests = tuple(ToolRequest(id, "look", f'{{"path": "{at}"}}', id) for at, id in enumerate(FOREIGN))
    told = tuple(ToolResult.of(each, Status.SUCCEEDED, f"saw {at}") for at, each in enumerate(requests))
    said = (UserMessage("u1", (Text("Look."),)), Exchange(ModelTurn(Stop.WHOLE, "", requests), told))
    return Conversation("c", (*said, ModelTurn(Stop.WHOLE, "Seen.")))


@both_ways
@every_wire
def test_f024_ids_of_another_vendor_are_mapped_alike_on_both_sides_and_kept_as_they_are_in_the_store(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(Turn("", [look("new")], reasoning=True), Turn("Done."), before=foreign())
    assert paired(wire, desk.received[1].body) == results(*map(str, range(len(FOREIGN))), "new")
    stored = outcome.conversation.entries[1]
    assert isinstance(stored, Exchange)
    assert tuple(each.id for each in stored.turn.requests) == FOREIGN


@both_ways
def test_f024_a_server_that_wants_nine_letters_and_digits_gets_them(stream: bool) -> None:
    with set_stage(Loopback(chat_deviations=SHORT_IDS)) as stage:
        url = stage.server.base_url("openai_chat")
        provider = OpenAIChat("mistral", api_key=KEY, base_url=url, dialect=Dialect(short_ids=True))
        desk = Desk(stage, "openai_chat", stream, provider=provider)
        desk.ask(Turn("", [look("new")]), Turn("Done."), before=foreign())
        assert paired("openai_chat", desk.received[1].body) == results(*map(str, range(len(FOREIGN))), "new")
        stage.run(provider.aclose())
