"""
After every kind of outcome the stored conversation goes on: every wire takes it with a new message, whichever
produced it, with its reasoning or without.
"""

import json
from collections.abc import Callable
from itertools import count

import pytest
from attrs import frozen

from rodada.providers.loopback import Call, Failure, Turn, WireName
from rodada.statemachine import (
    AnyTool,
    ApprovalAsked,
    Conversation,
    Entry,
    Exchange,
    History,
    Limits,
    ModelTurn,
    Outcome,
    Reason,
    RunStatus,
    Status,
    ToolLoop,
    UserMessage,
)
from rodada.tools import tool
from support.heard import heard
from support.played import INSTRUCTIONS, Play, numbered, tools_of
from support.stage import MODELS, WIRES, Stage
from support.turn_scripts import Ask, Break, Hold, Message, Reply, Say
from support.wire_pairs import pair_faults

LIMITS = Limits(max_attempts=1, max_pauses=0, seconds=10_000, closing_seconds=1000, tool_seconds=200)
SERIALS = count(1)
GUARDED = 3  # the place of the tool that somebody must approve


@tool(needs_approval=True)
async def pay(n: int) -> str:
    """Pay for an entry."""
    return f"paid {n}"


@frozen
class FullStore:
    """
    A history that cannot store one kind of entry.
    """

    cannot: type[Entry]

    async def append(self, conversation_id: str, after: int, entries: tuple[Entry, ...]) -> None:
        if isinstance(entries[0], self.cannot):
            raise OSError("the disk is full")


@frozen
class End:
    """
    How a message ends: what the model says, under which limits, and what comes of it.
    """

    status: RunStatus
    reason: Reason | None
    replies: tuple[Reply, ...]
    limits: Limits = LIMITS
    history: History | None = None


def ask(act: str = "text", *, tool: int = 0, id: str | None = None) -> Ask:
    return Ask(tool=tool, act=act, id=id)


def round_of(*asks: Ask, text: str = "Let me see.") -> Say:
    return Say(text, asks, reasoning=True)


SAME = round_of(Ask(arguments='{"n": 0}'))
ANSWER, BLANK = Say("That is it.", reasoning=True), Say(" ", reasoning=True)
TWO, BROKEN = round_of(ask(), ask(tool=1)), Break(Failure(400))
ODD = round_of(Ask(arguments="[1]", id="a b"), ask(id="again"), ask(id="again"), Ask(tool=9, unknown="no such tool!"))
INCOMPLETE, CANCELLED, FAILED = RunStatus.INCOMPLETE, RunStatus.CANCELLED, RunStatus.FAILED
SHORT = Limits(max_rounds=1, max_attempts=1, seconds=10_000, closing_seconds=1000)

