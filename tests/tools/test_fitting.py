"""
Fitting: what a tool tells has at most the characters that it may have, and the host is handed what was cut whole.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, Outcome, RunStatus, ToolLoop
from rodada.statemachine.messages import Media, Part, Status, Text, ToolRequest, ToolResult, plain_text
from rodada.statemachine.ports import AnyTool
from rodada.tools import ToolError, ToolResultParts, adopt, loop_tool, tool
from rodada.tools.cutting import cut_parts
from rodada.tools.fitting import fitted
from rodada.tools.options import OnCut, Options, ToolOptions, Usual
from support import words
from support.tool_calls import request, result

Handed: TypeAlias = list[tuple[ToolRequest, ToolResult]]

LONG = "x" * 1000
SHOT = Media.of(b"\x89PNG\r\n\x1a\n", "image/png", "shot.png")
DECLARED = {"name": "f", "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
RAW = '{"n":1}'


def gives(n: int) -> str:
    return LONG


async def gives_later(n: int) -> str:
    return LONG


def shows(n: int) -> ToolResultParts:
    return ToolResultParts([LONG[:150], SHOT, LONG[150:]], failed=True)


def fails(n: int) -> None:
    raise ToolError(LONG)


async def breaks(n: int) -> None:
    raise ValueError(LONG)


def wants_more(one: int, another: int, one_more: int, the_very_last_one_of_all: int) -> None: ...


def decorated(function: Callable[..., object], **options: Any) -> AnyTool:
    return tool(name="f", **options)(function)


def adopted(**options: Unpack[ToolOptions]) -> AnyTool:
    (made,) = adopt([DECLARED], {"f": gives}, {"f": options})
    return made


def asked(**options: Any) -> AnyTool:
    return loop_tool(ToolLoop(Scripted([Turn(LONG)])), name="f", description="", **options)


def keeping(handed: Handed) -> OnCut:
    """
    A hook that keeps what it is handed.
    """

    def keep(asked: ToolRequest, whole: ToolResult) -> None:
        handed.append((asked, whole))

    return keep


WAYS: dict[str, tuple[Callable[..., AnyTool], str]] = {
    "a text": (partial(decorated, gives), RAW),
    "a text of an async tool": (partial(decorated, gives_later), RAW),
    "a text of a deterministic tool": (partial(decorated, gives, deterministic=True), RAW),
    "texts beside media": (partial(decorated, shows), RAW),
    "a failure": (partial(decorated, fails), RAW),
    "an exception": (partial(decorated, breaks, errors="message"), RAW),
    "refused arguments": (partial(decorated, wants_more), '{"one":"' + LONG + '"}'),
    "an adopted tool": (adopted, RAW),
    "a loop": (asked, '{"message":"go"}'),
}


@pytest.mark.parametrize("way", WAYS)
def test_f041_each_way_a_tool_tells_something_is_cut_at_its_own_limit_below_or_above_the_runs(way: str) -> None:
    made, raw = WAYS[way]
    little, unlimited = Limits(max_result_chars=200), Limits(max_result_chars=None)
    whole = result(made(), raw, unlimited)
    cut = ToolResult.with_parts(request("f"), whole.status, cut_parts(whole.content, 200))
    assert f"[cut here: the whole text has {len(whole.text)} characters]" in cut.text

    assert cut == result(made(), raw, little)
    assert cut == result(made(max_result_chars=200), raw, unlimited)
    assert whole == result(made(max_result_chars=5000), raw, little)
    assert whole == result(made(max_result_chars=None), raw, little)


@pytest.mark.parametrize("way", WAYS)
def test_f041_the_host_is_handed_the_whole_result_where_it_was_cut_and_only_there(way: str) -> None:
    handed: Handed = []
    made, raw = WAYS[way]
    whole = result(made(max_result_chars=None, on_cut=keeping(handed)), raw)
    assert [] == handed

    result(made(max_result_chars=200, on_cut=keeping(handed)), raw)

    assert [(request("f", raw), whole)] == handed


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("error", [KeyError("k"), asyncio.CancelledError()], ids=repr)
def test_f041_a_host_that_raises_when_it_is_handed_something_changes_nothing(
    way: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def hook(asked: ToolRequest, whole: ToolResult) -> None:
        raise error

    made, raw = WAYS[way]
    expected = result(made(max_result_chars=200), raw)

    assert expected == result(made(max_result_chars=200, on_cut=hook), raw)
    assert f"event=tool.on_cut_failed tool=f error={type(error).__name__}" in caplog.messages


def test_f041_a_result_of_megabytes_is_whole_for_the_host_and_the_conversation_goes_on() -> None:
    handed: Handed = []

    @tool(reads=(), on_cut=keeping(handed))
    def dump() -> str:
        return text

    text = "a row of the table\n" * 250_000
    loop = ToolLoop(Scripted([Turn(calls=[Call("dump")]), Turn("It is large."), Turn("Still here.")]), tools=[dump])
    first = loop.run_sync("dump it")
    second = loop.run_sync("and now?", conversation=first.conversation)

    ((_, whole),) = handed
    assert (Status.SUCCEEDED, text) == (whole.status, whole.text)
    (call,) = first.calls
    assert (Status.SUCCEEDED, 100_000) == (call.status, len(call.text))
    assert call.text.endswith(f"\n[cut here: the whole text has {len(text)} characters]")
    assert ["It is large.", "Still here."] == [first.answer, second.answer]


def test_f041_the_host_is_handed_it_where_the_tool_ran_with_the_context_variables_of_the_run() -> None:
    var = contextvars.ContextVar("var", default="none")
    seen: dict[str, tuple[str, bool]] = {}
    main = threading.current_thread()

    def hook(asked: ToolRequest, whole: ToolResult) -> None:
        seen[asked.name] = (var.get(), threading.current_thread() is main)

    tools: list[AnyTool] = [
        tool(name="in_a_thread", max_result_chars=200, on_cut=hook)(gives),
        tool(name="on_the_loop", max_result_chars=200, on_cut=hook)(gives_later),
    ]
    calls = [Call(each.declaration.name, {"n": 1}) for each in tools]

    async def play() -> Outcome:
        var.set("u1")
        return await ToolLoop(Scripted([Turn(calls=calls), Turn("done")]), tools=tools).run("go on")

    assert RunStatus.COMPLETED is asyncio.run(play()).status
    assert {"in_a_thread": ("u1", False), "on_the_loop": ("u1", True)} == seen


@given(
    st.lists(words.parts, min_size=1).map(tuple),
    st.none() | st.integers(200, 250),
    st.none() | st.integers(200, 250) | st.just(Usual.USUAL),
)
def test_f041_what_is_told_fits_and_the_host_has_the_rest_exactly_where_something_is_missing(
    parts: tuple[Part, ...], usual: int | None, own: int | Usual | None
) -> None:
    handed: Handed = []
    asked, whole = request("f"), ToolResult.with_parts(request("f"), Status.SUCCEEDED, (Text("x" * 180), *parts))
    options = Options(max_result_chars=own, on_cut=keeping(handed))

    told = fitted(asked, whole.status, whole.content, options, Limits(max_result_chars=usual))

    most = usual if own is Usual.USUAL else own
    assert most is None or len(plain_text(told.content)) <= most
    assert ([] if told == whole else [(asked, whole)]) == handed
