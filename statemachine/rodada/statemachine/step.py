"""
One step: an event moves a run along one row. Pure: no I/O, no clock, no task.
"""

from datetime import datetime

from attrs import evolve, frozen

from rodada.statemachine.errors import UnexpectedEvent
from rodada.statemachine.events import CallFailed, Event, TurnReceived
from rodada.statemachine.machine import FLOW, Flow
from rodada.statemachine.orders import Effect, effects
from rodada.statemachine.run import Run, checked_state
from rodada.statemachine.states import State


@frozen
class Step:
    """
    What happened, in facts: the log line, what watchers see, and `Outcome.transitions` are this one value.

    Attributes:
        n: number of the step in its run, from 1.
        at: when the event happened, in UTC.
        state: where the run was.
        event: name of the event.
        row: name of the row it moved along.
        to: where it went.
        verdicts: every guard that a candidate row names, with its answer.
        call: number of the last model call, after the step.
    """

    n: int
    at: datetime
    state: State
    event: str
    row: str
    to: State
    verdicts: tuple[tuple[str, bool], ...]
    call: int


@frozen
class Moved:
    """
    A step, the run after it, and what a driver must do.
    """

    step: Step
    run: Run
    effects: tuple[Effect, ...]


def step(run: Run, event: Event) -> tuple[Run, tuple[Effect, ...]]:
    """
    The run after an event, and what a driver must do now.

    Raises:
        UnexpectedEvent: no row admits the event; the run is as it was.
    """
    moved = move(run, event, 1)
    return moved.run, moved.effects


def move(run: Run, event: Event, n: int, flow: Flow = FLOW) -> Moved:
    """
    The same with its record: step number `n` of the run.

    Raises:
        UnexpectedEvent: no row admits the event; the run is as it was.
    """
    name = type(event).__name__
    _refuse_unfit(run, event)
    row = flow.take(run, event)
    verdicts = flow.verdicts(run, event)
    if row is None:
        raise UnexpectedEvent(run.state.value, name, verdicts)
    after = checked_state(evolve(row.act(run, event), state=row.to))
    told = Step(n, event.at, run.state, name, row.name, row.to, verdicts, after.calls)
    return Moved(told, after, effects(run, event, after))


def _refuse_unfit(run: Run, event: Event) -> None:
    """
    Before the table: a reply to a call that was given up, or requests whose ids stand in the conversation already.
    """
    if isinstance(event, (TurnReceived, CallFailed)) and event.call != run.calls:
        raise UnexpectedEvent(run.state.value, type(event).__name__, (), f"call {event.call} is not in hand")
    if isinstance(event, TurnReceived):
        used = [request.id for request in event.turn.requests if run.conversation.uses(request.id)]
        if used:
            raise UnexpectedEvent(run.state.value, type(event).__name__, (), f"request ids {used} were used before")
