"""
Random conversations through the real SDKs, judged by what the loopback server received.
"""

import copy
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import accumulate, pairwise

import pytest
from attrs import define, field, frozen
from hypothesis import HealthCheck, given, seed, settings

from rodada.providers.loopback import WireName
from rodada.statemachine import (
    LANGUAGES,
    AnyTool,
    ArgumentsDelta,
    Conversation,
    Ended,
    Exchange,
    Limits,
    Media,
    ModelTurn,
    Notice,
    Outcome,
    Part,
    Reason,
    ReasoningDelta,
    RunStatus,
    Said,
    Status,
    Streaming,
    TextDelta,
    ToolLoop,
    TurnEnded,
    TurnKind,
    UserMessage,
    Wording,
)
from rodada.statemachine import told as folded
from support.heard import Heard, heard
from support.played import INSTRUCTIONS, NAMES, SHARED, Play, Told, is_unreadable, numbered, streams, tools_of
from support.stage import MODELS, WIRES, Stage
from support.turn_scripts import IMAGE, LONE, Break, Message, Say, Script, scripts
from support.wire_pairs import pair_faults

USUAL = int(os.environ.get("RODADA_SCRIPTS", "200"))
PORTION, PORTIONS = 500, 10  # of the long checks: 5,000 a wire, in portions that several workers can share
PORTIONS_OF = {"openai_chat": 2}  # its SDK is tried on another wire already
EXPLORES = "RODADA_EXPLORE" in os.environ  # it looks elsewhere each time, and prints how to repeat
LEGAL_NAMES = NAMES[:2]
OPEN = {Status.NOT_EXECUTED, Status.OUTCOME_UNKNOWN}


@define
class Tally:
    """
    What was played.
    """

    begun: int = 0
    scripts: int = 0
    calls: int = 0
    streamed: int = 0
    ends: Counter[str] = field(factory=Counter[str])

    def __str__(self) -> str:
        ends = ", ".join(f"{count} {name}" for name, count in sorted(self.ends.items()))
        said = f"{self.calls} model calls, {self.streamed} pieces of text"
        return f"{self.scripts} scripts, {self.ends.total()} messages, {said}: {ends}"


def _portions() -> Iterator[object]:
    """
    For each wire some scripts, and many more in the long checks, each portion from a seed of its own.
    """
    for wire in WIRES:
        yield pytest.param(wire, USUAL, 0, id=wire)
        for number in range(1, PORTIONS_OF.get(wire, PORTIONS) + 1):
            yield pytest.param(wire, PORTION, number, id=f"{wire} {number}", marks=pytest.mark.long)


