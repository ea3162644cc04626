"""
A vendor's model, as the command line names it.
"""

from collections.abc import Callable, Mapping

from rodada.cli.errors import WrongUse
from rodada.providers.anthropic import Anthropic
from rodada.providers.construction import ADDRESS, is_address
from rodada.providers.google import Google
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import Provider
from rodada.statemachine.errors import InvalidValue, MissingExtra, MissingKey

PROVIDERS: Mapping[str, Callable[..., Provider]] = {
    "anthropic": Anthropic,
    "openai": OpenAIResponses,
    "openai-chat": OpenAIChat,
    "google": Google,
}


def vendor_model(vendor: str, model: str | None, base_url: str | None) -> Provider:
    """
    The provider of a model, with the key that the environment has.

    Raises:
        WrongUse: no model, no key, no SDK, or an address that is none.
    """
    if not model:
        raise WrongUse(f"--provider {vendor} needs --model NAME")
    if base_url is not None and not is_address(base_url):
        raise WrongUse(f"--base-url {base_url} is no address: it takes {ADDRESS}")
    try:
        return PROVIDERS[vendor](model, base_url=base_url)
    except MissingKey as error:
        raise WrongUse(f"no API key for {vendor}: set {' or '.join(error.variables)}") from None
    except (MissingExtra, InvalidValue) as error:
        raise WrongUse(str(error)) from None
