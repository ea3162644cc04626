"""
What is decided on the requests in hand: a function of the plan and the votes that count.
"""

from attrs import evolve

from rodada.statemachine.ballot import Vote
from rodada.statemachine.events import ApprovalDecided
from rodada.statemachine.people import person
from rodada.statemachine.run import Run


def decision(run: Run, request_id: str) -> bool | None:
    """
    What was decided on a request: one denial decides, or as many distinct approvals as its plan asks for.
    """
    ballot, bit = run.ballot, run.plan.bit(request_id)
    if ballot.denied & bit:
        return False
    return None if ballot.open & bit else True


def undecided(run: Run) -> tuple[str, ...]:
    """
    Requests in hand that still need a decision.
    """
    return run.progress.ids(run.ballot.open)


def waits_for_decision(run: Run, request_id: str) -> bool:
    """
    Whether a request in hand still needs a decision.
    """
    return bool(run.ballot.open & run.plan.bit(request_id))


def may_approve(run: Run, request_id: str, by: str) -> bool:
    """
    Whether the plan lets somebody approve a request in hand. Where the run's own actor may not and is not known, nobody
    may: anybody could be it.
    """
    if run.plan.position(request_id) is None or run.plan.call(request_id).requester_counts:
        return True
    return person(run.origin.actor) not in ("", person(by))


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


def denials(run: Run) -> tuple[Vote, ...]:
    """
    The votes that denied a request in hand.
    """
    return tuple(vote for vote in run.votes if not vote.yes)


def vote_of(event: ApprovalDecided) -> Vote:
    """
    The vote that a decision is where it counts.
    """
    return Vote(event.id, event.yes, event.by, event.via, event.reason)


def with_vote(run: Run, event: ApprovalDecided) -> Run:
    """
    The run with one vote more.
    """
    ballot = run.ballot.keep(vote_of(event))
    return evolve(run, votes=ballot.votes, _counted=ballot)
