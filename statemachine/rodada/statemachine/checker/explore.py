"""
Bounded exhaustive exploration: from a scene's first run, every offered event, until nothing new is reached.

Runs that differ only in what no guard reads (entries before the last exchange, token counts by call) are explored
once. Breadth first, so the first violation found has a shortest path.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from attrs import Factory, define, frozen

from rodada.statemachine.checker.bounds import Scene
from rodada.statemachine.checker.promises import RUN_PROMISES, STEP_PROMISES, Taken
from rodada.statemachine.checker.world import Offer, first_run, offers
from rodada.statemachine.errors import LoopError
from rodada.statemachine.events import ApprovalDecided, CancelRequested, DeadlinePassed, Event
from rodada.statemachine.machine import Flow
from rodada.statemachine.messages import Exchange, ModelTurn
from rodada.statemachine.run import Run
from rodada.statemachine.states import ENDS
from rodada.statemachine.step import move
from rodada.statemachine.table import AnyRow

MAY_CHANGE_NOTHING = (CancelRequested, DeadlinePassed, ApprovalDecided)


@frozen
class Violation:
    """
    A promise that does not hold, and the shortest way there.

    Attributes:
        promise: name of the promise, or what went wrong.
        scene: where it was found.
        path: row by row, with the event that moved the run.
    """

    promise: str
    scene: str
    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.promise} ({self.scene})\n" + "\n".join(f"  {line}" for line in self.path)


@define
class Exploration:
    """
    What an exploration saw.

    Attributes:
        runs: distinct runs reached.
        steps: steps taken.
        refused: dishonest events, each refused.
        rows: how often each row was taken.
        ends: how often each end was reached, by state and reason.
        answers: for each row, the answers of its guards that were seen together.
        violation: the first promise that does not hold.
    """

    runs: int = 0
    steps: int = 0
    refused: int = 0
    rows: dict[str, int] = Factory(dict[str, int])
    ends: dict[str, int] = Factory(dict[str, int])
    answers: dict[str, set[tuple[bool, ...]]] = Factory(dict[str, set[tuple[bool, ...]]])
    violation: Violation | None = None

    def add(self, other: "Exploration") -> None:
        """
        Add what another exploration saw.
        """
        self.runs += other.runs
        self.steps += other.steps
        self.refused += other.refused
        for name, count in other.rows.items():
            self.rows[name] = self.rows.get(name, 0) + count
        for name, count in other.ends.items():
            self.ends[name] = self.ends.get(name, 0) + count
        for name, seen in other.answers.items():
            self.answers.setdefault(name, set()).update(seen)
        self.violation = self.violation or other.violation


@frozen
class _FirstWay:
    """
    How a run was first reached.
    """

    parent: int
    line: str


class _Search:
    def __init__(self, flow: Flow, scene: Scene, key: Callable[[Run], object]) -> None:
        self.flow = flow
        self.scene = scene
        self.key = key
        self.asked = {row.name: (row.guard_names, expected_answers(row)) for row in flow.rows}
        self.seen = Exploration()
        self.numbers: dict[object, int] = {}
        self.first_ways: list[_FirstWay] = []
        self.edges: list[list[int]] = []
        self.waiting: deque[tuple[int, Run]] = deque()

    def run(self) -> Exploration:
        self._reach(first_run(self.scene), -1, "starts")
        while self.waiting and self.seen.violation is None:
            number, run = self.waiting.popleft()
            self._expand(number, run)
        if self.seen.violation is None:
            self._look_for_a_cycle()
        self.seen.runs = len(self.numbers)
        return self.seen

    def _expand(self, number: int, run: Run) -> None:
        for offer in offers(self.scene, run):
            problem = self._offer(number, run, offer)
            if problem is not None:
                self._violated(problem, number, _told(offer.event))
                return
        if run.state not in ENDS and not self.edges[number]:
            self._violated("every run goes on or ends", number, "no event changes it")

    def _offer(self, number: int, run: Run, offer: Offer) -> str | None:
        fitting = self._fitting(run, offer.event)
        if len(fitting) > 1:
            return f"one row fits: {' and '.join(row.name for row in fitting)} fit"
        try:
            moved = move(run, offer.event, 1, self.flow)
        except LoopError as error:
            return self._refusal(offer, fitting, error)
        if not offer.honest:
            return f"a dishonest event is refused: {moved.step.row} took it"
        if [row.name for row in fitting] != [moved.step.row]:
            return "the machine takes the row that fits"
        return self._taken(number, Taken(run, offer.event, moved.run, moved.effects), moved.step.row)

    def _refusal(self, offer: Offer, fitting: list[AnyRow], error: LoopError) -> str | None:
        if offer.honest:
            return f"an honest event is taken: {type(error).__name__}: {error}"
        self.seen.refused += 1
        return None

    def _taken(self, number: int, taken: Taken, row: str) -> str | None:
        self.seen.steps += 1
        self.seen.rows[row] = self.seen.rows.get(row, 0) + 1
        if taken.after == taken.before:
            allowed = isinstance(taken.event, MAY_CHANGE_NOTHING) and not taken.effects
            return None if allowed else f"a step changes the run: {row} changed nothing"
        broken = _broken(taken)
        if broken is None:
            self.edges[number].append(self._reach(taken.after, number, f"{row}: {_told(taken.event)}"))
        return broken

    def _reach(self, run: Run, parent: int, line: str) -> int:
        key = self.key(run)
        known = self.numbers.get(key)
        if known is not None:
            return known
        number = self.numbers[key] = len(self.numbers)
        self.first_ways.append(_FirstWay(parent, line))
        self.edges.append([])
        self.waiting.append((number, run))
        if run.outcome is not None:
            name = f"{run.state.value} {run.reason.value if run.reason else 'answered'}"
            self.seen.ends[name] = self.seen.ends.get(name, 0) + 1
        return number

    def _fitting(self, run: Run, event: Event) -> list[AnyRow]:
        fitting: list[AnyRow] = []
        said = dict(self.flow.verdicts(run, event))
        for row in self.flow.candidates(run, event):
            names, wanted = self.asked[row.name]
            answers = tuple([said[name] for name in names])
            self.seen.answers.setdefault(row.name, set()).add(answers)
            if answers == wanted:
                fitting.append(row)
        return fitting

    def _violated(self, promise: str, number: int, line: str) -> None:
        self.seen.violation = Violation(promise, self.scene.name, (*self._path(number), line))

    def _path(self, number: int) -> tuple[str, ...]:
        lines: list[str] = []
        while number >= 0:
            lines.append(self.first_ways[number].line)
            number = self.first_ways[number].parent
        return tuple(reversed(lines))

    def _look_for_a_cycle(self) -> None:
        """
        Remove runs that nothing unremoved leads to; what is left over goes round (P2).
        """
        incoming = [0] * len(self.edges)
        for targets in self.edges:
            for target in targets:
                incoming[target] += 1
        free = [number for number, count in enumerate(incoming) if count == 0]
        for number in free:
            for target in self.edges[number]:
                incoming[target] -= 1
                if incoming[target] == 0:
                    free.append(target)
        if len(free) < len(self.edges):
            stuck = next(number for number, count in enumerate(incoming) if count)
            self._violated("a driven run ends (P2)", stuck, "and comes back here")


def explore(flow: Flow, scenes: Iterable[Scene], *, merged: bool = True) -> Exploration:
    """
    Everything that a flow reaches in some scenes, up to the first violation. With `merged=False` no two runs that
    differ in anything are taken for one: slow, and the proof that merging hides nothing.
    """
    total = Exploration()
    for scene in scenes:
        total.add(_Search(flow, scene, _key if merged else _whole).run())
        if total.violation is not None:
            break
    return total


def expected_answers(row: AnyRow) -> tuple[bool, ...]:
    """
    What a row's guards must say for it to fit.
    """
    return (*(True for _ in row.when), *(False for _ in row.unless))


def _broken(taken: Taken) -> str | None:
    for promise in STEP_PROMISES:
        if not promise(taken):
            return promise.__name__
    for holds in RUN_PROMISES:
        if not holds(taken.after):
            return holds.__name__
    return None


def _whole(run: Run) -> object:
    return run


def _key(run: Run) -> object:
    """
    What decides the future of a run: only facts that some guard reads.

    The number of calls is none of them: that each further call is paid for is a promise about steps
    (`a_further_call_is_paid_for`), as is everything about texts and pieces.
    """
    if run.outcome is not None:
        return run.state, run.reason, run.outcome.status, run.outcome.answer_by, bool(run.outcome.partial)
    budget, money = run.limits.max_tokens_total, run.limits.max_cost
    return (
        (run.state, run.reason, _asked(run.turn), run.plan, frozenset(run.votes), frozenset(run.started)),
        (run.rounds, run.attempt, run.pauses, run.flaws, len(run.held), run.wait_ms, run.asked_ms, run.calls > 0),
        (
            0 if budget is None else min(run.tokens, budget),
            0 if money is None else run.cost and min(run.cost, money),
            type(run.conversation.last),
            type(run.entry),
        ),
        _repeats(run),
    )


def _repeats(run: Run) -> object:
    """
    The last exchange's calls, how often in a row they gave the same, and what they gave where that still matters.
    """
    most = run.limits.max_repeats
    done = tuple(result.id for result in run.results)
    if most is None:
        return frozenset(done)
    last = run.entry if isinstance(run.entry, Exchange) else run.conversation.last
    if not isinstance(last, Exchange):
        return frozenset(done)
    came = (_given(last), tuple((result.id, result.status) for result in run.results)) if most > 1 else done
    row = sum(1 for exchange in run.exchanges[-most:] if _asked(exchange.turn) == _asked(last.turn))
    return _asked(last.turn), row if most > 1 else 0, came


def _asked(turn: ModelTurn | None) -> object:
    return turn and tuple((request.name, request.digest) for request in turn.requests)


def _given(exchange: Exchange) -> object:
    return tuple((result.status, result.digest) for result in exchange.results)


def _told(event: Event) -> str:
    return "".join(_tell(event))


def _tell(event: Event) -> Iterator[str]:
    yield type(event).__name__
    turn = getattr(event, "turn", None)
    if turn is not None:
        words = "words" if turn.has_words else "blank"
        yield f"({turn.stop.value}, {words}, {len(turn.requests)} requests, call {getattr(event, 'call', '')})"
    result = getattr(event, "result", None)
    if result is not None:
        yield f"({result.id} {result.status.value})"
    if isinstance(event, ApprovalDecided):
        yield f"({event.id} {'yes' if event.yes else 'no'} by {event.by})"
