"""
The body of an answer as JSON, read by ourselves: the SDKs' classes rename fields and guess types, so that what came
could not be sent back as it came.
"""

from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue, clean_text, dump_json, parse_json
from rodada.statemachine.messages import is_count


def read_body(provider: str, content: bytes) -> JsonObject:
    """
    The object that an answer holds.

    Raises:
        ProviderGarbled: it holds none.
    """
    try:
        body = parse_json(content.decode("utf-8"))
    except ValueError:
        raise ProviderGarbled(provider, "the answer is no JSON") from None
    return sendable(provider, body)


def told_text(value: JsonValue) -> str:
    """
    A text; "" where there is none.
    """
    return value if isinstance(value, str) else ""


def told_object(value: JsonValue) -> JsonObject:
    """
    An object; an empty one where there is none.
    """
    return value if isinstance(value, dict) else {}


def told_count(value: JsonValue) -> int | None:
    """
    A count of tokens; None where there is none, or what cannot be one.
    """
    return value if is_count(value) else None


def told_output(told: JsonValue, read: int | None, total: JsonValue) -> int | None:
    """
    All tokens of output: as told, or what a total has beyond those read where that is more. Some servers count
    reasoning beside the output, and Gemini tells no count that is zero.
    """
    output, whole = told_count(told), told_count(total)
    if read is None or whole is None or whole < read:
        return output
    return max(output or 0, whole - read)


def raw_arguments(given: JsonValue) -> str:
    """
    A call's arguments as text, whatever stands there. A text is what a model wrote, also where the wire has an object.
    """
    if given is None:
        return ""
    return given if isinstance(given, str) else dump_json(given)


def sendable(provider: str, body: JsonValue) -> JsonObject:
    """
    The object as it can be sent again, numbers beyond a float's range and surrogates included.

    Raises:
        ProviderGarbled: it is none, or cannot be.
    """
    try:
        sent = parse_json(clean_text(dump_json(body)))
    except (ValueError, RecursionError):
        raise ProviderGarbled(provider, "the answer cannot be written as JSON") from None
    if not isinstance(sent, dict):
        raise ProviderGarbled(provider, "the answer is no JSON object")
    return sent
