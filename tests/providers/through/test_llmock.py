"""
`llmock` from PyPI, a server that breaks on demand: whatever it does on a wire, a run ends as our rules say, and its own
judgement of a client finds nothing.
"""

import re
from collections.abc import Generator, Mapping

import pytest

from rodada.providers.loopback import Turn, WireName
from rodada.providers.loopback.json_values import Json, Object, obj, objs
from rodada.statemachine import Reason, RunStatus, Status
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
from rodada.tools import tool
from support.stage import MODELS, WIRES
from support.third_party import ThirdParty, serving
from support.third_party_runs import Case, Guest, Spoilt, asking, cases, meet, play
from support.wire_faults import Fault, Moment
from support.wire_pairs import pair_faults

pytestmark = pytest.mark.long
HELD = 30  # seconds, longer than any run here
WORDS = 3  # that come before a fault that speaks; a word is an event of its own
# Events before the first word.
EVENTS: Mapping[WireName, int] = {"anthropic": 3, "openai": 4, "openai_chat": 1, "google": 0}
NOTHING: Object = {"behaviors": []}


def say(wire: WireName, turn: Turn) -> Object:
    calls: list[Json] = [{"name": call.name, "arguments": call.arguments} for call in turn.calls]
    return {"behaviors": [{"type": "reply", "text": turn.text, "tool_calls": calls}]}


def heard(turn: Turn) -> str:
    return "".join(re.findall(r"\s*\S+\s*", turn.text)[:WORDS])


def requests(server: ThirdParty) -> list[Object]:
    return objs(obj(server.control("GET", "/_llmock/requests"))["requests"])


@pytest.fixture(name="server", scope="module")
def _server() -> Generator[ThirdParty]:
    paths: Mapping[WireName, str] = {
        "anthropic": "/anthropic",
        "openai": "/v1",
        "openai_chat": "/v1",
        "google": "/gemini",
    }
    with serving("llmock/bin/llmock", "serve", "--port", "0", "--response-style", "hello", paths=paths) as server:
        yield server


@pytest.fixture(name="guest", scope="module", params=WIRES)
def _guest(server: ThirdParty, request: pytest.FixtureRequest) -> Generator[Guest]:
    def tell(prompt: Object) -> None:
        if prompt["behaviors"]:
            server.control("POST", "/_llmock/scenario", prompt)

    def holds() -> bool:
        return obj(server.control("GET", "/_llmock/scenario"))["pending"] == []

    wire: WireName = request.param
    with asking(server, wire, MODELS[wire][0]) as (model, runner):
        yield Guest(server, wire, tell, say, heard, holds, model, runner)


@pytest.fixture(autouse=True)
def _afresh(server: ThirdParty) -> None:
    server.control("POST", "/_llmock/reset")


def refused(status: int, error: type[ProviderError], name: str = "", wait: float | None = None) -> Spoilt:
    """
    An answer of a status. The server asks to wait a second where it is told nothing else, at 429 and 529.
    """
    behavior: Object = {"type": "fail", "status": status}
    if wait is not None:
        behavior["retry_after"] = wait
    elif status in (429, 529):
        wait = 1
    prompt: Object = {"behaviors": [behavior]}
    return Spoilt(Fault(name or str(status), None, lambda streams: error, status, wait), lambda moment: prompt)


def broken(kind: str, error: type[ProviderError], *, stalls: bool = False) -> Spoilt:
    """
    A stream that breaks behind some words.
    """

    def prompt(moment: Moment) -> Object:
        fault: Object = {"type": "stream_fault", "kind": kind, "after_chunks": EVENTS[moment.wire] + WORDS}
        if stalls:
            fault["stall_seconds"] = HELD
        return {"behaviors": [*objs(say(moment.wire, moment.turn)["behaviors"]), fault]}

    return Spoilt(Fault(kind, None, lambda streams: error, speaks=True, stalls=stalls, streamed_only=True), prompt)


def silent(moment: Moment) -> Object:
    behavior: Object = {"type": "slow_first_token" if moment.streams else "delay", "seconds": HELD}
    return {"behaviors": [*objs(say(moment.wire, moment.turn)["behaviors"]), behavior]}


SPOILT = (
    refused(400, ProviderRejected),
    refused(401, ProviderAuthentication),
    refused(413, ProviderTooLarge),
    refused(429, ProviderOverloaded, "429, again in 7 s", wait=7),
    refused(429, ProviderOverloaded, "429, again in a day", wait=86_400),
    refused(500, ProviderOverloaded),
    refused(529, ProviderOverloaded),
    broken("disconnect", ProviderUnreachable),
    broken("truncate", ProviderUnreachable),
    broken("malformed", ProviderGarbled),
    broken("stall", ProviderTimeout, stalls=True),
    Spoilt(Fault("silence", None, lambda streams: ProviderTimeout, stalls=True), silent),
)


