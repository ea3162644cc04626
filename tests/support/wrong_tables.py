"""
Tables with a mistake that somebody really made, or could make.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import evolve

from rodada.statemachine.actions import (
    answer_cut,
    ask_again,
    call_model,
    close_at_deadline,
    drop_turn,
    hold_piece,
    keep_answer,
    keep_closing_words,
    keep_result,
    note_cancel,
    report_answer,
    report_cancel,
    report_closing,
    report_failed_call,
    settle_turn,
    start_approved,
    start_tools,
    stop_at_cost,
    stop_at_rounds,
    stop_at_tokens,
    try_again,
    withdraw_at_cancel,
)
from rodada.statemachine.events import (
    ApprovalDecided,
    CallFailed,
    CancelRequested,
    DeadlinePassed,
    Event,
    HistoryAppended,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.guards import (
    Guard,
    answers_running,
    asks_for_tools,
    budget_left,
    completes_turn,
    has_reason,
    is_cut,
    is_paused,
    rounds_left,
)
from rodada.statemachine.messages import Exchange, ModelTurn, Status, Text, ToolResult
from rodada.statemachine.run import Ending, Run
from rodada.statemachine.states import Reason, State
from rodada.statemachine.table import TABLE, AnyRow, Row

E = TypeVar("E", bound=Event)


def instead(name: str, *rows: AnyRow) -> tuple[AnyRow, ...]:
    """
    The table with other rows in place of one.
    """
    place = next(number for number, row in enumerate(TABLE) if row.name == name)
    return (*TABLE[:place], *rows, *TABLE[place + 1 :])


def without(*names: str) -> tuple[AnyRow, ...]:
    """
    The table without some rows.
    """
    return tuple(row for row in TABLE if row.name not in names)


# The four wrong tables of the design


def _settle_and_close(run: Run, event: ToolFinished) -> Run:
    return evolve(settle_turn(run, event), reason=run.reason or Reason.MAX_ROUNDS)


def closing_straight_after_the_last_round() -> tuple[AnyRow, ...]:
    """
    The closing call is made when the last round is over, not when the model asks on.
    """
    return instead(
        "turn_settled",
        Row(
            "turn_settled",
            State.EXECUTE_TOOLS,
            ToolFinished,
            settle_turn,
            State.APPEND_HISTORY,
            when=(answers_running, completes_turn, rounds_left),
        ),
        Row(
            "last_turn_settled",
            State.EXECUTE_TOOLS,
            ToolFinished,
            _settle_and_close,
            State.APPEND_HISTORY,
            when=(answers_running, completes_turn),
            unless=(rounds_left,),
        ),
    )


def _answer_cut_uncounted(run: Run, event: TurnReceived) -> Run:
    return evolve(answer_cut(run, event), rounds=run.rounds, flaws=run.flaws)


def a_cut_turn_counts_nothing() -> tuple[AnyRow, ...]:
    """
    A cut turn is answered and asked again, for ever.
    """
    row = Row(
        "answer_cut",
        State.CALL_MODEL,
        TurnReceived,
        _answer_cut_uncounted,
        State.APPEND_HISTORY,
        when=(asks_for_tools, is_cut, rounds_left, budget_left),
        unless=(has_reason,),
    )
    return tuple(row if each.name == "answer_cut" else each for each in without("answer_cut_again"))


def a_pause_is_stored_as_an_answer() -> tuple[AnyRow, ...]:
    """
    A paused turn is taken for the end.
    """
    row = Row(
        "pause_stored", State.CALL_MODEL, TurnReceived, keep_answer, State.APPEND_HISTORY, (is_paused,), (has_reason,)
    )
    return tuple(row if each.name == "pause_resumed" else each for each in without("paused_too_often"))


def _settle_at_once(run: Run, event: CancelRequested) -> Run:
    noted = note_cancel(run, event)
    if noted.turn is None:
        return noted
    results = tuple(
        run.result_of(request.id) or ToolResult.of(request, Status.NOT_EXECUTED, "not executed")
        for request in noted.turn.requests
    )
    return evolve(noted, entry=Exchange(noted.turn, results), turn=None, started=(), results=(), votes=())


def a_stop_settles_running_calls_at_once() -> tuple[AnyRow, ...]:
    """
    A cancel answers running calls over their heads.
    """
    return instead(
        "cancel_in_tools",
        Row("cancel_in_tools", State.EXECUTE_TOOLS, CancelRequested, _settle_at_once, State.APPEND_HISTORY),
    )


WRONG_TABLES = (
    closing_straight_after_the_last_round,
    a_cut_turn_counts_nothing,
    a_pause_is_stored_as_an_answer,
    a_stop_settles_running_calls_at_once,
)


# A wrong action for each promise that a table alone hardly breaks


def acting(name: str, action: Callable[[Run, Event], Run]) -> tuple[AnyRow, ...]:
    """
    The table with another action in one row.
    """
    row = next(row for row in TABLE if row.name == name)
    return instead(name, evolve(row, action=action))


def asking(guard: Callable[[Run, TurnReceived], bool]) -> tuple[AnyRow, ...]:
    """
    The table with another guard in the place of the one of its name.
    """

    def changed(guards: tuple[Guard[Any], ...]) -> Any:
        return tuple(guard if each.__name__ == guard.__name__ else each for each in guards)

    return tuple(evolve(row, when=changed(row.when), unless=changed(row.unless)) for row in TABLE)


def _typed(
    kind: type[E], act: Callable[[Run, E], Run], change: Callable[[Run, Run], Run]
) -> Callable[[Run, Event], Run]:
    """
    An action that does as `act` and then changes the result.
    """

    def wrong(run: Run, event: Event) -> Run:
        assert isinstance(event, kind)
        return change(run, act(run, event))

    return wrong


def _forget_result(run: Run, after: Run) -> Run:
    return evolve(after, results=after.results[:-1])


def _other_results(run: Run, after: Run) -> Run:
    entry = after.entry
    if not isinstance(entry, Exchange):
        return after
    changed = tuple(evolve(result, status=Status.SUCCEEDED) for result in entry.results)
    return evolve(after, entry=Exchange(entry.turn, changed))


def _all_denied(run: Run, after: Run) -> Run:
    entry = after.entry
    if not isinstance(entry, Exchange):
        return after
    changed = tuple(
        ToolResult(result.id, Status.DENIED if result.status is Status.NOT_EXECUTED else result.status, (Text("no"),))
        for result in entry.results
    )
    return evolve(after, entry=Exchange(entry.turn, changed))


def _without_native(run: Run, after: Run) -> Run:
    entry = after.entry
    return evolve(after, entry=evolve(entry, native=())) if isinstance(entry, ModelTurn) else after


def _outcome(**changes: str) -> Callable[[Run, Run], Run]:
    return lambda run, after: evolve(after, outcome=_changed(after.outcome, changes))


def _changed(ending: Ending | None, changes: dict[str, str]) -> Ending | None:
    if ending is None:
        return None
    fields = {"answer": ending.answer, "answer_by": ending.answer_by, **changes}
    return evolve(ending, answer=fields["answer"], answer_by=fields["answer_by"])


def _without_room(run: Run, after: Run) -> Run:
    return evolve(after, started=tuple(call.id for call in after.plan.calls if not call.after))


def _same_attempt(run: Run, after: Run) -> Run:
    return evolve(after, attempt=run.attempt)


WRONG_ACTIONS: dict[str, tuple[str, tuple[AnyRow, ...]]] = {
    "a reason is replaced": (
        "a_reason_stands",
        acting(
            "closing_called", _typed(HistoryAppended, call_model, lambda run, after: evolve(after, reason=Reason.EMPTY))
        ),
    ),
    "a cancel is not heard": (
        "a_cancel_is_heard",
        acting("cancel_in_append", _typed(CancelRequested, note_cancel, lambda run, after: evolve(run, detail="x"))),
    ),
    "a deadline is taken for a cancel": (
        "a_cancel_is_heard",
        acting(
            "deadline_in_call",
            _typed(DeadlinePassed, close_at_deadline, lambda run, after: evolve(after, reason=Reason.EMPTY)),
        ),
    ),
    "a limit is claimed that was not reached": (
        "a_limit_stops_only_when_the_model_asks_on",
        acting(
            "answer_out_of_tokens",
            _typed(TurnReceived, stop_at_rounds, lambda run, after: after),
        ),
    ),
    "the money is told where the tokens are used up": (
        "a_limit_stops_only_when_the_model_asks_on",
        acting("answer_out_of_tokens", _typed(TurnReceived, stop_at_cost, lambda run, after: after)),
    ),
    "the tokens are told where the money is used up": (
        "a_limit_stops_only_when_the_model_asks_on",
        acting("answer_out_of_money", _typed(TurnReceived, stop_at_tokens, lambda run, after: after)),
    ),
    "what a turn used is not told": (
        "what_a_call_used_is_counted",
        acting("answer_kept", _typed(TurnReceived, keep_answer, lambda run, after: evolve(after, usages=run.usages))),
    ),
    "a failed call is not told": (
        "what_a_call_used_is_counted",
        acting("call_retried", _typed(CallFailed, try_again, lambda run, after: evolve(after, usages=run.usages))),
    ),
    "a pause costs nothing": (
        "what_a_call_used_is_counted",
        acting("pause_resumed", _typed(TurnReceived, hold_piece, lambda run, after: evolve(after, cost=run.cost))),
    ),
    "the tokens of a closing reply are forgotten": (
        "what_a_call_used_is_counted",
        acting(
            "closing_kept",
            _typed(TurnReceived, keep_closing_words, lambda run, after: evolve(after, tokens=run.tokens)),
        ),
    ),
    "a try waits beyond the end": (
        "a_wait_fits_into_the_time",
        acting("call_retried", _typed(CallFailed, try_again, lambda run, after: evolve(after, wait_ms=10**9))),
    ),
    "a round is counted twice": (
        "a_round_is_counted_once",
        acting(
            "tools_started", _typed(TurnReceived, start_tools, lambda run, after: evolve(after, rounds=run.rounds + 2))
        ),
    ),
    "a second chance is not counted": (
        "a_further_call_is_paid_for",
        acting("flaw_asked_again", _typed(TurnReceived, ask_again, lambda run, after: evolve(after, flaws=run.flaws))),
    ),
    "a retry is not counted": (
        "a_further_call_is_paid_for",
        acting("call_retried", _typed(CallFailed, try_again, _same_attempt)),
    ),
    "a result is forgotten": (
        "results_are_true_and_kept",
        acting("result_kept", _typed(ToolFinished, keep_result, _forget_result)),
    ),
    "what never ran is told as done": (
        "a_limit_stops_only_when_the_model_asks_on",
        acting("answer_out_of_rounds", _typed(TurnReceived, stop_at_rounds, _other_results)),
    ),
    "results are changed when the turn is settled": (
        "results_are_true_and_kept",
        acting("turn_settled", _typed(ToolFinished, settle_turn, _other_results)),
    ),
    "not executed is told as denied": (
        "a_denial_is_told",
        acting("cancel_in_approval", _typed(CancelRequested, withdraw_at_cancel, _all_denied)),
    ),
    "the answer loses its pieces": (
        "a_turn_is_kept_as_received",
        acting("answer_kept", _typed(TurnReceived, keep_answer, _without_native)),
    ),
    "a held piece is lost": (
        "a_turn_is_kept_as_received",
        acting(
            "answer_kept",
            _typed(TurnReceived, lambda run, event: keep_answer(evolve(run, held=()), event), lambda run, after: after),
        ),
    ),
    "the closing reply keeps its requests": (
        "one_closing_call",
        acting(
            "closing_kept",
            _typed(
                TurnReceived,
                lambda run, event: evolve(keep_closing_words(run, event), entry=event.turn),
                lambda run, after: after,
            ),
        ),
    ),
    "a pause is held although the run stops": (
        "held_pieces_wait_for_a_call",
        acting(
            "deadline_in_call",
            _typed(DeadlinePassed, close_at_deadline, lambda run, after: evolve(after, held=run.held)),
        ),
    ),
    "completed without the answer's words": (
        "completed_means_answered",
        acting("answer_stored", _typed(HistoryAppended, report_answer, _outcome(answer=""))),
    ),
    "incomplete without words": (
        "incomplete_says_why_and_says_something",
        acting("closing_replaced", _typed(TurnReceived, report_closing, _outcome(answer=" "))),
    ),
    "our words told as the model's": (
        "incomplete_says_why_and_says_something",
        acting("refusal_reported", _typed(TurnReceived, drop_turn, _outcome(answer_by="model"))),
    ),
    "cancelled claims an answer": (
        "cancelled_and_failed_say_so",
        acting("cancel_settled", _typed(HistoryAppended, report_cancel, _outcome(answer="all done"))),
    ),
    "the entry is appended twice": (
        "what_is_appended_stays",
        acting(
            "model_called",
            _typed(
                HistoryAppended,
                call_model,
                lambda run, after: evolve(
                    after, conversation=after.conversation.append(after.conversation.entries[-1])
                ),
            ),
        ),
    ),
    "the conversation loses its past": (
        "what_is_appended_stays",
        acting(
            "model_called",
            _typed(HistoryAppended, call_model, lambda run, after: evolve(after, conversation=run.conversation)),
        ),
    ),
    "a denied call is started": (
        "running_tools_were_allowed",
        acting(
            "approved_started",
            _typed(ApprovalDecided, start_approved, lambda run, after: evolve(after, started=run.plan.ids, results=())),
        ),
    ),
    "a call is left waiting": (
        "nothing_that_may_start_is_left_waiting",
        acting(
            "tools_started",
            _typed(TurnReceived, start_tools, lambda run, after: evolve(after, started=after.started[:1])),
        ),
    ),
    "more tools run than may": (
        "no_more_tools_than_may_run_at_once",
        acting("tools_started", _typed(TurnReceived, start_tools, _without_room)),
    ),
    "a call is started again": (
        "a_call_starts_once",
        acting(
            "result_kept",
            _typed(
                ToolFinished,
                keep_result,
                lambda run, after: evolve(after, started=(*after.started, *after.started[:1])),
            ),
        ),
    ),
    "a call number is skipped": (
        "a_further_call_is_paid_for",
        acting(
            "model_called", _typed(HistoryAppended, call_model, lambda run, after: evolve(after, calls=after.calls + 1))
        ),
    ),
    "a pause is not counted": (
        "a_further_call_is_paid_for",
        acting("pause_resumed", _typed(TurnReceived, hold_piece, lambda run, after: evolve(after, pauses=run.pauses))),
    ),
    "a failure gets no reason": (
        "an honest event is taken",
        acting(
            "failed_call_reported",
            _typed(CallFailed, report_failed_call, lambda run, after: evolve(after, outcome=None)),
        ),
    ),
}
