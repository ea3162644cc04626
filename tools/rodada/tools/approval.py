"""
Who must approve a call before it may run.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from attrs import evolve, frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.plan import PlannedCall
from rodada.tools.signatures import is_async


@frozen(kw_only=True)
class Approval:
    """
    What a call needs before it may run.

    Attributes:
        count: how many distinct people must approve it.
        not_requester: whether the run's own actor (`Origin.actor`) is none of them; where a run names no actor,
            nobody can approve it.
        within: seconds from the question on in which they may; then the call is denied. None is without end.

    Raises:
        InvalidValue: a count below 1, or a time that is none.
    """

    count: int = 1
    not_requester: bool = False
    within: float | None = None

    def __attrs_post_init__(self) -> None:
        if not _is_count(self.count):
            raise InvalidValue("Approval.count", f"takes a whole number >= 1; got {self.count!r:.80}")
        if not _is_answer(self.not_requester):
            raise InvalidValue("Approval.not_requester", f"takes True or False; got {self.not_requester!r:.80}")
        if self.within is not None and not _is_time(self.within):
            raise InvalidValue("Approval.within", f"takes seconds above 0, or None; got {self.within!r:.80}")


LONGEST = 1e10  # three hundred years; of more no milliseconds could be told

Needed: TypeAlias = bool | Approval
NeedsApproval: TypeAlias = Needed | Callable[[Mapping[str, Any]], Needed]


def may_be_needed(given: object) -> bool:
    """
    Whether something can be said of a tool as `needs_approval`.
    """
    return isinstance(given, bool | Approval) or (callable(given) and not is_async(given))


def gated(call: PlannedCall, needs: NeedsApproval, arguments: Mapping[str, Any]) -> PlannedCall:
    """
    The plan of a call with the approvals that it needs with these arguments. Where the host's function fails to say,
    somebody must approve.
    """
    needed = _needed(needs, arguments)
    if needed is None:
        return call
    within_ms = None if needed.within is None else math.ceil(needed.within * 1000)
    return evolve(call, approvals=needed.count, requester_counts=not needed.not_requester, within_ms=within_ms)


def _needed(needs: NeedsApproval, arguments: Mapping[str, Any]) -> Approval | None:
    try:
        found: object = needs(dict(arguments)) if callable(needs) else needs
    except BaseException:  # noqa: BLE001 - a host's function that raises anything must not let a call through
        return SOMEBODY
    if isinstance(found, Approval):
        return found
    return None if found is False else SOMEBODY


def _is_count(count: object) -> bool:
    return isinstance(count, int) and not isinstance(count, bool) and count >= 1


def _is_answer(answer: object) -> bool:
    return isinstance(answer, bool)


def _is_time(seconds: object) -> bool:
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds <= LONGEST


SOMEBODY = Approval()
