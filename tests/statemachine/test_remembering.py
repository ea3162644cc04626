"""
What deterministic calls gave is remembered for one run: computed once, answered with each request's own id.
"""

import asyncio

from attrs import Factory, frozen

from rodada.statemachine.messages import Status, ToolRequest, ToolResult
from rodada.statemachine.plan import Kind, Plan, PlannedCall
from rodada.statemachine.ports import CallSetting, Toolbox, ToolCall
from rodada.statemachine.remembering import Remembering
from rodada.statemachine.request import ToolDeclaration
from rodada.statemachine.toolbox import AnsweredCall


@frozen(eq=False)
class Box:
    """
    A toolbox whose calls named "pure" are deterministic; each computed one counts.
    """

    called: list[str] = Factory(list[str])
    status: Status = Status.SUCCEEDED

    @property
    def declarations(self) -> tuple[ToolDeclaration, ...]:
        return (ToolDeclaration("pure", ""),)

    def plan(self, requests: tuple[ToolRequest, ...]) -> Plan:
        return Plan(tuple(PlannedCall(each.id, Kind.READ, deterministic=each.name == "pure") for each in requests))

    def seconds(self, request: ToolRequest, usual: float | None) -> float | None:
        return 7 if usual is None else usual

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        self.called.append(request.id)
        return AnsweredCall(ToolResult.of(request, self.status, f"number {len(self.called)}"))


def asked(id: str, raw: str = '{"kg":1,"reps":5}', name: str = "pure") -> ToolRequest:
    return ToolRequest(id, name, raw)


def answered(box: Toolbox, *requests: ToolRequest) -> list[tuple[str, Status, str]]:
    box.plan(requests)
    results = [asyncio.run(box.call(each, CallSetting()).run()) for each in requests]
    return [(each.id, each.status, each.text) for each in results]


def test_each_distinct_argument_set_is_computed_once_whatever_its_key_order() -> None:
    box = Box()
    run = Remembering(box)
    assert answered(run, asked("a"), asked("b", '{"reps": 5, "kg": 1}'), asked("c", '{"kg":2,"reps":5}')) == [
        ("a", Status.SUCCEEDED, "number 1"),
        ("b", Status.SUCCEEDED, "number 1"),
        ("c", Status.SUCCEEDED, "number 2"),
    ]
    assert answered(run, asked("d")) == [("d", Status.SUCCEEDED, "number 1")]
    assert box.called == ["a", "c"]


def test_a_failure_is_remembered_too() -> None:
    box = Box(status=Status.FAILED)
    assert answered(Remembering(box), asked("a"), asked("b")) == [
        ("a", Status.FAILED, "number 1"),
        ("b", Status.FAILED, "number 1"),
    ]


def test_other_calls_and_other_runs_are_computed_each_time() -> None:
    box = Box()
    assert [text for *_, text in answered(Remembering(box), asked("a", name="look"), asked("b", name="look"))] == [
        "number 1",
        "number 2",
    ]
    answered(Remembering(box), asked("a"))
    answered(Remembering(box), asked("a"))
    assert box.called == ["a", "b", "a", "a"]


def test_in_a_turn_the_same_call_waits_for_the_one_before_it() -> None:
    plan = Remembering(Box()).plan((asked("a"), asked("b", "{}"), asked("c"), asked("d"), asked("e", name="look")))
    assert [(call.id, call.after) for call in plan.calls] == [
        ("a", ()),
        ("b", ()),
        ("c", ("a",)),
        ("d", ("c",)),
        ("e", ()),
    ]


def test_nothing_is_left_running_and_the_rest_is_the_toolbox_s_own() -> None:
    run = Remembering(Box())
    first, second = asked("a"), asked("b")
    run.plan((first, second))
    computed = run.call(first, CallSetting())
    asyncio.run(computed.run())
    assert [computed.alive, run.call(second, CallSetting()).alive] == [False, False]
    assert (run.declarations, run.seconds(first, None)) == (Box().declarations, 7)
