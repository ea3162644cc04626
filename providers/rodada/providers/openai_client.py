"""
A client of OpenAI's SDK as both of its wires use it.
"""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rodada.providers.construction import refuse_beside_client
from rodada.providers.ready_bytes import is_sdks_own
from rodada.statemachine.errors import InvalidValue

if TYPE_CHECKING:
    from openai import AsyncOpenAI

BASE_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 10


def is_openai(url: str) -> bool:
    """
    Whether an address is OpenAI's own.
    """
    host = urlsplit(url).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def new_client(key: str, base_url: str | None) -> "AsyncOpenAI":
    """
    A client without retries; without an address it is OpenAI's own, whatever the environment says. Organisation and
    project of the environment are told to OpenAI alone.
    """
    from openai import AsyncOpenAI, Timeout

    # The time of a call is limited as a whole, where it is made: the SDK's limit is for each read.
    timeout = Timeout(None, connect=CONNECT_SECONDS)
    client = AsyncOpenAI(api_key=key, base_url=base_url or BASE_URL, timeout=timeout, max_retries=0)
    if not is_openai(str(client.base_url)):
        client.organization = client.project = None
    return client


def checked_client(provider: str, client: object, api_key: str | None, base_url: str | None) -> "AsyncOpenAI":
    """
    A client that the host made, for OpenAI, Azure or Bedrock, used without its retries.

    Raises:
        InvalidValue: another kind of client, or a key or an address beside it.
    """
    from openai import AsyncOpenAI

    if not isinstance(client, AsyncOpenAI):
        name = type(client).__name__
        raise InvalidValue(f"{provider}.client", f"needs an openai.{_async_name(name)}, not a {name}")
    refuse_beside_client(provider, api_key, base_url)
    return client.with_options(max_retries=0)


def _async_name(name: str) -> str:
    import openai

    return f"Async{name}" if name.endswith("OpenAI") and hasattr(openai, f"Async{name}") else "AsyncOpenAI"


def sends_as_told(client: "AsyncOpenAI") -> bool:
    """
    Whether it sends bodies without a look into them. Azure's moves the model into the address; what a class of the
    host's or a tracer does with a body nobody knows.
    """
    from openai import AsyncOpenAI

    return type(client) is AsyncOpenAI and is_sdks_own("openai", AsyncOpenAI.post, AsyncOpenAI.request)


def left_out() -> tuple[type, ...]:
    """
    The SDK's types of arguments that were not given.
    """
    from openai import NotGiven, Omit

    return (NotGiven, Omit)
