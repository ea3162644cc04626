"""
The vendors whose SDKs the demo drives.
"""

from collections.abc import Callable
from importlib import metadata

from attrs import frozen

from rodada.cli.demo.seen import Seen
from rodada.cli.demo.seen_anthropic import seen_anthropic
from rodada.cli.demo.seen_google import seen_google
from rodada.cli.demo.seen_openai import seen_openai
from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import WireName
from rodada.providers.loopback.json_values import Object
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import Provider


@frozen
class Vendor:
    """
    One vendor.

    Attributes:
        name: of the wire.
        distribution: the SDK's name in a package index.
        model: the model that is asked for while the script plays it.
        seen: how to look at a request.
        provider: makes the provider of a model, with a key and an address or the vendor's own ones.
    """

    name: WireName
    distribution: str
    model: str
    seen: Callable[[Object], Seen]
    provider: Callable[[str, str | None, str | None], Provider]

    @property
    def sdk(self) -> str:
        """
        The SDK and its version, as installed.
        """
        return f"{self.distribution} {metadata.version(self.distribution)}"


VENDORS = (
    Vendor(
        "anthropic",
        "anthropic",
        "claude-opus-5-5",
        seen_anthropic,
        lambda model, key, url: Anthropic(model, api_key=key, base_url=url),
    ),
    Vendor(
        "openai",
        "openai",
        "gpt-5.6",
        seen_openai,
        lambda model, key, url: OpenAIResponses(model, api_key=key, base_url=url),
    ),
    Vendor(
        "google",
        "google-genai",
        "gemini-3.8-flash",
        seen_google,
        lambda model, key, url: Google(model, api_key=key, base_url=url),
    ),
)
