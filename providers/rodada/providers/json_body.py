"""
The body of an answer as JSON, read by ourselves: the SDKs' classes rename fields and guess types, so that what came
could not be sent back as it came.
"""

from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, clean_text, dump_json, parse_json


def read_body(provider: str, content: bytes) -> JsonObject:
    """
    The object that an answer holds.

    Raises:
        ProviderGarbled: it holds none.
    """
    try:
        # Dumped once: what it holds must be sendable again, numbers beyond a float's range and surrogates included.
        body = parse_json(clean_text(dump_json(parse_json(content.decode("utf-8")))))
    except ValueError:
        raise ProviderGarbled(provider, "the answer is no JSON") from None
    if not isinstance(body, dict):
        raise ProviderGarbled(provider, "the answer is no JSON object")
    return body
