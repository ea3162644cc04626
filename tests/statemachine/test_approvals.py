"""
What is decided: a function of the plan and the votes that count, read off here without the guards.
"""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.approvals import decision, denials, undecided, with_vote
from rodada.statemachine.ballot import Vote
from rodada.statemachine.checker.bounds import Bounds, scenes
from rodada.statemachine.checker.world import first_run
from rodada.statemachine.events import ApprovalDecided
from rodada.statemachine.plan import Plan, PlannedCall
from rodada.statemachine.run import Run

PEOPLE = ("ana", "bob", "eva")
votes_on = st.lists(st.builds(Vote, st.sampled_from("ab"), st.booleans(), st.sampled_from(PEOPLE)), max_size=6)
plans = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(
    lambda wanted: Plan((PlannedCall("a", approvals=wanted[0]), PlannedCall("b", approvals=wanted[1])))
)
EMPTY = first_run(scenes(Bounds())[0])


def voted(plan: Plan, votes: list[Vote]) -> Run:
    return evolve(EMPTY, plan=plan, votes=tuple(votes))


@given(plans, votes_on)
def test_one_denial_decides_or_as_many_people_as_the_plan_asks_for(plan: Plan, votes: list[Vote]) -> None:
    run = voted(plan, votes)
    for call in plan.calls:
        mine = [vote for vote in votes if vote.id == call.id]
        denied = any(not vote.yes for vote in mine)
        enough = len({vote.by for vote in mine}) >= call.approvals
        assert decision(run, call.id) is (False if denied else True if enough else None)


@given(plans, votes_on)
def test_undecided_are_those_that_need_somebody_in_request_order(plan: Plan, votes: list[Vote]) -> None:
    run = voted(plan, votes)
    waiting = undecided(run)
    assert list(waiting) == [call.id for call in plan.calls if call.approvals and decision(run, call.id) is None]


@given(plans, votes_on)
def test_denials_are_the_votes_that_say_no(plan: Plan, votes: list[Vote]) -> None:
    assert list(denials(voted(plan, votes))) == [vote for vote in votes if not vote.yes]


@given(plans, votes_on)
def test_a_vote_more_never_makes_a_decision_undone(plan: Plan, votes: list[Vote]) -> None:
    run = voted(plan, votes)
    event = ApprovalDecided("a", True, "eva", "chat", "fine")
    after = with_vote(run, event)
    assert after.votes == (*run.votes, Vote("a", True, "eva", "chat", "fine"))
    assert set(undecided(after)) <= set(undecided(run))
    assert evolve(after, votes=run.votes) == run
