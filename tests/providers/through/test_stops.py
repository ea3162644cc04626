"""
How a turn ended decides what becomes of it, through each real SDK, whole and streamed: never what stands in it.
"""

import asyncio
from collections.abc import Generator, Mapping

import pytest

from rodada.providers.anthropic import Anthropic
from rodada.providers.loopback import Altered, Body, Call, Hang, Reply, Stop, Turn, WireName
from rodada.providers.loopback.json_values import Object, objs
from rodada.statemachine import ENGLISH, Limits, Outcome, Reason, RunStatus, Status, TurnKind
from support.bodies import Part, candidate_of, completion_of, message_of, response_of
from support.desk import Desk, both_ways, every_wire, statuses
from support.stage import KEY, WIRES, Stage

ASK = Turn("Let me look.", [Call("look")], reasoning=True)
SEARCH = {"type": "web_search_20260318", "name": "web_search"}
USE: Part = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a b"}}
FOUND: Part = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
THOUGHT: Part = {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}

INCOMPLETE = RunStatus.INCOMPLETE


def ending(outcome: Outcome) -> tuple[RunStatus, Reason | None, str, str]:
    """
    How a run ended, and who says so.
    """
    return outcome.status, outcome.reason, outcome.detail, outcome.answer_by


# Cut at the output limit

CUTTING: tuple[WireName, ...] = ("anthropic", "openai", "openai_chat")  # Gemini's cut calls are not handed over
cutting_wires = pytest.mark.parametrize("wire", CUTTING)
CUT_TEXT = ENGLISH.not_executed_because(Reason.CUT)


@both_ways
@cutting_wires
@pytest.mark.parametrize("arguments", ['{"path": "f", "content": "abc"}', "{}"], ids=["prefix", "empty"])
def test_f047_f048_calls_of_a_cut_turn_are_told_of_the_cut_once_and_then_the_run_closes(
    stage: Stage, wire: WireName, stream: bool, arguments: str
) -> None:
    desk = Desk(stage, wire, stream)
    cut = Turn("Writing.", [Call("look"), Call("write", arguments)], stop="cut", reasoning=True)
    outcome = desk.ask(cut, cut, Turn("It did not fit. Shall I go on?"))
    assert (desk.ran, statuses(outcome)) == ([], [Status.NOT_EXECUTED] * 4)
    assert {call.text for call in outcome.calls} == {CUT_TEXT}
    assert ending(outcome) == (INCOMPLETE, Reason.CUT, "", "model")
    assert (outcome.rounds, outcome.model_calls) == (1, 3)
    assert [str(each.body).count("It never started") for each in desk.received] == [0, 2, 4]
    desk.goes_on(outcome)


@both_ways
def test_f047_calls_of_a_cut_turn_of_gemini_are_dropped_with_it(stage: Stage, stream: bool) -> None:
    desk = Desk(stage, "google", stream)
    outcome = desk.ask(ASK, Turn("Writing.", [Call("write", {"path": "f"})], stop="cut", reasoning=True))
    assert (desk.ran, statuses(outcome)) == (["look "], [Status.SUCCEEDED])
    assert ending(outcome) == (INCOMPLETE, Reason.CUT, "MAX_TOKENS", "engine")
    assert outcome.partial == "Writing."
    desk.goes_on(outcome)


CUT_WORDS: tuple[tuple[WireName, str], ...] = (
    ("anthropic", "max_tokens"),
    ("anthropic", "model_context_window_exceeded"),
    ("openai", "max_output_tokens"),
    ("openai_chat", "length"),
    ("openai_chat", "max_tokens"),
    ("openai_chat", "model_length"),
    ("google", "MAX_TOKENS"),
)


@both_ways
@pytest.mark.parametrize(("wire", "word"), CUT_WORDS)
def test_f048_every_word_for_a_cut_is_one(stage: Stage, wire: WireName, word: str, stream: bool) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(Turn("I wanted to say", word=word))
    assert ending(outcome) == (INCOMPLETE, Reason.CUT, word, "engine")
    assert (outcome.partial, len(outcome.appended)) == ("I wanted to say", 1)
    desk.goes_on(outcome)


HALF = '{"content": "abc'
HALVES: Mapping[WireName, tuple[Body, Body]] = {  # a call whose arguments broke off: cut, and not told to be
    "openai": (
        response_of(
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "write", "arguments": HALF},
            reason="max_output_tokens",
        ),
        response_of({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "write", "arguments": HALF}),
    ),
    "openai_chat": (
        completion_of({"tool_calls": [{"id": "c1", "function": {"name": "write", "arguments": HALF}}]}, "length"),
        completion_of({"tool_calls": [{"id": "c1", "function": {"name": "write", "arguments": HALF}}]}, "tool_calls"),
    ),
}


