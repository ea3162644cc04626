"""
JSON as the loopback server reads, compares and seals it.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import NoReturn, TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = dict[str, Json]


def read(raw: bytes) -> Json:
    """
    The value in a request body.

    Raises:
        ValueError: what the vendors' parsers refuse: broken JSON, NaN and Infinity, lone surrogates.
    """
    try:
        value = cast(Json, json.loads(raw, parse_constant=_no_constant))
    except RecursionError as error:
        raise ValueError("nesting is too deep") from error
    if b"\\ud" in raw or b"\\uD" in raw:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def obj(value: Json) -> Object:
    """
    The value if it is an object, else an empty one.
    """
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """
    The value if it is a list, else an empty one.
    """
    return value if isinstance(value, list) else []


def objs(value: Json) -> list[Object]:
    """
    The members of a list, with an empty object in the place of each that is none.
    """
    return [obj(item) for item in items(value)]


def text(value: Json) -> str:
    """
    The value if it is a string, else an empty one.
    """
    return value if isinstance(value, str) else ""


def kind_of(value: Json) -> str:
    """
    The JSON name of the value's type, with its article, as error messages say it.
    """
    names: Mapping[type, str] = {
        bool: "a boolean",
        int: "an integer",
        float: "a decimal",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "null")


def canonical(value: object) -> str:
    """
    The one text of a value, whatever the order of its keys.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(*values: object) -> str:
    """
    A short fingerprint of the values (32 hexadecimal digits).
    """
    return hashlib.sha256("\n".join(map(canonical, values)).encode()).hexdigest()[:32]


def seal(*parts: str) -> str:
    """
    An opaque token that every loopback server can open, as a vendor opens what any of its machines sealed.
    """
    payload = "|".join(parts)
    return base64.urlsafe_b64encode(f"{payload}|{digest('seal', payload)}".encode()).decode()


def unseal(token: str) -> tuple[str, ...] | None:
    """
    What was sealed, or None for a token that is foreign or was altered.
    """
    try:
        payload, _, tag = base64.urlsafe_b64decode(token).decode().rpartition("|")
    except ValueError:
        return None
    return tuple(payload.split("|")) if tag == digest("seal", payload) else None
