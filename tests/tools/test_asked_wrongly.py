"""
Calls that cannot run: bad arguments and names that no tool has are answered like every other call, and end a run no
sooner and no later.
"""

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, Notice, Outcome, Reason, RunStatus, Status, ToolLoop
from rodada.statemachine.jsontext import dump_json
from rodada.statemachine.ports import AnyTool
from rodada.tools import tool

ran: list[str] = []


@tool(reads="")
def find(words: str, most: int = 3) -> str:
    """Find some words."""
    ran.append(words)
    return f"found {words}"


def outcome_of(*turns: Turn, tools: tuple[AnyTool, ...] = (find,), **limits: Any) -> Outcome:
    ran.clear()
    loop = ToolLoop(Scripted(turns, closing=Turn("So far nothing.")), tools=tools, limits=Limits(**limits))
    return asyncio.run(loop.run("go"))


def statuses(outcome: Outcome) -> list[Status]:
    return [call.status for call in outcome.calls]


def test_f029_a_call_whose_arguments_are_no_json_is_answered_and_the_loop_goes_on() -> None:
    outcome = outcome_of(Turn(calls=[Call("find", "{bad")]), Turn("done"))
    assert (RunStatus.COMPLETED, "done", 1) == (outcome.status, outcome.answer, outcome.rounds)
    assert ([Status.FAILED], []) == (statuses(outcome), ran)
    assert "'{bad'. Send one JSON object" in outcome.calls[0].text


@pytest.mark.parametrize(
    "raw", ["[1]", '"x"', "3", "true", '"{\\"words\\":\\"x\\"}"', '{"word":"x"}', '{"words":null}']
)
def test_f027_one_bad_call_harms_none_beside_it(raw: str) -> None:
    outcome = outcome_of(Turn(calls=[Call("find", raw), Call("find", {"words": "a"})]), Turn("done"))
    assert ([Status.FAILED, Status.SUCCEEDED], ["a"]) == (statuses(outcome), ran)
    assert (RunStatus.COMPLETED, "done") == (outcome.status, outcome.answer)


def test_f030_what_is_said_of_a_huge_bad_call_is_short() -> None:
    outcome = outcome_of(Turn(calls=[Call("find", "{" + "x" * 200_000), Call("x" * 200_000)]), Turn("done"))
    assert [Status.FAILED, Status.FAILED] == statuses(outcome)
    assert max(len(call.text) for call in outcome.calls) < 500
    assert "200001 characters came" in outcome.calls[0].text


def test_f035_a_turn_that_names_no_tool_there_is_still_asks_for_tools() -> None:
    outcome = outcome_of(Turn("", [Call("search_files")]), Turn("sorry"))
    assert (RunStatus.COMPLETED, "sorry", 1) == (outcome.status, outcome.answer, outcome.rounds)
    assert [(Status.FAILED, "search_files")] == [(call.status, call.name) for call in outcome.calls]
    assert "The tools are: find." in outcome.calls[0].text


@pytest.mark.parametrize("call", [Call("nosuch"), Call("find", "{bad"), Call("find", {"x": 1})])
def test_f036_the_same_bad_call_for_ever_ends_at_the_limit_through_the_closing_call(call: Call) -> None:
    outcome = outcome_of(*[Turn(calls=[call])] * 4, max_rounds=3)
    assert (RunStatus.INCOMPLETE, Reason.MAX_ROUNDS, 3) == (outcome.status, outcome.reason, outcome.rounds)
    assert ("So far nothing.", "model", 5) == (outcome.answer, outcome.answer_by, outcome.model_calls)
    assert [Status.FAILED] * 3 + [Status.NOT_EXECUTED] == statuses(outcome)


ODD = {
    "half a pair": "\ud835",
    "a null": "x\x00y",
    "escapes of a terminal": "\x1b[2J\x1b]0;t\x07",
    "right to left": "\u202eabc",
    "ten megabytes": "\U0001f600" * 2_500_000,
    "line breaks": "a\r\nb\u2028c\u0085",
}


@pytest.mark.parametrize("name", ODD)
def test_f040_no_text_of_a_tool_troubles_log_digests_or_watchers(name: str, caplog: pytest.LogCaptureFixture) -> None:
    @tool(reads="")
    def say() -> str:
        return ODD[name]

    @tool(reads="", errors="message")
    def fail() -> str:
        raise ValueError(ODD[name])

    async def play() -> tuple[Outcome, list[Notice]]:
        calls = [Call("say"), Call("fail"), Call("find", dump_json({"words": "x" + ODD[name][:99]}))]
        loop = ToolLoop(Scripted([Turn(calls=calls), Turn("done")]), tools=[say, fail, find])
        async with loop.start("go") as live:
            notices = [notice async for notice in live.events()]
            return await live.outcome(), notices

    with caplog.at_level(logging.DEBUG):
        outcome, notices = asyncio.run(play())
    assert (RunStatus.COMPLETED, "done") == (outcome.status, outcome.answer)
    assert [Status.SUCCEEDED, Status.FAILED, Status.SUCCEEDED] == statuses(outcome)
    told = [dump_json(outcome.to_json()), dump_json(outcome.conversation.to_json()), caplog.text]
    assert all(text.encode("utf-8") for text in (*told, *(dump_json(each.to_json()) for each in notices)))
    assert outcome.conversation == type(outcome.conversation).from_json(outcome.conversation.to_json())


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["find", "nosuch", ""]) | st.text(), st.text() | st.just("{}")), max_size=4))
def test_whatever_a_model_asks_for_is_answered_in_order(asked: list[tuple[str, str]]) -> None:
    calls = [Call("find", {"words": "a"}), *(Call(name, raw) for name, raw in asked)]
    outcome = outcome_of(Turn(calls=calls), Turn("done"))
    assert (RunStatus.COMPLETED, "done") == (outcome.status, outcome.answer)
    assert len(calls) == len(outcome.calls)
    assert set(statuses(outcome)[1:]) <= {Status.FAILED}
    assert dump_json(outcome.conversation.to_json()).encode("utf-8")
