"""
Turns that are interrupted while they come, and turns that come spoilt, through each real SDK.
"""

from collections.abc import Mapping

import pytest

from rodada.providers.loopback import Altered, Body, Call, Reply, Turn, WireName
from rodada.providers.loopback.json_values import Object
from rodada.statemachine import (
    ArgumentsDelta,
    Limits,
    Outcome,
    Reason,
    RunStatus,
    Status,
    TurnKind,
    Usage,
    UserMessage,
)
from support.bodies import candidate_of, completion_of, message_of, response_of
from support.desk import Desk, both_ways, every_wire, statuses
from support.stage import Stage

ASK = Turn("Let me look.", [Call("look")], reasoning=True)
WRITES = Turn("Hel", [Call("write", {"path": "/tmp/half/and/half"}), Call("write", {"path": "b"})], reasoning=True)


def half(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """
    The events of a turn until some of its first call was said; on Google's wire a call comes whole, before another.
    """
    return pieces[: next(at for at, piece in enumerate(pieces) if b"/tmp" in piece) + 1]


@every_wire
@pytest.mark.parametrize("rounds", [0, 1], ids=["first call", "behind a round"])
def test_f094_a_cancel_while_arguments_come_leaves_no_half_call(stage: Stage, wire: WireName, rounds: int) -> None:
    desk = Desk(stage, wire, stream=True)
    stage.server.play([*[ASK] * rounds, Altered(WRITES, half, "hang")])
    before = stage.server.hung_up

    async def scene() -> Outcome:
        async with desk.loop.start("Please do.") as live:
            async for notice in live.events(after=0):
                if isinstance(notice, ArgumentsDelta) and "/tmp" in notice.text:
                    live.cancel("enough")
            return await live.outcome()

    outcome = stage.run(scene())
    assert (outcome.status, outcome.reason, outcome.partial) == (RunStatus.CANCELLED, Reason.CANCELLED, "Hel")
    assert (desk.ran, len(outcome.appended)) == (["look "] * rounds, 1 + rounds)
    assert "/tmp" not in str(outcome.conversation.to_json(reasoning=True))
    assert stage.server.wait_for(lambda: stage.server.hung_up > before)
    desk.goes_on(outcome)
    assert "/tmp" not in str(desk.received[0].body)


@every_wire
@pytest.mark.parametrize("closing", [False, True], ids=["usual", "closing"])
def test_f094_nor_does_a_deadline(stage: Stage, wire: WireName, closing: bool) -> None:
    desk = Desk(stage, wire, stream=True, limits=Limits(max_rounds=0, seconds=10_000, closing_seconds=1000))
    stage.server.play([*[ASK] * closing, Altered(WRITES, half, "hang"), *[Turn("So far.")] * (not closing)])

    async def scene() -> Outcome:
        async with desk.loop.start("Please do.") as live:
            async for notice in live.events(after=0):
                if isinstance(notice, ArgumentsDelta) and "/tmp" in notice.text:
                    desk.clock.move_to(10_001 if closing else 9000)
            return await live.outcome()

    outcome = stage.run(scene())
    assert (outcome.status, desk.ran) == (RunStatus.INCOMPLETE, [])
    assert outcome.reason is (Reason.MAX_ROUNDS if closing else Reason.DEADLINE)
    assert outcome.answer_by == ("engine" if closing else "model")
    assert "/tmp" not in str(outcome.conversation.to_json(reasoning=True))
    desk.goes_on(outcome)


# Arguments that are no JSON

NEWLINE = '{"path": "a\nb"}'


def _raw_newline(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """
    Anthropic's stream of a call whose input holds a raw line feed where `%` stands.
    """
    return tuple(piece.replace(b"%", b"\\n") if b"input_json_delta" in piece else piece for piece in pieces)


SPOILT: Mapping[WireName, Reply] = {
    "anthropic": Altered(Turn("Hm.", [Call("write", {"path": "a%b"}), Call("look")], reasoning=True), _raw_newline),
    "openai": Turn("Hm.", [Call("write", NEWLINE), Call("look")], reasoning=True),
    "openai_chat": Turn("Hm.", [Call("write", NEWLINE), Call("look")], reasoning=True),
}


@pytest.mark.parametrize("wire", SPOILT)
def test_f096_a_raw_line_feed_in_streamed_arguments_fails_its_call_alone(stage: Stage, wire: WireName) -> None:
    desk = Desk(stage, wire, stream=True)
    outcome = desk.ask(SPOILT[wire], Turn("Done."))
    assert (desk.ran, statuses(outcome)) == (["look "], [Status.FAILED, Status.SUCCEEDED])
    assert (outcome.status, outcome.calls[0].arguments) == (RunStatus.COMPLETED, NEWLINE)
    assert "they are no JSON" in outcome.calls[0].text
    desk.goes_on(outcome)


def _unreadable(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """
    A stream of which an event, behind some words, is no JSON: a raw line feed in a text.
    """
    at = next(at for at, piece in enumerate(pieces) if b"Hel" in piece) + 1
    return (*pieces[:at], b'data: {"type": "a\rb\n\n', *pieces[at:])


@every_wire
def test_f096_an_event_that_is_no_json_is_told_as_ours_and_tried_again_within_bounds(
    stage: Stage, wire: WireName
) -> None:
    desk = Desk(stage, wire, stream=True, limits=Limits(max_attempts=2))
    spoilt = Altered(WRITES, _unreadable)
    first = desk.ask(spoilt, Turn("Done."))
    assert (first.answer, desk.ran, desk.kinds) == ("Done.", [], [TurnKind.DISCARDED, TurnKind.ANSWER])
    again = desk.ask(spoilt, spoilt, before=first.conversation)
    assert (again.status, again.reason, again.partial) == (RunStatus.FAILED, Reason.CALL_FAILED, "Hel")
    assert again.error is not None
    assert again.error.error == "ProviderGarbled"
    assert [type(entry) for entry in again.appended] == [UserMessage]
    desk.goes_on(again)


# Usage

NO_USAGE: tuple[Object | None, ...] = (None, {})
UNCOUNTED: Mapping[WireName, tuple[Body, ...]] = {
    "anthropic": tuple(message_of({"type": "text", "text": "Done."}, usage=usage) for usage in NO_USAGE),
    "openai": tuple(
        response_of(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
            },
            usage=usage,
        )
        for usage in NO_USAGE
    ),
    "openai_chat": tuple(completion_of({"content": "Done."}, usage=usage) for usage in NO_USAGE),
    "google": tuple(candidate_of({"text": "Done."}, usageMetadata=usage) for usage in NO_USAGE),
}


@both_ways
@every_wire
@pytest.mark.parametrize("kind", [0, 1], ids=["null", "empty"])
def test_f098_a_turn_without_usage_ends_no_run_and_is_not_counted_as_nothing(
    stage: Stage, wire: WireName, stream: bool, kind: int
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(ASK, UNCOUNTED[wire][kind])
    assert (outcome.status, outcome.answer, desk.ran) == (RunStatus.COMPLETED, "Done.", ["look "])
    assert (outcome.usages[0].total, outcome.usages[1], outcome.usage_is_whole) == (120, Usage(), False)
    assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (100, 20)
    assert desk.ask(ASK, Turn("Done.")).usage_is_whole
