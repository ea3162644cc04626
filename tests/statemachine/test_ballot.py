"""
The ballot goes from vote to vote with its run and says what plan and votes say, no more.
"""

from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.ballot import Ballot, Vote, ballot_of
from rodada.statemachine.plan import Plan, PlannedCall
from support.walks import reached_runs

PEOPLE = ("ana", "Ana ", "bob", "eva")
plans = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(
    lambda wanted: Plan(tuple(PlannedCall(f"c{at}", approvals=each) for at, each in enumerate(wanted)))
)


def votes_on(plan: Plan) -> st.SearchStrategy[list[Vote]]:
    return st.lists(st.builds(Vote, st.sampled_from(plan.ids), st.booleans(), st.sampled_from(PEOPLE)), max_size=12)


def told(ballot: Ballot) -> tuple[object, ...]:
    ids = ballot.plan.ids
    bits = [(bool(ballot.open & bit), bool(ballot.denied & bit)) for bit in map(ballot.plan.bit, ids)]
    return ballot.votes, bits, [[ballot.has_approved(each, by) for by in PEOPLE] for each in ids]


def expected(plan: Plan, votes: list[Vote]) -> tuple[object, ...]:
    def names(request_id: str) -> set[str]:
        return {vote.by.strip().lower() for vote in votes if vote.id == request_id and vote.yes}

    denied = {vote.id for vote in votes if not vote.yes}
    still_open = {call.id for call in plan.calls if call.id not in denied and len(names(call.id)) < call.approvals}
    bits = [(each in still_open, each in denied) for each in plan.ids]
    return tuple(votes), bits, [[by.strip().lower() in names(each) for by in PEOPLE] for each in plan.ids]


@given(st.data(), plans)
def test_each_vote_leaves_what_the_plan_and_the_votes_say(data: st.DataObject, plan: Plan) -> None:
    votes = data.draw(votes_on(plan))
    ballot = ballot_of(plan, ())
    for at, vote in enumerate(votes, 1):
        after, ballot = ballot.after(vote), ballot.keep(vote)
        assert after == (ballot.open, ballot.denied)
        assert told(ballot) == expected(plan, votes[:at]) == told(ballot_of(plan, tuple(votes[:at])))


def test_a_vote_on_a_request_of_another_turn_changes_nothing() -> None:
    ballot = ballot_of(Plan((PlannedCall("a", approvals=1),)), ())
    for yes in (True, False):
        assert (ballot.open, ballot.denied) == ballot.after(Vote("other", yes, "ana"))


def test_a_run_goes_with_the_ballot_of_its_last_vote_and_believes_no_other() -> None:
    for run in reached_runs():
        assert told(run.ballot) == told(ballot_of(run.plan, run.votes))
