"""
Faults of other loops whose mechanism shows only end to end, through each real SDK.
"""

import asyncio
import copy
from collections import Counter
from typing import Any

import pytest

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Call, Hang, Loopback, Reply, Turn, WireName
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import (
    ENGLISH,
    Conversation,
    Ended,
    Exchange,
    Limits,
    Notice,
    Outcome,
    Reason,
    RunStatus,
    Status,
    ToolEnded,
    ToolLoop,
    ToolStarted,
    Usage,
)
from rodada.statemachine.errors import ConversationBusy, InvalidValue
from rodada.tools import tool
from support.stage import KEY, WIRES, Stage, set_stage
from support.virtual_clock import VirtualClock
from support.wire_pairs import pair_faults

every_wire = pytest.mark.parametrize("wire", WIRES)


def asks(*names: str, text: str = "") -> Turn:
    return Turn(text, [Call(name) for name in names], reasoning=True)


def loop_on(stage: Stage, wire: WireName, ran: list[str], max_rounds: int = 10) -> ToolLoop:
    """
    A loop with the tools a, b and c, which tell that they ran.
    """

    @tool
    async def a() -> str:
        """Do a."""
        ran.append("a")
        return "did a"

    @tool
    async def b() -> str:
        """Do b."""
        ran.append("b")
        return "did b"

    @tool
    def c() -> str:
        """Do c."""
        ran.append("c")
        return "did c"

    limits = Limits(max_rounds=max_rounds)
    return ToolLoop(stage.provider(wire), tools=[a, b, c], limits=limits, clock=VirtualClock())


def play(stage: Stage, loop: ToolLoop, *script: Reply, conversation: Conversation | None = None) -> Outcome:
    """
    One message, all of whose replies are wanted and none of whose requests is refused.
    """
    stage.server.play(script)
    outcome = stage.run(loop.run("Please do.", conversation=conversation))
    assert (stage.server.refusals, stage.server.unplayed) == ((), 0)
    return outcome


@every_wire
def test_ids_that_we_make_never_meet_those_of_the_wire(wire: WireName) -> None:
    """
    A fresh server: it knows Anthropic's turns by their ids.
    """
    script = [
        Turn("", [Call("a", id=id) for id in ("", "call_1_0", "", "call_1_0", "call_3_0")], reasoning=True),
        Turn("", [Call("b", id=id) for id in ("call_1_0", "", "call_2_0", "a b")], reasoning=True),
        Turn("Done."),
    ]
    with set_stage(Loopback(script)) as stage:
        outcome = stage.run(loop_on(stage, wire, []).run("Please do."))
        assert stage.server.refusals == ()
        assert [pair_faults(wire, each.body) for each in stage.server.received] == [[], [], []]
    assert outcome.status is RunStatus.COMPLETED
    assert len({call.id for call in outcome.calls}) == 9


@every_wire
def test_f016_a_message_sent_while_a_run_goes_on_is_refused_and_lost_to_nobody(stage: Stage, wire: WireName) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    @tool
    async def slow() -> str:
        """Take its time."""
        begun.set()
        await may_end.wait()
        return "done at last"

    loop = ToolLoop(stage.provider(wire), tools=[slow])
    stage.server.play([asks("slow"), Turn("First."), Turn("Second.")])

    async def both() -> tuple[ConversationBusy, Outcome, Outcome, str]:
        conversation = Conversation()
        async with loop.start("One.", conversation=conversation) as live:
            await begun.wait()
            with pytest.raises(ConversationBusy) as busy:
                await loop.run("Two.", conversation=conversation)
            with pytest.raises(ConversationBusy):
                async with loop.start("Two.", conversation=conversation):
                    pass
            may_end.set()
            first = await live.outcome()
        second = await loop.run("Two.", conversation=first.conversation)
        return busy.value, first, second, live.id

    busy, first, second, run_id = stage.run(both())
    assert (busy.conversation_id, busy.run_id) == (first.conversation.id, run_id)
    assert [first.answer, second.answer] == ["First.", "Second."]
    assert [call.status for call in first.calls] == [Status.SUCCEEDED]
    received = stage.server.received
    assert [each.refusal for each in received] == [None, None, None]
    assert [pair_faults(wire, each.body) for each in received] == [[], [], []]
    assert ["Two." in str(each.body) for each in received] == [False, False, True]


def test_f062_a_choice_of_the_host_can_not_be_forced_in_every_call() -> None:
    with pytest.raises(InvalidValue, match="tool_choice"):
        Anthropic("claude-opus-5-5", api_key=KEY, options={"tool_choice": {"type": "any"}})
    with pytest.raises(InvalidValue, match="tool_choice"):
        Anthropic("claude-opus-5-5", api_key=KEY, options={"extra_body": {"tool_choice": {"type": "any"}}})
    with pytest.raises(InvalidValue, match="tool_choice"):
        OpenAIResponses("gpt-5.6", api_key=KEY, options={"tool_choice": "required"})
    with pytest.raises(InvalidValue, match="tool_choice"):
        OpenAIResponses("gpt-5.6", api_key=KEY, options={"extra_body": {"tool_choice": "required"}})
    with pytest.raises(InvalidValue, match="tool_choice"):
        OpenAIChat("gpt-4.1", api_key=KEY, options={"tool_choice": "required"})
    with pytest.raises(InvalidValue, match="tool_config"):
        Google("gemini-3.6-flash", api_key=KEY, options={"tool_config": {}})