@both_ways
@pytest.mark.parametrize("wire", HALVES)
@pytest.mark.parametrize("told", [True, False], ids=["cut", "not told"])
def test_f049_f050_half_a_call_is_kept_with_its_result_and_sent_back_as_valid_json(
    stage: Stage, wire: WireName, stream: bool, told: bool
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(HALVES[wire][0 if told else 1], Turn("Done."))
    assert (desk.ran, statuses(outcome)) == ([], [Status.NOT_EXECUTED if told else Status.FAILED])
    assert (outcome.status, outcome.calls[0].arguments) == (RunStatus.COMPLETED, HALF)
    assert HALF not in str(desk.received[1].body)
    assert "'arguments': '{}'" in str(desk.received[1].body)


def half_block(moment: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """
    Anthropic's stream of a call without its last piece of input.
    """
    written = [at for at, piece in enumerate(moment) if b"input_json_delta" in piece]
    return tuple(piece for at, piece in enumerate(moment) if at != written[-1])


@pytest.mark.parametrize("stop", ["max_tokens", "tool_use"])
def test_f049_f050_half_a_streamed_call_behind_an_empty_thought_is_no_empty_turn(stage: Stage, stop: str) -> None:
    desk = Desk(stage, "anthropic", stream=True)
    call: Part = {"type": "tool_use", "id": "toolu_half", "name": "write", "input": {"path": "a" * 40}}
    outcome = desk.ask(Altered(message_of(THOUGHT, call, stop=stop), half_block), Turn("Done."))
    assert (desk.ran, statuses(outcome)) == ([], [Status.NOT_EXECUTED if stop == "max_tokens" else Status.FAILED])
    assert outcome.status is RunStatus.COMPLETED
    [echoed] = [each["content"] for each in objs(desk.received[1].body["messages"]) if each["role"] == "assistant"]
    assert echoed == [THOUGHT, {**call, "input": {}}]
    desk.goes_on(outcome)


@both_ways
@every_wire
def test_f050_a_cut_turn_of_thoughts_alone_leaves_nothing_behind(stage: Stage, wire: WireName, stream: bool) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(ASK, Turn("", stop="cut", reasoning=True))
    assert (outcome.reason, outcome.partial, len(outcome.appended)) == (Reason.CUT, "", 2)
    desk.goes_on(outcome)


# Paused


@pytest.fixture(name="searching", scope="module")
def _searching(stage: Stage) -> Generator[Anthropic]:
    url = stage.server.base_url("anthropic")
    made = Anthropic("claude-opus-5-5", api_key=KEY, base_url=url, server_tools=[SEARCH])
    yield made
    stage.run(made.aclose())


def last_message(desk: Desk, number: int) -> Object:
    return objs(desk.received[number].body["messages"])[-1]


@both_ways
def test_f051_a_paused_turn_goes_back_unchanged_as_the_last_message_and_is_no_answer(
    stage: Stage, searching: Anthropic, stream: bool
) -> None:
    desk = Desk(stage, "anthropic", stream, provider=searching)
    blocks: list[Part] = [THOUGHT, {"type": "text", "text": "Half an answer"}, USE]
    outcome = desk.ask(message_of(*blocks, stop="pause_turn"), message_of(FOUND, {"type": "text", "text": "found"}))
    assert last_message(desk, 1) == {"role": "assistant", "content": blocks}
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "Half an answer\n\nfound")
    assert (outcome.rounds, outcome.model_calls, desk.kinds) == (0, 2, [TurnKind.ANSWER])
    desk.goes_on(outcome)


@both_ways
def test_f051_behind_a_round_the_pause_stands_behind_its_results(
    stage: Stage, searching: Anthropic, stream: bool
) -> None:
    desk = Desk(stage, "anthropic", stream, provider=searching)
    paused = message_of(THOUGHT, USE, stop="pause_turn")
    outcome = desk.ask(ASK, paused, message_of(FOUND, {"type": "text", "text": "found"}))
    roles = [each["role"] for each in objs(desk.received[2].body["messages"])]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert last_message(desk, 2)["content"] == [THOUGHT, USE]
    assert (outcome.answer, desk.ran) == ("found", ["look "])


@both_ways
def test_f051_gemini_goes_on_with_the_token_of_its_pause(stage: Stage, stream: bool) -> None:
    desk = Desk(stage, "google", stream)
    token = "dG9rZW4="
    candidate = {
        "content": {"role": "model", "parts": [{"text": "Half "}]},
        "finishReason": "CONTINUATION",
        "continuationToken": token,
        "index": 0,
    }
    outcome = desk.ask(Body({"candidates": [candidate]}), Turn("and half."))
    assert token in str(desk.received[1].body)
    assert (outcome.status, outcome.answer, outcome.model_calls) == (RunStatus.COMPLETED, "Half and half.", 2)
    desk.goes_on(outcome)


PAUSES: tuple[WireName, ...] = ("anthropic", "google")


@both_ways
@pytest.mark.parametrize("wire", PAUSES)
@pytest.mark.parametrize("most", [0, 1, 5])
def test_f052_pauses_have_a_ceiling_of_their_own(stage: Stage, wire: WireName, stream: bool, most: int) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(max_pauses=most))
    outcome = desk.ask(*[Turn("Wait. ", stop="paused", reasoning=True)] * (most + 1))
    assert ending(outcome)[1] is Reason.PAUSED
    assert (outcome.status, outcome.answer_by, outcome.partial) == (INCOMPLETE, "engine", "Wait. " * (most + 1))
    assert (outcome.model_calls, outcome.rounds, len(outcome.appended)) == (most + 1, 0, 1)
    desk.goes_on(outcome)


