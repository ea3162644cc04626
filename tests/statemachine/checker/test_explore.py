"""
The checker: the right table is sound within its bounds, and wrong ones are refused by the promise they break.
"""

from collections.abc import Callable

import pytest

from rodada.statemachine.checker import Bounds, Scene, explore, promises, scenes
from rodada.statemachine.checker.bounds import COST_A_TURN
from rodada.statemachine.checker.explore import Exploration
from rodada.statemachine.checker.promises import RUN_PROMISES, STEP_PROMISES
from rodada.statemachine.checker.world import first_run, offers
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.events import ApprovalDecided, CallFailed, HistoryAppended, TurnReceived
from rodada.statemachine.guards import tokens_left
from rodada.statemachine.machine import FLOW, Flow
from rodada.statemachine.messages import Stop
from rodada.statemachine.run import Run, cost_with
from rodada.statemachine.step import step
from rodada.statemachine.table import TABLE, AnyRow
from support.wrong_tables import WRONG_ACTIONS, WRONG_TABLES, acting, asking

SMALL = scenes(Bounds(rounds=1))


@pytest.fixture(scope="module")
def seen() -> Exploration:
    return explore(FLOW, scenes(Bounds()))


def test_no_promise_is_broken_within_the_bounds(seen: Exploration) -> None:
    assert seen.violation is None


def test_no_row_is_dead(seen: Exploration) -> None:
    assert {row.name for row in TABLE} == set(seen.rows)


def test_every_kind_of_end_is_reached(seen: Exploration) -> None:
    expected = {
        "Finalize answered",
        "Cancelled cancelled",
        "Error append_failed",
        "Error call_failed",
        *(
            f"Finalize {reason}"
            for reason in (
                "max_rounds",
                "max_tokens_total",
                "max_cost",
                "max_repeats",
                "deadline",
                "cut",
                "empty",
                "malformed",
                "refused",
                "paused",
                "unknown_stop",
                "call_failed",
            )
        ),
    }
    assert expected == set(seen.ends)


def test_dishonest_events_are_refused_in_number(seen: Exploration) -> None:
    assert seen.refused > 10_000


def test_the_bounds_hold_what_was_asked_for() -> None:
    """
    0 to 2 rounds, 0 to 2 requests, both kinds of plan, six stop reasons, approvals by two with the requester trying,
    and retry, pause, flaw, budget and repeats on together.
    """
    everything = next(scene for scene in scenes(Bounds()) if scene.name == "2 rounds, everything")
    called, _ = step(first_run(everything), HistoryAppended())
    events = [offer.event for offer in offers(everything, called) if offer.honest]
    turns = [event for event in events if isinstance(event, TurnReceived)]
    limits = everything.limits

    assert set(Stop) == {event.turn.stop for event in turns}
    assert {0, 1, 2} == {len(event.turn.requests) for event in turns}
    assert {(), ("c3_0",)} == {event.plan.calls[1].after for event in turns if len(event.plan.calls) == 2}
    assert {0, 1, 2} == {call.approvals for event in turns for call in event.plan.calls}
    assert {0, 10**9} == {event.wait_ms for event in events if isinstance(event, CallFailed)}
    assert (2, 2, 1, 1, 30) == (
        limits.max_rounds,
        limits.max_attempts,
        limits.max_pauses,
        limits.max_repeats,
        limits.max_tokens_total,
    )


def test_approvals_are_tried_by_two_people_and_by_the_requester() -> None:
    scene = next(scene for scene in scenes(Bounds()) if scene.name == "1 rounds, people approve")
    run, _ = step(first_run(scene), HistoryAppended())
    gated = next(
        offer.event
        for offer in offers(scene, run)
        if isinstance(offer.event, TurnReceived) and any(call.approvals for call in offer.event.plan.calls)
    )
    run, _ = step(run, gated)
    votes = [offer for offer in offers(scene, run) if isinstance(offer.event, ApprovalDecided)]

    assert {("ana", True), ("bob", True), ("requester", True), ("ana", False)} == {
        (offer.event.by, offer.event.yes) for offer in votes if isinstance(offer.event, ApprovalDecided)
    }
    assert {True, False} == {offer.honest for offer in votes}


