"""
What a run has used so far, beside the limits that it has.
"""

from attrs import frozen

from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Usage
from rodada.statemachine.outcome import total_usage
from rodada.statemachine.run import Run


@frozen(kw_only=True)
class Spent:
    """
    What a run has used so far.

    Attributes:
        limits: that it has.
        rounds: of tools, the one that runs included.
        model_calls: made or under way, retries included.
        usage: tokens of the turns that have come, as far as told.
        cost: of these turns; None where it is not known.
        seconds: from its beginning until now, or until its end; waiting for people is not counted.
    """

    limits: Limits
    rounds: int
    model_calls: int
    usage: Usage
    cost: float | None
    seconds: float


def spent_by(run: Run, mono_ms: int) -> Spent:
    """
    What a run has used at some time of its own, in milliseconds.
    """
    waited = run.people_ms + (0 if run.asked_ms is None else mono_ms - run.asked_ms)
    return Spent(
        limits=run.limits,
        rounds=run.rounds,
        model_calls=run.calls,
        usage=total_usage(run.usages),
        cost=run.cost if run.prices else None,
        seconds=(mono_ms - waited) / 1000,
    )
