"""
What the checker holds every run and every step against. Written from the promises, not from the guards and actions:
none of the functions here asks one of them.
"""

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from rodada.statemachine.ballot import Vote
from rodada.statemachine.events import (
    ApprovalDecided,
    CallFailed,
    CancelRequested,
    DeadlinePassed,
    Event,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.messages import Exchange, ModelTurn, Status, Stop, Usage, UserMessage
from rodada.statemachine.orders import AskModel, Effect, StartTool, orders
from rodada.statemachine.plan import Plan
from rodada.statemachine.prices import added, cost_of
from rodada.statemachine.run import Run
from rodada.statemachine.states import ENDS, Reason, RunStatus, State


@frozen
class Taken:
    """
    A step that the checker looks at.
    """

    before: Run
    event: Event
    after: Run
    effects: tuple[Effect, ...]


RunPromise: TypeAlias = Callable[[Run], bool]
StepPromise: TypeAlias = Callable[[Taken], bool]


# Runs: every state means what it says


def only_an_end_waits_for_nothing(run: Run) -> bool:
    """
    P2: a run that has not ended waits for something.
    """
    return (not orders(run)) == (run.state in ENDS)


def a_called_model_has_something_to_answer(run: Run) -> bool:
    """
    P1: what is sent ends in a user message or a whole exchange, and the call is numbered.
    """
    if run.state is not State.CALL_MODEL:
        return True
    return isinstance(run.conversation.last, (UserMessage, Exchange)) and run.calls >= 1


def attempts_stay_within_their_limit(run: Run) -> bool:
    """
    P3: no call is tried more often than allowed.
    """
    return run.attempt <= run.limits.max_attempts and run.pauses <= run.limits.max_pauses and run.flaws <= 1


def a_stopping_run_withholds_tools(run: Run) -> bool:
    """
    P4: with a reason every model call is the closing call; without one tools are allowed.
    """
    return all(order.tools_allowed == (run.reason is None) for order in orders(run) if isinstance(order, AskModel))


def a_cancelled_run_asks_no_model(run: Run) -> bool:
    """
    P6: after a cancel no model is called.
    """
    return not (run.state is State.CALL_MODEL and run.reason is Reason.CANCELLED)


def rounds_stay_within_their_limit(run: Run) -> bool:
    """
    P3: at most `max_rounds` rounds, and at most (rounds + 2 + pauses + 1) x attempts calls.
    """
    limits = run.limits
    most = (limits.max_rounds + 2 + limits.max_pauses + 1) * limits.max_attempts
    return run.rounds <= limits.max_rounds and run.calls <= most


def running_tools_were_allowed(run: Run) -> bool:
    """
    P5: what was started waited for what it must wait for, and enough distinct people approved it.
    """
    if run.state is not State.EXECUTE_TOOLS:
        return not run.started
    done, before = {result.id for result in run.results}, _before_each(run.plan)
    return bool(run.running) and all(
        done.issuperset(before[request_id]) and _approved(run, request_id) for request_id in run.started
    )


def _before_each(plan: Plan) -> dict[str, frozenset[str]]:
    # Through others too: a denied one has its result before its turn has come.
    found: dict[str, frozenset[str]] = {}
    for call in plan.calls:
        found[call.id] = frozenset(call.after).union(*(found[earlier] for earlier in call.after))
    return found


def _approved(run: Run, request_id: str) -> bool:
    call = run.plan.call(request_id)
    yes = {vote.by for vote in run.votes if vote.id == request_id and vote.yes}
    no = [vote for vote in run.votes if vote.id == request_id and not vote.yes]
    return not no and len(yes if call.requester_counts else yes - {run.origin.actor}) >= call.approvals


def no_more_tools_than_may_run_at_once(run: Run) -> bool:
    """
    Limits: at most `max_parallel` tools run.
    """
    return len(run.running) <= run.limits.max_parallel


def nothing_that_may_start_is_left_waiting(run: Run) -> bool:
    """
    While a run goes on, a request waits only for another one or for room.
    """
    if run.state is not State.EXECUTE_TOOLS or run.reason is not None:
        return True
    done, before = {result.id for result in run.results}, _before_each(run.plan)
    ready = [
        call.id
        for call in run.plan.calls
        if call.id not in run.started and call.id not in done and done.issuperset(before[call.id])
    ]
    return not ready or len(run.running) == run.limits.max_parallel


def a_question_is_open_while_people_are_asked(run: Run) -> bool:
    """
    Nothing has started while somebody must still approve, and somebody must.
    """
    if run.state is not State.AWAIT_APPROVAL:
        return run.asked_ms is None
    gated = [call for call in run.plan.calls if call.approvals]
    open_questions = [call for call in gated if not _approved(run, call.id) and not _denied(run.votes, call.id)]
    return bool(open_questions) and not run.started and not run.results and run.reason is None


def _denied(votes: tuple[Vote, ...], request_id: str) -> bool:
    return any(vote.id == request_id and not vote.yes for vote in votes)


def the_entry_in_hand_may_be_appended(run: Run) -> bool:
    """
    P1: what is being appended fits the conversation.
    """
    return run.entry is None or bool(run.conversation.append(run.entry))


def held_pieces_wait_for_a_call(run: Run) -> bool:
    """
    Pieces of a paused turn are held only while the model is called again, tools allowed.
    """
    return not run.held or (run.state is State.CALL_MODEL and run.reason is None and run.pauses > 0)


def completed_means_answered(run: Run) -> bool:
    """
    P2: completed if and only if the conversation ends in this run's whole answer and nothing stopped it.
    """
    if run.outcome is None or run.outcome.status is not RunStatus.COMPLETED:
        return True
    last = run.conversation.last
    return (
        run.state is State.FINALIZE
        and run.reason is run.outcome.reason is None
        and isinstance(last, ModelTurn)
        and len(run.own) > 1
        and last.stop is Stop.WHOLE
        and run.outcome.answer == last.text != ""
        and run.outcome.answer_by == "model"
    )


def incomplete_says_why_and_says_something(run: Run) -> bool:
    """
    P2, P4: incomplete has a reason and words: the closing reply's, or the engine's own.
    """
    if run.outcome is None or run.outcome.status is not RunStatus.INCOMPLETE:
        return True
    last, outcome = run.conversation.last, run.outcome
    closed = isinstance(last, ModelTurn) and last.text == outcome.answer and not last.native
    return (
        run.state is State.FINALIZE
        and run.reason is outcome.reason not in (None, Reason.CANCELLED, Reason.APPEND_FAILED)
        and bool(outcome.answer.strip())
        and outcome.answer_by == ("model" if closed else "engine")
        and (closed or not isinstance(last, ModelTurn))
    )


def cancelled_and_failed_say_so(run: Run) -> bool:
    """
    P2: the other two ends carry their own status and claim no answer.
    """
    if run.outcome is None or run.outcome.status in (RunStatus.COMPLETED, RunStatus.INCOMPLETE):
        return True
    ends = {RunStatus.CANCELLED: (State.CANCELLED,), RunStatus.FAILED: (State.ERROR,)}
    right_reason = (run.reason is Reason.CANCELLED) == (run.state is State.CANCELLED)
    named = (run.outcome.failure is not None) == (run.state is State.ERROR)
    return run.state in ends[run.outcome.status] and right_reason and named and not run.outcome.answer


# Steps


def a_reason_stands(step: Taken) -> bool:
    """
    The first reason stands; only a cancel, or an append that failed, replaces it.
    """
    before, after = step.before.reason, step.after.reason
    return before is None or after in (before, Reason.CANCELLED, Reason.APPEND_FAILED)


def a_cancel_is_heard(step: Taken) -> bool:
    """
    P6: a cancel sets the reason, unless an answer is being stored; the deadline sets it, unless one stands.
    """
    settled = isinstance(step.before.entry, ModelTurn)
    if isinstance(step.event, CancelRequested):
        return settled or step.after.reason is Reason.CANCELLED
    if isinstance(step.event, DeadlinePassed):
        return settled or step.after.reason is (step.before.reason or Reason.DEADLINE)
    return True


def a_late_failure_is_the_deadline(step: Taken) -> bool:
    """
    P4: a call that fails when the time for work is over ends that work as the deadline does, whichever comes first.
    """
    before, event, limits = step.before, step.event, step.before.limits
    if not isinstance(event, CallFailed) or before.reason is not None or limits.seconds is None:
        return True
    late = (event.mono_ms - before.people_ms) / 1000 >= limits.seconds - limits.closing_seconds
    return (step.after.reason is Reason.DEADLINE) == late


def a_limit_stops_only_when_the_model_asks_on(step: Taken) -> bool:
    """
    P3, P4: rounds and budget are judged when a turn asks for tools, never before; what is told is what was used up,
    and all requests of the turn are answered.
    """
    if step.before.reason is not None or step.after.reason not in _JUDGED:
        return True
    entry, event = step.after.entry, step.event
    if not isinstance(event, TurnReceived) or event.turn.requests == () or not isinstance(entry, Exchange):
        return step.after.reason is Reason.CUT and step.after.state is State.FINALIZE
    otherwise = Reason.CUT if event.turn.stop is Stop.CUT else Reason.MAX_REPEATS
    if step.after.reason is not (_used_up(step.after) or otherwise):
        return False
    return entry.turn.requests == event.turn.requests and _all_not_executed(entry)


def _used_up(run: Run) -> Reason | None:
    limits = run.limits
    if run.rounds >= limits.max_rounds:
        return Reason.MAX_ROUNDS
    if limits.max_tokens_total is not None and run.tokens >= limits.max_tokens_total:
        return Reason.MAX_TOKENS_TOTAL
    if limits.max_cost is not None and (run.cost is None or run.cost >= limits.max_cost):
        return Reason.MAX_COST
    return None


_JUDGED = (Reason.MAX_ROUNDS, Reason.MAX_TOKENS_TOTAL, Reason.MAX_COST, Reason.MAX_REPEATS, Reason.CUT)


def _all_not_executed(exchange: Exchange) -> bool:
    return all(result.status is Status.NOT_EXECUTED for result in exchange.results)


def a_round_is_counted_once(step: Taken) -> bool:
    """
    P3: a turn of requests that goes on (run, asked about, or answered as cut) is a round, and nothing else is.
    """
    event, after = step.event, step.after
    asked_on = isinstance(event, TurnReceived) and bool(event.turn.requests)
    is_round = asked_on and step.before.reason is None and after.reason is None
    return after.rounds - step.before.rounds == (1 if is_round else 0)


def budget_is_kept(step: Taken) -> bool:
    """
    P3: no round begins when the tokens or the money are used up.
    """
    tokens, cost = step.before.limits.max_tokens_total, step.before.limits.max_cost
    if step.after.rounds == step.before.rounds:
        return True
    spent = step.after.cost
    return (tokens is None or step.after.tokens < tokens) and (cost is None or (spent is not None and spent < cost))


def what_a_call_used_is_counted(step: Taken) -> bool:
    """
    P3: each call that ends is counted once, with what its turn tells; what it does not tell makes the cost unknown.
    """
    before, event, after = step.before, step.event, step.after
    if before.state is not State.CALL_MODEL or after == before:
        return (after.usages, after.tokens, after.cost) == (before.usages, before.tokens, before.cost)
    turn = event.turn if isinstance(event, TurnReceived) else None
    if turn is None:
        return after.usages == (*before.usages, Usage()) and after.tokens == before.tokens
    cost = cost_of(turn, before.prices)
    known = before.cost is not None and cost is not None
    return (
        after.usages == (*before.usages, turn.usage)
        and after.tokens == before.tokens + turn.usage.total
        and after.cost == (added(before.cost or 0, cost or 0) if known else None)
    )


def a_wait_fits_into_the_time(step: Taken) -> bool:
    """
    P2: no try waits for longer than the run may take.
    """
    seconds = step.after.limits.seconds
    return seconds is None or step.after.wait_ms / 1000 < seconds


def repetition_is_kept(step: Taken) -> bool:
    """
    No round begins with the calls that gave the same results as often in a row as allowed.
    """
    most = step.before.limits.max_repeats
    if most is None or not isinstance(step.event, TurnReceived) or step.after.state is not State.EXECUTE_TOOLS:
        return True
    asked = [(request.name, request.digest) for request in step.event.turn.requests]
    tail = step.before.exchanges[-most:]
    same = [[(request.name, request.digest) for request in each.turn.requests] == asked for each in tail]
    results = {tuple((result.status, result.digest) for result in each.results) for each in tail}
    return len(tail) < most or not all(same) or len(results) > 1


def a_further_call_is_paid_for(step: Taken) -> bool:
    """
    P3: a run that will call the model again has spent a round, a pause, its second chance, or has its reason; a
    retry spends an attempt. As each of these is bounded, so are the calls.
    """
    before, after = step.before, step.after
    if before.state is not State.CALL_MODEL:
        called = after.state is State.CALL_MODEL
        return after.calls == before.calls + called and _spent(after) >= _spent(before)
    if after.state in ENDS or isinstance(after.entry, ModelTurn) or after == before:
        return after.calls == before.calls
    if isinstance(step.event, CallFailed) and after.reason is before.reason:
        return after.calls == before.calls + 1 and after.attempt == before.attempt + 1
    called = after.state is State.CALL_MODEL
    return (
        after.calls == before.calls + called and after.attempt in (1, before.attempt) and _spent(after) > _spent(before)
    )


def _spent(run: Run) -> int:
    return run.rounds + run.pauses + run.flaws + (run.reason is not None)


def cut_and_spoilt_turns_run_nothing(step: Taken) -> bool:
    """
    P5: only requests of a whole turn are taken in hand.
    """
    if isinstance(step.event, TurnReceived) and step.after.turn is not None:
        return step.event.turn.stop is Stop.WHOLE and bool(step.event.turn.requests)
    return True


def a_stopping_run_starts_nothing(step: Taken) -> bool:
    """
    P4: once there is a reason no tool starts.
    """
    starts = any(isinstance(effect, StartTool) for effect in step.effects)
    return not starts or (step.before.reason is None and step.after.reason is None)


def a_call_starts_once(step: Taken) -> bool:
    """
    P5: each newly started call has one start order, and it was neither started nor answered before.
    """
    before, after = step.before, step.after
    fresh = after.started[len(before.started) :] if after.turn is not None else ()
    ordered = tuple(effect.id for effect in step.effects if isinstance(effect, StartTool))
    known = {*before.started, *(result.id for result in before.results)}
    return ordered == fresh and len(set(fresh)) == len(fresh) and known.isdisjoint(fresh)


def results_are_true_and_kept(step: Taken) -> bool:
    """
    P5, P6: a started call keeps the result it came with; one that was never started is not executed, or denied by
    a vote; nothing that is running is settled over its head.
    """
    before, after = step.before, step.after
    if before.turn is None:
        return not isinstance(after.entry, Exchange) or before.entry is after.entry or _all_not_executed(after.entry)
    came = {result.id: result for result in before.results}
    if isinstance(step.event, ToolFinished):
        came[step.event.result.id] = step.event.result
    if after.turn is not None:
        return all(after.result_of(request_id) == result for request_id, result in came.items())
    if not isinstance(after.entry, Exchange):
        return False
    return all(
        result == came[result.id] if result.id in came else result.status in (Status.NOT_EXECUTED, Status.DENIED)
        for result in after.entry.results
    )


def nothing_running_is_settled(step: Taken) -> bool:
    """
    P5: a started call is answered only by its own result.
    """
    before = step.before
    if before.turn is None or step.after.turn is not None:
        return True
    own = step.event.result.id if isinstance(step.event, ToolFinished) else None
    return all(request_id == own for request_id in before.running)


def a_denial_is_told(step: Taken) -> bool:
    """
    P5: denied if and only if somebody denied it.
    """
    entry = step.after.entry
    if not isinstance(entry, Exchange) or step.before.turn is None:
        return True
    voted = {vote.id for vote in step.before.votes if not vote.yes}
    if isinstance(step.event, ApprovalDecided) and not step.event.yes:
        voted.add(step.event.id)
    return {result.id for result in entry.results if result.status is Status.DENIED} == voted


def a_late_yes_approves_nothing(step: Taken) -> bool:
    """
    P5: what nobody approved in time is not approved.
    """
    before, event = step.before, step.event
    if not isinstance(event, ApprovalDecided) or not event.yes or before.asked_ms is None:
        return True
    within = next((call.within_ms for call in before.plan.calls if call.id == event.id), None)
    late = within is not None and event.mono_ms >= before.asked_ms + within
    return not late or step.after == before


def one_closing_call(step: Taken) -> bool:
    """
    P4: a reply to the closing call ends the run, or is appended as plain words without requests.
    """
    if not isinstance(step.event, TurnReceived) or step.before.reason is None:
        return True
    entry, said = step.after.entry, step.event.turn
    usable = said.stop is Stop.WHOLE and said.has_words
    if not usable:
        return step.after.state is State.FINALIZE
    plain = isinstance(entry, ModelTurn) and not entry.requests and not entry.native
    return step.after.state is State.APPEND_HISTORY and plain


def a_turn_is_kept_as_received(step: Taken) -> bool:
    """
    P9: what is taken in hand or appended is the held pieces and the turn, unchanged and in order.
    """
    if not isinstance(step.event, TurnReceived) or step.before.reason is not None:
        return True
    entry = step.after.entry
    kept = step.after.turn or (entry.turn if isinstance(entry, Exchange) else entry)
    if not isinstance(kept, ModelTurn):
        return True
    pieces = (*step.before.held, step.event.turn)
    return (
        kept.native == tuple(piece for turn in pieces for piece in turn.native)
        and kept.requests == step.event.turn.requests
        and kept.text == "".join(turn.text for turn in pieces)
    )


def an_answer_is_whole_and_says_something(step: Taken) -> bool:
    """
    P2: only a whole turn with words and without requests becomes the answer; a refusal is never asked again.
    """
    if not isinstance(step.event, TurnReceived):
        return True
    turn, after = step.event.turn, step.after
    is_answer = turn.stop is Stop.WHOLE and turn.has_words and not turn.requests
    if step.before.reason is None and isinstance(after.entry, ModelTurn) != is_answer:
        return False
    return turn.stop not in (Stop.REFUSED, Stop.UNKNOWN) or after.state is State.FINALIZE


def what_is_appended_stays(step: Taken) -> bool:
    """
    P1: the conversation only grows, by the entry in hand.
    """
    before, after = step.before, step.after
    entries = after.conversation.entries
    if entries == before.conversation.entries:
        return after.entry == before.entry or before.entry is None
    return entries == (*before.conversation.entries, before.entry) and after.entry is None


RUN_PROMISES: tuple[RunPromise, ...] = (
    only_an_end_waits_for_nothing,
    a_called_model_has_something_to_answer,
    attempts_stay_within_their_limit,
    a_stopping_run_withholds_tools,
    a_cancelled_run_asks_no_model,
    rounds_stay_within_their_limit,
    running_tools_were_allowed,
    no_more_tools_than_may_run_at_once,
    nothing_that_may_start_is_left_waiting,
    a_question_is_open_while_people_are_asked,
    the_entry_in_hand_may_be_appended,
    held_pieces_wait_for_a_call,
    completed_means_answered,
    incomplete_says_why_and_says_something,
    cancelled_and_failed_say_so,
)
STEP_PROMISES: tuple[StepPromise, ...] = (
    a_reason_stands,
    a_cancel_is_heard,
    a_late_failure_is_the_deadline,
    a_limit_stops_only_when_the_model_asks_on,
    a_round_is_counted_once,
    budget_is_kept,
    what_a_call_used_is_counted,
    a_wait_fits_into_the_time,
    repetition_is_kept,
    a_further_call_is_paid_for,
    cut_and_spoilt_turns_run_nothing,
    a_stopping_run_starts_nothing,
    a_call_starts_once,
    results_are_true_and_kept,
    nothing_running_is_settled,
    a_denial_is_told,
    a_late_yes_approves_nothing,
    one_closing_call,
    a_turn_is_kept_as_received,
    an_answer_is_whole_and_says_something,
    what_is_appended_stays,
)
