"""
What tools return, as the vendors get it through the real SDKs.
"""

import json

import pytest

from rodada.providers.loopback import Call, Turn, WireName
from rodada.providers.loopback.json_values import obj, objs
from rodada.statemachine import Outcome, RunStatus, Status, ToolLoop
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