ENDS: dict[str, End] = {
    "completed": End(RunStatus.COMPLETED, None, (ANSWER,)),
    "completed after rounds": End(RunStatus.COMPLETED, None, (TWO, TWO, ANSWER)),
    "completed after odd requests": End(RunStatus.COMPLETED, None, (ODD, ANSWER)),
    "completed after tools failed": End(RunStatus.COMPLETED, None, (round_of(ask("raise"), ask("nan")), ANSWER)),
    "completed after a denial": End(RunStatus.COMPLETED, None, (round_of(ask(), ask(tool=GUARDED)), ANSWER)),
    "rounds": End(INCOMPLETE, Reason.MAX_ROUNDS, (TWO, TWO, ANSWER), SHORT),
    "rounds, asked again": End(INCOMPLETE, Reason.MAX_ROUNDS, (TWO, TWO, TWO), SHORT),
    "rounds, no answer": End(INCOMPLETE, Reason.MAX_ROUNDS, (TWO, round_of(ask(), text=""), BROKEN), SHORT),
    "tokens": End(INCOMPLETE, Reason.MAX_TOKENS_TOTAL, (TWO, TWO, ANSWER), Limits(max_tokens_total=150)),
    "repeats": End(INCOMPLETE, Reason.MAX_REPEATS, (SAME, SAME, ANSWER), Limits(max_repeats=1)),
    "deadline in a tool": End(INCOMPLETE, Reason.DEADLINE, (round_of(ask("deadline and hang"), ask()), ANSWER)),
    "deadline in a call": End(INCOMPLETE, Reason.DEADLINE, (TWO, Hold(cancels=False), ANSWER)),
    "cut": End(INCOMPLETE, Reason.CUT, (Say("That is", stop="cut", reasoning=True),)),
    "cut after rounds": End(INCOMPLETE, Reason.CUT, (TWO, Say("That is", stop="cut"))),
    "empty": End(INCOMPLETE, Reason.EMPTY, (TWO, BLANK, BLANK)),
    "refused": End(INCOMPLETE, Reason.REFUSED, (TWO, Say("I will not.", stop="refused"))),
    "unknown": End(INCOMPLETE, Reason.UNKNOWN_STOP, (TWO, Say("What", stop="unknown"))),
    "malformed": End(INCOMPLETE, Reason.MALFORMED, (TWO, Say("", stop="malformed"), Say("", stop="malformed"))),
    "unreachable after rounds": End(INCOMPLETE, Reason.CALL_FAILED, (TWO, BROKEN)),
    "unreachable": End(FAILED, Reason.CALL_FAILED, (BROKEN,)),
    "message not stored": End(FAILED, Reason.APPEND_FAILED, (), history=FullStore(UserMessage)),
    "exchange not stored": End(FAILED, Reason.APPEND_FAILED, (TWO,), history=FullStore(Exchange)),
    "answer not stored": End(FAILED, Reason.APPEND_FAILED, (TWO, ANSWER), history=FullStore(ModelTurn)),
    "cancelled in a call": End(CANCELLED, Reason.CANCELLED, (TWO, Hold(cancels=True))),
    "cancelled in the first call": End(CANCELLED, Reason.CANCELLED, (Hold(cancels=True),)),
    "cancelled in a tool": End(CANCELLED, Reason.CANCELLED, (round_of(ask(), ask("cancel and hang"), ask(tool=1)),)),
}
# What only some wires can say.
CUT_TWICE = Say("", (ask(), ask()), "cut", reasoning=True)
ONLY_ON: dict[str, tuple[tuple[WireName, ...], End]] = {
    "cut requests": (
        ("anthropic", "openai", "openai_chat"),
        End(INCOMPLETE, Reason.CUT, (CUT_TWICE, CUT_TWICE, ANSWER)),
    ),
    "paused": (("anthropic", "google"), End(INCOMPLETE, Reason.PAUSED, (TWO, Say("Wait", stop="paused")))),
    "answered after a pause": (
        ("anthropic", "google"),
        End(RunStatus.COMPLETED, None, (Say("Wait. ", stop="paused", reasoning=True), ANSWER), Limits()),
    ),
}
ENDINGS = [(wire, name, end) for wire in WIRES for name, end in ENDS.items()] + [
    (wire, name, end) for name, (wires, end) in ONLY_ON.items() for wire in wires
]


async def ended(stage: Stage, wire: WireName, end: End) -> Outcome:
    """
    The outcome of one message that ends in such a way.
    """
    play = Play(Message(MODELS[wire][0], end.replies, asks_on=False, stored=False), next(SERIALS), numbered())
    tools: tuple[AnyTool, ...] = (*tools_of(lambda: play), pay)
    stage.server.play(play)
    loop = ToolLoop(
        stage.provider(wire),
        tools=tools,
        instructions=INSTRUCTIONS,
        limits=end.limits,
        history=end.history,
        clock=play.clock,
    )
    async with loop.start("How is it going?") as live:
        play.watch(live)
        async for notice in live.events():
            if isinstance(notice, ApprovalAsked):
                live.deny(notice.id, by="ana", reason="Too dear.")
        return await live.outcome()


def stored(conversation: Conversation) -> Conversation:
    return Conversation.from_json(json.loads(json.dumps(conversation.to_json())))


@pytest.mark.parametrize(("wire", "name", "end"), ENDINGS, ids=[f"{wire}-{name}" for wire, name, _ in ENDINGS])
def test_after_every_outcome_all_wires_take_the_next_message(stage: Stage, wire: WireName, name: str, end: End) -> None:
    outcome = stage.run(ended(stage, wire, end))
    assert (outcome.status, outcome.reason) == (end.status, end.reason)
    assert stage.server.refusals == ()
    assert len(stage.server.received) == len(end.replies)
    for next_wire in WIRES:
        for form in (Conversation.branch, stored):
            _goes_on(stage, next_wire, outcome.conversation, form)


def _goes_on(
    stage: Stage, wire: WireName, conversation: Conversation, form: Callable[[Conversation], Conversation]
) -> None:
    script = [Turn("Now let me see.", [Call("fetch", {"n": 7}), Call("pay", {})], reasoning=True), Turn("All done.")]
    stage.server.play(script)
    play = Play(Message(MODELS[wire][0], (), asks_on=False, stored=False), next(SERIALS), numbered())
    loop = ToolLoop(stage.provider(wire), tools=(*tools_of(lambda: play), pay), instructions=INSTRUCTIONS)
    outcome = stage.run(loop.run("And now?", conversation=form(conversation)))
    received = stage.server.received
    assert [each.refusal for each in received] == [None, None]
    assert [pair_faults(wire, each.body) for each in received] == [[], []]
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "All done.")
    assert [call.status for call in outcome.calls] == [Status.SUCCEEDED, Status.FAILED]
    before = heard(received[0]).turns
    assert heard(received[1]).turns[: len(before)] == before
