"""
What is decided on the requests in hand: a function of the plan and the votes that count.
"""

from attrs import evolve

from rodada.statemachine.events import ApprovalDecided
from rodada.statemachine.run import Run, Vote


def decision(run: Run, request_id: str) -> bool | None:
    """
    What was decided on a request: one denial decides, or as many distinct approvals as its plan asks for.
    """
    votes = run.votes_on(request_id)
    if any(not vote.yes for vote in votes):
        return False
    return True if len({vote.by for vote in votes}) >= run.plan.call(request_id).approvals else None


def undecided(run: Run) -> tuple[str, ...]:
    """
    Requests in hand that still need a decision.
    """
    denied, approved_by = _denied(run), dict[str, set[str]]()
    for vote in run.votes:
        approved_by.setdefault(vote.id, set()).add(vote.by)
    return tuple(
        call.id
        for call in run.plan.calls
        if call.approvals and call.id not in denied and len(approved_by.get(call.id, ())) < call.approvals
    )


def waits_for_decision(run: Run, request_id: str) -> bool:
    """
    Whether a request in hand still needs a decision.
    """
    if run.plan.position(request_id) is None:
        return False
    return run.plan.call(request_id).approvals > 0 and decision(run, request_id) is None


def decided_until(run: Run, request_id: str) -> int | None:
    """
    The time of the run, in milliseconds, up to which a request in hand may be approved; None is without end.
    """
    within = None if run.plan.position(request_id) is None else run.plan.call(request_id).within_ms
    return None if within is None or run.asked_ms is None else run.asked_ms + within


def expiring(run: Run) -> tuple[tuple[str, int], ...]:
    """
    The requests that wait for a decision and do so for a time only, each with that time's end.
    """
    if run.asked_ms is None:
        return ()
    ends = ((request_id, decided_until(run, request_id)) for request_id in undecided(run))
    return tuple((request_id, end) for request_id, end in ends if end is not None)


def leaves_something(run: Run) -> bool:
    """
    Whether there is a request that was not denied.
    """
    denied = _denied(run)
    return any(not call.approvals or call.id not in denied for call in run.plan.calls)


def _denied(run: Run) -> frozenset[str]:
    return frozenset(vote.id for vote in denials(run))


def denials(run: Run) -> tuple[Vote, ...]:
    """
    The votes that denied a request in hand.
    """
    return tuple(vote for vote in run.votes if not vote.yes)


def with_vote(run: Run, event: ApprovalDecided) -> Run:
    """
    The run with one vote more.
    """
    vote = Vote(event.id, event.yes, event.by, event.via, event.reason)
    return evolve(run, votes=(*run.votes, vote))
