"""
Actions: what a row does to a run. Pure functions of run and event; they may carry content from one place to
another, never look into it. The row says where the run goes; the effects follow from the two runs.
"""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from attrs import evolve

from rodada.statemachine.approvals import denials, with_vote
from rodada.statemachine.ballot import ballot_of
from rodada.statemachine.events import (
    AppendFailed,
    ApprovalDecided,
    CallFailed,
    CancelRequested,
    DeadlinePassed,
    Event,
    Failure,
    HistoryAppended,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.messages import Exchange, ModelTurn, Status, Stop, ToolRequest, ToolResult, Usage, merged
from rodada.statemachine.plan import Plan
from rodada.statemachine.run import Ending, Run, advanced, cost_with, unfinished
from rodada.statemachine.states import Reason, RunStatus

E = TypeVar("E", bound=Event)
Action: TypeAlias = Callable[[Run, E], Run]


# The entry in hand was appended


def report_answer(run: Run, event: HistoryAppended) -> Run:
    """
    Report the stored answer.
    """
    after = _stored(run)
    text = run.entry.text if isinstance(run.entry, ModelTurn) else ""
    status = RunStatus.COMPLETED if run.reason is None else RunStatus.INCOMPLETE
    return evolve(after, outcome=Ending(status, run.reason, run.detail, answer=text, answer_by="model"))


def report_cancel(run: Run, event: HistoryAppended) -> Run:
    """
    Report that the run was cancelled, now that its history is settled.
    """
    return _cancelled(_stored(run), partial="")


def call_model(run: Run, event: HistoryAppended) -> Run:
    """
    Call the model.
    """
    return _new_call(_stored(run))


def fail_append(run: Run, event: AppendFailed) -> Run:
    """
    Fail: the entry, which the run holds all the same, could not be stored.
    """
    ending = Ending(RunStatus.FAILED, Reason.APPEND_FAILED, run.detail, failure=event.failure)
    return evolve(_stored(run), reason=Reason.APPEND_FAILED, outcome=ending)


# A cancel or the deadline


def stay(run: Run, event: Event) -> Run:
    """
    Change nothing.
    """
    return run


def note_cancel(run: Run, event: CancelRequested) -> Run:
    """
    Note the cancel: it beats any other reason, and of two cancels the first one's detail stands.
    """
    if run.reason is Reason.CANCELLED:
        return run
    return evolve(run, reason=Reason.CANCELLED, detail=event.detail)


def note_deadline(run: Run, event: DeadlinePassed) -> Run:
    """
    Note that the time is over, unless the run stops short already.
    """
    return run if run.reason is not None else evolve(run, reason=Reason.DEADLINE)


def close_at_deadline(run: Run, event: DeadlinePassed | CallFailed) -> Run:
    """
    Give the call up and make the closing call.
    """
    return _new_call(evolve(_untold(run), reason=Reason.DEADLINE, held=()))


def give_call_up(run: Run, event: CancelRequested) -> Run:
    """
    Give the call up and report the cancel; what the model said until then, or before a pause, is no answer.
    """
    return _cancelled(evolve(note_cancel(_untold(run), event), held=()), _held_text(run) + event.heard)


def withdraw_at_cancel(run: Run, event: CancelRequested) -> Run:
    """
    Withdraw the questions and answer all that was not denied "not executed".
    """
    return _withdrawn(note_cancel(run, event), event)


def withdraw_at_deadline(run: Run, event: DeadlinePassed) -> Run:
    """
    Withdraw the questions and answer all that was not denied "not executed".
    """
    return _withdrawn(note_deadline(run, event), event)


# A turn was received


def start_tools(run: Run, event: TurnReceived) -> Run:
    """
    Count a round and start what may start.
    """
    return _start_ready(_in_hand(run, event))


def ask_approval(run: Run, event: TurnReceived) -> Run:
    """
    Count a round and put the questions.
    """
    return evolve(_in_hand(run, event), asked_ms=event.mono_ms, _counted=ballot_of(event.plan, run.votes))


def answer_cut(run: Run, event: TurnReceived) -> Run:
    """
    Count a round and a flaw; answer every request "not executed": the turn was cut.
    """
    after = evolve(_asked(run, event), rounds=run.rounds + 1, flaws=run.flaws + 1)
    return _answered(after, _whole_turn(run, event), Reason.CUT)


def stop_at_rounds(run: Run, event: TurnReceived) -> Run:
    """
    Answer every request "not executed" and stop: the rounds are used up.
    """
    return _stopped(run, event, Reason.MAX_ROUNDS)


def stop_at_tokens(run: Run, event: TurnReceived) -> Run:
    """
    Answer every request "not executed" and stop: the tokens are used up.
    """
    return _stopped(run, event, Reason.MAX_TOKENS_TOTAL)


def stop_at_cost(run: Run, event: TurnReceived) -> Run:
    """
    Answer every request "not executed" and stop: the money is used up.
    """
    return _stopped(run, event, Reason.MAX_COST)


def stop_at_repeats(run: Run, event: TurnReceived) -> Run:
    """
    Answer every request "not executed" and stop: the run repeats itself.
    """
    return _stopped(run, event, Reason.MAX_REPEATS)


def stop_at_cut(run: Run, event: TurnReceived) -> Run:
    """
    Answer every request "not executed" and stop: a second turn was cut.
    """
    return _stopped(run, event, Reason.CUT)


def keep_answer(run: Run, event: TurnReceived) -> Run:
    """
    Take the turn as the answer, to be appended.
    """
    return evolve(_received(run, event), entry=_whole_turn(run, event), held=())


def hold_piece(run: Run, event: TurnReceived) -> Run:
    """
    Hold the piece of a paused turn and call again.
    """
    after = evolve(_received(run, event), held=(*run.held, event.turn), pauses=run.pauses + 1)
    return _new_call(after)


def ask_again(run: Run, event: TurnReceived) -> Run:
    """
    Ask the same once more: one second chance for a spoilt turn.
    """
    return _new_call(evolve(_received(run, event), flaws=run.flaws + 1))


def drop_turn(run: Run, event: TurnReceived) -> Run:
    """
    Drop the turn and report in our own words; what it said is only `partial`.
    """
    return _reported(_received(run, event), _reason_of(event.turn), event.turn.stop_word, _said(run, event))


def keep_closing_words(run: Run, event: TurnReceived) -> Run:
    """
    Keep the words of the closing reply as plain text; drop what it asks for.
    """
    words = ModelTurn(
        Stop.WHOLE, event.turn.text, has_words=event.turn.has_words, model=event.turn.model, served=event.turn.served
    )
    return evolve(_received(run, event), entry=words, held=())


def report_closing(run: Run, event: TurnReceived) -> Run:
    """
    Report in our own words: the closing reply cannot be used.
    """
    detail = run.detail or event.turn.stop_word
    return _reported(_received(run, event), run.reason or Reason.EMPTY, detail, _said(run, event))


# A model call failed


def try_again(run: Run, event: CallFailed) -> Run:
    """
    Make the call again after the wait.
    """
    return evolve(_untold(run), calls=run.calls + 1, attempt=run.attempt + 1, wait_ms=event.wait_ms)


def report_failed_call(run: Run, event: CallFailed) -> Run:
    """
    Report in our own words what rounds brought and that the model could not be reached.
    """
    detail = run.detail or event.failure.message
    return _reported(
        _untold(run), run.reason or Reason.CALL_FAILED, detail, _held_text(run) + event.heard, event.failure
    )


def fail_call(run: Run, event: CallFailed) -> Run:
    """
    Fail: nothing is known yet, and the model cannot be reached.
    """
    ending = Ending(
        RunStatus.FAILED,
        Reason.CALL_FAILED,
        event.failure.message,
        partial=_held_text(run) + event.heard,
        failure=event.failure,
    )
    return evolve(_untold(run), reason=Reason.CALL_FAILED, detail=ending.detail, held=(), outcome=ending)


# People decided


def keep_vote(run: Run, event: ApprovalDecided) -> Run:
    """
    Keep the vote.
    """
    return with_vote(run, event)


def start_approved(run: Run, event: ApprovalDecided) -> Run:
    """
    Record the denials and start what may start.
    """
    return _start_ready(_denied(_people_done(with_vote(run, event), event)))


def append_denied(run: Run, event: ApprovalDecided) -> Run:
    """
    All requests were denied: append the exchange.
    """
    voted = _denied(_people_done(with_vote(run, event), event))
    return _settled(voted)


# A tool finished


def keep_result(run: Run, event: ToolFinished) -> Run:
    """
    Keep the result and start what may start; nothing, once the run stops short.
    """
    after = advanced(run, run.progress.keep(event.result))
    return after if run.reason is not None else _start_ready(after)


def settle_turn(run: Run, event: ToolFinished) -> Run:
    """
    Keep the last result, answer what was never started "not executed", and append the exchange.
    """
    return _settled(advanced(run, run.progress.keep(event.result)))


# Parts of actions


def _stored(run: Run) -> Run:
    if run.entry is None:
        return run
    return evolve(run, conversation=run.conversation.append(run.entry), entry=None)


def _new_call(run: Run) -> Run:
    return evolve(run, calls=run.calls + 1, attempt=1, wait_ms=0)


def _untold(run: Run) -> Run:
    return evolve(run, usages=(*run.usages, Usage()))


def _received(run: Run, event: TurnReceived) -> Run:
    usage = event.turn.usage
    return evolve(run, tokens=run.tokens + usage.total, cost=cost_with(run, event.turn), usages=(*run.usages, usage))


def _asked(run: Run, event: TurnReceived) -> Run:
    return evolve(_received(run, event), deterministic=(*run.deterministic, *event.plan.deterministic))


def _whole_turn(run: Run, event: TurnReceived) -> ModelTurn:
    return merged(run.held, event.turn)


def _in_hand(run: Run, event: TurnReceived) -> Run:
    after = _asked(run, event)
    return evolve(after, turn=_whole_turn(run, event), plan=event.plan, held=(), rounds=run.rounds + 1)


def _stopped(run: Run, event: TurnReceived, reason: Reason) -> Run:
    after = evolve(_asked(run, event), reason=reason)
    return _answered(after, _whole_turn(run, event), reason)


def _answered(run: Run, turn: ModelTurn, reason: Reason) -> Run:
    text = run.wording.not_executed_because(reason)
    results = tuple(ToolResult.of(request, Status.NOT_EXECUTED, text) for request in turn.requests)
    return evolve(run, entry=Exchange(turn, results), held=())


def _start_ready(run: Run) -> Run:
    progress = run.progress
    return advanced(run, progress.start(run.limits.max_parallel - progress.running.bit_count()))


def _settled(run: Run) -> Run:
    if run.turn is None:
        return run
    known = {result.id: result for result in run.results}
    results = tuple(known.get(request.id) or _not_executed(run, request) for request in run.turn.requests)
    return evolve(
        run,
        entry=Exchange(run.turn, results),
        turn=None,
        plan=Plan(),
        votes=(),
        started=(),
        results=(),
        _known=None,
        _counted=None,
    )


def _not_executed(run: Run, request: ToolRequest) -> ToolResult:
    text = run.wording.not_executed_because(run.reason or Reason.CANCELLED)
    return ToolResult.of(request, Status.NOT_EXECUTED, text)


def _denied(run: Run) -> Run:
    votes = {vote.id: vote for vote in denials(run)}
    results = tuple(
        ToolResult.of(request, Status.DENIED, run.wording.denied_by(votes[request.id].by, votes[request.id].reason))
        for request in run.requests
        if request.id in votes
    )
    return advanced(run, run.progress.keep(*results))


def _people_done(run: Run, event: Event) -> Run:
    waited = 0 if run.asked_ms is None else event.mono_ms - run.asked_ms
    return evolve(run, asked_ms=None, people_ms=run.people_ms + waited)


def _withdrawn(run: Run, event: Event) -> Run:
    return _settled(_denied(_people_done(run, event)))


def _cancelled(run: Run, partial: str) -> Run:
    ending = Ending(RunStatus.CANCELLED, Reason.CANCELLED, run.detail, partial=partial)
    return evolve(run, outcome=ending)


def _held_text(run: Run) -> str:
    return "".join(piece.text for piece in run.held)


def _said(run: Run, event: TurnReceived) -> str:
    return _held_text(run) + event.turn.text


def _reported(run: Run, reason: Reason, detail: str, partial: str, failure: Failure | None = None) -> Run:
    undone = tuple(dict.fromkeys(request.name for request in unfinished(run)))
    ending = Ending(
        RunStatus.INCOMPLETE,
        reason,
        detail,
        answer=run.wording.own_answer(reason, undone),
        answer_by="engine",
        partial=partial,
        failure=failure,
    )
    return evolve(run, reason=reason, detail=detail, held=(), outcome=ending)


def _reason_of(turn: ModelTurn) -> Reason:
    return _REASONS.get(turn.stop, Reason.EMPTY)


_REASONS = {
    Stop.CUT: Reason.CUT,
    Stop.PAUSED: Reason.PAUSED,
    Stop.MALFORMED: Reason.MALFORMED,
    Stop.REFUSED: Reason.REFUSED,
    Stop.UNKNOWN: Reason.UNKNOWN_STOP,
}
