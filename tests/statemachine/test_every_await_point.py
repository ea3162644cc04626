"""
Whatever comes, at whichever await point of a run: the history is valid, what is said of each call is true, the next
message is answered, and nothing is left behind.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product

import pytest

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Conversation, ModelRequest
from support.event_loops import KINDS, Kind, new_loop
from support.interrupted_runs import BLOWS, OWNERS, Blow, Interrupted, Manner, reply_to, swept
from support.left_behind import nothing_left
from support.pairing import broken_pairs

# In each way to go, and with graces of either kind; only the owner can stop a run that has no handle.
WATCHED = [Manner(parallel, parallel, graceful=graceful) for parallel, graceful in product((False, True), repeat=2)]
AWAITED = [Manner(parallel, not parallel, watched=False) for parallel in (False, True)]
STRIDE = 11  # of the shorter checks
Sweep = tuple[Blow, Manner]
SWEEPS: tuple[Sweep, ...] = (*product(BLOWS, WATCHED), *product(OWNERS, AWAITED))


class Model:
    """
    A scripted model.
    """

    def __init__(self) -> None:
        self.provider = Scripted(reply=_reply)
        self._judged = 0

    def faults(self) -> list[str]:
        requests = self.provider.requests[self._judged :]
        self._judged += len(requests)
        return [each for one in requests for each in broken_pairs(Conversation("sent", one.entries).to_json())]


def _reply(request: ModelRequest) -> Turn:
    text, calls = reply_to(str(request.entries))
    return Turn(text, [Call(name) for name in calls])


def interrupted(
    kind: Kind, sweeps: Iterable[Sweep], make: Callable[..., Interrupted] = Interrupted, stride: int = 1
) -> list[str]:
    """
    How many runs were interrupted by what, and that nothing was wrong with any of them.
    """

    async def scene() -> list[str]:
        told: list[str] = []
        with nothing_left():
            for first, (blow, manner) in enumerate(sweeps):
                found = await swept(partial(make, Model(), manner, blow), first=1 + first % stride, stride=stride)
                assert () == found.faults
                told.append(f"{blow}, {manner}, on {kind}: {found.runs} runs of {found.points} await points")
        return told

    with asyncio.Runner(loop_factory=partial(new_loop, kind)) as runner:
        return runner.run(scene())


@pytest.mark.parametrize("kind", KINDS)
def test_every_await_point_of_a_scripted_run_here_and_there(count: Callable[[str], None], kind: Kind) -> None:
    for told in interrupted(kind, SWEEPS, stride=STRIDE):
        count(told)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blow", BLOWS)
def test_every_await_point_of_a_scripted_run(count: Callable[[str], None], kind: Kind, blow: Blow) -> None:
    """
    On asyncio's own event loop also between any two callbacks that resume no task.
    """
    made = partial(Interrupted, everywhere=kind == "asyncio")
    for told in interrupted(kind, [sweep for sweep in SWEEPS if sweep[0] == blow], made):
        count(told)


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("gap", [1, *(pytest.param(gap, marks=pytest.mark.long) for gap in (2, 5, 13))])
def test_every_await_point_with_an_owner_that_is_cancelled_again(
    count: Callable[[str], None], gap: int, times: int
) -> None:
    """
    Cancelled a second time it waits without grace, and a third time not at all.
    """
    made = partial(Interrupted, again=tuple(gap * each for each in range(1, times)))
    for told in interrupted("asyncio", product(["owner cancelled"], [WATCHED[0], WATCHED[-1]]), made):
        count(f"{times} times, {gap} apart: {told}")
