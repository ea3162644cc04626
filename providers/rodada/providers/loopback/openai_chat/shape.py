"""
Rules about the parameters of a request and its messages.
"""

from collections.abc import Callable, Mapping

from rodada.providers.loopback.json_values import Json, items, obj, text
from rodada.providers.loopback.openai_chat.deviations import shows_reasoning
from rodada.providers.loopback.openai_chat.messages import message_refusals
from rodada.providers.loopback.openai_chat.view import View, bad, empty_array
from rodada.providers.loopback.openai_responses.fields import invalid_type, missing_parameter, unknown_parameter
from rodada.providers.loopback.openai_responses.stream import stream_refusal
from rodada.providers.loopback.script import Failure

_KNOWN = frozenset(
    (
        *("messages", "model", "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs"),
        *("max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n", "parallel_tool_calls"),
        *("prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
        *("reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store"),
        *("stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user"),
        *("verbosity", "web_search_options"),
    )
)
_WORDS: Mapping[str, tuple[str, ...]] = {
    "reasoning_effort": ("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "verbosity": ("low", "medium", "high"),
}
_MOST_METADATA = 16


def has_no_unknown_parameter(view: View) -> Failure | None:
    """
    Nothing but known parameters.
    """
    alien = next((key for key in view.body if key not in _KNOWN), None)
    return None if alien is None else unknown_parameter(alien)


def has_a_model(view: View) -> Failure | None:
    """
    model is there.
    """
    return None if text(view.body.get("model")) else missing_parameter("model")


def streaming_is_a_flag(view: View) -> Failure | None:
    """
    `stream` is true, false or null, and without a stream there are no options for it.
    """
    return stream_refusal(view.body, "include_usage", "include_obfuscation")


def has_messages(view: View) -> Failure | None:
    """
    messages is a list with something in it.
    """
    given = view.body.get("messages")
    if given is None:
        return missing_parameter("messages")
    if not isinstance(given, list):
        return invalid_type("messages", "an array of objects", given)
    return None if given else empty_array("messages")


def messages_have_their_fields(view: View) -> Failure | None:
    """
    Every message is of a known role, with known and required fields of the right types.
    """
    further = ("reasoning_content",) if shows_reasoning(view.deviations) else ()
    given = enumerate(items(view.body.get("messages")))
    found = (refusal for at, each in given for refusal in message_refusals(f"messages[{at}]", each, further))
    return next(found, None)


def limits_are_one(view: View) -> Failure | None:
    """
    One name for the most tokens of a reply, and a positive number.
    """
    both = ("max_tokens", "max_completion_tokens")
    if all(view.body.get(name) is not None for name in both):
        return bad("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", None)
    return next((refusal for name in both if (refusal := _count_refusal(name, view.body.get(name)))), None)


def _count_refusal(name: str, value: Json) -> Failure | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        return invalid_type(name, "an integer", value)
    if value >= 1:
        return None
    message = f"Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {value} instead."
    return bad(message, name, "integer_below_min_value")


def words_are_known(view: View) -> Failure | None:
    """
    Parameters that are one word out of several are one of them, or null.
    """
    for name, words in _WORDS.items():
        value = view.body.get(name)
        if value is not None and value not in words:
            listed = ", ".join(f"'{word}'" for word in words)
            return bad(f"Invalid value: {value!r}. Supported values are: {listed}.", name, "invalid_value")
    return None


def metadata_is_small(view: View) -> Failure | None:
    """
    metadata has at most 16 pairs of strings.
    """
    pairs = obj(view.body.get("metadata"))
    if len(pairs) > _MOST_METADATA:
        return bad("Invalid 'metadata': too many properties.", "metadata", "object_above_max_properties")
    wrong = next((key for key, value in pairs.items() if not isinstance(value, str)), None)
    return None if wrong is None else invalid_type(f"metadata.{wrong}", "a string", pairs[wrong])


RULES: tuple[Callable[[View], Failure | None], ...] = (
    has_no_unknown_parameter,
    has_a_model,
    streaming_is_a_flag,
    has_messages,
    messages_have_their_fields,
    limits_are_one,
    words_are_known,
    metadata_is_small,
)
