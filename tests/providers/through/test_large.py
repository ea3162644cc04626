"""
A thousand tools, and arguments of megabytes, through the real SDKs: declared, checked, run and sent back whole.
"""

from typing import Any

import pytest

from rodada.providers.loopback import Call, Turn, WireName
from rodada.statemachine import Limits, RunStatus, Status, ToolLoop
from rodada.tools import Tool, tool
from support.stage import Stage

LARGE = "ü\n" * 1_700_000  # 5 MB in UTF-8
# Gemini takes fewer declarations.
WIRES: tuple[tuple[WireName, int], ...] = (("anthropic", 1_000), ("openai", 1_000), ("google", 100))


def numbered(number: int) -> Tool[..., Any]:
    async def measure(text: str) -> int:
        """The length of a text, and the number of the tool."""
        return len(text) + number

    return tool(name=f"measure_{number}", reads="")(measure)


@pytest.mark.parametrize(("wire", "count"), WIRES)
def test_an_argument_of_five_megabytes_reaches_one_of_a_thousand_tools(
    stage: Stage, wire: WireName, count: int
) -> None:
    tools = [numbered(number) for number in range(count)]
    stage.server.play([Turn(calls=[Call("measure_7", {"text": LARGE}, "large")]), Turn("Done.")])
    outcome = stage.run(
        ToolLoop(stage.provider(wire), tools=tools, limits=Limits(max_request_bytes=50_000_000)).run("Go.")
    )
    assert (RunStatus.COMPLETED, "Done.", ()) == (outcome.status, outcome.answer, stage.server.refusals)
    assert [(Status.SUCCEEDED, str(len(LARGE) + 7))] == [(call.status, call.text) for call in outcome.calls]
