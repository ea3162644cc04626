"""
What depends on the model: a name that says no version counts as the newest.
"""

import re


def _version(model: str) -> tuple[int, int]:
    found = re.match(r"gemini-(\d+)(?:\.(\d+))?", model)
    return (int(found[1]), int(found[2] or 0)) if found else (99, 0)


def signs_always(model: str) -> bool:
    """
    Whether every turn with calls is signed, and an unsigned call in the current turn refused (Gemini 3 and later).
    """
    return _version(model) >= (3, 0)


def takes_both_kinds(model: str) -> bool:
    """
    Whether functions may be declared beside the vendor's own tools (Gemini 3 and later).
    """
    return _version(model) >= (3, 0)


def checks_ids(model: str) -> bool:
    """
    Whether a call must come back with the id that it was sent with (Gemini 3.5 and later).
    """
    return _version(model) >= (3, 5)


def answers_json_beside_tools(model: str) -> bool:
    """
    Whether JSON may be asked for while there are function declarations (Gemini 3 and later).
    """
    return _version(model) >= (3, 0)


def shows_in_responses(model: str) -> bool:
    """
    Whether a function response may hold images and documents (Gemini 3 and later).
    """
    return _version(model) >= (3, 0)
