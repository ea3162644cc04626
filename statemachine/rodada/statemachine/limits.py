"""
The limits of a run, checked when built. None means unlimited where no other meaning is given. Rounds,
attempts, pauses, tools at once, and the times to close and to stop take no None: they are always bounded.
"""

import sys

from attrs import Factory, frozen

from rodada.statemachine.errors import InvalidValue

COUNTS = {
    "max_rounds": 0,
    "max_attempts": 1,
    "max_pauses": 0,
    "max_repeats": 1,
    "max_parallel": 1,
    "max_tokens_total": 0,
    "max_result_chars": 200,
    "max_request_bytes": 1,
    "history_messages": 0,
}
AMOUNTS = ("max_cost",)
SECONDS = ("seconds", "closing_seconds", "call_seconds", "tool_seconds", "stop_seconds")
OPTIONAL = frozenset(
    {
        "max_repeats",
        "max_tokens_total",
        "max_cost",
        "seconds",
        "call_seconds",
        "tool_seconds",
        "max_result_chars",
        "max_request_bytes",
        "history_messages",
    }
)


def _kept_for_closing(limits: "Limits") -> float:
    seconds = limits.seconds
    return min(20, seconds / 2) if seconds is not None and _is_number(seconds, (int, float)) else 20


@frozen(kw_only=True)
class Limits:
    """
    What one run may use.

    Attributes:
        max_rounds: rounds of tools for one user message (promise P3); 0 means that no tool ever runs.
        max_attempts: tries of one model call.
        max_pauses: resumed pauses of a turn.
        max_repeats: exchanges in a row with the same calls and the same results before the run is stopped.
        max_parallel: tools that run at once.
        max_tokens_total: tokens of all model calls of the run, judged when the model asks on.
        max_cost: cost of all model calls of the run, by the prices that the loop was given, judged when the model asks
            on. A turn whose cost is not known (no price fits its model, or it told no tokens) leaves nothing of it; a
            call that failed counts as nothing.
        seconds: time of the whole run; waiting for people is not counted.
        closing_seconds: the part of `seconds` kept for the closing call; 20, or half of a shorter `seconds`.
        call_seconds: time of one model call, and of storing one entry.
        tool_seconds: time of one tool call, where the tool sets none of its own.
        stop_seconds: time that a started tool gets to end after it was asked to stop.
        max_result_chars: longest text of a tool's result, where the tool sets no limit of its own; a longer one is
            cut with a mark.
        max_request_bytes: largest request; None leaves it to the provider.
        history_messages: wire messages before the new one that are sent (an exchange counts as two).

    Raises:
        InvalidValue: a limit of the wrong kind or out of range.
    """

    max_rounds: int = 10
    max_attempts: int = 3
    max_pauses: int = 5
    max_repeats: int | None = None
    max_parallel: int = 8
    max_tokens_total: int | None = None
    max_cost: float | None = None
    seconds: float | None = 300
    closing_seconds: float = Factory(_kept_for_closing, takes_self=True)
    call_seconds: float | None = 120
    tool_seconds: float | None = 60
    stop_seconds: float = 5
    max_result_chars: int | None = 100_000
    max_request_bytes: int | None = None
    history_messages: int | None = 20

    def __attrs_post_init__(self) -> None:
        for name, least in COUNTS.items():
            _check(name, getattr(self, name), least, (int,))
        for name in (*AMOUNTS, *SECONDS):
            _check(name, getattr(self, name), 0, (int, float))
        if self.seconds is not None and self.closing_seconds > self.seconds:
            raise InvalidValue(
                "Limits.closing_seconds",
                f"{self.closing_seconds} s kept for the closing call do not fit into seconds={self.seconds}",
            )


def _check(name: str, value: float | None, least: int, kinds: tuple[type[int] | type[float], ...]) -> None:
    if value is None and name in OPTIONAL:
        return
    if not _is_number(value, kinds) or value is None or value < least:
        wanted = "a whole number" if kinds == (int,) else "a number of seconds" if name in SECONDS else "a number"
        unlimited = ", or None for unlimited" if name in OPTIONAL else ""
        raise InvalidValue(f"Limits.{name}", f"needs {wanted} >= {least}{unlimited}; got {value!r:.80}")


def _is_number(value: object, kinds: tuple[type[int] | type[float], ...]) -> bool:
    if not isinstance(value, kinds) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # no NaN, no infinity, nor an integer that no float can hold
