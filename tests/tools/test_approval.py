"""
Who must approve a call: said of the tool, or of the arguments of each call; in doubt somebody must.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.plan import Kind, PlannedCall
from rodada.tools import Approval, ToolDefinitionError, tool
from rodada.tools.approval import Needed, NeedsApproval, gated
from support.tool_calls import request

CALL = PlannedCall("c1", Kind.IDEMPOTENT, after=("c0",))
BY_ANYBODY = PlannedCall("c1", Kind.IDEMPOTENT, approvals=1, after=("c0",))
BY_OTHERS = PlannedCall("c1", Kind.IDEMPOTENT, approvals=2, requester_counts=False, after=("c0",), within_ms=3_600_000)
TWO_OTHERS = Approval(count=2, not_requester=True, within=3600)


@pytest.mark.parametrize(
    ("needs", "planned"), [(False, CALL), (True, BY_ANYBODY), (Approval(), BY_ANYBODY), (TWO_OTHERS, BY_OTHERS)]
)
def test_a_call_is_planned_with_the_approvals_that_were_said_of_its_tool(needs: Needed, planned: PlannedCall) -> None:
    assert gated(CALL, needs, {}) == planned
    assert gated(CALL, lambda _: needs, {}) == planned


def test_a_function_says_it_of_the_checked_arguments() -> None:
    def large(arguments: Mapping[str, Any]) -> Needed:
        return TWO_OTHERS if arguments["euros"] > 100 else arguments["euros"] > 10

    @tool(needs_approval=large)
    def pay(euros: int) -> None: ...

    planned = [pay.planned(request("pay", f'{{"euros":{euros}}}')) for euros in (5, 50, 500)]
    assert [call and (call.approvals, call.within_ms) for call in planned] == [(0, None), (1, None), (2, 3_600_000)]
    assert pay.planned(request("pay", '{"euros":"much"}')) is None


def raising(arguments: Mapping[str, Any]) -> Needed:
    raise KeyboardInterrupt


def forgetting(arguments: Mapping[str, Any]) -> Needed:
    return None  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


def emptying(arguments: Mapping[str, Any]) -> Needed:
    arguments.clear()  # type: ignore[attr-defined]  # pyright: ignore
    return True


@pytest.mark.parametrize("needs", [raising, forgetting, emptying])
def test_in_doubt_somebody_must_approve_and_the_arguments_stay_as_they_are(needs: Callable[..., Needed]) -> None:
    arguments = {"euros": 5}
    assert gated(CALL, needs, arguments) == BY_ANYBODY
    assert arguments == {"euros": 5}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"count": 0}, r"Approval\.count: takes a whole number >= 1; got 0"),
        ({"count": True}, r"Approval\.count"),
        ({"not_requester": 1}, r"Approval\.not_requester: takes True or False; got 1"),
        ({"within": 0}, r"Approval\.within: takes seconds above 0, or None; got 0"),
        ({"within": float("nan")}, r"Approval\.within"),
        ({"within": float("inf")}, r"Approval\.within"),
        ({"within": 1e308}, r"Approval\.within"),
        ({"within": 10**400}, r"Approval\.within"),
    ],
)
def test_an_approval_that_cannot_be_is_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason):
        Approval(**given)


async def later(arguments: Mapping[str, Any]) -> Needed:
    return True


@pytest.mark.parametrize("needs", [2, "yes", None, later])
def test_what_says_nothing_of_approvals_is_refused_where_the_tool_is_made(needs: NeedsApproval) -> None:
    with pytest.raises(ToolDefinitionError, match="needs_approval: takes True, False, an Approval, or a function"):

        @tool(needs_approval=needs)
        def pay() -> None: ...