@both_ways
def test_f052_each_resumed_block_keeps_its_input(stage: Stage, searching: Anthropic, stream: bool) -> None:
    desk = Desk(stage, "anthropic", stream, provider=searching, limits=Limits(max_pauses=2))
    pieces: list[tuple[Part, Part]] = [
        ({**USE, "id": f"srvtoolu_{n}", "input": {"q": n}}, {**FOUND, "tool_use_id": f"srvtoolu_{n}"}) for n in range(3)
    ]
    outcome = desk.ask(*(message_of(*piece, stop="pause_turn") for piece in pieces))
    assert outcome.reason is Reason.PAUSED
    assert last_message(desk, 2)["content"] == [*pieces[0], *pieces[1]]


@both_ways
@pytest.mark.parametrize("wire", PAUSES)
def test_f052_the_deadline_ends_the_pauses_and_the_closing_call_goes_without_them(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(seconds=10_000, closing_seconds=1000, call_seconds=None))
    paused = Turn("Wait. ", stop="paused", reasoning=True)
    stage.server.play([paused, paused, Hang(), Turn("So far.")])

    async def scene() -> Outcome:
        run = asyncio.create_task(desk.watched())
        await asyncio.to_thread(stage.server.wait_for, lambda: len(stage.server.received) == 3)
        desk.clock.move_to(9000)
        return await run

    outcome = stage.run(scene())
    assert stage.server.refusals == ()
    assert ending(outcome) == (INCOMPLETE, Reason.DEADLINE, "", "model")
    assert (outcome.answer, outcome.model_calls) == ("So far.", 4)
    assert "Wait." not in str(desk.received[3].body)
    desk.goes_on(outcome)


# Malformed

MALFORMED_WORDS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE")
NARRATION = "I will now write the file"
MALFORMED: tuple[tuple[WireName, Reply, str], ...] = (
    *(("google", Turn(NARRATION, word=word), word) for word in MALFORMED_WORDS),
    ("google", Turn(NARRATION, [Call("write", {"path": "f"})], word=MALFORMED_WORDS[0]), MALFORMED_WORDS[0]),
    ("openai_chat", Turn(NARRATION, word="tool_calls"), "tool_calls"),
    ("anthropic", Turn(NARRATION, word="tool_use"), "tool_use"),
    ("anthropic", Turn(NARRATION, [Call("write", {"path": "f"})], word="end_turn"), "end_turn"),
    ("openai", Turn(NARRATION, stop="paused"), "commentary"),
)
malformed_turns = pytest.mark.parametrize(
    ("wire", "reply", "word"), MALFORMED, ids=[f"{wire}-{word}-{at}" for at, (wire, _, word) in enumerate(MALFORMED)]
)


@both_ways
@malformed_turns
def test_f053_narration_beside_a_malformed_call_is_asked_for_once_more_and_is_never_the_answer(
    stage: Stage, wire: WireName, reply: Reply, word: str, stream: bool
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(reply, reply)
    assert ending(outcome) == (INCOMPLETE, Reason.MALFORMED, word, "engine")
    assert (outcome.partial, desk.ran, outcome.model_calls) == (NARRATION, [], 2)
    assert NARRATION not in outcome.answer
    assert desk.received[0].body == desk.received[1].body
    desk.goes_on(outcome)


@both_ways
@malformed_turns
def test_f053_in_the_closing_call_the_engine_answers(
    stage: Stage, wire: WireName, reply: Reply, word: str, stream: bool
) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(max_rounds=0))
    outcome = desk.ask(ASK, reply)
    assert ending(outcome)[:2] == (INCOMPLETE, Reason.MAX_ROUNDS)
    assert (outcome.answer_by, outcome.answer) == ("engine", ENGLISH.own_answer(Reason.MAX_ROUNDS, ("look",)))


