"""
The three real SDKs, each with one client on one event loop, against one loopback server.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import TypeVar

from attrs import field, frozen

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Loopback, WireName
from rodada.providers.openai_responses import OpenAIResponses

AnyProvider = Anthropic | OpenAIResponses | Google
Got = TypeVar("Got")

WIRES: tuple[WireName, ...] = ("anthropic", "openai", "google")
KEY = "sk-secret"
MANUAL = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def _anthropic(model: str, **options: object) -> "Callable[[Loopback], AnyProvider]":
    return lambda server: Anthropic(model, api_key=KEY, base_url=server.base_url("anthropic"), options=options)


def _openai(model: str) -> "Callable[[Loopback], AnyProvider]":
    return lambda server: OpenAIResponses(model, api_key=KEY, base_url=server.base_url("openai"))


def _google(model: str) -> "Callable[[Loopback], AnyProvider]":
    return lambda server: Google(model, api_key=KEY, base_url=server.base_url("google"))


# The newest of each vendor first; the others are older ones for which the adapters have another form.
MAKERS: dict[WireName, dict[str, Callable[[Loopback], AnyProvider]]] = {
    "anthropic": {
        "claude-opus-5-5": _anthropic("claude-opus-5-5"),
        "claude-opus-5": _anthropic("claude-opus-5"),
        "claude-haiku-4-5": _anthropic("claude-haiku-4-5", **MANUAL),
    },
    "openai": {"gpt-5.6": _openai("gpt-5.6")},
    "google": {"gemini-3.6-flash": _google("gemini-3.6-flash"), "gemini-2.5-flash": _google("gemini-2.5-flash")},
}
MODELS: dict[WireName, tuple[str, ...]] = {wire: tuple(models) for wire, models in MAKERS.items()}


@frozen
class Stage:
    """
    The server, the providers by the name of their model, and the event loop that all share.
    """

    server: Loopback
    runner: asyncio.Runner = field(repr=False)
    providers: dict[str, AnyProvider] = field(repr=False)

    def provider(self, wire: WireName) -> AnyProvider:
        """
        The newest model on a wire.
        """
        return self.providers[MODELS[wire][0]]

    def run(self, work: Coroutine[object, object, Got]) -> Got:
        """
        Run some work to its end.
        """
        return self.runner.run(work)


@contextmanager
def set_stage(server: Loopback | None = None) -> Generator[Stage]:
    """
    A stage whose connections are closed at the end.
    """
    with server or Loopback() as server, asyncio.Runner() as runner:
        made = {name: make(server) for models in MAKERS.values() for name, make in models.items()}
        try:
            yield Stage(server, runner, made)
        finally:
            for provider in made.values():
                runner.run(provider.aclose())
