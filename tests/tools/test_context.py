"""
`Context[T]`: found by its type, given by the engine, never shown to a model and never taken from one.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Optional

import pytest
from attrs import frozen

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Origin, RunStatus, ToolLoop
from rodada.statemachine.messages import Status
from rodada.statemachine.ports import CallSetting
from rodada.tools import Context, ToolDefinitionError, tool
from support.tool_calls import request, told


@frozen
class Host:
    name: str


Shared = Context[Host]


def first(ctx: Context[Host], q: str) -> str:
    return f"{ctx.value.name} {q}"


def last(q: str, ctx: Context[Host]) -> str:
    return f"{ctx.value.name} {q}"


def keyword_only(*, ctx: Context[Host], q: str) -> str:
    return f"{ctx.value.name} {q}"


def with_default(q: str, ctx: Context[Host] | None = None) -> str:
    return f"{ctx and ctx.value.name} {q}"


def old_optional(q: str, ctx: Optional[Context[Host]] = None) -> str:  # noqa: UP045
    return f"{ctx and ctx.value.name} {q}"


def annotated(ctx: Annotated[Context[Host], "the host"], q: str) -> str:
    return f"{ctx.value.name} {q}"


def aliased(ctx: Shared, q: str) -> str:
    return f"{ctx.value.name} {q}"


def bare(ctx: Context, q: str) -> str:  # type: ignore[type-arg]
    return f"{ctx.value.name} {q}"  # pyright: ignore


def positional_only(ctx: Context[Host], /, q: str) -> str:
    return f"{ctx.value.name} {q}"


def another_name(q: str, surroundings: Context[Host]) -> str:
    return f"{surroundings.value.name} {q}"


async def in_async(ctx: Context[Host], q: str) -> str:
    return f"{ctx.value.name} {q}"


class Search:
    def method(self, ctx: Context[Host], q: str) -> str:
        return f"{ctx.value.name} {q}"

    async def __call__(self, ctx: Context[Host], /, q: str) -> str:
        return f"{ctx.value.name} {q}"


SHAPES: dict[str, Callable[..., Any]] = {
    "first": first,
    "last": last,
    "keyword only": keyword_only,
    "with a default": with_default,
    "old optional": old_optional,
    "annotated": annotated,
    "aliased": aliased,
    "bare": bare,
    "positional only": positional_only,
    "another name": another_name,
    "async": in_async,
    "method": Search().method,
    "object": Search(),
    "partial": functools.partial(last),
}

SETTING = CallSetting(context=Host("ana"))


def run(made: Any, raw: str, setting: CallSetting = SETTING) -> tuple[Status, str]:
    found = asyncio.run(made.call(request(made.name, raw), setting).run())
    return found.status, found.text


@pytest.mark.parametrize("function", SHAPES.values(), ids=SHAPES)
def test_f107_a_context_in_any_place_is_given_and_is_not_in_the_schema(function: Callable[..., Any]) -> None:
    made = tool(name="search")(function)

    assert json.loads(made.declaration.schema) == {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "required": ["q"],
        "additionalProperties": False,
    }
    assert run(made, '{"q":"x"}') == (Status.SUCCEEDED, "ana x")


@pytest.mark.parametrize("function", SHAPES.values(), ids=SHAPES)
def test_f107_a_model_that_sends_the_name_of_a_context_gets_an_error_result(function: Callable[..., Any]) -> None:
    made = tool(name="search")(function)
    name = "surroundings" if function is another_name else "ctx"

    status, text = run(made, json.dumps({"q": "x", name: {"value": {"name": "eve"}}}))

    assert status is Status.FAILED
    assert text == f"search was not run; its arguments: {name}: is no argument of this tool. It takes q: string."
    assert made.planned(request("search", json.dumps({"q": "x", name: None}))) is None


def test_f107_an_unbound_method_and_a_context_without_its_type_are_refused() -> None:
    def untyped(q: str, ctx=None) -> None: ...  # type: ignore[no-untyped-def]

    refused: list[tuple[Callable[..., Any], str]] = [(Search.method, "self"), (untyped, "ctx")]
    for function, parameter in refused:
        with pytest.raises(ToolDefinitionError) as caught:
            tool(function)
        assert caught.value.parameter == parameter


def test_f107_a_context_that_is_bound_already_is_the_hosts_own() -> None:
    made = tool(name="search")(functools.partial(last, ctx=Context(Host("bob"))))

    assert run(made, '{"q":"x"}') == (Status.SUCCEEDED, "bob x")


def in_a_list(many: list[Context[Host]]) -> None: ...
def beside_text(either: Context[Host] | str) -> None: ...
def among_words(many: dict[str, Context[str]]) -> None: ...
def all_of_them(*many: Context[Host]) -> None: ...
def by_any_name(**many: Context[Host]) -> None: ...


@pytest.mark.parametrize("function", [in_a_list, beside_text, among_words, all_of_them, by_any_name])
def test_no_model_can_make_a_context(function: Callable[..., Any]) -> None:
    with pytest.raises(ToolDefinitionError):
        tool(function)


def test_a_context_tells_what_surrounds_its_call() -> None:
    said: list[str] = []
    soon = datetime(2026, 1, 2, tzinfo=UTC)
    setting = CallSetting(
        run_id="run_1",
        call_id="c1",
        origin=Origin(tenant="gym", actor="ana"),
        context=Host("h"),
        deadline=soon,
        attempt=2,
        cancel=said.append,
    )
    seen: list[Context[Host]] = []

    @tool
    def look(ctx: Context[Host]) -> None:
        seen.append(ctx)
        ctx.cancel("enough")

    assert run(look, "{}", setting)[0] is Status.SUCCEEDED
    assert [
        (each.value, each.run_id, each.call_id, each.idempotency_key, each.origin, each.deadline, each.attempt)
        for each in seen
    ] == [(Host("h"), "run_1", "c1", "run_1/c1", Origin(tenant="gym", actor="ana"), soon, 2)]
    assert said == ["enough"]


def test_outside_a_run_a_value_is_enough() -> None:
    made = Context(Host("h"))
    made.cancel("nobody listens")

    assert (made.value, made.run_id, made.call_id, made.deadline, made.attempt) == (Host("h"), "", "", None, 1)
    assert told(tool(name="say")(with_default), '{"q":"x"}')[0] is Status.FAILED
    assert first(made, "x") == tool(first)(made, "x") == "h x"


def test_a_context_does_not_show_its_value() -> None:
    assert repr(Context("postgres://u:pw@host")) == "Context()"


def test_the_resources_of_a_call_are_named_from_what_the_model_sent_alone() -> None:
    seen: list[dict[str, Any]] = []

    def named(arguments: Mapping[str, Any]) -> str:
        seen.append(dict(arguments))
        return "x"

    @tool(writes=named)
    def save(ctx: Context[Host], q: str) -> None: ...

    save.touches(request("save", '{"q":"x"}'))

    assert seen == [{"q": "x"}]


def test_a_run_gives_its_tools_the_hosts_value() -> None:
    @tool
    def who(ctx: Context[Host]) -> str:
        return f"{ctx.value.name} {ctx.run_id} {ctx.idempotency_key} {ctx.origin.actor}"

    loop = ToolLoop(Scripted([Turn(calls=[Call("who")]), Turn("ok")]), tools=[who])
    outcome = loop.run_sync("hello", context=Host("ana"), origin=Origin(actor="a1"))

    (call,) = outcome.calls
    assert outcome.status is RunStatus.COMPLETED
    assert call.text == f"ana {outcome.run_id} {outcome.run_id}/{call.id} a1"
