"""
What holds for both of OpenAI's classes, through the real SDK, against the loopback server.
"""

import asyncio
import subprocess
import sys
from typing import cast

import openai
import pytest
from attrs import evolve

from rodada.providers.loopback import (
    Body,
    Failure,
    Hang,
    Loopback,
    Received,
    Reply,
    Turn,
)
from rodada.statemachine.errors import (
    InvalidValue,
    MissingExtra,
    MissingKey,
    ProviderError,
    ProviderTimeout,
    ProviderTooLarge,
    WrongEventLoop,
)
from rodada.statemachine.messages import (
    ModelTurn,
    Piece,
    Stop,
    Text,
    ToolRequest,
    UserMessage,
)
from support.openai_wires import (
    CHAT,
    KEY,
    RESPONSES,
    OpenAIProvider,
    OpenAIWire,
    answered,
    asking,
    ignore,
    started,
    wait_for_hang_up,
)

pytestmark = pytest.mark.parametrize("wire", [RESPONSES, CHAT], ids=lambda wire: wire.name)


def test_conversation_of_another_wire_is_accepted(wire: OpenAIWire) -> None:
    requests = (
        ToolRequest("functions.write:0", "fs.write", '{"a":1}', "functions.write:0"),
        ToolRequest("b" * 99, "", ""),
    )
    foreign = ModelTurn(
        Stop.WHOLE, "Looking.", requests, native=(Piece('{"type":"tool_use"}', None),), wire="anthropic"
    )
    conversation = answered(started(), foreign).append(ModelTurn(Stop.WHOLE, "Done.", wire="google"))
    conversation = conversation.append(UserMessage("u2", (Text("And now?"),)))
    turn, server = wire.play([Turn("Hi.")], lambda provider: provider.ask(asking(conversation), ignore))
    assert (turn.text, server.refusals) == ("Hi.", ())


@pytest.mark.parametrize(
    ("reply", "kind", "retryable", "code"),
    [
        (Failure(400, "No."), "ProviderRejected", False, "invalid_request_error"),
        (Failure(400, "No.", code="context_length_exceeded"), "ProviderTooLarge", False, "context_length_exceeded"),
        (Failure(401, "No."), "ProviderAuthentication", False, "invalid_request_error"),
        (Failure(403, "No."), "ProviderAuthentication", False, "invalid_request_error"),
        (Failure(404, "No.", code="model_not_found"), "ProviderRejected", False, "model_not_found"),
        (Failure(408, "No."), "ProviderTimeout", True, "invalid_request_error"),
        (Failure(409, "No."), "ProviderOverloaded", True, "invalid_request_error"),
        (Failure(413, "No."), "ProviderTooLarge", False, "invalid_request_error"),
        (Failure(422, "No."), "ProviderRejected", False, "invalid_request_error"),
        (Failure(429, "No."), "ProviderOverloaded", True, "rate_limit_error"),
        (Failure(429, "No.", code="insufficient_quota"), "ProviderQuota", False, "insufficient_quota"),
        (Failure(429, "No.", kind="insufficient_quota"), "ProviderQuota", False, "insufficient_quota"),
        (Failure(500, "No."), "ProviderOverloaded", True, "server_error"),
        (Failure(503, "No."), "ProviderOverloaded", True, "server_error"),
        (Failure(500, "No.", headers={"x-should-retry": "false"}), "ProviderOverloaded", False, "server_error"),
    ],
)
def test_statuses_become_errors(wire: OpenAIWire, reply: Failure, kind: str, retryable: bool, code: str) -> None:
    told = wire.failed(reply)
    assert (type(told).__name__, told.retryable, told.code) == (kind, retryable, code)
    assert (told.provider, told.status, told.message) == (wire.name, reply.status, "No.")
    assert str(told.request_id).startswith("req_")


def test_wait_that_the_vendor_asks_for_is_told(wire: OpenAIWire) -> None:
    assert wire.failed(Failure(429, headers={"retry-after": "7"})).retry_after == 7
    assert wire.failed(Failure(429, headers={"retry-after-ms": "1500", "retry-after": "7"})).retry_after == 1.5


def test_sdk_does_not_retry(wire: OpenAIWire) -> None:
    async def ask(provider: OpenAIProvider) -> None:
        with pytest.raises(ProviderError):
            await provider.ask(asking(started()), ignore)

    _, server = wire.play([Failure(500), Turn("Hi.")], ask)
    assert len(server.received) == 1


def test_given_client_is_used_without_its_retries_and_stays_open(wire: OpenAIWire) -> None:
    async def whole(server: Loopback) -> tuple[str, bool]:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=server.base_url(wire.path), max_retries=2) as client:
            provider = wire.provider(client=client)
            with pytest.raises(ProviderError):
                await provider.ask(asking(started()), ignore)
            turn = await provider.ask(asking(started()), ignore)
            await provider.aclose()
            return turn.text, client.is_closed()

    with Loopback([Failure(500), Turn("Hi.")]) as server:
        assert asyncio.run(whole(server)) == ("Hi.", False)


