"""
The closing call and the choice of tools, through each real SDK, whole and streamed.
"""

from collections.abc import Mapping

import pytest

from rodada.providers.loopback import Call, Reply, Turn, WireName
from rodada.statemachine import ENGLISH, Limits, Reason, RunStatus, Status
from support.bodies import candidate_of, completion_of, message_of, response_of
from support.desk import Desk, both_ways, every_wire, statuses
from support.heard import heard
from support.stage import WIRES, Stage

ASK = Turn("", [Call("look")], reasoning=True)
OWN_WORDS = ENGLISH.own_answer(Reason.MAX_ROUNDS, ("look",))
LIMITS = Limits(max_rounds=1)


@both_ways
@every_wire
def test_f062_f063_no_call_is_forced_and_the_closing_one_forbids(stage: Stage, wire: WireName, stream: bool) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    outcome = desk.ask(ASK, ASK, Turn("So far."))
    assert [heard(each).choice for each in desk.received] == ["auto", "auto", "none"]
    assert {heard(each).tools for each in desk.received} == {("write", "look")}
    assert (outcome.answer, outcome.answer_by) == ("So far.", "model")
    desk.goes_on(outcome)
    assert heard(desk.received[0]).choice == "auto"


@both_ways
@every_wire
@pytest.mark.parametrize("text", ["So far.", ""])
def test_f062_a_server_that_ignores_the_choice_runs_nothing_in_the_closing_call(
    stage: Stage, wire: WireName, stream: bool, text: str
) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    outcome = desk.ask(ASK, ASK, Turn(text, [Call("write", {"path": "late"})], reasoning=True))
    assert (desk.ran, statuses(outcome)) == (["look "], [Status.SUCCEEDED, Status.NOT_EXECUTED])
    assert (outcome.status, outcome.reason) == (RunStatus.INCOMPLETE, Reason.MAX_ROUNDS)
    assert (outcome.answer, outcome.answer_by) == ((text, "model") if text else (OWN_WORDS, "engine"))
    desk.goes_on(outcome)
    assert "late" not in str(desk.received[0].body)


WRITTEN = (
    '<invoke name="write"><parameter name="path">f</parameter></invoke>',
    '<tool_call>{"name": "write", "arguments": {"path": "f"}}</tool_call>',
    '{"name": "write", "arguments": {"path": "f"}}',
)


@both_ways
@every_wire
@pytest.mark.parametrize("text", WRITTEN, ids=["xml", "tags", "json"])
@pytest.mark.parametrize("closing", [False, True], ids=["usual", "closing"])
def test_f064_a_call_written_as_text_is_text(
    stage: Stage, wire: WireName, stream: bool, text: str, closing: bool
) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(max_rounds=0))
    outcome = desk.ask(*[ASK] * closing, Turn(text))
    assert (desk.ran, outcome.answer, outcome.answer_by) == ([], text, "model")
    assert (outcome.status, outcome.model_calls) == ((RunStatus.INCOMPLETE, 2) if closing else (RunStatus.COMPLETED, 1))


BLANKS: Mapping[WireName, tuple[Reply, ...]] = {
    "anthropic": (message_of(), message_of({"type": "text", "text": " \n"})),
    "openai": (response_of(), Turn("", reasoning=True), Turn(" \n", reasoning=True)),
    "openai_chat": tuple(completion_of({"content": content}) for content in (None, "", " \n")),
    "google": (candidate_of(), candidate_of({"text": " \n"}), candidate_of({"text": "Hm.", "thought": True})),
}


@both_ways
@pytest.mark.parametrize(("wire", "reply"), [(wire, reply) for wire in WIRES for reply in BLANKS[wire]])
def test_f065_a_blank_closing_reply_is_replaced_by_honest_words_of_our_own(
    stage: Stage, wire: WireName, reply: Reply, stream: bool
) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    outcome = desk.ask(ASK, ASK, reply)
    assert (outcome.status, outcome.reason, outcome.model_calls) == (RunStatus.INCOMPLETE, Reason.MAX_ROUNDS, 3)
    assert (outcome.answer, outcome.answer_by) == (OWN_WORDS, "engine")
    assert [type(entry).__name__ for entry in outcome.appended] == ["UserMessage", "Exchange", "Exchange"]
    desk.goes_on(outcome)
