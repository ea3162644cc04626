"""
Rules about the order of messages, and about requests and their results.
"""

from collections import Counter
from collections.abc import Callable

from rodada.providers.loopback.anthropic.messages import Said
from rodada.providers.loopback.anthropic.models import knows_system_role, takes_prefill
from rodada.providers.loopback.anthropic.view import View, bad
from rodada.providers.loopback.json_values import text
from rodada.providers.loopback.script import Failure


def begins_with_user(view: View) -> Failure | None:
    """
    The first message is the user's.
    """
    if view.messages[0].role == "user":
        return None
    return bad('messages: first message must use the "user" role')


def ends_with_user(view: View) -> Failure | None:
    """
    No prefill on current models, unless it is the echo of a paused turn; elsewhere none that ends with white space.
    """
    *_, last = [said for said in view.messages if said.role != "system"]
    if last.role != "assistant" or view.memory.ends_paused(last.blocks):
        return None
    if not takes_prefill(view.model):
        return bad(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    said = text(last.blocks[-1].get("text")) if last.blocks else ""
    if said != said.rstrip():
        return bad("messages: final assistant content cannot end with trailing whitespace")
    return None


def system_role_is_known(view: View) -> Failure | None:
    """
    Older models know no system messages.
    """
    at = next((said.at for said in view.messages if said.role == "system"), None)
    if at is None or knows_system_role(view.model):
        return None
    return bad(f"messages.{at}.role: the role 'system' is not supported by {view.model}")


def system_is_in_its_place(view: View) -> Failure | None:
    """
    System messages follow a user message and precede an assistant message or the end; several in a row count as one.
    """
    for before, said in zip(view.messages, view.messages[1:], strict=False):
        if said.role == "system" and before.role not in ("user", "system"):
            return bad(f"messages.{said.at}: a system message must follow a user message")
        if before.role == "system" and said.role == "user":
            return bad(f"messages.{before.at}: a system message must precede an assistant message or end the request")
    return None


def request_ids_are_unique(view: View) -> Failure | None:
    """
    No tool_use id twice.
    """
    ids = Counter(text(block.get("id")) for _, _, block in view.blocks() if block.get("type") == "tool_use")
    if max(ids.values(), default=0) <= 1:
        return None
    return bad("messages: `tool_use` ids must be unique")


def requests_are_answered(view: View) -> Failure | None:
    """
    The message after a turn holds one result for each of its requests, before anything else.
    """
    for said, after in _with_next(view):
        open_ids = [text(block.get("id")) for block in said.of_type("tool_use")]
        answered = _results(after) if said.role == "assistant" else []
        missing = [each for each in open_ids if each not in answered]
        if missing:
            return bad(
                f"messages.{said.at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
                "next message."
            )
    return None


def results_are_asked_for(view: View) -> Failure | None:
    """
    A result answers a request of the message before it.
    """
    before: list[str] = []
    for said in view.messages:
        for index, block in enumerate(said.blocks):
            name = text(block.get("tool_use_id"))
            if block.get("type") == "tool_result" and name not in before:
                return bad(
                    f"messages.{said.at}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{name}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                    "message."
                )
        before = [text(block.get("id")) for block in said.of_type("tool_use")]
    return None


def results_are_unique(view: View) -> Failure | None:
    """
    One result a request.
    """
    for said in view.messages:
        ids = Counter(text(block.get("tool_use_id")) for block in said.of_type("tool_result"))
        doubled = next((name for name, count in ids.items() if count > 1), None)
        if doubled is not None:
            return bad(
                f"messages.{said.at}.content: each tool_use must have a single result. Found multiple `tool_result` "
                f"blocks with id: {doubled}"
            )
    return None


def pending_server_tools_get_results_alone(view: View) -> Failure | None:
    """
    After a turn with an unfinished server tool the answer holds results and nothing else.
    """
    for said, after in _with_next(view):
        finished = [block.get("tool_use_id") for block in said.blocks]
        pending = [block for block in said.of_type("server_tool_use") if block.get("id") not in finished]
        alone = len(after.of_type("tool_result")) == len(after.blocks)
        if pending and said.of_type("tool_use") and not alone:
            return bad(f"messages.{after.at}: only `tool_result` blocks may answer a turn with a pending server tool")
    return None


def own_results_are_asked_for(view: View) -> Failure | None:
    """
    The result of a server tool stands behind its use, in the same turn or a later one.
    """
    used: set[str] = set()
    for path, said, block in view.blocks():
        if block.get("type") == "server_tool_use":
            used.add(text(block.get("id")))
        elif said.role == "assistant" and "tool_use_id" in block and text(block["tool_use_id"]) not in used:
            return bad(
                f"{path}: unexpected `tool_use_id` found in `{text(block.get('type'))}` "
                f"blocks: {text(block['tool_use_id'])}. Each must have a corresponding `server_tool_use` block before "
                "it."
            )
    return None


def results_stand_first(view: View) -> Failure | None:
    """
    No block before or among the results of a message.
    """
    for said in view.messages:
        kinds = [block.get("type") == "tool_result" for block in said.blocks]
        if kinds != sorted(kinds, reverse=True):
            return bad(
                f"messages.{said.at}: `tool_result` blocks must come before any other content in the user message "
                "that follows a `tool_use`"
            )
    return None


def _with_next(view: View) -> list[tuple[Said, Said]]:
    nobody = Said(len(view.messages), "", ())
    return list(zip(view.messages, (*view.messages[1:], nobody), strict=True))


def _results(said: Said) -> list[str]:
    if said.role != "user":
        return []
    return [text(block.get("tool_use_id")) for block in said.of_type("tool_result")]


RULES: tuple[Callable[[View], Failure | None], ...] = (
    begins_with_user,
    system_role_is_known,
    request_ids_are_unique,
    results_are_unique,
    results_stand_first,
    requests_are_answered,
    results_are_asked_for,
    pending_server_tools_get_results_alone,
    own_results_are_asked_for,
    ends_with_user,
    system_is_in_its_place,
)
