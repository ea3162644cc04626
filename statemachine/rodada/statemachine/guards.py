"""
Guards: questions about a run and an event, answered from facts alone. Each is a pure function of both and is
read by the machine, the checker, the diagrams and the record under its own name.
"""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from rodada.statemachine.approvals import decided_until, may_approve, vote_of, waits_for_decision
from rodada.statemachine.events import ApprovalDecided, CallFailed, Event, ToolFinished, TurnReceived
from rodada.statemachine.messages import Exchange, ModelTurn, Status, Stop, ToolResult
from rodada.statemachine.run import Run, cost_with
from rodada.statemachine.states import Reason
from rodada.statemachine.time_left import seconds_left

E = TypeVar("E", bound=Event)
Guard: TypeAlias = Callable[[Run, E], bool]


def has_reason(run: Run, event: Event) -> bool:
    """
    Does the run stop short already?
    """
    return run.reason is not None


def cancel_is_the_reason(run: Run, event: Event) -> bool:
    """
    Was the run cancelled?
    """
    return run.reason is Reason.CANCELLED


def entry_is_answer(run: Run, event: Event) -> bool:
    """
    Is the entry being appended an answer of the model?
    """
    return isinstance(run.entry, ModelTurn)


def asks_for_tools(run: Run, event: TurnReceived) -> bool:
    """
    Does the turn ask for tools?
    """
    return bool(event.turn.requests)


def is_cut(run: Run, event: TurnReceived) -> bool:
    """
    Was the turn cut at the output limit?
    """
    return event.turn.stop is Stop.CUT


def is_paused(run: Run, event: TurnReceived) -> bool:
    """
    Did the vendor pause the turn, to be called again?
    """
    return event.turn.stop is Stop.PAUSED


def is_refused(run: Run, event: TurnReceived) -> bool:
    """
    Did the model or the vendor decline?
    """
    return event.turn.stop is Stop.REFUSED


def is_unknown_stop(run: Run, event: TurnReceived) -> bool:
    """
    Did the turn end for a reason that we do not know?
    """
    return event.turn.stop is Stop.UNKNOWN


def is_flawed(run: Run, event: TurnReceived) -> bool:
    """
    Is the turn spoilt: malformed, or whole and blank without requests?
    """
    turn = event.turn
    blank = turn.stop is Stop.WHOLE and not turn.has_words and not turn.requests
    return blank or turn.stop is Stop.MALFORMED


def says_something_whole(run: Run, event: TurnReceived) -> bool:
    """
    Is the turn whole, with words that a person can read?
    """
    return event.turn.stop is Stop.WHOLE and event.turn.has_words


def rounds_left(run: Run, event: Event) -> bool:
    """
    May another round of tools run for this message?
    """
    return run.rounds < run.limits.max_rounds


def tokens_left(run: Run, event: TurnReceived) -> bool:
    """
    Are there tokens left, this turn's counted?
    """
    budget = run.limits.max_tokens_total
    return budget is None or run.tokens + event.turn.usage.total < budget


def budget_left(run: Run, event: TurnReceived) -> bool:
    """
    Are there tokens left, and money, this turn's counted?
    """
    most = run.limits.max_cost
    if most is None:
        return tokens_left(run, event)
    cost = cost_with(run, event.turn)
    return tokens_left(run, event) and cost is not None and cost < most


def first_flaw(run: Run, event: Event) -> bool:
    """
    Is this the run's first spoilt turn?
    """
    return run.flaws == 0


def pauses_left(run: Run, event: Event) -> bool:
    """
    May another pause be resumed?
    """
    return run.pauses < run.limits.max_pauses


def repeats_itself(run: Run, event: TurnReceived) -> bool:
    """
    Does the turn ask once more for calls that gave the same results `max_repeats` times in a row?
    """
    most = run.limits.max_repeats
    if most is None or len(run.exchanges) < most:
        return False
    recent = run.exchanges[-most:]
    same = all(_facts(exchange) == _facts(recent[-1]) for exchange in recent)
    return same and _calls(recent[-1].turn) == _calls(event.turn)


def approval_needed(run: Run, event: TurnReceived) -> bool:
    """
    Must somebody approve a call of this turn?
    """
    return any(call.approvals for call in event.plan.calls)


def worth_another_try(run: Run, event: CallFailed) -> bool:
    """
    May the same call succeed, is an attempt left, and does the wait fit into the time left?
    """
    left = seconds_left(run, event.mono_ms)
    fits = left is None or event.wait_ms / 1000 < left
    return event.failure.retryable and run.attempt < run.limits.max_attempts and fits


def work_time_is_over(run: Run, event: CallFailed) -> bool:
    """
    Was the time for work over when the call failed, with the closing call still to be made?
    """
    left = seconds_left(run, event.mono_ms)
    return run.reason is None and left is not None and left <= 0


def something_to_report(run: Run, event: Event) -> bool:
    """
    Is the run closing, or are rounds behind it?
    """
    return run.reason is not None or run.rounds > 0


def vote_awaited(run: Run, event: ApprovalDecided) -> bool:
    """
    Does the request wait for a decision?
    """
    return waits_for_decision(run, event.id)


def not_the_requester(run: Run, event: ApprovalDecided) -> bool:
    """
    Is the vote a no, or a yes of somebody whom the plan lets approve: the run's own actor only where that is said?
    """
    return not event.yes or may_approve(run, event.id, event.by)


def first_vote(run: Run, event: ApprovalDecided) -> bool:
    """
    Is the vote a no, or the first yes of this person on the request?
    """
    return not event.yes or not run.ballot.has_approved(event.id, event.by)


def in_time(run: Run, event: ApprovalDecided) -> bool:
    """
    Is the vote a no, or a yes within the time that the plan gives for it?
    """
    end = decided_until(run, event.id)
    return not event.yes or end is None or event.mono_ms < end


def enough_approvers(run: Run, event: ApprovalDecided) -> bool:
    """
    With this vote, has each request that needs it a no, or as many distinct approvers as its plan asks for?
    """
    still_open, _ = run.ballot.after(vote_of(event))
    return not still_open


def leaves_something_to_run(run: Run, event: ApprovalDecided) -> bool:
    """
    Is there a request that was not denied, with this vote?
    """
    _, denied = run.ballot.after(vote_of(event))
    return denied != run.progress.every


def answers_running(run: Run, event: ToolFinished) -> bool:
    """
    Is this the result of a call that runs?
    """
    return bool(run.progress.running & run.plan.bit(event.result.id))


def completes_turn(run: Run, event: ToolFinished) -> bool:
    """
    Has every request its result with this one, or, once the run stops short, is nothing else running?
    """
    progress, this = run.progress, run.plan.bit(event.result.id)
    if run.reason is not None:
        return not progress.running & ~this
    return progress.every == progress.done | this


def _calls(turn: ModelTurn) -> tuple[tuple[str, str], ...]:
    return tuple((request.name, request.digest) for request in turn.requests)


def _facts(exchange: Exchange) -> tuple[object, ...]:
    return _calls(exchange.turn), tuple(_fact(result) for result in exchange.results)


def _fact(result: ToolResult) -> tuple[Status, str]:
    # What a denial says is somebody's words: content, and no fact.
    return result.status, "" if result.status is Status.DENIED else result.digest