def test_given_client_is_refused_on_a_second_event_loop(wire: OpenAIWire) -> None:
    with Loopback([Turn("Hi.")]) as server:
        client = openai.AsyncOpenAI(api_key=KEY, base_url=server.base_url(wire.path))
        provider = wire.provider(client=client)

        async def first() -> None:
            await provider.ask(asking(started()), ignore)
            await client.close()

        asyncio.run(first())
        with pytest.raises(WrongEventLoop):
            asyncio.run(provider.ask(asking(started()), ignore))


def test_own_clients_work_on_every_event_loop(wire: OpenAIWire) -> None:
    with Loopback([Turn("One."), Turn("Two.")]) as server:
        provider = wire.provider(api_key=KEY, base_url=server.base_url(wire.path))

        async def once() -> str:
            turn = await provider.ask(asking(started()), ignore)
            await provider.aclose()
            return turn.text

        assert [asyncio.run(once()), asyncio.run(once())] == ["One.", "Two."]


def test_sync_client_is_refused_by_name(wire: OpenAIWire) -> None:
    with openai.OpenAI(api_key=KEY) as client, pytest.raises(InvalidValue, match=r"openai\.AsyncOpenAI, not a OpenAI"):
        wire.provider(client=cast("openai.AsyncOpenAI", client))


def test_client_beside_its_own_settings_is_refused(wire: OpenAIWire) -> None:
    client = openai.AsyncOpenAI(api_key=KEY)
    with pytest.raises(InvalidValue, match="base_url"):
        wire.provider(client=client, base_url="http://127.0.0.1:9")


def test_missing_key_and_missing_sdk_are_told_when_built(wire: OpenAIWire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        wire.provider()
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"rodada\[openai\]"):
        wire.provider(api_key=KEY)


def test_importing_the_provider_does_not_import_the_sdk(wire: OpenAIWire) -> None:
    program = f"import sys, rodada.providers.{wire.name}; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_f063_options_that_are_set_elsewhere_are_refused(wire: OpenAIWire) -> None:
    for name in wire.elsewhere:
        for options in ({name: "required"}, {"extra_body": {name: "required"}}):
            with pytest.raises(InvalidValue, match=name):
                wire.provider(api_key=KEY, options=options)


@pytest.mark.parametrize(
    "options", [{"no_such_option": 1}, {"temperature": float("nan")}, {"metadata": {"a": "\ud800"}}], ids=str
)
def test_request_that_cannot_be_built_is_rejected(wire: OpenAIWire, options: dict[str, object]) -> None:
    with pytest.raises(ProviderError) as caught:
        wire.one(Turn("Hi."), options=options)
    assert (type(caught.value).__name__, caught.value.retryable) == ("ProviderRejected", False)


def test_wrong_arguments_are_refused(wire: OpenAIWire) -> None:
    with pytest.raises(InvalidValue):
        wire.kind(" ", api_key=KEY)
    with pytest.raises(InvalidValue):
        wire.provider(api_key=KEY, max_output_tokens=0)


def test_f010_openai_request_over_the_size_limit_is_not_sent(wire: OpenAIWire) -> None:
    async def ask(provider: OpenAIProvider) -> int:
        _ = await provider.ask(asking(started()), ignore)
        return 0

    _, server = wire.play([Turn("Hi.")], ask)
    size = len(server.received[0].raw)
    assert wire.one(Turn("Hi."), evolve(asking(started()), max_request_bytes=size)).text == "Hi."
    told = wire.failed(Turn("Hi."), evolve(asking(started()), max_request_bytes=size - 1))
    assert (type(told), told.retryable) == (ProviderTooLarge, False)
    assert f"{size} bytes" in told.message


def test_call_that_takes_too_long_is_a_timeout(wire: OpenAIWire) -> None:
    told = wire.failed(Hang(), evolve(asking(started()), seconds=0.05))
    assert (type(told), told.retryable) == (ProviderTimeout, True)


def test_cancelling_passes_through_and_closes_the_connection(wire: OpenAIWire) -> None:
    async def cancelled(provider: OpenAIProvider, arrived: asyncio.Event) -> bool:
        task = asyncio.create_task(provider.ask(evolve(asking(started()), seconds=60), ignore))
        await arrived.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    async def whole() -> bool:
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def hang(received: Received) -> Reply:
            loop.call_soon_threadsafe(arrived.set)
            return Hang()

        with Loopback(hang) as server:
            provider = wire.provider(api_key=KEY, base_url=server.base_url(wire.path))
            was_cancelled = await cancelled(provider, arrived)
            await asyncio.to_thread(wait_for_hang_up, server)
            await provider.aclose()
            return was_cancelled

    assert asyncio.run(whole())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "reply",
    [
        Failure(401, f"Incorrect API key provided: {KEY}."),
        Body({"error": {"message": f"Incorrect API key provided: {KEY}.", "code": 401}}),
        Body({"status": "failed", "error": {"message": f"Incorrect API key provided: {KEY}."}}),
        Body({"choices": [{"message": None, "error": f"Incorrect API key provided: {KEY}."}], "status": "failed"}),
    ],
)
def test_no_secret_is_shown(wire: OpenAIWire, reply: Failure | Body, stream: bool) -> None:
    told = wire.failed(reply, evolve(asking(started()), stream=stream))
    assert KEY not in repr((told, str(told)))
    assert (told.__cause__, told.__suppress_context__ or told.__context__ is None) == (None, True)
    assert repr(wire.provider(api_key=KEY)) == f"{wire.kind.__name__}({wire.model!r})"