def test_rounds_and_budget_can_be_gone_at_once(seen: Exploration) -> None:
    assert (True, True, False, False) not in seen.answers["answer_out_of_rounds"]
    assert (True, True, False, False) in seen.answers["answer_out_of_tokens"]
    assert (True, False, False, False) in seen.answers["answer_out_of_tokens"]


def test_money_can_be_gone_alone_and_together_with_the_tokens(seen: Exploration) -> None:
    assert (True, True, True, False, False) in seen.answers["answer_out_of_money"]
    assert (True, True, False, False, False) in seen.answers["answer_out_of_money"]


def test_rounds_can_be_gone_with_money_left_where_somebody_must_approve(seen: Exploration) -> None:
    assert (True, False, True, True, False, False, False) in seen.answers["approval_asked"]


@pytest.mark.parametrize("wrong", WRONG_TABLES, ids=lambda wrong: wrong.__name__)
def test_the_wrong_tables_of_the_design_are_refused(wrong: Callable[[], tuple[AnyRow, ...]]) -> None:
    violation = explore(Flow(wrong()), SMALL).violation

    assert violation is not None


@pytest.mark.parametrize("mistake", sorted(WRONG_ACTIONS))
def test_a_wrong_action_is_caught_by_the_promise_it_breaks(mistake: str) -> None:
    promise, rows = WRONG_ACTIONS[mistake]
    violation = explore(Flow(rows), scenes(Bounds())).violation

    assert violation is not None
    assert violation.promise.startswith(promise)


def test_a_cost_that_is_not_known_is_not_taken_for_nothing() -> None:
    def budget_left(run: Run, event: TurnReceived) -> bool:
        most, cost = run.limits.max_cost, cost_with(run, event.turn)
        return tokens_left(run, event) and (most is None or cost is None or cost < most)

    violation = explore(Flow(asking(budget_left)), SMALL).violation
    assert violation is not None
    assert (violation.promise, "not known" in violation.scene) == ("budget_is_kept", True)


def test_money_that_is_not_used_up_ends_no_run() -> None:
    def budget_left(run: Run, event: TurnReceived) -> bool:
        most = run.limits.max_cost
        return tokens_left(run, event) and (most is None or (run.cost or 0) + 2 * COST_A_TURN < most)

    violation = explore(Flow(asking(budget_left)), SMALL).violation
    assert violation is not None
    assert violation.promise == "a_limit_stops_only_when_the_model_asks_on"


def test_a_violation_shows_a_shortest_path() -> None:
    rows = acting("model_called", lambda run, event: run)
    violation = explore(Flow(rows), SMALL).violation

    assert violation is not None
    assert ("starts", "HistoryAppended") == violation.path
    assert "InvalidValue" in str(violation)


def test_every_promise_says_what_it_is_about() -> None:
    assert len(RUN_PROMISES) + len(STEP_PROMISES) == len(promises())
    assert all(told.endswith(".") for _, told in promises())


def test_scenes_come_smallest_first() -> None:
    rounds = [scene.limits.max_rounds for scene in scenes(Bounds()) if "polling" not in scene.name]
    assert sorted(rounds) == rounds


@pytest.mark.parametrize(
    ("text", "bounds"),
    [("", Bounds()), ("rounds=3", Bounds(rounds=3)), ("rounds=0, requests=1", Bounds(rounds=0, requests=1))],
)
def test_bounds_are_read_from_text(text: str, bounds: Bounds) -> None:
    assert bounds == Bounds.parse(text)


@pytest.mark.parametrize("text", ["rounds", "rounds=-1", "rounds=x", "speed=3", "requests=0"])
def test_bounds_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        Bounds.parse(text)


@pytest.mark.long
@pytest.mark.parametrize("scene", [scene for scene in SMALL if "everything" not in scene.name], ids=lambda s: s.name)
def test_runs_that_are_explored_once_hide_nothing(scene: Scene) -> None:
    """
    Explored without merging any two runs, the same scene breaks no promise and takes the same rows.
    """
    merged, whole = explore(FLOW, (scene,)), explore(FLOW, (scene,), merged=False)

    assert whole.violation is None
    assert set(merged.rows) == set(whole.rows)
    assert merged.answers == whole.answers
    assert whole.runs > merged.runs
