"""
Runs at every state: all that the checker reaches, and random walks in which everybody speaks freely.
"""

from functools import cache

from attrs import evolve, frozen
from hypothesis import strategies as st

from rodada.statemachine.checker.bounds import Bounds, Scene, scenes
from rodada.statemachine.checker.explore import explore
from rodada.statemachine.checker.world import first_run, offers
from rodada.statemachine.events import (
    AppendFailed,
    ApprovalDecided,
    CallFailed,
    CancelRequested,
    Event,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.limits import Limits
from rodada.statemachine.machine import Flow
from rodada.statemachine.messages import Text, ToolResult
from rodada.statemachine.run import Run
from rodada.statemachine.states import State
from rodada.statemachine.step import step
from rodada.statemachine.table import TABLE, AnyRow
from support.words import conversations, origins, wordings, words

REPEATING = Limits(max_rounds=2, max_attempts=1, max_pauses=0, max_repeats=1)
SCENES = (*scenes(Bounds(rounds=1)), Scene(name="2 rounds, repeating", limits=REPEATING, repeats=True))


@frozen
class Tried:
    """
    An event that was offered to a run, with the row that took it, or None.
    """

    run: Run
    event: Event
    row: AnyRow | None


class Recording(Flow):
    """
    A flow that keeps what it was asked.
    """

    def __init__(self) -> None:
        super().__init__(TABLE)
        self.tried: list[Tried] = []

    def take(self, run: Run, event: Event) -> AnyRow | None:
        """
        The row that the machine takes, kept.
        """
        row = super().take(run, event)
        self.tried.append(Tried(run, event, row))
        return row


@cache
def everything_tried() -> tuple[Tried, ...]:
    """
    Every event that the checker's world offers to every run it reaches.
    """
    flow = Recording()
    exploration = explore(flow, SCENES)
    assert exploration.violation is None, str(exploration.violation)
    return tuple(flow.tried)


@cache
def reached_runs() -> tuple[Run, ...]:
    """
    Distinct runs that the checker reaches, ends included.
    """
    after = (step(tried.run, tried.event)[0] for tried in everything_tried() if tried.row is not None)
    return tuple(dict.fromkeys((*(tried.run for tried in everything_tried()), *after)))


def reached(*states: State) -> st.SearchStrategy[Run]:
    """
    A reached run in one of some states, each state as likely.
    """
    wanted = states or tuple(State)
    return st.sampled_from(wanted).flatmap(
        lambda state: st.sampled_from([run for run in reached_runs() if run.state is state])
    )


@frozen
class Walk:
    """
    A way through the machine: the runs and the events that moved them, and the run at its end.
    """

    steps: tuple[tuple[Run, Event], ...]
    last: Run


@st.composite
def first_runs(draw: st.DrawFn, scene: Scene) -> Run:
    """
    A run at its start, in any language, for anybody, after any past.
    """
    past = draw(conversations(most=3))
    first = evolve(first_run(scene), conversation=past, start=len(past.entries), selected=0)
    return evolve(first, wording=draw(wordings), origin=evolve(draw(origins), actor=first.origin.actor))


@st.composite
def walks(draw: st.DrawFn, most: int = 14) -> Walk:
    """
    A run that honest events moved, with any words in them.
    """
    scene = draw(st.sampled_from(SCENES))
    run = draw(first_runs(scene))
    taken: list[tuple[Run, Event]] = []
    for _ in range(draw(st.integers(0, most))):
        honest = [offer.event for offer in offers(scene, run) if offer.honest]
        if not honest:
            break
        event = _spoken(draw, draw(st.sampled_from(honest)))
        taken.append((run, event))
        run, _ = step(run, event)
    return Walk(tuple(taken), run)


def _spoken(draw: st.DrawFn, event: Event) -> Event:
    match event:
        case TurnReceived() if event.turn.has_words:
            return evolve(event, turn=evolve(event.turn, text=draw(words), stop_word=draw(words)))
        case CallFailed() | AppendFailed():
            return evolve(event, failure=evolve(event.failure, message=draw(words)))
        case ToolFinished():
            result = ToolResult(event.result.id, event.result.status, (Text(draw(words)),))
            return evolve(event, result=result)
        case ApprovalDecided():
            return evolve(event, reason=draw(words))
        case CancelRequested():
            return evolve(event, detail=draw(words))
        case _:
            return event


def after(run: Run, *events: Event) -> Run:
    """
    The run after some events.
    """
    for event in events:
        run, _ = step(run, event)
    return run
