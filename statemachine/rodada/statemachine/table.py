"""
The table: the only place where flow is written.

A run moves when an event arrives. The row that fits says what is done and where the run goes: it starts in the
run's state, it is for that kind of event, every guard under `when` says yes and every guard under `unless` says no.
For every reachable run and every event exactly one row fits, or none does and the event is refused; the checker
proves it, so the order of the rows never matters.

The engine fires this table through one `transitions.Machine` (see `machine.py`); the checker explores it, the
diagrams draw it, and a record names its rows. To change the flow, change it here and run `rodada check --mutants`.
"""

from typing import Generic, TypeAlias, TypeVar

from attrs import evolve, frozen

from rodada.statemachine.actions import (
    Action,
    answer_cut,
    append_denied,
    ask_again,
    ask_approval,
    call_model,
    close_at_deadline,
    drop_turn,
    fail_append,
    fail_call,
    give_call_up,
    hold_piece,
    keep_answer,
    keep_closing_words,
    keep_result,
    keep_vote,
    note_cancel,
    note_deadline,
    report_answer,
    report_cancel,
    report_closing,
    report_failed_call,
    settle_turn,
    start_approved,
    start_tools,
    stay,
    stop_at_cost,
    stop_at_cut,
    stop_at_repeats,
    stop_at_rounds,
    stop_at_tokens,
    try_again,
    withdraw_at_cancel,
    withdraw_at_deadline,
)
from rodada.statemachine.events import (
    AppendFailed,
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
    approval_needed,
    asks_for_tools,
    budget_left,
    cancel_is_the_reason,
    completes_turn,
    enough_approvers,
    entry_is_answer,
    first_flaw,
    first_vote,
    has_reason,
    in_time,
    is_cut,
    is_flawed,
    is_paused,
    is_refused,
    is_unknown_stop,
    leaves_something_to_run,
    not_the_requester,
    pauses_left,
    repeats_itself,
    rounds_left,
    says_something_whole,
    something_to_report,
    tokens_left,
    vote_awaited,
    work_time_is_over,
    worth_another_try,
)
from rodada.statemachine.run import Run
from rodada.statemachine.states import State

E = TypeVar("E", bound=Event)


@frozen
class Row(Generic[E]):
    """
    One way to move.

    Attributes:
        name: unique and stable: the label in diagrams, logs, records and coverage.
        source, to: states; the same one twice when the run stays.
        event: the class of event it is for.
        action: what is done.
        when: guards that must say yes.
        unless: guards that must say no.
    """

    name: str
    source: State
    event: type[E]
    action: Action[E]
    to: State
    when: tuple[Guard[E], ...] = ()
    unless: tuple[Guard[E], ...] = ()

    def act(self, run: Run, event: Event) -> Run:
        """
        What the row does to a run.
        """
        if not isinstance(event, self.event):
            raise TypeError(f"row {self.name} is for {self.event.__name__}, not {type(event).__name__}")
        return self.action(run, event)

    @property
    def guard_names(self) -> tuple[str, ...]:
        """
        Names of the guards under `when`, then of those under `unless`.
        """
        return tuple(guard.__name__ for guard in (*self.when, *self.unless))

    def going(self, to: State) -> "Row[E]":
        """
        The row with another destination.
        """
        return evolve(self, to=to)

    def dropping(self, place: int) -> "Row[E]":
        """
        The row without the guard at a place.
        """
        first = len(self.when)
        if place < first:
            return evolve(self, when=(*self.when[:place], *self.when[place + 1 :]))
        return evolve(self, unless=(*self.unless[: place - first], *self.unless[place - first + 1 :]))

    def turning(self, place: int) -> "Row[E]":
        """
        The row with the guard at a place turned round: from `when` to `unless`, or back.
        """
        guard, rest = (*self.when, *self.unless)[place], self.dropping(place)
        if place < len(self.when):
            return evolve(rest, unless=(*rest.unless, guard))
        return evolve(rest, when=(*rest.when, guard))


AnyRow: TypeAlias = (
    Row[TurnReceived]
    | Row[CallFailed]
    | Row[ToolFinished]
    | Row[ApprovalDecided]
    | Row[HistoryAppended]
    | Row[AppendFailed]
    | Row[DeadlinePassed]
    | Row[CancelRequested]
)
APPEND_HISTORY, CALL_MODEL, AWAIT_APPROVAL, EXECUTE_TOOLS, FINALIZE, CANCELLED, ERROR = State

