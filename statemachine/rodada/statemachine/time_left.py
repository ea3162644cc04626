"""
How much time a run has left. Its time is in milliseconds since it began; waiting for people is not counted.
"""

from rodada.statemachine.run import Run


def seconds_left(run: Run, mono_ms: int) -> float | None:
    """
    Time that the run has left; None when it is unlimited. A closing run has all that is left of `seconds`,
    another one leaves `closing_seconds` for the closing call.
    """
    limits = run.limits
    if limits.seconds is None:
        return None
    kept = 0.0 if run.reason is not None else limits.closing_seconds
    return limits.seconds - kept - (mono_ms - run.people_ms) / 1000


def seconds_to_deadline(run: Run, mono_ms: int) -> float | None:
    """
    Time until the deadline passes; None while people are waited for, or when there is none.
    """
    limits = run.limits
    if limits.seconds is None or run.asked_ms is not None:
        return None
    return limits.seconds - limits.closing_seconds - (mono_ms - run.people_ms) / 1000


def seconds_for_call(run: Run, mono_ms: int) -> float | None:
    """
    Time that a model call sent now may take: `call_seconds`, and not more than the run has left; for the
    closing call all that is left. None is unlimited; zero or less means that it must not be sent.
    """
    left = seconds_left(run, mono_ms)
    if run.reason is not None:
        return run.limits.call_seconds if left is None else left
    times = [seconds for seconds in (run.limits.call_seconds, left) if seconds is not None]
    return min(times, default=None)
