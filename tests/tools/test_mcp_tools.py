import re
from typing import Any

import pytest

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.plan import Kind, PlannedCall
from rodada.statemachine.request import ToolDeclaration
from rodada.tools import ToolDefinitionError
from rodada.tools.mcp_tools import LeftOut, Offer, Terms, offered
from support.mcp_servers import listed
from support.tool_calls import request, told

READS = {"annotations": {"readOnlyHint": True}}
REPEATS = {"annotations": {"idempotentHint": True}}


async def named(tool: str, /, **arguments: object) -> object:
    return f"{tool} {arguments}"


def offer(*tools: Any, **terms: Any) -> Offer:
    return offered("shop", tools, named, Terms(**terms))


def kinds(found: Offer) -> list[PlannedCall | None]:
    return [tool.planned(request(tool.name)) for tool in found.tools]


def planned(*kinds: Kind, approvals: int = 0) -> list[PlannedCall | None]:
    return [PlannedCall("c1", kind, approvals) for kind in kinds]


def test_a_tool_is_declared_as_it_is_listed() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "x-odd": [1]}}, "$comment": "as it stands"}

    (tool,) = offer(listed("count", schema, description=" Count. \ud800")).tools

    assert (
        ToolDeclaration(
            "shop_count",
            "Count. \ufffd",
            '{"type":"object","properties":{"n":{"type":"integer","x-odd":[1]}},"$comment":"as it stands"}',
        )
        == tool.declaration
    )


def test_a_tool_is_called_by_its_own_name_with_any_arguments() -> None:
    (tool,) = offer(listed("a.b")).tools

    assert "a.b {'self': 1, 'tool': 2, 'not a name': 3}" == told(tool, '{"self":1,"tool":2,"not a name":3}')[1]


def test_arguments_are_checked_before_anything_is_sent() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    (tool,) = offer(listed("count", schema)).tools

    assert None is tool.planned(request(tool.name, '{"n":"x"}'))
    assert (
        "shop_count was not run; its arguments: n: should be of type integer. It takes n: integer."
        == told(tool, '{"n":"x"}')[1]
    )


def test_hints_decide_nothing_unless_they_are_trusted() -> None:
    tools = [listed("a", **READS), listed("b", **REPEATS), listed("c")]

    assert planned(Kind.WRITE, Kind.WRITE, Kind.WRITE) == kinds(offer(*tools))
    assert planned(Kind.READ, Kind.IDEMPOTENT, Kind.WRITE) == kinds(offer(*tools, trust_hints=True))


def test_what_the_host_says_of_a_tool_stands_against_its_hints() -> None:
    tools = [listed("a", **READS), listed("b", **READS)]
    terms = {"options": {"a": {"writes": "stock"}}, "usual": {"needs_approval": True}, "trust_hints": True}

    found = offer(*tools, **terms)

    assert [*planned(Kind.WRITE), *planned(Kind.READ, approvals=1)] == kinds(found)


def test_usual_options_that_say_what_is_touched_stand_against_hints() -> None:
    assert planned(Kind.WRITE) == kinds(offer(listed("a", **READS), usual={"writes": "all"}, trust_hints=True))


def test_options_for_a_tool_that_is_not_there_are_refused() -> None:
    # It may have got another name, and would then run without the approval that it should wait for.
    with pytest.raises(ToolDefinitionError, match="lists no tool of that name; it lists 'remove'"):
        offer(listed("remove"), options={"delete": {"needs_approval": True}})


def deep(levels: int) -> Any:
    return {"type": "object", "properties": {"x": deep(levels - 1)}} if levels else {}


BAD: list[tuple[Any, str]] = [
    ({"type": "array"}, "must be a JSON object of type object"),
    ({}, "must be a JSON object of type object"),
    ({"type": "object", "properties": 3}, "its schema is none"),
    ({"type": "object", "properties": {"x": {"type": "whatever"}}}, "its schema is none"),
    ({"type": "object", "x": float("nan")}, "reading its schema raised ValueError"),
    (deep(200), "nested too deeply"),
    ({"type": "object", "description": "x" * 200_000}, "characters; 100000 are the most"),
    ({"type": "object", "$schema": 3}, "reading its schema raised|its schema is none"),
]


@pytest.mark.parametrize(("schema", "why"), BAD)
def test_a_tool_that_cannot_be_one_is_left_out(schema: Any, why: str) -> None:
    found = offer(listed("good"), listed("bad", schema), listed("also good"))

    assert ["shop_good"] == [tool.name for tool in found.tools][:1]
    assert 2 == len(found.tools)
    ((name, reason),) = [(each.name, each.why) for each in found.left_out]
    assert "bad" == name
    assert re.search(why, reason)


def test_f037_of_two_tools_with_one_name_the_first_stands() -> None:
    found = offer(listed("a"), listed("a", description="another"))

    assert [""] == [tool.declaration.description for tool in found.tools]
    assert (LeftOut("a", "another tool of the list is named 'shop_a' too"),) == found.left_out


def test_a_description_has_an_end() -> None:
    (tool,) = offer(listed("a", description="x" * 20_000)).tools

    assert 10_000 == len(tool.declaration.description)
    assert tool.declaration.description.endswith("[cut here: the whole text has 20000 characters]")


@pytest.mark.parametrize(
    "terms",
    [
        {"start_seconds": 0},
        {"start_seconds": float("inf")},
        {"trust_hints": 1},
        {"usual": None},
        {"usual": {"needs_aproval": True}},
        {"usual": {"thread": "caller"}},
        {"options": {"a": None}},
        {"options": {"a": {"timeout": 0}}},
    ],
)
def test_wrong_terms_are_refused(terms: dict[str, Any]) -> None:
    with pytest.raises((InvalidValue, ToolDefinitionError)):
        Terms(**terms)
