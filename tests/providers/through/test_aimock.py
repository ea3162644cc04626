"""
`@copilotkit/aimock` from npm, a server that plays fixtures: whatever it does on a wire, a run ends as our rules say.
"""

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from rodada.providers.loopback import Call, Turn, WireName
from rodada.providers.loopback.json_values import Json, Object, obj, objs, text
from rodada.statemachine import Limits, Reason, RunStatus, Status
from rodada.statemachine.drivers.clock import SystemClock
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderRejected,
    ProviderTimeout,
    ProviderTooLarge,
    ProviderUnreachable,
)
from support.stage import MODELS, WIRES
from support.third_party import ThirdParty, serving
from support.third_party_runs import Case, Guest, Spoilt, asking, cases, meet, play
from support.wire_faults import WORD, Fault, Moment, heard_before

pytestmark = pytest.mark.long
HELD = 30_000  # milliseconds, longer than any run here
# Events before the first words.
EVENTS: Mapping[WireName, int] = {"anthropic": 2, "openai": 6, "openai_chat": 1, "google": 0}


def fixture(response: Object, **options: Json) -> Object:
    return {"fixtures": [{"match": {"userMessage": "?"}, "response": response, **options}]}


def said(wire: WireName, turn: Turn) -> Object:
    """
    A turn as the server wants it. Its own word for the end of a turn with calls is none that Gemini knows.
    """
    if not turn.calls:
        return {"content": turn.text}
    calls: list[Json] = [{"name": call.name, "arguments": call.arguments} for call in turn.calls]
    response: Object = {"content": turn.text, "toolCalls": calls}
    return {**response, "finishReason": "stop"} if wire == "google" else response


def say(wire: WireName, turn: Turn) -> Object:
    return fixture(said(wire, turn))


@pytest.fixture(name="server", scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ThirdParty]:
    """
    Strict: what no fixture fits, or breaks Anthropic's rule about thinking, is an error. It wants one to begin with.
    """
    unused: Path = tmp_path_factory.mktemp("aimock") / "unused.json"
    unused.write_text('{"fixtures":[{"match":{"userMessage":"never said"},"response":{"content":"."}}]}')
    paths: Mapping[WireName, str] = {"anthropic": "", "openai": "/v1", "openai_chat": "/v1", "google": ""}
    options = ("--port", "0", "--strict", "--fixtures", str(unused), "--chunk-size", str(WORD))
    with serving("node_modules/.bin/llmock", *options, paths=paths) as server:
        yield server


@pytest.fixture(name="guest", scope="module", params=[MODELS[wire][0] for wire in WIRES], ids=WIRES)
def _guest(server: ThirdParty, request: pytest.FixtureRequest) -> Generator[Guest]:
    def tell(prompt: Object) -> None:
        server.control("DELETE", "/__aimock/fixtures")
        server.control("POST", "/__aimock/reset/journal")
        server.control("POST", "/__aimock/fixtures", prompt)

    def holds() -> bool:
        return server.control("GET", "/__aimock/journal") != []

    name: str = request.param
    wire: WireName = next(wire for wire in WIRES if name in MODELS[wire])
    with asking(server, wire, name) as (model, runner):
        yield Guest(server, wire, tell, say, heard_before, holds, model, runner)


def refused(status: int, error: type[ProviderError], name: str = "", wait: float | None = None) -> Spoilt:
    response: Object = {"error": {"message": "Not now."}, "status": status}
    if wait is not None:
        response["retryAfter"] = wait
    return Spoilt(
        Fault(name or str(status), None, lambda streams: error, status, wait), lambda moment: fixture(response)
    )


def chaos(kind: str, error: type[ProviderError], status: int | None = None, wait: float | None = None) -> Spoilt:
    """
    What the server does in place of an answer, told in the same words on every wire.
    """
    return Spoilt(
        Fault(kind, None, lambda streams: error, status, wait),
        lambda moment: fixture(said(moment.wire, moment.turn), chaos={f"{kind}Rate": 1}),
    )


def broken_off(moment: Moment) -> Object:
    """
    A connection that breaks behind some words: of what the server writes last nothing leaves it.
    """
    events = EVENTS[moment.wire] + 3
    return fixture(said(moment.wire, moment.turn), truncateAfterChunks=events, latency=2)


def stalled(moment: Moment) -> Object:
    waits: list[Json] = [*[0] * (EVENTS[moment.wire] + 1), HELD]
    timings: Object = {"ttftMs": 0, "interChunkDelaysMs": waits, "totalDurationMs": HELD}
    return fixture(said(moment.wire, moment.turn), recordedTimings=timings)


def silent(moment: Moment) -> Object:
    return fixture(said(moment.wire, moment.turn), latency=HELD)


def timed_out(name: str, *, speaks: bool) -> Fault:
    return Fault(name, None, lambda streams: ProviderTimeout, speaks=speaks, stalls=True, streamed_only=True)


