"""
Tools that a vendor runs itself: what may be declared of them, and what belongs elsewhere.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pytest

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.openai_responses import OpenAIResponses
from rodada.providers.server_tools import checked_server_tools, names_of
from rodada.statemachine import ToolLoop
from rodada.statemachine.errors import InvalidValue
from rodada.tools import tool

KEY = "sk-test"
PROVIDERS: Mapping[str, Callable[..., object]] = {
    "Anthropic": Anthropic,
    "OpenAIResponses": OpenAIResponses,
    "Google": Google,
}
OURS = "is a tool that the loop runs: use ToolLoop(tools=...)"
BY_HOST = "is asked for by the model and run by you: give a tool that does it to ToolLoop(tools=...)"
SEARCH = {"type": "web_search_20260318", "name": "web_search"}


def refused(name: str, given: object) -> str:
    with pytest.raises(InvalidValue) as caught:
        PROVIDERS[name]("some-model", api_key=KEY, server_tools=given)
    return str(caught.value).removeprefix(f"{name}.server_tools")


def told(given: object) -> str:
    with pytest.raises(InvalidValue) as caught:
        checked_server_tools("Vendor", given, lambda _: None)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "fault"),
    [
        ("Anthropic", {"name": "look", "input_schema": {"type": "object"}}, OURS),
        ("Anthropic", {"type": "custom", "name": "look"}, OURS),
        ("Anthropic", {"type": 3}, "its type must be a text"),
        ("Anthropic", {"type": "bash_20250124", "name": "bash"}, f"'bash_20250124' {BY_HOST}"),
        ("Anthropic", {"type": "computer_toolset_20260801"}, f"'computer_toolset_20260801' {BY_HOST}"),
        ("OpenAIResponses", {"type": "function", "name": "look", "parameters": {}}, OURS),
        ("OpenAIResponses", {"name": "look"}, OURS),
        ("OpenAIResponses", {"type": None}, "its type must be a text"),
        ("OpenAIResponses", {"type": "local_shell"}, f"'local_shell' {BY_HOST}"),
        ("OpenAIResponses", {"type": "shell", "environment": {"type": "local"}}, f"'shell' {BY_HOST}"),
        ("OpenAIResponses", {"type": "shell"}, f"'shell' {BY_HOST}"),
        ("OpenAIResponses", {"type": "tool_search", "execution": "client"}, f"'tool_search' {BY_HOST}"),
        (
            "OpenAIResponses",
            {"type": "mcp", "server_label": "shop", "server_url": "https://shop.example"},
            "nobody is asked to approve what the vendor runs: it takes require_approval='never' alone",
        ),
        ("Google", {"functionDeclarations": [{"name": "look"}]}, OURS),
        ("Google", {"function_declarations": [{"name": "look"}]}, OURS),
        ("Google", {"name": "look", "parameters": {}}, OURS),
        ("Google", {"type": "function", "description": "Look."}, OURS),
        ("Google", {"computerUse": {}}, f"computer use {BY_HOST}"),
    ],
)
def test_what_the_vendor_does_not_run_is_refused_and_the_place_named(name: str, given: object, fault: str) -> None:
    assert refused(name, [given]) == f"[0]: {fault}"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Anthropic", [SEARCH, {"type": "code_execution_20260521", "name": "code_execution"}]),
        ("Anthropic", iter([SEARCH])),
        ("OpenAIResponses", [{"type": "web_search"}, {"type": "shell", "environment": {"type": "container_auto"}}]),
        ("OpenAIResponses", [{"type": "mcp", "server_label": "shop", "require_approval": "never"}]),
        ("OpenAIResponses", [{"type": "a_tool_of_tomorrow"}]),
        ("Google", [{"googleSearch": {"excludeDomains": ["a.example"]}}, {"code_execution": None}]),
        ("Google", None),
    ],
)
def test_what_the_vendor_runs_may_be_declared(name: str, given: object) -> None:
    PROVIDERS[name]("some-model", api_key=KEY, server_tools=given)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"type": "web_search"}, ": takes a list of declarations, not a dict"),
        ("web_search", ": takes a list of declarations, not a str"),
        (3, ": takes a list of declarations, not a int"),
        (["web_search"], "[0]: takes a declaration in the vendor's form, got a str"),
        ([SEARCH, {}], "[1]: takes a declaration in the vendor's form, got an empty one"),
        ([['{"authorization": "hunter2"}']], "[0]: takes a declaration in the vendor's form, got a list"),
        ([{"type": "t", "limit": float("nan")}], "[0]: holds something that is no JSON value"),
        ([{"type": "t", "limit": object}], "[0]: holds something that is no JSON value"),
        ([{"type": "t", 3: "x"}], "[0]: holds something that is no JSON value"),
        ([{"type": "t", "said": "\ud800"}], "[0]: holds something that is no JSON value"),
        ([SEARCH, {"type": "t"}, SEARCH], "[2]: is the second one named 'web_search'"),
    ],
)
def test_what_is_no_list_of_declarations_is_refused(given: object, fault: str) -> None:
    assert told(given) == f"Vendor.server_tools{fault}"


def test_declarations_stand_as_they_were_given_whatever_becomes_of_those() -> None:
    domains = ["b.example", "a.example"]
    given = {"type": "t", "name": "n", "allowed_domains": domains}
    found = checked_server_tools("Vendor", [MappingProxyType(given)], lambda _: None)
    domains.append("c.example")
    assert found == ({"type": "t", "name": "n", "allowed_domains": ["b.example", "a.example"]},)
    assert [*found[0]] == [*given]
    assert names_of((*found, {"googleSearch": {}})) == {"n"}


@tool
def web_search(query: str) -> str:
    """
    Look something up.
    """
    return query


def test_a_tool_of_the_loop_may_not_have_the_name_of_a_server_tool() -> None:
    provider = Anthropic("claude-opus-5-5", api_key=KEY, server_tools=[SEARCH])
    fault = (
        "ToolLoop.tools: 'web_search' is the name of a server tool of Anthropic('claude-opus-5-5'): give yours another "
        "name"
    )
    with pytest.raises(InvalidValue) as built:
        ToolLoop(provider, tools=[web_search])
    with pytest.raises(InvalidValue) as started:
        ToolLoop(provider).start("Hi.", tools=[web_search])
    assert [str(built.value), str(started.value)] == [fault, fault]
    ToolLoop(Anthropic("claude-opus-5-5", api_key=KEY), tools=[web_search])
