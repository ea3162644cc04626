"""
Where the calls of a turn stand: an index that goes from step to step with the run, so that what one event costs does
not grow with the number of requests.

A set of calls is a number with one bit for each position in the plan: of ten thousand calls 1.25 kB, which are joined,
compared and copied in one go.
"""

from collections.abc import Iterator

from attrs import evolve, frozen

from rodada.statemachine.messages import ToolResult
from rodada.statemachine.plan import Plan


@frozen(eq=False)
class Progress:
    """
    Where the calls of a plan stand. It says nothing that plan, started ids and results do not say; build it with
    `progress_of`.

    Attributes:
        plan: of the turn.
        started: ids of calls that were started, in order.
        results: so far, in order of arrival.
        begun, done: the calls that were started; that have a result.
        passed: those that are done, and so is all that they wait for, directly or through others: a call that was
            denied has its result before its turn has come, and lets nothing pass until then.
        ready: those that may start: not begun, without a result, and all that they wait for has passed.
    """

    plan: Plan
    started: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()
    begun: int = 0
    done: int = 0
    passed: int = 0
    ready: int = 0

    @property
    def running(self) -> int:
        """
        The calls that were started and have no result.
        """
        return self.begun & ~self.done

    @property
    def every(self) -> int:
        """
        All calls of the plan.
        """
        return (1 << len(self.plan.calls)) - 1

    def ids(self, calls: int) -> tuple[str, ...]:
        """
        The ids of a set of calls, in request order.
        """
        return tuple(self.plan.calls[position].id for position in _positions(calls))

    def start(self, most: int) -> "Progress":
        """
        The first of the ready calls are started, in request order; not more than `most`.
        """
        chosen = self.ready if self.ready.bit_count() <= most else _first(self.ready, most)
        if not chosen:
            return self
        return evolve(
            self, started=self.started + self.ids(chosen), begun=self.begun | chosen, ready=self.ready & ~chosen
        )

    def keep(self, *results: ToolResult) -> "Progress":
        """
        Some calls have their results; what waited for them alone becomes ready.
        """
        done, passed, freed = self.done, self.passed, 0
        for result in results:
            done |= self.plan.bit(result.id)
        passing = [result.id for result in results if self.plan.needs_of(result.id) & ~passed == 0]
        while passing:
            request_id = passing.pop()
            passed |= self.plan.bit(request_id)
            free = self.plan.freed_by(request_id, passed)
            passing += self.ids(free & done & ~passed)
            freed |= free
        ready = (self.ready | freed) & ~(self.begun | done)
        return evolve(self, results=self.results + results, done=done, passed=passed, ready=ready)


def progress_of(plan: Plan, started: tuple[str, ...], results: tuple[ToolResult, ...]) -> Progress:
    """
    Where the calls of a plan stand, reckoned anew.
    """
    begun = 0
    for request_id in started:
        begun |= plan.bit(request_id)
    return Progress(plan, started, (), begun, ready=plan.free & ~begun).keep(*results)


def _first(calls: int, most: int) -> int:
    chosen = 0
    for _ in range(most):
        lowest = calls & -calls
        chosen, calls = chosen | lowest, calls ^ lowest
    return chosen


def _positions(calls: int) -> Iterator[int]:
    while calls:
        lowest = calls & -calls
        yield lowest.bit_length() - 1
        calls ^= lowest
