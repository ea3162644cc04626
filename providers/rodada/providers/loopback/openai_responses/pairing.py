"""
Rules about function calls and their outputs.

The API finds an output anywhere after its call. This server wants what stricter hosts of the same wire want: the
outputs in one row straight after the turn.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby

from rodada.providers.loopback.openai_responses.items import CALLS, OUTPUTS, Item
from rodada.providers.loopback.openai_responses.view import View, bad
from rodada.providers.loopback.script import Failure


def calls_are_unique(view: View) -> Failure | None:
    """
    No call_id on two calls.
    """
    doubled = _doubled(view, CALLS)
    return None if doubled is None else bad(f"Duplicate function call found with call_id {doubled}.")


def outputs_are_unique(view: View) -> Failure | None:
    """
    No call_id on two outputs.
    """
    doubled = _doubled(view, OUTPUTS)
    return None if doubled is None else bad(f"Duplicate function call output found with call_id {doubled}.")


def calls_are_answered(view: View) -> Failure | None:
    """
    The row of outputs after a turn holds one for each of its calls.
    """
    for turn, row in _turns(view):
        answered = {item.call_id for item in row}
        missing = next((each.call_id for each in turn if each.type in CALLS and each.call_id not in answered), None)
        if missing is not None:
            return bad(f"No tool output found for function call {missing}.")
    return None


def outputs_are_asked_for(view: View) -> Failure | None:
    """
    An output answers a call of the turn before its row.
    """
    for turn, row in _turns(view):
        asked = {item.call_id for item in turn if item.type in CALLS}
        orphan = next((item.call_id for item in row if item.call_id not in asked), None)
        if orphan is not None:
            return bad(f"No tool call found for function call output with call_id {orphan}.")
    return None


def _doubled(view: View, kinds: tuple[str, ...]) -> str | None:
    ids = Counter(item.call_id for item in view.items if item.type in kinds)
    return next((name for name, count in ids.items() if count > 1), None)


def _turns(view: View) -> Iterator[tuple[list[Item], list[Item]]]:
    """
    Each row of the model's items with the row of outputs that follows it at once; either may be empty.
    """
    turn: list[Item] = []
    for sort, group in groupby(view.items, _sort):
        row = list(group)
        if sort == "output":
            yield turn, row
            turn = []
            continue
        if turn:
            yield turn, []
        turn = row if sort == "model" else []
    if turn:
        yield turn, []


def _sort(item: Item) -> str:
    if item.type in OUTPUTS:
        return "output"
    return "model" if item.by_model else "other"


RULES: tuple[Callable[[View], Failure | None], ...] = (
    calls_are_unique,
    outputs_are_unique,
    calls_are_answered,
    outputs_are_asked_for,
)