@pytest.mark.parametrize(("wire", "wanted", "portion"), tuple(_portions()))
def test_random_scripts_keep_every_promise_on_the_wire(
    wire: WireName, wanted: int, portion: int, stage: Stage, record_property: Callable[[str, object], None]
) -> None:
    tally, stages = Tally(), list[Play]()
    tools = tools_of(lambda: stages[-1])

    @settings(
        max_examples=wanted,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(scripts(wire))
    def plays(script: Script) -> None:
        stage.run(_play(stage, script, tally, tools if script.tools else (), stages))

    (plays if EXPLORES else seed(portion)(plays))()
    record_property("counted", f"through the SDK of {wire}, portion {portion}: {tally}")
    assert tally.scripts >= wanted
    if wanted >= 200:  # fewer need not meet every end
        assert {"completed", "max_rounds", "deadline", "refused", "cancelled", "call_failed"} <= set(tally.ends)


async def _play(stage: Stage, script: Script, tally: Tally, tools: tuple[AnyTool, ...], stages: list[Play]) -> None:
    conversation, numbers = Conversation(), numbered()
    tally.begun += 1
    for message in script.messages:
        play = Play(message, tally.begun, numbers)
        stages[:] = [play]
        loop = ToolLoop(
            stage.providers[message.model],
            tools=tools,
            instructions=INSTRUCTIONS,
            limits=script.limits,
            wording=LANGUAGES[script.language],
            clock=play.clock,
            stream=message.stream and _can_stream(stage.providers[message.model]),
        )
        before = _stored(conversation) if message.stored else conversation
        outcome, notices = await _answered(stage, loop, play, before)
        _judge(Judged(stage, script, message, play, before, outcome, notices))
        tally.streamed += sum(isinstance(notice, TextDelta) for notice in notices)
        conversation = outcome.conversation
        tally.calls += outcome.model_calls
        tally.ends[outcome.reason.value if outcome.reason else "completed"] += 1
    tally.scripts += 1


def _stored(conversation: Conversation) -> Conversation:
    return Conversation.from_json(json.loads(json.dumps(conversation.to_json())))


def _can_stream(provider: object) -> bool:
    return isinstance(provider, Streaming) and provider.streams


async def _answered(
    stage: Stage, loop: ToolLoop, play: Play, before: Conversation
) -> tuple[Outcome, tuple[Notice, ...]]:
    stage.server.play(play)
    as_given, shared = before.to_json(reasoning=True), copy.deepcopy(SHARED)
    notices: list[Notice] = []
    async with loop.start(play.says, conversation=before) as live:
        play.watch(live)
        async for notice in live.events(after=0):
            notices.append(notice)
            play.hear(notice)
        outcome = await live.outcome()
    assert before.to_json(reasoning=True) == as_given
    assert shared == SHARED
    return outcome, tuple(notices)


@frozen
class Judged:
    """
    One message that was answered.
    """

    stage: Stage
    script: Script
    message: Message
    play: Play
    before: Conversation
    outcome: Outcome
    notices: tuple[Notice, ...]

    @property
    def limits(self) -> Limits:
        return self.script.limits

    @property
    def wording(self) -> Wording:
        return LANGUAGES[self.script.language]

    @property
    def told(self) -> list[Told]:
        return self.play.told


def _judge(judged: Judged) -> None:
    assert judged.stage.server.refusals == ()
    assert [each.received.number for each in judged.told] == list(range(len(judged.told)))
    hearings = [heard(each.received) for each in judged.told]
    for each in judged.told:
        assert pair_faults(each.received.wire, each.received.body) == []
    _judge_tools(judged, hearings)
    _judge_guidance(judged, hearings)
    _judge_turns(judged, hearings)
    _judge_calls(judged, hearings)
    _judge_outcome(judged, hearings)
    _judge_tools_run(judged)
    _judge_media(judged)
    _judge_notices(judged)


def _judge_tools(judged: Judged, hearings: list[Heard]) -> None:
    for each in hearings:
        assert each.declares == judged.script.tools
        assert each.tools[:2] == (LEGAL_NAMES if judged.script.tools else ())
        assert each.tools == hearings[0].tools


def _judge_guidance(judged: Judged, hearings: list[Heard]) -> None:
    """
    The closing call is told so in the system instructions; nobody else is, nor is it told elsewhere.
    """
    guidance = judged.wording.closing.partition("{")[0]
    closing = [each for each in hearings if guidance in each.system + each.aside]
    assert closing == hearings[len(hearings) - len(closing) :]
    assert all((each.choice == "none") == (each in closing) for each in hearings if judged.script.tools)
    assert all(INSTRUCTIONS in each.system for each in hearings)
    if judged.message.model == "claude-opus-5-5":
        assert all(each.system == INSTRUCTIONS for each in hearings)
    assert not any(guidance in json.dumps(each.turns[-1], ensure_ascii=False) for each in hearings)


def _judge_turns(judged: Judged, hearings: list[Heard]) -> None:
    """
    The selection is made once, and the active turn is never cut nor changed.
    """
    for earlier, later in pairwise(hearings):
        assert later.turns[: len(earlier.turns)] == earlier.turns
    most = judged.limits.history_messages
    if hearings and most is not None and judged.told[0].received.wire not in ("openai", "openai_chat"):
        assert len(hearings[0].turns) - 1 <= most


def _judge_calls(judged: Judged, hearings: list[Heard]) -> None:
    limits, outcome, replies = judged.limits, judged.outcome, [each.reply for each in judged.told]
    assert outcome.model_calls == len(hearings)
    assert outcome.rounds <= limits.max_rounds
    assert len(hearings) <= (limits.max_rounds + 2 + limits.max_pauses + 1) * limits.max_attempts
    failed = sum(step.event == "CallFailed" for step in outcome.transitions)
    assert failed <= sum(_may_fail(each) for each in judged.told)
    if all(isinstance(reply, Say) and reply.stop == "whole" and _is_plain(reply) for reply in replies):
        assert len(hearings) <= limits.max_rounds + 2
    if all(isinstance(reply, Break) for reply in replies):
        assert len(hearings) <= limits.max_attempts


def _may_fail(told: Told) -> bool:
    """
    Whether a call gives no turn because the script says so: nothing of ours may fail one.
    """
    return not isinstance(told.reply, Say) or is_unreadable(told.reply, told.received)


def _is_plain(say: Say) -> bool:
    """
    A turn that cannot be taken for a spoilt one.
    """
    return bool(say.text.strip() or say.asks) and all(ask.arguments is None for ask in say.asks)


def _judge_outcome(judged: Judged, hearings: list[Heard]) -> None:
    outcome = judged.outcome
    assert (outcome.reason is None) == (outcome.status is RunStatus.COMPLETED)
    assert (outcome.reason is Reason.CANCELLED) == (outcome.status is RunStatus.CANCELLED)
    _judge_entries(judged)
    match outcome.status:
        case RunStatus.COMPLETED:
            assert not _is_closing(hearings[-1], judged)
            assert (outcome.answer_by, outcome.answer) == ("model", _whole_answer(judged.told, judged.message.model))
            assert (outcome.partial, outcome.error) == ("", None)
        case RunStatus.INCOMPLETE:
            assert outcome.answer.strip()
            if outcome.answer_by == "model":
                assert _is_closing(hearings[-1], judged)
                assert outcome.answer == _whole_answer(judged.told[-1:], judged.message.model)
            else:
                assert (outcome.answer_by, judged.wording.go_on in outcome.answer) == ("engine", True)
        case RunStatus.CANCELLED:
            assert (outcome.answer, outcome.answer_by, outcome.detail) == ("", "", "enough")
        case RunStatus.FAILED:
            assert (outcome.answer, outcome.answer_by, outcome.rounds) == ("", "", 0)
            assert outcome.error is not None
    if outcome.reason is Reason.MAX_ROUNDS:
        assert outcome.rounds == judged.limits.max_rounds


def _is_closing(each: Heard, judged: Judged) -> bool:
    return judged.wording.closing.partition("{")[0] in each.system + each.aside


def _whole_answer(told: list[Told], model: str) -> str:
    """
    The answer that the last reply ends, with what was said before its pauses. Claude pauses in a search of its own, and
    what it says behind one is a new paragraph.
    """
    last = told[-1].reply
    assert isinstance(last, Say)
    assert last.stop == "whole"
    assert last.text.strip()
    nothing: tuple[Say, ...] = ()
    held = reduce(_holding, told[:-1], nothing)
    seam = "\n\n" if model in MODELS["anthropic"] else ""
    return reduce(partial(_said_on, seam), (say.text for say in (*held, last))).replace(LONE, "\ufffd")


def _said_on(seam: str, before: str, text: str) -> str:
    runs_in = before and text and not (before[-1].isspace() or text[0].isspace())
    return f"{before}{seam}{text}" if runs_in else before + text


def _holding(held: tuple[Say, ...], told: Told) -> tuple[Say, ...]:
    """
    The pauses that wait for the end of their turn, after one more reply.
    """
    say, wire = told.reply, told.received.wire
    if not isinstance(say, Say) or _may_fail(told) or _is_flaw(say, held, wire):
        return held  # asked again
    return (*held, say) if _is_pause(say, wire) else ()


def _is_flaw(say: Say, held: tuple[Say, ...], wire: WireName) -> bool:
    asks = say.asks or any(piece.asks for piece in held)  # a pause may have asked, on Google's wire
    blank = say.stop == "whole" and not say.text.strip() and not asks
    return blank or say.stop == "malformed" or (wire == "anthropic" and say.stop == "paused" and bool(say.asks))


def _is_pause(say: Say, wire: WireName) -> bool:
    """
    OpenAI knows no pause.
    """
    return say.stop == "paused" and wire not in ("openai", "openai_chat")


def _judge_entries(judged: Judged) -> None:
    """
    What was appended: the person's message, whole exchanges, and at most one answer, the one that was given.
    """
    outcome, kinds = judged.outcome, [type(entry) for entry in judged.outcome.appended]
    exchanges = [entry for entry in outcome.appended if isinstance(entry, Exchange)]
    by_model = outcome.answer_by == "model"
    assert outcome.conversation.entries == (*judged.before.entries, *outcome.appended)
    assert kinds == [UserMessage, *[Exchange] * len(exchanges), *[ModelTurn] * by_model]
    assert [outcome.answer] * by_model == [each.text for each in outcome.appended if isinstance(each, ModelTurn)]
    results = [result for entry in exchanges for result in entry.results]
    assert [(call.id, call.status) for call in outcome.calls] == [(result.id, result.status) for result in results]
    assert [each.id for each in outcome.unfinished] == [call.id for call in outcome.calls if call.status in OPEN]


def _judge_tools_run(judged: Judged) -> None:
    """
    A function ran at most once for each request, and what is said of the call is true.
    """
    acts, ran = judged.play.acts, judged.play.ran
    statuses = {number: call.status for call in judged.outcome.calls for number in _numbers(call.arguments)}
    assert max(Counter(number for number in ran if number in acts).values(), default=0) <= 1
    for number, act in acts.items():
        assert statuses.get(number) in (_truths(act) if number in ran else _NEVER_RAN)
    assert judged.limits.max_rounds > 0 or not ran


def _judge_media(judged: Judged) -> None:
    """
    An image that every wire takes was sent wherever the person or a tool gave it: nothing is dropped on the way.
    """
    if not judged.told:
        return
    exchanges = [entry for entry in judged.outcome.appended if isinstance(entry, Exchange)]
    seen: list[Part] = [part for entry in exchanges[:-1] for result in entry.results for part in result.content]
    seen += [] if isinstance(judged.message.says, str) else judged.message.says
    assert json.dumps(judged.told[-1].received.body).count(IMAGE.data) >= sum(
        isinstance(part, Media) and part.data == IMAGE.data for part in seen
    )


def _judge_notices(judged: Judged) -> None:
    """
    A watcher misses nothing, and what was told adds up to the outcome; of a turn that is kept and was streamed every
    word was heard.
    """
    notices, outcome = judged.notices, judged.outcome
    assert [notice.n for notice in notices] == list(range(1, len(notices) + 1))
    assert isinstance(notices[-1], Ended)
    assert notices[-1].outcome == outcome
    folds = list(accumulate(notices, folded, initial=Said()))
    assert folds[-1] == Said(outcome.narration, outcome.answer, outcome.partial)
    deltas = any(isinstance(notice, TextDelta | ReasoningDelta | ArgumentsDelta) for notice in notices)
    if not any(streams(each.received) for each in judged.told):
        assert not deltas
        return
    for said, notice in zip(folds, notices, strict=False):
        if isinstance(notice, TurnEnded) and notice.kind in (TurnKind.NARRATION, TurnKind.ANSWER):
            assert said.now == notice.text


def _numbers(arguments: str) -> list[int]:
    """
    The number of a call that has good arguments.
    """
    found = re.fullmatch(r'\{"n":\s*(\d{4,})\}', arguments)
    return [int(found[1])] if found else []


_FAILS = {
    "failed parts",
    "raise",
    "tell",
    "raise odd",
    "cancel itself",
    "return an error",
    "endless",
    "coroutine",
    "generator",
}
_STOPS = {"cancel", "cancel and hang", "deadline", "deadline and hang", "time out"}
_NEVER_RAN = {Status.FAILED, Status.NOT_EXECUTED, None}


def _truths(act: str) -> set[Status]:
    if act in _FAILS:
        return {Status.FAILED}
    return {Status.SUCCEEDED, Status.OUTCOME_UNKNOWN} if act in _STOPS else {Status.SUCCEEDED}
