"""
Orders follow from the run alone; effects are the orders that a step made new, and what it gave up.
"""

from rodada.statemachine.events import ApprovalDecided, CallFailed, TurnReceived
from rodada.statemachine.orders import Abandon, Append, AskApproval, AskModel, StartTool, StopTool, effects, orders
from rodada.statemachine.run import Run
from rodada.statemachine.states import ENDS, State
from rodada.statemachine.step import step
from support.walks import everything_tried, reached_runs


def test_only_an_end_waits_for_nothing() -> None:
    assert {run.state for run in reached_runs() if not orders(run)} == ENDS
    assert {run.state for run in reached_runs() if orders(run)} == set(State) - ENDS


def test_each_state_waits_for_its_own_kind_of_order() -> None:
    kinds = {(run.state, type(order)) for run in reached_runs() for order in orders(run)}
    assert kinds == {
        (State.APPEND_HISTORY, Append),
        (State.CALL_MODEL, AskModel),
        (State.AWAIT_APPROVAL, AskApproval),
        (State.EXECUTE_TOOLS, StartTool),
        (State.EXECUTE_TOOLS, StopTool),
    }


def test_orders_say_what_the_run_holds() -> None:
    for run in reached_runs():
        assert list(orders(run)) == expected(run)


def expected(run: Run) -> list[object]:
    unanswered = [each for each in run.started if each not in {result.id for result in run.results}]
    match run.state:
        case State.APPEND_HISTORY:
            return [Append(run.entry)] if run.entry else []
        case State.CALL_MODEL:
            return [AskModel(run.calls, run.reason is None, run.wait_ms)]
        case State.EXECUTE_TOOLS:
            stops = [StopTool(each) for each in unanswered] if run.reason else []
            return [*(StartTool(each) for each in unanswered), *stops]
        case State.AWAIT_APPROVAL:
            return [AskApproval(call.id) for call in run.plan.calls if call.approvals and not decided(run, call.id)]
        case _:
            return []


def decided(run: Run, request_id: str) -> bool:
    votes = [vote for vote in run.votes if vote.id == request_id]
    people = {vote.by for vote in votes if vote.yes}
    return any(not vote.yes for vote in votes) or len(people) >= run.plan.call(request_id).approvals


def test_effects_keep_a_driver_on_the_runs_orders_and_give_up_calls_and_questions_alone() -> None:
    for tried in everything_tried():
        if tried.row is None:
            continue
        after, made = step(tried.run, tried.event)
        old, new = orders(tried.run), orders(after)
        given_up = [effect.order for effect in made if isinstance(effect, Abandon)]
        begun = [effect for effect in made if not isinstance(effect, Abandon)]
        assert begun == [order for order in new if order not in old]
        assert set(given_up) <= set(old) - set(new)
        assert len(set(made)) == len(made)
        assert all(isinstance(order, AskModel | AskApproval) for order in given_up)
        assert not [order for order in given_up if answers(tried.event, order)]
        gone = [order for order in old if order not in new and order not in given_up]
        assert not [
            order for order in gone if isinstance(order, AskModel | AskApproval) and not answers(tried.event, order)
        ]


def answers(event: object, order: AskModel | AskApproval) -> bool:
    if isinstance(order, AskModel):
        return isinstance(event, TurnReceived | CallFailed) and event.call == order.call
    return isinstance(event, ApprovalDecided) and event.id == order.id


def test_a_step_that_changes_nothing_asks_for_nothing() -> None:
    for tried in everything_tried():
        if tried.row is not None and tried.row.action.__name__ == "stay":
            assert effects(tried.run, tried.event, tried.run) == ()
