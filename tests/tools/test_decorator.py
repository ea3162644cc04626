"""
`@tool`: what becomes a tool, what the model is told of it, and what is refused when it is defined.
"""

import asyncio
import functools
import json
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import pytest
from pydantic import Field

from rodada.statemachine.messages import Status
from rodada.statemachine.plan import Kind, PlannedCall
from rodada.statemachine.ports import AnyTool, CallSetting
from rodada.statemachine.request import ToolDeclaration
from rodada.statemachine.scheduling import EVERYTHING
from rodada.tools import Approval, Tool, ToolDefinitionError, tool
from support.tool_calls import request, told


def define(function: Callable[..., object]) -> AnyTool:
    return tool(function)


def test_name_description_and_schema_come_from_the_function() -> None:
    @tool
    def save_goal(exercise: str, kg: Annotated[float, Field(description="weight", gt=0)], reps: int = 5) -> str:
        """
        Save a training goal.

        It replaces the one before.
        """
        return f"{exercise} {kg} {reps}"

    schema = (
        '{"additionalProperties":false,"properties":{"exercise":{"type":"string"},'
        '"kg":{"description":"weight","exclusiveMinimum":0,"type":"number"},"reps":{"default":5,"type":"integer"}},'
        '"required":["exercise","kg"],"type":"object"}'
    )
    description = "Save a training goal.\n\nIt replaces the one before."
    assert save_goal.declaration == ToolDeclaration("save_goal", description, schema)
    assert save_goal.name == "save_goal"


def test_a_tool_is_still_the_function_for_code() -> None:
    @tool
    def double(n: int) -> int:
        return n * 2

    @tool(name="later")
    async def triple(n: int) -> int:
        return n * 3

    assert double(4) == 8
    assert asyncio.run(triple(n=4)) == 12


def test_a_given_name_and_description_win_and_no_docstring_is_an_empty_description() -> None:
    def f() -> None: ...

    assert tool(name="g-1", description="  What g does. ")(f).declaration.name == "g-1"
    assert tool(name="g-1", description="  What g does. ")(f).declaration.description == "What g does."
    assert tool(f).declaration.description == ""


def test_f039_lone_surrogates_in_a_description_are_replaced() -> None:
    def f() -> None: ...

    assert tool(description="a\udc97b")(f).declaration.description == "a\ufffdb"


def test_f109_a_tool_without_parameters_has_an_object_schema() -> None:
    @tool
    def now() -> str:
        return "noon"

    assert json.loads(now.declaration.schema) == {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize("name", ["", "a b", "catalog.query", "x" * 65, "ação", "ok\n"])
def test_f037_a_name_that_a_wire_would_have_to_mend_is_refused(name: str) -> None:
    def f() -> None: ...

    with pytest.raises(ToolDefinitionError, match="is no legal name"):
        tool(name=name)(f)


def test_a_function_without_a_name_needs_one() -> None:
    with pytest.raises(ToolDefinitionError, match="pass name="):
        tool(functools.partial(int, "3"))
    assert tool(name="three")(functools.partial(lambda: 3)).name == "three"


def test_f107_a_bound_method_has_no_self_and_an_unbound_one_is_refused() -> None:
    class Log:
        lines = ("a", "b")

        def read(self, line: int) -> str:
            """Read a line."""
            return self.lines[line]

        @staticmethod
        def size(of: str) -> int:
            return len(of)

    made = tool(Log().read)
    assert list(json.loads(made.declaration.schema)["properties"]) == ["line"]
    assert made.declaration.description == "Read a line."
    assert told(made, '{"line":1}') == (Status.SUCCEEDED, "b")
    assert told(tool(Log.size), '{"of":"abc"}') == (Status.SUCCEEDED, "3")
    with pytest.raises(ToolDefinitionError, match=r"parameter 'self': .*tool\(instance\.method\)"):
        define(Log.read)


def test_a_static_method_may_be_decorated_from_either_side() -> None:
    class Log:
        @tool
        @staticmethod
        async def inner(of: str) -> int:
            return len(of)

        @staticmethod
        @tool
        def outer(of: str) -> int:
            return len(of)

    assert told(Log.inner, '{"of":"abc"}') == (Status.SUCCEEDED, "3")
    assert told(Log.outer, '{"of":"abc"}') == (Status.SUCCEEDED, "3")


def test_what_a_partial_holds_is_not_for_the_model() -> None:
    def fetch(base: str, path: str, depth: int = 1) -> str:
        """Fetch a page."""
        return f"{base}{path}{depth}"

    made = tool(name="fetch")(functools.partial(fetch, base="b/"))
    assert list(json.loads(made.declaration.schema)["properties"]) == ["path", "depth"]
    assert made.declaration.description == "Fetch a page."
    assert told(made, '{"path":"p"}') == (Status.SUCCEEDED, "b/p1")
    assert told(made, '{"path":"p","base":"evil/"}')[0] is Status.FAILED


def test_an_object_with_an_async_call_runs_on_the_event_loop() -> None:
    class Greeter:
        async def __call__(self, who: str) -> str:
            return f"hello {who}"

    assert told(tool(name="greet")(Greeter()), '{"who":"Ana"}') == (Status.SUCCEEDED, "hello Ana")


def test_what_is_no_function_is_refused() -> None:
    def numbers() -> Any:
        yield 1

    async def later() -> Any:
        yield 1

    @tool
    def once() -> None: ...

    wrong: list[Any] = [numbers, later, once, int, 3]
    for each in wrong:
        with pytest.raises(ToolDefinitionError):
            tool(each)


@pytest.mark.parametrize(
    "options",
    [
        {"needs_approval": 2},
        {"needs_approval": "yes"},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"timeout": True},
        {"errors": "all"},
        {"thread": "main"},
        {"reads": [1]},
        {"idempotent": 1},
        {"max_result_chars": 199},
        {"max_result_chars": 1000.0},
        {"max_result_chars": True},
        {"on_error": "log"},
        {"on_cut": asyncio.sleep},
    ],
)
def test_a_wrong_option_is_refused_with_the_function_and_the_option(options: dict[str, Any]) -> None:
    def f() -> None: ...

    with pytest.raises(ToolDefinitionError, match=rf"f \(line \d+\) cannot be a tool: {next(iter(options))}: takes"):
        tool(**options)(f)