# Blank

BLANKS: Mapping[WireName, tuple[Reply, ...]] = {
    "anthropic": (message_of(), message_of({"type": "text", "text": ""}), message_of(THOUGHT)),
    "openai": (
        response_of(),
        response_of({"type": "message", "id": "msg_1", "role": "assistant", "content": []}),
        response_of(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "", "annotations": []}],
            }
        ),
    ),
    "openai_chat": (
        completion_of({"content": None}),
        completion_of({"content": ""}),
        completion_of({"content": [{"type": "text", "text": " "}]}),
        completion_of({"content": "", "reasoning_content": "Hm."}),
    ),
    "google": (
        candidate_of(),
        candidate_of({"text": ""}),
        candidate_of({"text": "Hm.", "thought": True}),
        candidate_of({"text": "", "thoughtSignature": "c2lnbmVk"}),
    ),
}
THINKS: tuple[Reply, ...] = (Turn("", reasoning=True), Turn("  \n", reasoning=True))
blank_turns = pytest.mark.parametrize(
    ("wire", "reply"), [(wire, reply) for wire in WIRES for reply in (*BLANKS[wire], *THINKS)]
)


@both_ways
@blank_turns
def test_f054_what_shows_nothing_is_asked_for_once_more_and_is_no_answer(
    stage: Stage, wire: WireName, reply: Reply, stream: bool
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(ASK, reply, reply)
    assert (outcome.status, outcome.reason, outcome.answer_by) == (INCOMPLETE, Reason.EMPTY, "engine")
    assert (outcome.answer, outcome.model_calls) == (ENGLISH.own_answer(Reason.EMPTY, ()), 3)
    assert desk.received[1].body == desk.received[2].body
    assert len(outcome.appended) == 2
    desk.goes_on(outcome)


@both_ways
@blank_turns
def test_f054_asked_once_more_the_model_may_answer(stage: Stage, wire: WireName, reply: Reply, stream: bool) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(reply, Turn("There."))
    assert (outcome.status, outcome.answer, outcome.model_calls) == (RunStatus.COMPLETED, "There.", 2)
    assert desk.kinds == [TurnKind.DISCARDED, TurnKind.ANSWER]
    desk.goes_on(outcome)


# Refused


def refusing(calls: bool) -> Mapping[WireName, tuple[tuple[Reply, str], ...]]:
    """
    What declines, and the word for it: with nothing, with thoughts alone, with a call.
    """
    block: list[Part] = [{"type": "tool_use", "id": "toolu_no", "name": "write", "input": {}}] * calls
    item: list[Part] = [
        {"type": "function_call", "id": "fc_no", "call_id": "no", "name": "write", "arguments": "{}"}
    ] * calls
    called: Part = {"tool_calls": [{"id": "no", "function": {"name": "write", "arguments": "{}"}}]} if calls else {}
    part: list[Part] = [{"functionCall": {"name": "write", "args": {}}}] * calls
    refusal: Part = {
        "type": "message",
        "id": "msg_no",
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": "No"}],
    }
    return {
        "anthropic": (
            (message_of(*block, stop="refusal"), "refusal"),
            (message_of(THOUGHT, *block, stop="refusal"), "refusal"),
        ),
        "openai": (
            (response_of(refusal, *item), "refusal"),
            (response_of(*item, reason="content_filter"), "content_filter"),
        ),
        "openai_chat": (
            (completion_of({"refusal": "No", **called}), "refusal"),
            (completion_of({**called}, "content_filter"), "content_filter"),
        ),
        "google": (
            *((candidate_of(*part, reason=word), word) for word in ("SAFETY", "PROHIBITED_CONTENT", "RECITATION")),
            (candidate_of({"text": "Hm.", "thought": True}, *part, reason="SAFETY"), "SAFETY"),
            (Body({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}), "PROHIBITED_CONTENT"),
            (Body({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}}), "SAFETY"),
        ),
    }


