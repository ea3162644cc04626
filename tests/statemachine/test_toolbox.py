"""
`ToolList`: several tools as one toolbox, planned one after another.
"""

import asyncio

import pytest
from attrs import frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Status, ToolRequest, ToolResult
from rodada.statemachine.plan import Kind, Plan, PlannedCall
from rodada.statemachine.ports import CallSetting, Toolbox, ToolCall
from rodada.statemachine.request import ToolDeclaration
from rodada.statemachine.scheduling import EVERYTHING, Touches
from rodada.statemachine.toolbox import AnsweredCall, ToolList


@frozen
class Named:
    """
    A tool that takes anything but "bad".
    """

    name: str
    kind: Kind = Kind.WRITE
    own_seconds: float | None = 5

    @property
    def declaration(self) -> ToolDeclaration:
        return ToolDeclaration(self.name, "")

    def planned(self, request: ToolRequest) -> PlannedCall | None:
        return None if request.raw == "bad" else PlannedCall(request.id, self.kind, approvals=1)

    def seconds(self, usual: float | None) -> float | None:
        return self.own_seconds

    @property
    def declared(self) -> bool:
        return True

    def touches(self, request: ToolRequest) -> Touches:
        return EVERYTHING

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        return AnsweredCall(ToolResult.of(request, Status.FAILED, f"{self.name} {setting.limits.max_rounds}"))


BOX: Toolbox = ToolList((Named("read", Kind.READ), Named("save")))


def test_the_declarations_keep_the_order_given() -> None:
    assert BOX.declarations == (ToolDeclaration("read", ""), ToolDeclaration("save", ""))
    assert ToolList(()).declarations == ()


def test_calls_wait_for_the_one_before_them_but_unknown_and_bad_ones_for_nobody_and_nobody_for_them() -> None:
    requests = (
        ToolRequest("a", "save", "{}"),
        ToolRequest("b", "nosuch", "{}"),
        ToolRequest("c", "save", "bad"),
        ToolRequest("d", "read", "{}"),
        ToolRequest("e", "save", "{}"),
    )
    assert BOX.plan(requests) == Plan(
        (
            PlannedCall("a", Kind.WRITE, approvals=1),
            PlannedCall("b", Kind.READ, refused=True),
            PlannedCall("c", Kind.READ, refused=True),
            PlannedCall("d", Kind.READ, approvals=1, after=("a",)),
            PlannedCall("e", Kind.WRITE, approvals=1, after=("d",)),
        )
    )
    assert BOX.plan(()) == Plan()


def test_a_call_goes_to_its_tool_with_the_limits() -> None:
    asked = ToolRequest("a", "save", "{}")
    call = BOX.call(asked, CallSetting(limits=Limits(max_rounds=3)))
    assert asyncio.run(call.run()) == ToolResult.of(asked, Status.FAILED, "save 3")
    assert call.alive is False


def test_f034_an_unknown_tool_fails_with_the_names_there_are() -> None:
    asked = ToolRequest("a", "nosuch", "{}")
    assert asyncio.run(BOX.call(asked, CallSetting()).run()) == ToolResult.of(
        asked, Status.FAILED, "There is no tool 'nosuch', and nothing was run. The tools are: read, save."
    )
    assert asyncio.run(ToolList(()).call(asked, CallSetting()).run()).text.endswith("The tools are: none.")


def test_f034_the_answer_stays_short_with_a_long_name_and_many_tools() -> None:
    box = ToolList(tuple(Named(f"tool_{at:04}") for at in range(1000)))
    text = asyncio.run(box.call(ToolRequest("a", "x" * 100_000, "{}"), CallSetting()).run()).text
    assert text.endswith("tool_0098, tool_0099 and 900 more.")
    assert len(text) < 1500


def test_the_seconds_are_the_tools_own_and_the_usual_ones_for_an_unknown_tool() -> None:
    assert BOX.seconds(ToolRequest("a", "save", "{}"), 60) == 5
    assert BOX.seconds(ToolRequest("a", "nosuch", "{}"), 60) == 60


def test_f037_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidValue, match="tools: tools 0 and 2 are both named 'a': give one another name"):
        ToolList((Named("a"), Named("b"), Named("a")))


def test_a_plain_function_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidValue, match=r"<built-in function print> is no tool: decorate a function with @tool"):
        ToolList((print,))  # type: ignore[arg-type]
