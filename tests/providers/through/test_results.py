"""
What tools return, as the vendors get it through the real SDKs.
"""

import json
from collections.abc import Iterator

import pytest

from rodada.providers.loopback import Call, Turn, WireName
from rodada.providers.loopback.json_values import obj, objs
from rodada.statemachine import Conversation, Outcome, RunStatus, Status, ToolLoop
from rodada.statemachine.jsontext import JsonValue
from rodada.tools import ToolResultParts, tool
from support.stage import MODELS, WIRES, Stage


@tool
def f() -> float:
    return 3.5


@tool
def g() -> list[int]:
    return [1, 2]


@tool
def h() -> str:
    return "x"


@tool
def err() -> None:
    raise ValueError("hidden")


@tool
def own() -> dict[str, str]:
    return {"error": "is a column of this table"}


@tool
def full() -> ToolResultParts:
    return ToolResultParts("disk full", failed=True)


TOOLS = (f, g, h, err, own, full)


def played(stage: Stage, model: str) -> Outcome:
    """
    A round with a call of every tool, and an answer.
    """
    stage.server.play([Turn("", [Call(each.name) for each in TOOLS]), Turn("Done.")])
    outcome = stage.run(ToolLoop(stage.providers[model], tools=TOOLS).run("Go."))
    assert (outcome.status, stage.server.refusals) == (RunStatus.COMPLETED, ())
    return outcome


@pytest.mark.parametrize("model", MODELS["google"])
def test_f043_a_response_is_an_object_whatever_the_tool_returned(stage: Stage, model: str) -> None:
    outcome = played(stage, model)
    last = objs(stage.server.received[-1].body["contents"])[-1]
    assert [obj(part["functionResponse"])["response"] for part in objs(last["parts"])] == [
        {"output": "3.5"},
        {"output": "[1,2]"},
        {"output": "x"},
        {"error": "err failed: it raised ValueError. Its details are withheld."},
        {"output": '{"error":"is a column of this table"}'},
        {"error": "disk full"},
    ]
    failed = [call.name for call in outcome.calls if call.status is Status.FAILED]
    assert failed == ["err", "full"]


@pytest.mark.parametrize("wire", WIRES)
def test_f044_a_failure_that_was_returned_is_one_on_the_wire_in_the_record_and_to_watchers(
    stage: Stage, wire: WireName
) -> None:
    outcome = played(stage, MODELS[wire][0])
    sent = json.dumps(stage.server.received[-1].body)
    in_the_text = json.dumps('{"error":{"status":"failed","message":"disk full"}}')
    flags = {
        "anthropic": '"content": "disk full", "is_error": true',
        "openai": in_the_text,
        "openai_chat": in_the_text,
        "google": '{"error": "disk full"}',
    }
    assert flags[wire] in sent
    assert [(call.name, call.status) for call in outcome.calls][-1] == ("full", Status.FAILED)


@pytest.mark.parametrize("wire", WIRES)
def test_f039_half_characters_from_anywhere_end_no_conversation(stage: Stage, wire: WireName) -> None:
    half, mended = "a\udc97b", "a\ufffdb"

    @tool
    def echo(text: str) -> list[str]:
        return [text, half]

    @tool(errors="message")
    def fail() -> None:
        raise ValueError(half)

    calls = [Call("echo", {"text": half}), Call("fail"), Call(half)]
    stage.server.play([Turn(half, calls), Turn(half), Turn("Still here.")])
    loop = ToolLoop(stage.provider(wire), tools=[echo, fail], instructions=half)
    first = stage.run(loop.run(half))
    second = stage.run(loop.run(half, conversation=first.conversation))

    assert (stage.server.refusals, [first.answer, second.answer]) == ((), [mended, "Still here."])
    assert [(call.status, call.text) for call in first.calls] == [
        (Status.SUCCEEDED, f'["{mended}","{mended}"]'),
        (Status.FAILED, f"fail failed: it raised ValueError: {mended}"),
        (Status.FAILED, f"There is no tool {mended!r}, and nothing was run. The tools are: echo, fail."),
    ]
    sent = str(stage.server.received[-1].body)
    assert ("\\udc97" in ascii(sent), sent.count(mended) >= 8) == (False, True)


@pytest.mark.parametrize("wire", WIRES)
def test_f042_a_list_that_is_cut_in_its_middle_stands_in_a_whole_message_and_a_whole_record(
    stage: Stage, wire: WireName
) -> None:
    @tool(max_result_chars=10_000)
    def rows() -> list[dict[str, str]]:
        return [{"at": f"row {at}", "says": '"quoted" 😀'} for at in range(10_000)]

    stage.server.play([Turn("", [Call("rows")]), Turn("Many."), Turn("Still many.")])
    loop = ToolLoop(stage.provider(wire), tools=[rows])
    first = stage.run(loop.run("How many?"))
    stored = Conversation.from_json(first.conversation.to_json())
    second = stage.run(loop.run("And now?", conversation=stored))

    (call,) = first.calls
    assert (call.status, len(call.text), call.text[:15]) == (Status.SUCCEEDED, 10_000, '[{"at":"row 0",')
    assert call.text.endswith(" characters]")
    assert (stage.server.refusals, second.answer) == ((), "Still many.")
    assert call.text in set(_texts(stage.server.received[-1].body))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