@every_wire
def test_f066_what_was_said_before_the_limit_is_not_the_answer(stage: Stage, wire: WireName) -> None:
    loop = loop_on(stage, wire, [], max_rounds=1)
    outcome = play(stage, loop, asks("a", text="let me look"), asks("a", text="and again"), Turn("reached the limit"))
    assert (outcome.status, outcome.reason) == (RunStatus.INCOMPLETE, Reason.MAX_ROUNDS)
    assert (outcome.answer, outcome.answer_by, outcome.partial) == ("reached the limit", "model", "")
    assert outcome.narration == ("let me look", "and again")


@every_wire
def test_f066_without_closing_words_the_answer_is_no_canned_success(stage: Stage, wire: WireName) -> None:
    loop = loop_on(stage, wire, [], max_rounds=1)
    outcome = play(stage, loop, asks("a", text="let me look"), asks("b", text="and again"), Turn(""))
    assert (outcome.status, outcome.answer_by) == (RunStatus.INCOMPLETE, "engine")
    assert outcome.answer == ENGLISH.own_answer(Reason.MAX_ROUNDS, ("b",))


@every_wire
def test_f067_the_last_round_has_a_call_left_to_use_what_it_found(stage: Stage, wire: WireName) -> None:
    ran: list[str] = []
    loop = loop_on(stage, wire, ran, max_rounds=2)
    outcome = play(stage, loop, asks("a"), asks("b"), asks("c"), Turn("So far."))
    assert (ran, outcome.model_calls) == (["a", "b"], 4)
    assert [(call.name, call.status) for call in outcome.calls] == [
        ("a", Status.SUCCEEDED),
        ("b", Status.SUCCEEDED),
        ("c", Status.NOT_EXECUTED),
    ]
    assert outcome.calls[2].text == ENGLISH.not_executed_because(Reason.MAX_ROUNDS)
    assert outcome.calls[2].text in str(stage.server.received[-1].body)
    answered = play(stage, loop, asks("a"), asks("b"), Turn("That is it."))
    assert (answered.status, answered.answer, answered.model_calls) == (RunStatus.COMPLETED, "That is it.", 3)


@every_wire
def test_f068_the_limit_is_an_outcome_with_all_that_was_paid_for(stage: Stage, wire: WireName) -> None:
    loop = loop_on(stage, wire, [], max_rounds=1)
    outcome = play(stage, loop, asks("a"), asks("b"), Turn("So far."))
    assert [type(entry).__name__ for entry in outcome.conversation.entries] == [
        "UserMessage",
        "Exchange",
        "Exchange",
        "ModelTurn",
    ]
    assert (outcome.calls[0].name, outcome.calls[0].text) == ("a", "did a")
    written = None if wire in ("google", "openai_chat") else 0
    assert outcome.usage == Usage(300, 0, written, 60, 0)
    assert len(outcome.usages) == 3


