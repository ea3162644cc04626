"""
Rules about calls and the tool messages that answer them.
"""

from collections.abc import Callable, Iterator
from itertools import takewhile

from rodada.providers.loopback.json_values import Object, objs, text
from rodada.providers.loopback.openai_chat.view import View, bad
from rodada.providers.loopback.script import Failure


def calls_are_answered(view: View) -> Failure | None:
    """
    Straight after a message with calls stands a tool message for each of them.
    """
    for at, message, row in _turns(view):
        answered = {text(each.get("tool_call_id")) for each in row}
        missing = [call_id for call_id in _call_ids(message) if call_id not in answered]
        if missing:
            told = (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}"
            )
            return bad(told, f"messages.[{at + 1 + len(row)}].role")
    return None


def results_are_asked_for(view: View) -> Failure | None:
    """
    A tool message answers a call of the message before its row, and no other one does.
    """
    allowed: list[str] = []
    for at, message in enumerate(view.messages):
        if message.get("role") != "tool":
            allowed = _call_ids(message)
            continue
        call_id = text(message.get("tool_call_id"))
        if call_id not in allowed:
            told = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            return bad(f"Invalid parameter: {told}", f"messages.[{at}].role")
        allowed.remove(call_id)
    return None


def calls_are_unique(view: View) -> Failure | None:
    """
    No id on two calls, in the whole conversation.
    """
    seen: set[str] = set()
    for at, message in enumerate(view.messages):
        for call_id in _call_ids(message):
            if call_id in seen:
                return bad(f"Duplicate value for 'tool_call_id' of '{call_id}'.", f"messages.[{at}].tool_calls")
            seen.add(call_id)
    return None


def _turns(view: View) -> Iterator[tuple[int, Object, list[Object]]]:
    for at, message in enumerate(view.messages):
        if _call_ids(message):
            yield at, message, list(takewhile(_is_result, view.messages[at + 1 :]))


def _is_result(message: Object) -> bool:
    return message.get("role") == "tool"


def _call_ids(message: Object) -> list[str]:
    if message.get("role") != "assistant":
        return []
    return [text(call.get("id")) for call in objs(message.get("tool_calls"))]


RULES: tuple[Callable[[View], Failure | None], ...] = (
    calls_are_unique,
    calls_are_answered,
    results_are_asked_for,
)