# fmt: off
TABLE: tuple[AnyRow, ...] = (
    # The entry in hand: the person's message, an exchange, or an answer. The only way into the conversation.
    Row("answer_stored", APPEND_HISTORY, HistoryAppended, report_answer, FINALIZE, when=(entry_is_answer,)),
    Row("cancel_settled", APPEND_HISTORY, HistoryAppended, report_cancel, CANCELLED, when=(cancel_is_the_reason,), unless=(entry_is_answer,)),
    Row("closing_called", APPEND_HISTORY, HistoryAppended, call_model, CALL_MODEL, when=(has_reason,), unless=(entry_is_answer, cancel_is_the_reason)),
    Row("model_called", APPEND_HISTORY, HistoryAppended, call_model, CALL_MODEL, unless=(entry_is_answer, has_reason)),
    Row("append_failed", APPEND_HISTORY, AppendFailed, fail_append, ERROR),
    Row("cancel_after_answer", APPEND_HISTORY, CancelRequested, stay, APPEND_HISTORY, when=(entry_is_answer,)),
    Row("deadline_after_answer", APPEND_HISTORY, DeadlinePassed, stay, APPEND_HISTORY, when=(entry_is_answer,)),
    Row("cancel_in_append", APPEND_HISTORY, CancelRequested, note_cancel, APPEND_HISTORY, unless=(entry_is_answer,)),
    Row("deadline_in_append", APPEND_HISTORY, DeadlinePassed, note_deadline, APPEND_HISTORY, unless=(entry_is_answer,)),

    # A turn that asks for tools.
    Row("tools_started", CALL_MODEL, TurnReceived, start_tools, EXECUTE_TOOLS, when=(asks_for_tools, rounds_left, budget_left), unless=(has_reason, is_cut, repeats_itself, approval_needed)),
    Row("approval_asked", CALL_MODEL, TurnReceived, ask_approval, AWAIT_APPROVAL, when=(asks_for_tools, rounds_left, budget_left, approval_needed), unless=(has_reason, is_cut, repeats_itself)),
    Row("answer_cut", CALL_MODEL, TurnReceived, answer_cut, APPEND_HISTORY, when=(asks_for_tools, is_cut, rounds_left, budget_left, first_flaw), unless=(has_reason,)),
    Row("answer_cut_again", CALL_MODEL, TurnReceived, stop_at_cut, APPEND_HISTORY, when=(asks_for_tools, is_cut, rounds_left, budget_left), unless=(has_reason, first_flaw)),
    Row("answer_out_of_rounds", CALL_MODEL, TurnReceived, stop_at_rounds, APPEND_HISTORY, when=(asks_for_tools,), unless=(has_reason, rounds_left)),
    Row("answer_out_of_tokens", CALL_MODEL, TurnReceived, stop_at_tokens, APPEND_HISTORY, when=(asks_for_tools, rounds_left), unless=(has_reason, tokens_left)),
    Row("answer_out_of_money", CALL_MODEL, TurnReceived, stop_at_cost, APPEND_HISTORY, when=(asks_for_tools, rounds_left, tokens_left), unless=(has_reason, budget_left)),
    Row("answer_repetition", CALL_MODEL, TurnReceived, stop_at_repeats, APPEND_HISTORY, when=(asks_for_tools, rounds_left, budget_left, repeats_itself), unless=(has_reason, is_cut)),

    # A turn that asks for none.
    Row("answer_kept", CALL_MODEL, TurnReceived, keep_answer, APPEND_HISTORY, when=(says_something_whole,), unless=(has_reason, asks_for_tools)),
    Row("pause_resumed", CALL_MODEL, TurnReceived, hold_piece, CALL_MODEL, when=(is_paused, pauses_left), unless=(has_reason,)),
    Row("flaw_asked_again", CALL_MODEL, TurnReceived, ask_again, CALL_MODEL, when=(is_flawed, first_flaw), unless=(has_reason,)),
    Row("paused_too_often", CALL_MODEL, TurnReceived, drop_turn, FINALIZE, when=(is_paused,), unless=(has_reason, pauses_left)),
    Row("flawed_too_often", CALL_MODEL, TurnReceived, drop_turn, FINALIZE, when=(is_flawed,), unless=(has_reason, first_flaw)),
    Row("refusal_reported", CALL_MODEL, TurnReceived, drop_turn, FINALIZE, when=(is_refused,), unless=(has_reason,)),
    Row("unknown_stop_reported", CALL_MODEL, TurnReceived, drop_turn, FINALIZE, when=(is_unknown_stop,), unless=(has_reason,)),
    Row("cut_text_reported", CALL_MODEL, TurnReceived, drop_turn, FINALIZE, when=(is_cut,), unless=(has_reason, asks_for_tools)),

    # The reply to the closing call.
    Row("closing_kept", CALL_MODEL, TurnReceived, keep_closing_words, APPEND_HISTORY, when=(has_reason, says_something_whole)),
    Row("closing_replaced", CALL_MODEL, TurnReceived, report_closing, FINALIZE, when=(has_reason,), unless=(says_something_whole,)),

    # A call that gave no turn, or was given up.
    Row("call_retried", CALL_MODEL, CallFailed, try_again, CALL_MODEL, when=(worth_another_try,)),
    Row("late_call_closed", CALL_MODEL, CallFailed, close_at_deadline, CALL_MODEL, when=(work_time_is_over,)),
    Row("failed_call_reported", CALL_MODEL, CallFailed, report_failed_call, FINALIZE, when=(something_to_report,), unless=(worth_another_try, work_time_is_over)),
    Row("call_failed", CALL_MODEL, CallFailed, fail_call, ERROR, unless=(worth_another_try, something_to_report, work_time_is_over)),
    Row("deadline_in_call", CALL_MODEL, DeadlinePassed, close_at_deadline, CALL_MODEL, unless=(has_reason,)),
    Row("deadline_in_closing", CALL_MODEL, DeadlinePassed, stay, CALL_MODEL, when=(has_reason,)),
    Row("cancel_in_call", CALL_MODEL, CancelRequested, give_call_up, CANCELLED),

    # People decide.
    Row("requesters_vote_set_aside", AWAIT_APPROVAL, ApprovalDecided, stay, AWAIT_APPROVAL, when=(vote_awaited,), unless=(not_the_requester,)),
    Row("second_vote_set_aside", AWAIT_APPROVAL, ApprovalDecided, stay, AWAIT_APPROVAL, when=(vote_awaited, not_the_requester), unless=(first_vote,)),
    Row("late_vote_set_aside", AWAIT_APPROVAL, ApprovalDecided, stay, AWAIT_APPROVAL, when=(vote_awaited, not_the_requester, first_vote), unless=(in_time,)),
    Row("vote_kept", AWAIT_APPROVAL, ApprovalDecided, keep_vote, AWAIT_APPROVAL, when=(vote_awaited, not_the_requester, first_vote, in_time), unless=(enough_approvers,)),
    Row("approved_started", AWAIT_APPROVAL, ApprovalDecided, start_approved, EXECUTE_TOOLS, when=(vote_awaited, not_the_requester, first_vote, in_time, enough_approvers, leaves_something_to_run)),
    Row("all_denied", AWAIT_APPROVAL, ApprovalDecided, append_denied, APPEND_HISTORY, when=(vote_awaited, not_the_requester, first_vote, in_time, enough_approvers), unless=(leaves_something_to_run,)),
    Row("cancel_in_approval", AWAIT_APPROVAL, CancelRequested, withdraw_at_cancel, APPEND_HISTORY),
    Row("deadline_in_approval", AWAIT_APPROVAL, DeadlinePassed, withdraw_at_deadline, APPEND_HISTORY),

    # Tools run.
    Row("result_kept", EXECUTE_TOOLS, ToolFinished, keep_result, EXECUTE_TOOLS, when=(answers_running,), unless=(completes_turn,)),
    Row("turn_settled", EXECUTE_TOOLS, ToolFinished, settle_turn, APPEND_HISTORY, when=(answers_running, completes_turn)),
    Row("cancel_in_tools", EXECUTE_TOOLS, CancelRequested, note_cancel, EXECUTE_TOOLS),
    Row("deadline_in_tools", EXECUTE_TOOLS, DeadlinePassed, note_deadline, EXECUTE_TOOLS),
)
# fmt: on