REFUSALS = [
    (wire, reply, word, calls) for calls in (False, True) for wire in WIRES for reply, word in refusing(calls)[wire]
]
refused_turns = pytest.mark.parametrize(
    ("wire", "reply", "word"),
    [each[:3] for each in REFUSALS],
    ids=[f"{wire}-{word}{'-calls' * calls}-{at}" for at, (wire, _, word, calls) in enumerate(REFUSALS)],
)


@both_ways
@refused_turns
def test_f055_a_refusal_is_told_by_its_word_at_once_and_runs_nothing(
    stage: Stage, wire: WireName, reply: Reply, word: str, stream: bool
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(ASK, reply)
    assert ending(outcome) == (INCOMPLETE, Reason.REFUSED, word, "engine")
    assert (desk.ran, statuses(outcome), outcome.model_calls) == (["look "], [Status.SUCCEEDED], 2)
    assert len(outcome.appended) == 2
    desk.goes_on(outcome)


FILTERED: tuple[tuple[WireName, Turn, str], ...] = (
    ("anthropic", Turn("I am sorry", stop="refused"), "refusal"),
    ("openai", Turn("I am sorry", word="content_filter"), "content_filter"),
    ("openai_chat", Turn("I am sorry", word="content_filter"), "content_filter"),
    ("google", Turn("I am sorry", word="SAFETY"), "SAFETY"),
    ("google", Turn("I am sorry", word="RECITATION"), "RECITATION"),
    ("google", Turn("I am sorry", word="SPII"), "SPII"),
)


@both_ways
@pytest.mark.parametrize(("wire", "turn", "word"), FILTERED, ids=[f"{wire}-{word}" for wire, _, word in FILTERED])
@pytest.mark.parametrize("closing", [False, True], ids=["usual", "closing"])
def test_f056_what_a_filter_left_is_carried_and_is_no_answer(
    stage: Stage, wire: WireName, turn: Turn, word: str, stream: bool, closing: bool
) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(max_rounds=0))
    outcome = desk.ask(*[ASK] * closing, turn)
    reason = Reason.MAX_ROUNDS if closing else Reason.REFUSED
    assert ending(outcome) == (INCOMPLETE, reason, word, "engine")
    assert (outcome.partial, desk.kinds[-1]) == ("I am sorry", TurnKind.PARTIAL)
    assert "sorry" not in outcome.answer
    desk.goes_on(outcome)


@both_ways
@every_wire
@pytest.mark.parametrize("stop", ["cut", "refused", "unknown"])
def test_f056_text_of_a_turn_that_is_not_whole_is_never_an_answer(
    stage: Stage, wire: WireName, stop: Stop, stream: bool
) -> None:
    outcome = Desk(stage, wire, stream).ask(Turn("I am sor", stop=stop))
    assert (outcome.status, outcome.answer_by, outcome.partial) == (INCOMPLETE, "engine", "I am sor")


# Behind a pause

WAIT = Turn("Wait. ", stop="paused", reasoning=True)
BEHIND: tuple[tuple[tuple[Turn, ...], Reason], ...] = (
    ((Turn("I will not.", stop="refused"),), Reason.REFUSED),
    ((Turn("I will not.", stop="unknown"),), Reason.UNKNOWN_STOP),
    ((Turn("I will not.", stop="cut"),), Reason.CUT),
    ((Turn("", reasoning=True), Turn("", reasoning=True)), Reason.EMPTY),
)


@both_ways
@pytest.mark.parametrize("wire", PAUSES)
@pytest.mark.parametrize(("turns", "reason"), BEHIND, ids=[reason.value for _, reason in BEHIND])
def test_f051_what_ends_a_paused_turn_decides_over_the_whole_of_it(
    stage: Stage, wire: WireName, turns: tuple[Turn, ...], reason: Reason, stream: bool
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(ASK, WAIT, *turns)
    assert (outcome.status, outcome.reason, outcome.answer_by) == (INCOMPLETE, reason, "engine")
    assert (outcome.partial, len(outcome.appended)) == ("Wait. " + turns[-1].text, 2)
    desk.goes_on(outcome)
    assert "Wait. " not in str(desk.received[0].body)


@both_ways
def test_f047_calls_of_a_cut_turn_behind_a_pause_are_told_of_the_cut(stage: Stage, stream: bool) -> None:
    desk = Desk(stage, "anthropic", stream)
    outcome = desk.ask(WAIT, Turn("", [Call("write", {"path": "f"})], stop="cut", reasoning=True), Turn("Done."))
    assert (desk.ran, statuses(outcome)) == ([], [Status.NOT_EXECUTED])
    assert (outcome.status, outcome.answer, outcome.narration) == (RunStatus.COMPLETED, "Done.", ("Wait. ",))
    desk.goes_on(outcome)