@every_wire
def test_f068_a_cancelled_task_carries_the_outcome_too(stage: Stage, wire: WireName) -> None:
    loop = loop_on(stage, wire, [])
    stage.server.play([asks("a", "b"), Hang()])
    before = stage.server.hung_up

    async def cancelled() -> object:
        task = asyncio.create_task(loop.run("Please do."))
        await asyncio.to_thread(stage.server.wait_for, lambda: len(stage.server.received) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return getattr(caught.value, "outcome", None)

    outcome = stage.run(cancelled())
    assert isinstance(outcome, Outcome)
    assert (outcome.status, [call.text for call in outcome.calls]) == (RunStatus.CANCELLED, ["did a", "did b"])
    assert outcome.usage.output_tokens == 20
    assert stage.server.wait_for(lambda: stage.server.hung_up > before)


@every_wire
def test_f069_after_the_limit_yes_continue_starts_at_zero(stage: Stage, wire: WireName) -> None:
    ran: list[str] = []
    loop = loop_on(stage, wire, ran, max_rounds=1)
    first = play(stage, loop, asks("a"), asks("b"), Turn("Shall I go on?"))
    second = play(stage, loop, asks("b"), Turn("Done."), conversation=first.conversation)
    assert (first.rounds, second.rounds, second.status) == (1, 1, RunStatus.COMPLETED)
    assert ran == ["a", "b"]
    assert ENGLISH.not_executed_because(Reason.MAX_ROUNDS) in str(stage.server.received[0].body)


@every_wire
def test_f070_at_the_limit_all_parallel_requests_are_answered_and_none_is_counted(stage: Stage, wire: WireName) -> None:
    ran: list[str] = []
    loop = loop_on(stage, wire, ran, max_rounds=1)
    outcome = play(stage, loop, asks("c"), asks("a", "b", "c"), Turn("So far."))
    assert ran == ["c"]
    assert (outcome.rounds, [call.status for call in outcome.calls]) == (
        1,
        [Status.SUCCEEDED, *[Status.NOT_EXECUTED] * 3],
    )
    assert [each.name for each in outcome.unfinished] == ["a", "b", "c"]
    assert pair_faults(wire, stage.server.received[-1].body) == []


@every_wire
def test_f026_a_call_without_arguments_runs_where_none_are_needed_and_goes_back_as_an_empty_object(
    stage: Stage, wire: WireName
) -> None:
    ran: list[str] = []

    @tool
    def needs(kg: int) -> None:
        """Take a weight."""
        ran.append("needs")

    loop = loop_on(stage, wire, ran)
    turns = [Turn("", [Call("a", ""), Call("needs", "")]), Turn("Done.")]
    outcome = play(stage, loop.evolve(tools=[*loop.tools.tools, needs]), *turns)
    assert (ran, [call.status for call in outcome.calls]) == (["a"], [Status.SUCCEEDED, Status.FAILED])
    body = str(stage.server.received[-1].body)
    empty = {
        "anthropic": "'input': {}",
        "openai": "'arguments': '{}'",
        "openai_chat": "'arguments': '{}'",
        "google": "'args': {}",
    }
    assert body.count(empty[wire]) == 2
    assert pair_faults(wire, stage.server.received[-1].body) == []


# What an SDK is given beside the request, nested as hosts write it.
GIVEN: dict[WireName, dict[str, Any]] = {
    "anthropic": {"metadata": {"user_id": "u"}, "stop_sequences": ["x"], "extra_headers": {"x-desk": "gym"}},
    "openai": {"metadata": {"desk": "gym"}, "extra_body": {"prompt_cache_key": "k"}, "reasoning": {"effort": "low"}},
    "openai_chat": {"metadata": {"desk": "gym"}, "extra_body": {"seed": 7}, "extra_headers": {"x-desk": "gym"}},
    "google": {"stop_sequences": ["x"], "thinking_config": {"include_thoughts": True}},
}


@every_wire
def test_f083_what_the_host_gives_for_the_vendor_is_as_it_was(stage: Stage, wire: WireName) -> None:
    given = copy.deepcopy(GIVEN[wire])
    made = {"anthropic": Anthropic, "openai": OpenAIResponses, "openai_chat": OpenAIChat, "google": Google}[wire]
    provider = made(stage.provider(wire).model, api_key=KEY, base_url=stage.server.base_url(wire), options=given)

    async def played() -> Outcome:
        async with loop_on(stage, wire, []).evolve(provider=provider) as loop:
            return await loop.run("Please do.")

    stage.server.play([asks("a", "b"), Turn("Done.")])
    outcome = stage.run(played())

    assert (outcome.status, stage.server.refusals) == (RunStatus.COMPLETED, ())
    assert GIVEN[wire] == given


@every_wire
def test_f071_whoever_watches_sees_every_started_call_end_and_one_end_of_the_run(stage: Stage, wire: WireName) -> None:
    loop = loop_on(stage, wire, [], max_rounds=1)
    stage.server.play([asks("a", "nope", "c"), asks("b"), Turn("So far.")])

    async def watched() -> list[Notice]:
        async with loop.start("Please do.") as live:
            return [notice async for notice in live.events()]

    notices = stage.run(watched())
    started = Counter(notice.id for notice in notices if isinstance(notice, ToolStarted))
    ends = Counter(notice.id for notice in notices if isinstance(notice, ToolEnded))
    assert (len(started), set(started.values()), ends) == (3, {1}, started)
    finals = [notice.outcome for notice in notices if isinstance(notice, Ended)]
    assert [type(notice) for notice in notices].index(Ended) == len(notices) - 1
    exchanges = [entry for entry in finals[0].conversation.entries if isinstance(entry, Exchange)]
    assert [len(exchange.results) for exchange in exchanges] == [3, 1]


@every_wire
def test_f072_one_call_repeated_for_ever_ends_at_the_usual_limit_and_is_seen(stage: Stage, wire: WireName) -> None:
    ran: list[str] = []
    outcome = play(stage, loop_on(stage, wire, ran), *[asks("a")] * 11, Turn("I turn in circles."))
    assert (len(ran), outcome.model_calls, outcome.reason) == (10, 12, Reason.MAX_ROUNDS)
    assert {(call.name, call.arguments) for call in outcome.calls} == {("a", "{}")}
    assert len({call.id for call in outcome.calls}) == 11


@pytest.mark.parametrize("rounds", [None, -1, True, 2.5])
def test_f072_the_round_limit_cannot_be_switched_off_by_accident(rounds: object) -> None:
    with pytest.raises(InvalidValue, match="max_rounds"):
        Limits(max_rounds=rounds)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
