"""
Rules about the parameters of a request and its items.
"""

from collections.abc import Callable, Mapping

from rodada.providers.loopback.json_values import Json, Object, items, obj, text
from rodada.providers.loopback.openai_responses.fields import (
    invalid_type,
    item_refusals,
    missing_parameter,
    unknown_parameter,
)
from rodada.providers.loopback.openai_responses.stream import stream_refusal
from rodada.providers.loopback.openai_responses.view import View, bad
from rodada.providers.loopback.script import Failure

_KNOWN = frozenset(
    (
        *("access_programs", "background", "background_options", "context_management", "conversation", "image"),
        *("include", "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model"),
        *("moderation", "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key"),
        *("prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier"),
        *("store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs"),
        *("top_p", "truncation", "user"),
    )
)
_INNER: Mapping[str, tuple[str, ...]] = {
    "reasoning": ("effort", "summary", "context", "mode", "generate_summary"),
    "text": ("format", "verbosity"),
}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "reasoning.effort": ("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "reasoning.summary": ("auto", "concise", "detailed"),
    "reasoning.context": ("auto", "current_turn", "all_turns"),
    "text.verbosity": ("low", "medium", "high"),
    "truncation": ("auto", "disabled"),
}
_INCLUDABLE = (
    *("file_search_call.results", "web_search_call.results", "web_search_call.action.sources"),
    *("message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs"),
    *("reasoning.encrypted_content", "message.output_text.logprobs"),
)
_FEWEST_TOKENS = 16
_MOST_METADATA, _LONGEST_KEY, _LONGEST_VALUE = 16, 64, 512
_LONGEST_SAFETY_IDENTIFIER = 128


def has_no_unknown_parameter(view: View) -> Failure | None:
    """
    Nothing but known parameters, also inside those that are objects.
    """
    alien = next((key for key in view.body if key not in _KNOWN), None)
    if alien is not None:
        return unknown_parameter(alien)
    inner = (f"{name}.{key}" for name, known in _INNER.items() for key in obj(view.body.get(name)) if key not in known)
    return next(map(unknown_parameter, inner), None)


def has_a_model(view: View) -> Failure | None:
    """
    model is there.
    """
    return None if text(view.body.get("model")) else missing_parameter("model")


def has_input(view: View) -> Failure | None:
    """
    input is a string or a list of items, and there is one.
    """
    given = view.body.get("input")
    if given is None or given == []:
        message = "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided."
        return bad(message, "input", "missing_required_parameter")
    if not isinstance(given, str | list):
        return invalid_type("input", "one of a string or array of input items", given)
    return None


def streaming_is_a_flag(view: View) -> Failure | None:
    """
    `stream` is true, false or null, and without a stream there are no options for it.
    """
    return stream_refusal(view.body, "include_obfuscation")


def leans_on_nothing_stored(view: View) -> Failure | None:
    """
    The server keeps no response, no conversation, no item and no prompt, and runs nothing in the background.
    """
    body = view.body
    if body.get("previous_response_id") is not None:
        message = f"Previous response with id '{text(body['previous_response_id'])}' not found."
        return bad(message, "previous_response_id", "previous_response_not_found")
    if body.get("background"):
        return bad("Background mode requires 'store' to be true.", "background")
    for name in ("conversation", "prompt"):
        if body.get(name) is not None:
            return Failure(404, f"{name.capitalize()} not found.", param=name)
    return None


def items_have_their_fields(view: View) -> Failure | None:
    """
    Every item is of a known type, with known and required fields of the right types.
    """
    given = enumerate(items(view.body.get("input")))
    return next((refusal for at, item in given for refusal in item_refusals(f"input[{at}]", item)), None)


def output_is_long_enough(view: View) -> Failure | None:
    """
    max_output_tokens is at least 16.
    """
    tokens = view.body.get("max_output_tokens")
    if tokens is None:
        return None
    if not isinstance(tokens, int) or isinstance(tokens, bool):
        return invalid_type("max_output_tokens", "an integer", tokens)
    if tokens >= _FEWEST_TOKENS:
        return None
    message = (
        f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {_FEWEST_TOKENS}, but got "
        f"{tokens} instead."
    )
    return bad(message, "max_output_tokens", "integer_below_min_value")


def words_are_known(view: View) -> Failure | None:
    """
    Parameters that are one word out of several are one of them, or null; so are the members of include.
    """
    given = [(path, _at(view.body, path), words) for path, words in _WORDS.items()]
    given += [("include", each, _INCLUDABLE) for each in items(view.body.get("include"))]
    for path, value, words in given:
        if value is not None and value not in words:
            listed = ", ".join(f"'{word}'" for word in words)
            return bad(f"Invalid value: {value!r}. Supported values are: {listed}.", path, "invalid_value")
    return None


def _at(body: Object, path: str) -> Json:
    first, _, rest = path.partition(".")
    return _at(obj(body.get(first)), rest) if rest else body.get(first)


def metadata_is_small(view: View) -> Failure | None:
    """
    metadata has at most 16 pairs of short strings; safety_identifier at most 128 characters.
    """
    pairs = obj(view.body.get("metadata"))
    if len(pairs) > _MOST_METADATA:
        return bad("Invalid 'metadata': too many properties.", "metadata", "object_above_max_properties")
    for key, value in pairs.items():
        if not isinstance(value, str):
            return invalid_type(f"metadata.{key}", "a string", value)
        if len(key) > _LONGEST_KEY or len(value) > _LONGEST_VALUE:
            return bad(f"Invalid 'metadata.{key}': string too long.", "metadata", "string_above_max_length")
    if len(text(view.body.get("safety_identifier"))) > _LONGEST_SAFETY_IDENTIFIER:
        return bad("Invalid 'safety_identifier': string too long.", "safety_identifier", "string_above_max_length")
    return None


RULES: tuple[Callable[[View], Failure | None], ...] = (
    has_no_unknown_parameter,
    has_a_model,
    streaming_is_a_flag,
    leans_on_nothing_stored,
    has_input,
    items_have_their_fields,
    output_is_long_enough,
    words_are_known,
    metadata_is_small,
)
