"""
Orders: what a run waits for, as a function of the run. Whoever holds a run, after a crash too, performs
`orders(run)`; while it goes on, a driver performs the effects: the orders that a step made new, and what to abandon.
"""

from typing import TypeAlias

from attrs import frozen

from rodada.statemachine.approvals import undecided
from rodada.statemachine.events import ApprovalDecided, CallFailed, Event, TurnReceived
from rodada.statemachine.messages import Entry
from rodada.statemachine.run import Run
from rodada.statemachine.states import State


@frozen
class AskModel:
    """
    Make model call number `call` after `wait` milliseconds; with tools withheld it is the closing call.
    """

    call: int
    tools_allowed: bool
    wait: int = 0


@frozen
class StartTool:
    """
    Start the call of request `id`.
    """

    id: str


@frozen
class StopTool:
    """
    Ask the running call of request `id` to stop; it answers all the same.
    """

    id: str


@frozen
class AskApproval:
    """
    Ask people whether request `id` may run.
    """

    id: str


@frozen
class Append:
    """
    Store an entry.
    """

    entry: Entry


Order: TypeAlias = AskModel | StartTool | StopTool | AskApproval | Append


@frozen
class Abandon:
    """
    Give up an order that vanished unanswered: a model call or a question.
    """

    order: AskModel | AskApproval


Effect: TypeAlias = Order | Abandon


def orders(run: Run) -> tuple[Order, ...]:
    """
    What the run waits for. Only an end waits for nothing.
    """
    match run.state:
        case State.APPEND_HISTORY:
            return (Append(run.entry),) if run.entry is not None else ()
        case State.CALL_MODEL:
            return (AskModel(run.calls, run.reason is None, run.wait_ms),)
        case State.AWAIT_APPROVAL:
            return tuple(AskApproval(request_id) for request_id in undecided(run))
        case State.EXECUTE_TOOLS:
            running = run.running
            starts = tuple(StartTool(request_id) for request_id in running)
            return starts if run.reason is None else (*starts, *(StopTool(request_id) for request_id in running))
        case _:
            return ()


def effects(before: Run, event: Event, after: Run) -> tuple[Effect, ...]:
    """
    What a driver must do after a step: perform new orders, abandon those that vanished unanswered.
    """
    if before.state is after.state is State.EXECUTE_TOOLS:
        return _effects_on_tools(before, after)
    if before.state is after.state is State.AWAIT_APPROVAL:
        return _effects_on_questions(before, event, after)
    old, new = orders(before), orders(after)
    was, stays = frozenset(old), frozenset(new)
    given_up = tuple(
        Abandon(order)
        for order in old
        if isinstance(order, (AskModel, AskApproval)) and order not in stays and not _answers(event, order)
    )
    return (*given_up, *(order for order in new if order not in was))


def _effects_on_tools(before: Run, after: Run) -> tuple[Effect, ...]:
    """
    The same while tools run, without a look at those for which nothing changed.
    """
    ids, was, runs = after.progress.ids, before.progress.running, after.progress.running
    starts = tuple(StartTool(request_id) for request_id in ids(runs & ~was))
    if after.reason is None:
        return starts
    asked = 0 if before.reason is None else was
    return (*starts, *(StopTool(request_id) for request_id in ids(runs & ~asked)))


def _effects_on_questions(before: Run, event: Event, after: Run) -> tuple[Effect, ...]:
    """
    The same while people are asked.
    """
    was, stays, ids = before.ballot.open, after.ballot.open, after.progress.ids
    gone = map(AskApproval, ids(was & ~stays))
    given_up = tuple(Abandon(order) for order in gone if not _answers(event, order))
    return (*given_up, *map(AskApproval, ids(stays & ~was)))


def _answers(event: Event, order: AskModel | AskApproval) -> bool:
    if isinstance(order, AskModel):
        return isinstance(event, (TurnReceived, CallFailed)) and event.call == order.call
    return isinstance(event, ApprovalDecided) and event.id == order.id
