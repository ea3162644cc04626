"""
Rules that servers other than OpenAI's add to its own.
"""

import re
from collections.abc import Callable

from rodada.providers.loopback.json_values import objs, text
from rodada.providers.loopback.openai_chat.view import View, bad
from rodada.providers.loopback.openai_responses.fields import unknown_parameter
from rodada.providers.loopback.script import Failure


def reasoning_comes_back(view: View) -> Failure | None:
    """
    Every message of the model has its reasoning, which is not empty.
    """
    if "reasoning_wanted" not in view.deviations:
        return None
    for at, message in enumerate(view.messages):
        if message.get("role") == "assistant" and not text(message.get("reasoning_content")):
            return bad(f"Missing `reasoning_content` field in the assistant message at message index {at}.", None)
    return None


def limit_has_its_old_name(view: View) -> Failure | None:
    """
    max_completion_tokens is not known.
    """
    alien = "max_tokens_only" in view.deviations and "max_completion_tokens" in view.body
    return unknown_parameter("max_completion_tokens") if alien else None


def usage_is_not_asked_for(view: View) -> Failure | None:
    """
    stream_options is not known.
    """
    alien = "stream_options_unknown" in view.deviations and "stream_options" in view.body
    return unknown_parameter("stream_options") if alien else None


def ids_are_short(view: View) -> Failure | None:
    """
    Ids of calls have nine letters and digits.
    """
    if "short_ids_wanted" not in view.deviations:
        return None
    ids = [text(call.get("id")) for message in view.messages for call in objs(message.get("tool_calls"))]
    wrong = next((each for each in ids if not re.fullmatch("[a-zA-Z0-9]{9}", each)), None)
    if wrong is None:
        return None
    return bad(f"Tool call id was {wrong} but must be a-z, A-Z, 0-9, with a length of 9.", None)


RULES: tuple[Callable[[View], Failure | None], ...] = (
    reasoning_comes_back,
    limit_has_its_old_name,
    usage_is_not_asked_for,
    ids_are_short,
)
