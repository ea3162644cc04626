"""
RODADA_OFFLINE: a test suite, or a machine, from which no vendor is ever asked.
"""

import asyncio

import pytest

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Loopback, Turn
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.providers.scripted import Scripted
from rodada.providers.scripted import Turn as Says
from rodada.statemachine import Provider, Reason, RunStatus, ToolLoop


def vendors(server: Loopback) -> list[Provider]:
    return [
        Anthropic("claude-opus-5-5", api_key="k", base_url=server.base_url("anthropic")),
        OpenAIResponses("gpt-5.6", api_key="k", base_url=server.base_url("openai")),
        OpenAIChat("gpt-4.1", api_key="k", base_url=server.base_url("openai_chat")),
        Google("gemini-3.8-flash", api_key="k", base_url=server.base_url("google")),
    ]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("place", range(4))
def test_every_vendor_raises_before_a_socket_opens(monkeypatch: pytest.MonkeyPatch, place: int, stream: bool) -> None:
    monkeypatch.setenv("RODADA_OFFLINE", "1")
    with Loopback([Turn("Hello.")]) as server:
        loop = ToolLoop(vendors(server)[place], stream=stream)
        outcome = asyncio.run(loop.run("Hello?"))
        assert (server.connections, server.received) == (0, ())
    assert (outcome.status, outcome.reason, outcome.model_calls) == (RunStatus.FAILED, Reason.CALL_FAILED, 1)
    assert outcome.error is not None
    assert outcome.error.error == "ProviderOffline"
    assert "RODADA_OFFLINE is set in the environment, so nothing was sent" in outcome.error.message


@pytest.mark.parametrize("said", ["", "0"])
def test_empty_or_zero_says_nothing(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("RODADA_OFFLINE", said)
    with Loopback([Turn("Hello.")]) as server, ToolLoop(vendors(server)[0]) as loop:
        assert loop.run_sync("Hello?").answer == "Hello."


def test_a_double_answers_in_the_vendors_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RODADA_OFFLINE", "1")
    loop = ToolLoop(Anthropic("claude-opus-5-5", api_key="k"))
    with loop.using(provider=Scripted([Says("I am a double.")])):
        assert loop.run_sync("Hello?").answer == "I am a double."
