"""
What every provider checks when it is built, alike and in the same words.
"""

import os
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import cast
from urllib.parse import urlsplit

from rodada.statemachine.errors import InvalidValue, MissingExtra, MissingKey

EXTRA = "extra_body"
ADDRESS = "http:// or https://, a host, and a port up to 65535 where one is needed"


def need_sdk(package: str, module: str, extra: str) -> None:
    """
    Import the vendor's SDK when a provider is built. Imported within the first call it would hold the event loop, and
    with it every run, for about a second.

    Raises:
        MissingExtra: it is not installed.
    """
    root = module.partition(".")[0]
    if find_spec(root) is None or find_spec(module) is None:
        raise MissingExtra(package, extra)
    import_module(module)


def check_arguments(provider: str, model: str, base_url: str | None, max_output_tokens: int | None) -> None:
    """
    Refuse a model without a name, an address that is none, and turns that may say nothing.

    Raises:
        InvalidValue: one of them.
    """
    if not model.strip():
        raise InvalidValue(f"{provider}.model", "must name a model")
    if base_url is not None and not is_address(base_url):
        raise InvalidValue(f"{provider}.base_url", f"takes {ADDRESS}; the one that was given may be secret")
    if max_output_tokens is not None and max_output_tokens < 1:
        raise InvalidValue(f"{provider}.max_output_tokens", f"must be at least 1, got {max_output_tokens}")


def is_address(url: str) -> bool:
    """
    Whether a request can be sent to it. The SDKs find out when they connect: one raises what is no failure of a call,
    another tells of a connection that failed, and is asked again.
    """
    try:
        parts = urlsplit(url)
        plain = url.isprintable() and " " not in url
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and plain
    except ValueError:
        return False


def checked_options(provider: str, options: Mapping[str, object], elsewhere: Mapping[str, str]) -> dict[str, object]:
    """
    The options, none of which the loop or the adapter sets itself. `elsewhere` says of those, spelled in lower case,
    where they are set.

    Raises:
        InvalidValue: one is set elsewhere, also in `extra_body`, or as `camelCase`; or `extra_body` is no mapping.
    """
    extra = options.get(EXTRA)
    if extra is not None and not isinstance(extra, Mapping):
        raise InvalidValue(f"{provider}.options[{EXTRA!r}]", f"takes a mapping, not a {type(extra).__name__}")
    for name in _names(options):
        place = elsewhere.get(re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower())
        if place is not None:
            raise InvalidValue(f"{provider}.options[{name!r}]", f"is set elsewhere: {place}")
    return dict(options)


def fields_of_option(provider: str, options: Mapping[str, object], name: str) -> Mapping[str, object]:
    """
    What the host has set in an option that has fields of its own, in `extra_body` or beside it; nothing where it has
    not.

    Raises:
        InvalidValue: it is no mapping.
    """
    extra = cast("Mapping[str, object]", options.get(EXTRA) or {})
    given = extra.get(name) or options.get(name)
    if not given:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidValue(f"{provider}.options[{name!r}]", f"takes a mapping, not a {type(given).__name__}")
    return cast("Mapping[str, object]", given)


def refuse_beside_client(provider: str, api_key: str | None, base_url: str | None) -> None:
    """
    Refuse a key or an address beside a client that was given, which has its own.

    Raises:
        InvalidValue: one is there.
    """
    if api_key is not None or base_url is not None:
        raise InvalidValue(
            f"{provider}.client", "has its own key and address: give no api_key and no base_url beside it"
        )


def find_key(provider: str, api_key: str | None, variables: tuple[str, ...]) -> str:
    """
    The key that was given, or the first one found in the environment.

    Raises:
        MissingKey: there is none.
        InvalidValue: no header can carry it; its text is not shown.
    """
    found = api_key or next((os.environ[name] for name in variables if os.environ.get(name)), None)
    if not found:
        raise MissingKey(provider, variables)
    if not found.isascii() or not found.isprintable() or " " in found:
        raise InvalidValue(
            f"{provider}.api_key", "has a blank, a line break or another character that no header can carry"
        )
    return found


def _names(options: Mapping[str, object]) -> Iterator[str]:
    yield from options
    extra = options.get(EXTRA)
    if isinstance(extra, Mapping):
        yield from cast(Mapping[str, object], extra)