SPOILT = (
    refused(400, ProviderRejected),
    refused(401, ProviderAuthentication),
    refused(413, ProviderTooLarge),
    refused(429, ProviderOverloaded, "429, again in 7 s", wait=7),
    refused(429, ProviderOverloaded, "429, again in a day", wait=86_400),
    refused(500, ProviderOverloaded),
    refused(529, ProviderOverloaded),
    chaos("drop", ProviderOverloaded, 500),
    chaos("rateLimit", ProviderOverloaded, 429, wait=1),
    chaos("malformed", ProviderGarbled),
    chaos("disconnect", ProviderUnreachable),
    Spoilt(Fault("broken off", None, lambda streams: ProviderUnreachable, speaks=True, streamed_only=True), broken_off),
    Spoilt(timed_out("stall", speaks=True), stalled),
    Spoilt(timed_out("silence", speaks=False), silent),
)


@pytest.mark.parametrize("case", tuple(cases(SPOILT)), ids=str)
def test_a_run_that_meets_a_fault(guest: Guest, case: Case) -> None:
    meet(guest, case)


def test_a_whole_answer_that_does_not_come_in_time(guest: Guest) -> None:
    """
    In real time, for the server tells of such a call when it is over.
    """
    late = fixture({"content": "Too late."}, chaos={"latencyMs": HELD})
    limits = Limits(max_attempts=1, call_seconds=0.2)

    outcome = play(guest, [late], streams=False, limits=limits, clock=SystemClock()).outcome

    assert (RunStatus.FAILED, Reason.CALL_FAILED) == (outcome.status, outcome.reason)
    assert outcome.error
    assert "ProviderTimeout" == outcome.error.error


TWICE = Turn("Let me look twice.", [Call("look"), Call("look")])
THINKING: Object = {"reasoning": "Two logs.", "reasoningSignature": "c2lnbmVk"}


def paired(server: ThirdParty) -> tuple[list[str], list[str]]:
    """
    The ids of the calls and of their results, as the server read them in the last request.
    """
    (entry,) = objs(server.control("GET", "/__aimock/journal"))
    messages = objs(obj(entry["body"])["messages"])
    asked = [text(call["id"]) for message in messages for call in objs(message.get("tool_calls"))]
    return asked, [text(message["tool_call_id"]) for message in messages if message["role"] == "tool"]


def look_twice(guest: Guest, streams: bool) -> None:
    both = fixture({**said(guest.wire, TWICE), **THINKING})

    outcome = play(guest, [both, fixture({"content": "Both 85."})], streams=streams).outcome

    assert (RunStatus.COMPLETED, "Both 85.", (TWICE.text,)) == (outcome.status, outcome.answer, outcome.narration)
    assert [(Status.SUCCEEDED, "85 kg")] * 2 == [(call.status, call.text) for call in outcome.calls]
    asked, answered = paired(guest.server)
    assert (2, asked) == (len(set(asked)), answered)


@pytest.mark.parametrize("streams", [False, True])
def test_two_calls_behind_thoughts_and_words(guest: Guest, streams: bool) -> None:
    look_twice(guest, streams)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("guest", ["claude-haiku-4-5"], indirect=True)  # asked to think, so that it wants them
def test_thoughts_come_back_where_the_server_wants_them(guest: Guest, streams: bool) -> None:
    look_twice(guest, streams)


@pytest.mark.parametrize("streams", [False, True])
def test_a_call_before_words(guest: Guest, streams: bool) -> None:
    blocks: list[Json] = [
        {"type": "toolCall", "name": "look", "arguments": {}},
        {"type": "text", "text": "Looking while it runs."},
    ]
    first: Object = {"blocks": blocks, **({"finishReason": "stop"} if guest.wire == "google" else {})}

    outcome = play(guest, [fixture(first), fixture({"content": "85."})], streams=streams).outcome

    assert (RunStatus.COMPLETED, "85.", 1) == (outcome.status, outcome.answer, len(outcome.calls))
    assert ("Looking while it runs.",) == outcome.narration
    asked, answered = paired(guest.server)
    assert (1, asked) == (len(asked), answered)


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_that_is_cut_is_none(guest: Guest, streams: bool) -> None:
    """
    On Responses the server does not say why a response is incomplete, as OpenAI always does: it is no answer all the
    same, and why is not guessed.
    """
    outcome = play(guest, [fixture({"content": "You lift", "finishReason": "length"})], streams=streams).outcome

    reason = Reason.UNKNOWN_STOP if guest.wire == "openai" else Reason.CUT
    assert (RunStatus.INCOMPLETE, reason) == (outcome.status, outcome.reason)
    assert ("engine", "You lift") == (outcome.answer_by, outcome.partial)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("guest", MODELS["google"][:1], indirect=True)
def test_a_stop_that_gemini_does_not_know_runs_nothing(guest: Guest, streams: bool) -> None:
    """
    Left to itself the server ends a turn with calls by FUNCTION_CALL, where Gemini says STOP.
    """
    outcome = play(guest, [fixture(said("openai", TWICE))], streams=streams).outcome

    assert (RunStatus.INCOMPLETE, Reason.UNKNOWN_STOP, ()) == (outcome.status, outcome.reason, outcome.calls)
    assert "FUNCTION_CALL" in outcome.detail
