"""
The size of a request, judged before it is sent.
"""

import json
from collections.abc import Mapping
from typing import cast

from rodada.statemachine.errors import ProviderTooLarge

BESIDE_THE_BODY = frozenset({"extra_headers", "extra_query", "extra_body"})


def check_size(provider: str, call: Mapping[str, object], most: int | None, history: int = len("[]")) -> None:
    """
    Refuse a call whose body, which the SDK makes of its arguments, has more than `most` bytes; None leaves it to the
    vendor.

    Args:
        provider: the wire.
        call: the arguments of the SDK's call; `extra_body` is laid over the body, as the SDK does it.
        most: as in `Limits.max_request_bytes`.
        history: bytes of the array that is sent in the place of an empty one among them.

    Raises:
        ProviderTooLarge: it has.
    """
    if most is None:
        return
    extra = call.get("extra_body")
    body = {name: value for name, value in call.items() if name not in BESIDE_THE_BODY}
    body |= cast(Mapping[str, object], extra) if isinstance(extra, Mapping) else {}
    size = json_size(body, compact=True) + history - len("[]")
    if size > most:
        raise ProviderTooLarge(provider, f"not sent: the request has {size} bytes, and {most} are allowed")


def json_size(value: object, *, compact: bool) -> int:
    """
    Bytes of a value as an SDK writes it: compact and in UTF-8, or with spaces and in ASCII. What has no such form
    counts nothing, for the SDK refuses it and says why.
    """
    separators = (",", ":") if compact else None
    try:
        text = json.dumps(value, ensure_ascii=not compact, separators=separators, default=str)
    except (TypeError, ValueError, RecursionError):
        return 0
    return len(text.encode("utf-8", "surrogatepass"))
