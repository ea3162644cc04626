"""
What depends on the model: a name that says no version counts as the newest.
"""

import re

_NAME = re.compile(r"claude-(?:(opus|sonnet|haiku|fable|mythos)-)?(\d+)(?:-(\d{1,2})(?!\d))?")
_NEWEST = ("opus", (99, 0))


def _generation(model: str) -> tuple[str, tuple[int, int]]:
    found = _NAME.match(model)
    if found is None:
        return _NEWEST
    return found[1] or "old", (int(found[2]), int(found[3] or 0))


def binds_thinking(model: str) -> bool:
    """
    Whether thinking blocks are bound to their prefix (preserved thinking).
    """
    family, version = _generation(model)
    return version >= ((5, 1) if family in ("fable", "mythos") else (5, 5))


def knows_system_role(model: str) -> bool:
    """
    Whether messages may have the role "system".
    """
    family, version = _generation(model)
    first = {"opus": (4, 8), "fable": (5, 0), "mythos": (5, 0)}.get(family, (5, 5))
    return version >= first


def may_be_forced(model: str) -> bool:
    """
    Whether tool_choice "any" and "tool" are accepted.
    """
    family, _ = _generation(model)
    return family == "haiku" or not binds_thinking(model)


def takes_prefill(model: str) -> bool:
    """
    Whether a request may end with an assistant message that the server did not send.
    """
    return _generation(model)[1] <= (4, 5)


def thinking_types(model: str) -> tuple[str, ...]:
    """
    The accepted values of thinking.type.
    """
    family, version = _generation(model)
    if version <= (4, 5):
        return ("enabled", "disabled")
    if version == (4, 6):
        return ("adaptive", "enabled", "disabled")
    if not binds_thinking(model) and family not in ("fable", "mythos"):
        return ("adaptive", "disabled")
    newest = {"sonnet": ("adaptive", "between_tools"), "haiku": ("adaptive", "disabled", "between_tools")}
    return newest.get(family, ("adaptive",))
