"""
The progress of a turn goes from step to step with its run and says what plan, started ids and results say, no more.
"""

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from rodada.statemachine.messages import Status, ToolRequest, ToolResult
from rodada.statemachine.plan import Plan, PlannedCall, one_after_another
from rodada.statemachine.progress import Progress, progress_of
from rodada.statemachine.run import Run
from support.walks import reached_runs


def result(request_id: str) -> ToolResult:
    return ToolResult.of(ToolRequest(request_id, "f", "{}"), Status.SUCCEEDED, "done")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    calls: list[PlannedCall] = []
    for at in range(draw(st.integers(0, 9))):
        earlier = [call.id for call in calls]
        after = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=4)) if earlier else []
        calls.append(PlannedCall(f"r{at}", after=tuple(after)))
    return Plan(tuple(calls))


def told(progress: Progress) -> tuple[object, ...]:
    sets = (progress.running, progress.done, progress.ready)
    return (progress.started, progress.results, *(progress.ids(each) for each in sets))


def expected(plan: Plan, started: tuple[str, ...], results: tuple[ToolResult, ...]) -> tuple[object, ...]:
    done = {each.id for each in results}
    before: dict[str, set[str]] = {}
    for call in plan.calls:
        before[call.id] = set(call.after).union(*(before[earlier] for earlier in call.after))
    running = [call.id for call in plan.calls if call.id in started and call.id not in done]
    ready = [call.id for call in plan.calls if call.id not in {*started, *done} and done.issuperset(before[call.id])]
    return started, results, tuple(running), tuple(id for id in plan.ids if id in done), tuple(ready)


@settings(max_examples=40)
@given(plans(), st.data())
def test_each_step_of_a_progress_says_what_the_plan_and_the_results_say(plan: Plan, data: st.DataObject) -> None:
    denied = data.draw(st.sets(st.sampled_from(plan.ids or ("none",))))
    progress = progress_of(plan, (), ()).keep(*(result(each) for each in plan.ids if each in denied))
    assert told(progress) == expected(plan, (), progress.results)
    while progress.done != progress.every:
        progress = progress.start(data.draw(st.integers(0, 3)))
        assert told(progress) == expected(plan, progress.started, progress.results)
        running = progress.ids(progress.running or progress.ready)
        progress = progress.keep(
            *(result(each) for each in data.draw(st.sets(st.sampled_from(running), min_size=1, max_size=2)))
        )
        assert told(progress) == expected(plan, progress.started, progress.results)
        assert told(progress) == told(progress_of(plan, progress.started, progress.results))


def test_what_may_start_starts_in_request_order_and_no_more_than_there_is_room_for() -> None:
    plan = Plan((PlannedCall("a"), PlannedCall("b", after=("a",)), PlannedCall("c"), PlannedCall("d")))
    first = progress_of(plan, (), ()).start(2)
    assert ("a", "c") == first.started
    assert ("a", "c", "b") == first.keep(result("a")).start(1).started
    assert ("a", "c", "b", "d") == first.keep(result("a")).start(9).started
    assert first.started == first.start(0).started == first.start(-1).started


def test_a_run_knows_the_progress_of_its_calls_at_every_step() -> None:
    for run in reached_runs():
        assert told(run.progress) == expected(run.plan, run.started, run.results)


def test_a_run_whose_calls_were_changed_from_outside_reckons_their_progress_anew() -> None:
    run = next(run for run in reached_runs() if run.running)
    unstarted = evolve(run, started=())
    assert () == unstarted.running
    assert told(unstarted.progress) == expected(run.plan, (), run.results)


def test_the_progress_of_a_run_is_no_part_of_its_value() -> None:
    run = next(run for run in reached_runs() if run.running)
    read = Run.from_json(run.to_json())
    assert (run, hash(run)) == (read, hash(read))
    assert told(run.progress) == told(read.progress)


def test_what_waits_for_a_denied_call_waits_for_what_that_waited_for() -> None:
    plan = one_after_another(tuple(map(PlannedCall, "abcd")))
    denied = progress_of(plan, (), ()).keep(result("c"), result("b")).start(9)
    assert ("a",) == denied.started
    assert ("a", "d") == denied.keep(result("a")).start(9).started
