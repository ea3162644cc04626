"""
What a client of our own tells whom.
"""

import asyncio
from collections.abc import Callable

import pytest

from rodada.providers.loopback import Loopback, Turn
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_client import is_openai, new_client
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import Provider, ToolLoop

PROVIDERS: list[Callable[[Loopback], Provider]] = [
    lambda server: OpenAIChat("m", base_url=server.base_url("openai_chat")),
    lambda server: OpenAIResponses("m", api_key="k", base_url=server.base_url("openai")),
]


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1/", True),
        ("https://api.openai.com.example.com/v1", False),
        ("https://notapi.openai.com/v1", False),
        ("https://example.com/api.openai.com/v1", False),
        ("http://api.openai.com@127.0.0.1/v1", False),
        ("nowhere", False),
    ],
)
def test_only_the_host_says_whose_a_server_is(url: str, own: bool) -> None:
    assert is_openai(url) is own


@pytest.mark.parametrize("provider", PROVIDERS, ids=["chat", "responses"])
def test_organisation_and_project_of_the_environment_reach_no_other_server(
    provider: Callable[[Loopback], Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin")
    with Loopback([Turn("Hi.")]) as server, ToolLoop(provider(server)) as loop:
        assert loop.run_sync("Hello").answer == "Hi."
        headers = server.received[0].headers
    assert not [value for value in headers.values() if "secret" in value or "admin" in value]


def test_openai_itself_is_told_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")

    async def told() -> tuple[str | None, str | None]:
        async with new_client("k", None) as client:
            return client.organization, client.project

    assert asyncio.run(told()) == ("org-secret", "proj-secret")
