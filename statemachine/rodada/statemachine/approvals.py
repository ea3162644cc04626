"""
What is decided on the requests in hand: a function of the plan and the votes that count.
"""

from collections.abc import Iterable

from attrs import evolve

from rodada.statemachine.events import ApprovalDecided
from rodada.statemachine.plan import PlannedCall
from rodada.statemachine.run import Run, Vote


def decision(run: Run, request_id: str) -> bool | None:
    """
    What was decided on a request: one denial decides, or as many distinct approvals as its plan asks for.
    """
    return _decided(run.plan.call(request_id), run.votes_on(request_id))


def undecided(run: Run) -> tuple[str, ...]:
    """
    Requests in hand that still need a decision.
    """
    votes = _votes_by_request(run)
    return tuple(
        call.id for call in run.plan.calls if call.approvals and _decided(call, votes.get(call.id, ())) is None
    )


def waits_for_decision(run: Run, request_id: str) -> bool:
    """
    Whether a request in hand still needs a decision.
    """
    if run.plan.position(request_id) is None:
        return False
    return run.plan.call(request_id).approvals > 0 and decision(run, request_id) is None


def leaves_something(run: Run) -> bool:
    """
    Whether there is a request that was not denied.
    """
    votes = _votes_by_request(run)
    return any(not call.approvals or _decided(call, votes.get(call.id, ())) is not False for call in run.plan.calls)


def _decided(call: PlannedCall, votes: Iterable[Vote]) -> bool | None:
    given = tuple(votes)
    if any(not vote.yes for vote in given):
        return False
    return True if len({vote.by for vote in given}) >= call.approvals else None


def _votes_by_request(run: Run) -> dict[str, list[Vote]]:
    found: dict[str, list[Vote]] = {}
    for vote in run.votes:
        found.setdefault(vote.id, []).append(vote)
    return found


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
