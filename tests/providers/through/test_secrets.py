"""
Secrets through each real SDK at the loudest level of logging: no key stands in a line, an event, an error or a result.
"""

import json
import logging
import traceback
from collections.abc import Generator, Iterator

import pytest

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Body, Broken, Call, Drop, Failure, Raw, Reply, Turn, WireName
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import (
    Conversation,
    Limits,
    MediaLink,
    ModelRequest,
    Notice,
    Outcome,
    Text,
    ToolLoop,
    UserMessage,
)
from rodada.statemachine.errors import ProviderError
from support.desk import Desk, both_ways, every_wire
from support.stage import AnyProvider, Stage

KEY = "AIza-x-sk-x-0123456789"
SAYS_KEY = f"Incorrect API key provided: {KEY}."
ENDS: dict[str, tuple[Reply, ...]] = {
    "succeeds": (Turn("", [Call("look")], reasoning=True), Turn("Done.")),
    "401 that tells the key": (Failure(401, SAYS_KEY),),
    "400 that tells the key": (Failure(400, SAYS_KEY, code=KEY),),
    "500, then succeeds": (Failure(500, SAYS_KEY), Turn("Done.")),
    "drop": (Drop(), Drop()),
    "a page": (Raw(f"<html>{KEY}</html>".encode()), Raw(b"<html>")),
    "broken": (Broken(Turn("Hello you."), 1), Broken(Turn("Hello you."), 1)),
    "an error within the stream": (Broken(Turn("Hello you."), 1, Failure(400, SAYS_KEY)), Failure(400, SAYS_KEY)),
    "no message": (Body({"what": "is this"}), Body({"error": {"message": SAYS_KEY, "code": KEY}})),
}
MAKERS = {"anthropic": Anthropic, "openai": OpenAIResponses, "openai_chat": OpenAIChat, "google": Google}


@pytest.fixture(name="keyed", scope="module")
def _keyed(stage: Stage) -> Generator[dict[WireName, AnyProvider]]:
    made: dict[WireName, AnyProvider] = {
        "anthropic": Anthropic("claude-opus-5-5", api_key=KEY, base_url=stage.server.base_url("anthropic")),
        "openai": OpenAIResponses("gpt-5.6", api_key=KEY, base_url=stage.server.base_url("openai")),
        "openai_chat": OpenAIChat("gpt-4.1", api_key=KEY, base_url=stage.server.base_url("openai_chat")),
        "google": Google("gemini-3.6-flash", api_key=KEY, base_url=stage.server.base_url("google")),
    }
    yield made
    for provider in made.values():
        stage.run(provider.aclose())


def lines(records: list[logging.LogRecord]) -> Iterator[tuple[str, str]]:
    """
    All that a handler could write of each record: its message, its arguments, its traceback.
    """
    for record in records:
        told = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        yield record.name, f"{record.getMessage()} {record.args!r} {told} {record.__dict__!r}"


@both_ways
@every_wire
@pytest.mark.parametrize("name", ENDS)
def test_f111_no_key_is_in_a_log_line_an_event_or_an_outcome(
    stage: Stage,
    keyed: dict[WireName, AnyProvider],
    caplog: pytest.LogCaptureFixture,
    wire: WireName,
    stream: bool,
    name: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    desk = Desk(stage, wire, stream, limits=Limits(max_attempts=2), provider=keyed[wire])
    stage.server.play(ENDS[name])
    outcome = stage.run(desk.watched())
    assert any(KEY in value for received in desk.received for value in received.headers.values())
    assert any(record.name == "rodada" for record in caplog.records)
    assert [logger for logger, line in lines(caplog.records) if KEY in line] == []
    told = [repr(outcome), json.dumps(outcome.to_json()), *(json.dumps(each.to_json()) for each in desk.notices)]
    assert [each for each in told if KEY in each] == []


@both_ways
@every_wire
@pytest.mark.parametrize("name", [name for name in ENDS if name != "succeeds"])
def test_f111_nor_in_an_error_or_in_what_it_holds(
    stage: Stage, keyed: dict[WireName, AnyProvider], wire: WireName, stream: bool, name: str
) -> None:
    said = Conversation("c", (UserMessage("u", (Text("Hello."),)),))
    request = ModelRequest(conversation=said, stream=stream)
    stage.server.play(ENDS[name])
    with pytest.raises(ProviderError) as caught:
        stage.run(keyed[wire].ask(request, lambda delta: None))
    error = caught.value
    told = "".join(traceback.format_exception(error))
    assert KEY not in told + repr(error) + repr(error.__dict__)
    assert not _holds_request(error)


@both_ways
@every_wire
@pytest.mark.parametrize("end", ["as an answer", "within the stream"])
def test_what_may_be_secret_in_a_link_is_shown_by_no_error_that_quotes_it(
    stage: Stage, caplog: pytest.LogCaptureFixture, wire: WireName, stream: bool, end: str
) -> None:
    caplog.set_level(logging.DEBUG)
    link = MediaLink("https://host/photo.png?signature=SECRET")
    quoted = Failure(400, f"Error while downloading {link.url}. Upstream status code: 403.")
    stage.server.play([quoted if end == "as an answer" else Broken(Turn("Hello you."), 1, quoted)])
    loop = ToolLoop(stage.provider(wire), limits=Limits(max_attempts=1), stream=stream)

    async def watched() -> tuple[list[Notice], Outcome]:
        async with loop.start([Text("What is this?"), link]) as live:
            return [notice async for notice in live.events(after=0)], await live.outcome()

    notices, outcome = stage.run(watched())
    assert outcome.error is not None
    assert ("https://host/photo.png?***" in str(outcome.error)) == (end == "as an answer" or stream)
    told = [line for logger, line in lines(caplog.records) if logger == "rodada"]
    told += [repr(outcome), str(outcome.error), *(json.dumps(each.to_json()) for each in notices)]
    assert [each for each in told if "SECRET" in each] == []


def _holds_request(error: BaseException) -> bool:
    """
    Whether an exception leads to another one that holds the request.
    """
    held = [error.__cause__, None if error.__suppress_context__ else error.__context__]
    return any(hasattr(each, "request") or (each is not None and _holds_request(each)) for each in held)
