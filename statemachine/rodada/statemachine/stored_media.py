"""
Media in stored documents: the bytes of each content once, in base64 under their SHA-256, and wherever a medium stands
the digest that it names.
"""

import base64
import binascii
import hashlib

from rodada.statemachine.errors import FormatError
from rodada.statemachine.jsontext import JsonObject, JsonValue

SINCE = 2  # the version of each document in which this began; before it every medium held its bytes
DEEPEST_MEDIUM = 20  # no document holds one as deep
LONGEST_SHOWN = 80


def digest_of(data: str) -> str:
    """
    SHA-256 in hex of the bytes that some base64 stands for.

    Raises:
        binascii.Error, ValueError: it is no base64.
    """
    return hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()


def media_apart(content: JsonObject) -> JsonObject:
    """
    The content of a document, as it was encoded, with its media under `media`. It is changed in place.
    """
    digests: dict[str, str] = {}
    pending: list[JsonObject | list[JsonValue]] = [content]
    while pending:
        value = pending.pop()
        if isinstance(value, dict) and value.get("type") == "Media":
            data = str(value.pop("data"))
            if data not in digests:
                digests[data] = digest_of(data)
            value["digest"] = digests[data]
        else:
            inner = value.values() if isinstance(value, dict) else value
            pending += [each for each in inner if isinstance(each, (dict, list))]
    return {
        **content,
        "media": dict(sorted((digest, data) for data, digest in digests.items())),
    }


def media_inside(content: JsonObject) -> JsonObject:
    """
    The content of a stored document with the bytes of its media where they stand; equal ones share one text.

    Raises:
        FormatError: no `media`, bytes that have another digest than the one they are stored under, or a medium whose
            bytes are not there.
    """
    media = _field(content, "media", "$")
    if not isinstance(media, dict):
        raise FormatError("$.media", "expected the media of the document by their digests")
    rest: JsonObject = {key: value for key, value in content.items() if key != "media"}
    if not media:
        return rest
    held = {digest: _checked(digest, data) for digest, data in media.items()}
    return {key: _filled(value, held, f"$.{key[:LONGEST_SHOWN]}", 0) for key, value in rest.items()}


def _checked(digest: str, data: JsonValue) -> str:
    try:
        if isinstance(data, str) and digest_of(data) == digest:
            return data
    except (binascii.Error, ValueError):
        pass
    raise FormatError(f"$.media.{digest[:LONGEST_SHOWN]}", "what is stored there has another digest: it was damaged")


def _filled(value: JsonValue, held: dict[str, str], path: str, depth: int) -> JsonValue:
    if depth > DEEPEST_MEDIUM:
        return value
    if isinstance(value, list):
        return [_filled(each, held, f"{path}[{at}]", depth + 1) for at, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if value.get("type") != "Media":
        return {key: _filled(each, held, f"{path}.{key[:LONGEST_SHOWN]}", depth + 1) for key, each in value.items()}
    digest = _field(value, "digest", path)
    if not isinstance(digest, str) or digest not in held:
        raise FormatError(f"{path}.digest", "expected the digest of one of $.media")
    return {**{key: each for key, each in value.items() if key != "digest"}, "data": held[digest]}


def _field(value: JsonObject, name: str, path: str) -> JsonValue:
    if name not in value:
        raise FormatError(path, f"lacks {name}")
    return value[name]
