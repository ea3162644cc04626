"""
Where the questions on a turn stand: an index that goes from vote to vote with the run, so that what one vote costs
does not grow with the number of requests.
"""

from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen

from rodada.statemachine.people import person
from rodada.statemachine.plan import Plan

NOBODY: frozenset[str] = frozenset()
NO_APPROVERS: Mapping[str, frozenset[str]] = MappingProxyType({})


@frozen
class Vote:
    """
    A decision that counts.
    """

    id: str
    yes: bool
    by: str
    via: str = ""
    reason: str = ""


@frozen(eq=False)
class Ballot:
    """
    Where the questions on a plan stand. It says nothing that plan and votes do not say; build it with `ballot_of`.

    Attributes:
        plan: of the turn.
        votes: that count, in order.
        open: the calls that need approval and are not decided, as a set of the plan's.
        denied: the calls that somebody denied.
        approvers: who approved a call, as `person` tells people apart.
    """

    plan: Plan
    votes: tuple[Vote, ...]
    open: int
    denied: int = 0
    approvers: Mapping[str, frozenset[str]] = NO_APPROVERS

    def has_approved(self, request_id: str, by: str) -> bool:
        """
        Whether somebody has approved a call before.
        """
        return person(by) in self.approvers.get(request_id, NOBODY)

    def after(self, vote: Vote) -> tuple[int, int]:
        """
        What is open and what is denied with one vote more: one denial decides, or as many distinct people as the plan
        asks for.
        """
        bit = self.plan.bit(vote.id)
        if not vote.yes:
            return self.open & ~bit, self.denied | bit
        decides = bit and len(self._approvers(vote)) >= self.plan.call(vote.id).approvals
        return self.open & ~bit if decides else self.open, self.denied

    def keep(self, vote: Vote) -> "Ballot":
        """
        One vote more.
        """
        still_open, denied = self.after(vote)
        approvers = {**self.approvers, vote.id: self._approvers(vote)} if vote.yes else self.approvers
        return Ballot(self.plan, (*self.votes, vote), still_open, denied, approvers)

    def _approvers(self, vote: Vote) -> frozenset[str]:
        return self.approvers.get(vote.id, NOBODY) | {person(vote.by)}


def ballot_of(plan: Plan, votes: tuple[Vote, ...]) -> Ballot:
    """
    Where the questions on a plan stand, reckoned anew.
    """
    ballot = Ballot(plan, (), sum(1 << at for at, call in enumerate(plan.calls) if call.approvals > 0))
    for vote in votes:
        ballot = ballot.keep(vote)
    return ballot if ballot.votes is votes else Ballot(plan, votes, ballot.open, ballot.denied, ballot.approvers)
