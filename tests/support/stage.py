"""
The three real SDKs, with one client for each model on one event loop, against one loopback server.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from typing import Protocol, TypeVar

from attrs import field, frozen

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Deviation, Loopback, WireName
from rodada.providers.openai_chat import Dialect, OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses

AnyProvider = Anthropic | OpenAIResponses | OpenAIChat | Google
Got = TypeVar("Got")


class Address(Protocol):
    """
    A server that an SDK can be pointed at.
    """

    def base_url(self, wire: WireName) -> str:
        """
        What the vendor's SDK wants as its base_url.
        """
        ...


WIRES: tuple[WireName, ...] = ("anthropic", "openai", "openai_chat", "google")
KEY = "sk-secret"
MANUAL = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
# Servers as they are met: one of the small ones, and one that thinks and wants its thoughts back.
DEVIATIONS: Mapping[str, tuple[Deviation, ...]] = {
    "qwen3": (
        *("ids_missing", "types_missing", "arguments_as_objects", "arguments_null", "stop_beside_calls"),
        *("usage_in_part", "content_missing", "reasoning_shown", "max_tokens_only"),
        *("calls_in_one_chunk", "done_missing"),
    ),
    "deepseek": (
        "ids_same",
        "index_on_calls",
        "reasoning_wanted",
        "two_choices",
        "names_repeated",
        "usage_in_every_chunk",
        "json_schema_unknown",
    ),
}


def _anthropic(model: str, **options: object) -> "Callable[[Address], AnyProvider]":
    return lambda server: Anthropic(model, api_key=KEY, base_url=server.base_url("anthropic"), options=options)


def _openai(model: str) -> "Callable[[Address], AnyProvider]":
    return lambda server: OpenAIResponses(model, api_key=KEY, base_url=server.base_url("openai"))


def _openai_chat(
    model: str, dialect: Dialect = Dialect(), tokens: int | None = None
) -> "Callable[[Address], AnyProvider]":
    return lambda server: OpenAIChat(
        model, base_url=server.base_url("openai_chat"), max_output_tokens=tokens, dialect=dialect
    )


def _google(model: str) -> "Callable[[Address], AnyProvider]":
    return lambda server: Google(model, api_key=KEY, base_url=server.base_url("google"))


# The newest of each vendor first; the others are older ones for which the adapters have another form.
MAKERS: dict[WireName, dict[str, Callable[[Address], AnyProvider]]] = {
    "anthropic": {
        "claude-opus-5-5": _anthropic("claude-opus-5-5"),
        "claude-opus-5": _anthropic("claude-opus-5"),
        "claude-haiku-4-5": _anthropic("claude-haiku-4-5", **MANUAL),
    },
    "openai": {"gpt-5.6": _openai("gpt-5.6")},
    "openai_chat": {
        "gpt-4.1": _openai_chat("gpt-4.1", Dialect(files=True)),
        "qwen3": _openai_chat("qwen3", Dialect(old_limit=True), 500),
        "deepseek": _openai_chat("deepseek", Dialect(echoed=("reasoning_content",), json_schema="never")),
    },
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
def set_stage(
    server: Loopback | None = None, new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> Generator[Stage]:
    """
    A stage whose connections are closed at the end.
    """
    with (
        server or Loopback(chat_deviations=DEVIATIONS) as server,
        asyncio.Runner(loop_factory=new_loop) as runner,
    ):
        made = {name: make(server) for models in MAKERS.values() for name, make in models.items()}
        try:
            yield Stage(server, runner, made)
        finally:
            for provider in made.values():
                runner.run(provider.aclose())
