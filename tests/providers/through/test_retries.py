"""
Calls of the model that fail, through each real SDK: when they are made again, and what they leave behind.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from itertools import pairwise

import anthropic
import httpx2
import openai
import pytest
from google.genai import Client
from google.genai.types import HttpOptions, HttpRetryOptions

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Altered, Broken, Call, Drop, Failure, Reply, Turn, WireName
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import (
    Conversation,
    Limits,
    Outcome,
    Reason,
    RunStatus,
    Status,
    TextDelta,
    ToolLoop,
    TurnEnded,
    TurnKind,
    UserMessage,
)
from rodada.statemachine.errors import ProviderOverloaded
from rodada.tools import tool
from support.desk import Desk, both_ways, every_wire, statuses
from support.stage import KEY, AnyProvider, Stage
from support.virtual_clock import VirtualClock
from support.wire_faults import FRAMES_BEFORE_WORDS

LIMITS = Limits(seconds=1000, closing_seconds=100)
ASK = Turn("Let me look.", [Call("look")], reasoning=True)


# The wait that the vendor asks for


def busy(status: int, asked: str) -> Failure:
    return Failure(status, headers={"retry-after": asked})


@both_ways
@every_wire
@pytest.mark.parametrize("status", [429, 503, 529])
def test_f088_the_one_retry_waits_as_long_as_the_vendor_asked(
    stage: Stage, wire: WireName, stream: bool, status: int
) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    outcome = desk.ask(busy(status, "3"), busy(status, "20"), Turn("There."))
    assert (outcome.status, outcome.answer, outcome.model_calls) == (RunStatus.COMPLETED, "There.", 3)
    assert desk.clock.mono() == pytest.approx(23)
    assert len({str(each.body) for each in desk.received}) == 1


@both_ways
@every_wire
def test_f088_a_date_is_a_wait_too(stage: Stage, wire: WireName, stream: bool) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    assert desk.ask(busy(429, later), Turn("There.")).answer == "There."
    assert 10 < desk.clock.mono() <= 20


@both_ways
@every_wire
def test_f088_a_wait_that_does_not_fit_into_the_time_left_ends_the_run_at_once(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    first = desk.ask(busy(429, "901"))
    assert (first.status, first.reason, first.model_calls) == (RunStatus.FAILED, Reason.CALL_FAILED, 1)
    later = desk.ask(ASK, busy(529, "901"))
    assert (later.status, later.reason, later.answer_by) == (RunStatus.INCOMPLETE, Reason.CALL_FAILED, "engine")
    assert desk.clock.mono() == 0
    for outcome in (first, later):
        assert outcome.error is not None
        assert outcome.error.error == "ProviderOverloaded"
        desk.goes_on(outcome)


@both_ways
@every_wire
def test_f088_in_the_closing_call_it_is_the_same(stage: Stage, wire: WireName, stream: bool) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(max_rounds=0, seconds=1000))
    assert desk.ask(ASK, busy(503, "3"), Turn("So far.")).answer == "So far."
    assert desk.clock.mono() == pytest.approx(3)
    outcome = desk.ask(ASK, busy(503, "1001"))
    assert (outcome.reason, outcome.answer_by, outcome.model_calls) == (Reason.MAX_ROUNDS, "engine", 2)
    assert desk.clock.mono() == pytest.approx(3)


Made = Callable[[str], AbstractAsyncContextManager[AnyProvider]]


@asynccontextmanager
async def _anthropic(url: str) -> AsyncGenerator[AnyProvider]:
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=5) as client:
        yield Anthropic("claude-opus-5-5", client=client)


@asynccontextmanager
async def _openai(url: str) -> AsyncGenerator[AnyProvider]:
    async with openai.AsyncOpenAI(api_key=KEY, base_url=url, max_retries=5) as client:
        yield OpenAIResponses("gpt-5.6", client=client)


@asynccontextmanager
async def _openai_chat(url: str) -> AsyncGenerator[AnyProvider]:
    async with openai.AsyncOpenAI(api_key=KEY, base_url=url, max_retries=5) as client:
        yield OpenAIChat("gpt-4.1", client=client)


@asynccontextmanager
async def _google(url: str) -> AsyncGenerator[AnyProvider]:
    retries = HttpRetryOptions(attempts=5, initial_delay=0.01)
    async with httpx2.AsyncClient() as http:
        options = HttpOptions(base_url=url, api_version="v1beta", retry_options=retries, httpx_async_client=http)
        yield Google("gemini-3.6-flash", client=Client(api_key=KEY, http_options=options).aio)


GIVEN: Mapping[WireName, Made] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_chat": _openai_chat,
    "google": _google,
}


@both_ways
@every_wire
def test_f088_the_retries_of_a_client_that_was_given_are_no_second_layer(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    clock = VirtualClock()
    stage.server.play([busy(503, "3"), Drop(), Turn("There.")])

    async def scene() -> Outcome:
        async with GIVEN[wire](stage.server.base_url(wire)) as provider:
            return await ToolLoop(provider, limits=LIMITS, stream=stream, clock=clock).run("Well?")

    outcome = stage.run(scene())
    assert (outcome.answer, outcome.model_calls, len(stage.server.received)) == ("There.", 3, 3)
    assert [step.row for step in outcome.transitions].count("call_retried") == 2
    assert 3.75 <= clock.mono() <= 4  # what was asked, and the second of our own backoffs less up to a quarter


# A stream that broke


def _cut_in_arguments(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """
    The events until half of the arguments were written, or until the first of two whole calls.
    """
    written = [at for at, piece in enumerate(pieces) if b"firs" in piece]
    return pieces[: written[0] + 1]


# What stands in the event that tells how a turn ended, and in none before it.
END: Mapping[WireName, bytes] = {
    "anthropic": b"message_delta",
    "openai": b"response.completed",
    "openai_chat": b'"finish_reason": "tool_calls"',
    "google": b"finishReason",
}


def _without_end(wire: WireName, pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return pieces[: next(at for at, piece in enumerate(pieces) if END[wire] in piece)]


BROKEN: Mapping[str, Callable[[WireName, Turn], Reply]] = {
    "in the arguments": lambda wire, turn: Altered(turn, _cut_in_arguments, "drop"),
    "before the end": lambda wire, turn: Altered(turn, partial(_without_end, wire), "drop"),
    "without an end": lambda wire, turn: Altered(turn, partial(_without_end, wire)),
    "by an error": lambda wire, turn: Broken(turn, FRAMES_BEFORE_WORDS[wire] + 1, Failure(500)),
}


@every_wire
@pytest.mark.parametrize("broken", BROKEN)
def test_f089_f090_of_a_stream_that_broke_nothing_runs_nothing_is_kept_and_watchers_are_told(
    stage: Stage, wire: WireName, broken: str
) -> None:
    desk = Desk(stage, wire, stream=True)
    calls = [Call("write", {"path": "first"}), Call("write", {"path": "firstly"})]
    first = Turn("Hel", calls, reasoning=True)
    second = Turn("Hello.", [Call("look", {"path": "second"})], reasoning=True)
    outcome = desk.ask(BROKEN[broken](wire, first), second, Turn("Done."))
    assert (desk.ran, outcome.answer, outcome.narration) == (["look second"], "Done.", ("Hello.",))
    ends = [(each.call, each.attempt, each.kind, each.text) for each in desk.notices if isinstance(each, TurnEnded)]
    assert ends == [
        (1, 1, TurnKind.DISCARDED, "Hel"),
        (2, 2, TurnKind.NARRATION, "Hello."),
        (3, 1, TurnKind.ANSWER, "Done."),
    ]
    said = [
        "".join(each.text for each in desk.notices if isinstance(each, TextDelta) and each.call == n) for n in (1, 2)
    ]
    assert said == ["Hel", "Hello."]
    assert "first" not in str(desk.received[-1].body)
    desk.goes_on(outcome)


# What a tool raises


def _answered(status: int) -> httpx2.Response:
    return httpx2.Response(status, request=httpx2.Request("POST", "https://api.example/v1"))


RAISED: tuple[Exception, ...] = (
    TimeoutError("connection timed out"),
    httpx2.ConnectError("connection refused"),
    anthropic.APIStatusError("overloaded", response=_answered(529), body=None),
    openai.RateLimitError("rate limit", response=_answered(429), body=None),
    ProviderOverloaded("anthropic", "busy", status=529, retry_after=3),
)


@every_wire
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_f091_what_a_tool_raises_is_its_result_and_no_failure_of_the_model(
    stage: Stage, wire: WireName, error: Exception
) -> None:
    ran: list[str] = []

    @tool
    async def net() -> None:
        """Ask the network."""
        ran.append("net")
        raise error

    @tool
    def net_too() -> None:
        """Ask the network, in a thread."""
        ran.append("net_too")
        raise error

    desk = Desk(stage, wire, tools=(net, net_too))
    outcome = desk.ask(Turn("", [Call("net"), Call("net_too")], reasoning=True), Turn("It did not work."))
    assert (ran, statuses(outcome)) == (["net", "net_too"], [Status.FAILED] * 2)
    assert (outcome.status, outcome.model_calls, outcome.error) == (RunStatus.COMPLETED, 2, None)
    assert "CallFailed" not in {step.event for step in outcome.transitions}
    assert desk.clock.mono() == 0


# What a failed call leaves behind

TOO_LONG = Failure(400, "The prompt is far too long for this model.")


@both_ways
@every_wire
def test_f092_of_calls_that_fail_no_word_gets_into_the_conversation(stage: Stage, wire: WireName, stream: bool) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    outcome = desk.ask(TOO_LONG, says="continue")
    sizes = [len(desk.received[0].raw)]
    for _ in range(3):
        again = desk.ask(TOO_LONG, says="continue", before=outcome.conversation)
        sizes.append(len(desk.received[0].raw))
        assert [type(entry) for entry in again.appended] == [UserMessage]
        assert "too long" not in str(desk.received[0].body)
        outcome = again
    # Only what the person said is more each time (fault F093 forbids to lose it).
    assert len({later - earlier for earlier, later in pairwise(sizes)}) == 1
    # A host that asks the same again sends the same.
    before = Conversation()
    bodies = [_body_of(desk, before) for _ in range(2)]
    assert bodies[0] == bodies[1]


def _body_of(desk: Desk, before: Conversation) -> object:
    desk.ask(TOO_LONG, before=before)
    body = dict(desk.received[0].body)
    body.pop("prompt_cache_key", None)
    return body


@both_ways
@every_wire
def test_f092_nor_behind_rounds(stage: Stage, wire: WireName, stream: bool) -> None:
    desk = Desk(stage, wire, stream, limits=LIMITS)
    outcome = desk.ask(ASK, TOO_LONG)
    assert (outcome.status, outcome.reason, len(outcome.appended)) == (RunStatus.INCOMPLETE, Reason.CALL_FAILED, 2)
    desk.goes_on(outcome)
    assert "too long" not in str(desk.received[0].body)
    assert outcome.answer not in str(desk.received[0].body)


@both_ways
@every_wire
@pytest.mark.parametrize("failure", [Failure(401), Failure(500), Drop(), TOO_LONG], ids=["401", "500", "drop", "400"])
def test_f093_what_the_person_said_outlives_a_call_that_fails_for_good(
    stage: Stage, wire: WireName, stream: bool, failure: Failure | Drop
) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(max_attempts=2))
    tries = 2 if failure in (Failure(500), Drop()) else 1
    outcome = desk.ask(*[failure] * tries, says="Remember the milk.")
    assert (outcome.status, outcome.reason) == (RunStatus.FAILED, Reason.CALL_FAILED)
    assert [entry.text for entry in outcome.conversation.entries if isinstance(entry, UserMessage)] == [
        "Remember the milk."
    ]
    assert len(outcome.conversation.entries) == 1
    desk.goes_on(outcome)
    assert "Remember the milk." in str(desk.received[0].body)