@pytest.mark.parametrize("case", tuple(cases(SPOILT)), ids=str)
def test_a_run_that_meets_a_fault(guest: Guest, case: Case) -> None:
    meet(guest, case)

    assert [] == obj(guest.server.control("GET", "/_llmock/scenario"))["pending"]
    if not case.cell.fault.stalls:  # the server goes on with those, and tells only when it is done
        asked = [pair_faults(guest.wire, obj(each["body"])) for each in requests(guest.server)]
        assert [[]] * len(asked) == asked


@tool
def lifted(exercise: str, weeks: int) -> str:
    """
    The weight lifted some weeks ago.
    """
    return f"{exercise}, {weeks}: 85 kg"


@pytest.mark.parametrize("streams", [False, True])
def test_its_own_model_calls_a_tool_by_its_schema_and_answers(guest: Guest, streams: bool) -> None:
    outcome = play(guest, [NOTHING] * 2, streams=streams, tools=[lifted]).outcome

    answer = f"Hello! This is a mock response from {MODELS[guest.wire][0]}."
    assert (RunStatus.COMPLETED, answer, 2) == (outcome.status, outcome.answer, outcome.model_calls)
    assert [("lifted", Status.SUCCEEDED)] == [(call.name, call.status) for call in outcome.calls]
    assert [[], []] == [pair_faults(guest.wire, obj(each["body"])) for each in requests(guest.server)]


@pytest.mark.parametrize("streams", [False, True])
def test_two_calls_beside_words(guest: Guest, streams: bool) -> None:
    asked: list[Json] = [
        {"name": "lifted", "arguments": {"exercise": "agachamento ção", "weeks": 1}},
        {"name": "lifted", "arguments": {"exercise": "bench", "weeks": 2}},
    ]
    both: Object = {"behaviors": [{"type": "reply", "text": "Let me look twice.", "tool_calls": asked}]}

    outcome = play(guest, [both, say(guest.wire, Turn("Both 85."))], streams=streams, tools=[lifted]).outcome

    assert (RunStatus.COMPLETED, "Both 85.") == (outcome.status, outcome.answer)
    assert ("Let me look twice.",) == outcome.narration
    assert ["agachamento ção, 1: 85 kg", "bench, 2: 85 kg"] == [call.text for call in outcome.calls]
    assert [[], []] == [pair_faults(guest.wire, obj(each["body"])) for each in requests(guest.server)]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        # Where arguments are JSON values on the wire, the server sends none in place of broken ones.
        ("malformed_arguments", "lifted was not run; its arguments: "),
        ("unknown_tool", "There is no tool 'llmock_unknown_tool', "),
    ],
)
def test_a_call_that_cannot_be_run(guest: Guest, streams: bool, kind: str, told: str) -> None:
    bad: Object = {"behaviors": [{"type": "tool_fault", "kind": kind}]}

    outcome = play(guest, [bad, say(guest.wire, Turn("It did not work."))], streams=streams, tools=[lifted]).outcome

    assert (RunStatus.COMPLETED, "It did not work.") == (outcome.status, outcome.answer)
    assert [(Status.FAILED, True)] == [(call.status, call.text.startswith(told)) for call in outcome.calls]
    assert [[], []] == [pair_faults(guest.wire, obj(each["body"])) for each in requests(guest.server)]


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_that_is_cut_is_none(guest: Guest, streams: bool) -> None:
    cut: Object = {"behaviors": [{"type": "reply", "text": "You lift", "finish_reason": "length"}]}

    outcome = play(guest, [cut], streams=streams).outcome

    assert (RunStatus.INCOMPLETE, Reason.CUT) == (outcome.status, outcome.reason)
    assert ("engine", "You lift") == (outcome.answer_by, outcome.partial)


def test_the_server_itself_finds_no_fault_with_the_client(guest: Guest) -> None:
    """
    It watches real time: whether a wait was kept, what was tried again, whether half an answer was taken for one.
    """
    late: Object = {"behaviors": [{"type": "fail", "status": 429, "retry_after": 0.3}]}
    cut: Object = {"behaviors": [{"type": "stream_fault", "kind": "truncate", "after_chunks": 0}]}

    outcome = play(guest, [late, NOTHING, cut, NOTHING], streams=True, clock=SystemClock()).outcome

    assert (RunStatus.COMPLETED, 4) == (outcome.status, outcome.model_calls)
    verdict = obj(guest.server.control("GET", "/_llmock/verdict"))
    assert {"passed": True, "calls": 2, "attempts": 4, "faults_injected": 2, "findings": []} == {
        key: verdict[key] for key in ("passed", "calls", "attempts", "faults_injected", "findings")
    }