def test_an_option_that_no_tool_has_is_refused() -> None:
    def f() -> None: ...

    with pytest.raises(ToolDefinitionError, match="'need_approval' is no option; these are: reads, writes"):
        tool(need_approval=True)(f)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


def test_only_a_sync_function_is_bound_to_its_callers_thread() -> None:
    async def f() -> None: ...

    with pytest.raises(ToolDefinitionError, match='thread: takes "caller" only for a sync one'):
        tool(thread="caller")(f)


def test_the_kind_follows_from_what_is_declared() -> None:
    def f() -> None: ...

    def kind(**options: Any) -> Kind:
        return tool(**options)(f).options.kind

    assert kind() is Kind.WRITE
    assert kind(reads="orders") is Kind.READ
    assert kind(reads="") is Kind.READ
    assert kind(reads=(), writes=()) is Kind.READ
    assert kind(reads="orders", idempotent=True) is Kind.READ
    assert kind(reads="orders", writes="orders") is Kind.WRITE
    assert kind(writes=["orders", "stock"]) is Kind.WRITE
    assert kind(writes="orders", idempotent=True) is Kind.IDEMPOTENT


def test_resources_are_one_name_or_several_and_none_is_not_nothing() -> None:
    def f() -> None: ...

    def touched(**options: Any) -> tuple[object, object]:
        made = tool(**options)(f).options
        return made.reads, made.writes

    assert touched() == (None, None)
    assert touched(reads="", writes="orders") == (frozenset(), frozenset({"orders"}))
    assert touched(reads=["orders", "stock"], writes=()) == (frozenset({"orders", "stock"}), frozenset())


def test_a_call_is_planned_with_its_kind_and_approvals_and_not_at_all_with_bad_arguments() -> None:
    ran: list[int] = []

    @tool(needs_approval=Approval(count=2), idempotent=True)
    def pay(euros: int) -> None:
        ran.append(euros)

    assert pay.planned(request("pay", '{"euros":1}', "c7")) == PlannedCall("c7", Kind.IDEMPOTENT, approvals=2)
    assert pay.planned(request("pay", '{"euros":"much"}')) is None
    assert tool(needs_approval=True)(pay.function).planned(request("pay", '{"euros":1}')) == PlannedCall(
        "c1", approvals=1
    )
    assert ran == []


def test_a_tool_has_the_usual_time_limit_unless_it_sets_its_own() -> None:
    def f() -> None: ...

    assert [tool(f).seconds(60), tool(timeout=5)(f).seconds(60), tool(timeout=None)(f).seconds(60)] == [60, 5, None]


def test_a_tool_fits_the_core() -> None:
    @tool
    def f() -> None: ...

    assert isinstance(f, AnyTool)
    assert isinstance(f, Tool)
    assert f.call(request("f"), CallSetting()).alive is False


def leaves(arguments: Mapping[str, Any]) -> str:
    sys.exit(3)


def says_nothing(arguments: Mapping[str, Any]) -> str:
    return ""


def says_nothing_of_one(arguments: Mapping[str, Any]) -> list[str]:
    return ["x", ""]


def says_a_number(arguments: Mapping[str, Any]) -> Any:
    return 5


@pytest.mark.parametrize("names", [leaves, says_nothing, says_nothing_of_one, says_a_number])
def test_what_computed_names_do_not_say_conflicts_with_everything(names: Any) -> None:
    def f() -> None: ...

    assert tool(writes=names)(f).touches(request("f")) == EVERYTHING


def test_resources_that_are_no_names_are_refused() -> None:
    def f() -> None: ...

    with pytest.raises(ToolDefinitionError, match="takes names of resources"):
        tool(reads=5)(f)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
