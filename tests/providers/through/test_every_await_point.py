"""
Whatever comes, at whichever await point of a run through a vendor's SDK: the server gets nothing that it refuses, then
or with the next message, and no answer and no connection is left open.
"""

from collections.abc import Callable, Generator, Iterable
from functools import partial
from itertools import cycle

import pytest
from attrs import field, frozen

from rodada.providers.loopback import Call, Loopback, Received, Turn, WireName
from support.event_loops import KINDS, Kind, new_loop
from support.interrupted_runs import BLOWS, Blow, Interrupted, Manner, reply_to, swept
from support.left_behind import nothing_left
from support.stage import DEVIATIONS, WIRES, AnyProvider, Stage, set_stage
from support.wire_pairs import pair_faults

MANNERS = (Manner(), Manner(parallel=True, streams=True, graceful=False))
STRIDE = 29  # of the shorter checks


@frozen
class Through:
    """
    A model behind a vendor's SDK.
    """

    wire: WireName
    server: Loopback
    provider: AnyProvider = field(repr=False)

    def faults(self) -> list[str]:
        """
        A request that was given up may reach the server late: it is judged with those that follow.
        """
        received = self.server.received
        self.server.play(_reply)
        found = [each for one in received for each in pair_faults(self.wire, one.body)]
        found += [str(one.refusal) for one in received if one.refusal is not None]
        if not self.server.wait_for(lambda: self.server.answering == 0):
            found.append("an answer is still open")
        if not self.server.wait_for(lambda: self.server.open_connections <= 1):
            found.append("connections are still open")
        return found


def _reply(received: Received) -> Turn:
    text, calls = reply_to(received.raw.decode())
    return Turn(text, [Call(name) for name in calls], reasoning=True)


@pytest.fixture(name="kind", scope="module", params=KINDS)
def _kind(request: pytest.FixtureRequest) -> Kind:
    kind: Kind = request.param
    return kind


@pytest.fixture(name="stage", scope="module")
def _stage(kind: Kind) -> Generator[Stage]:
    with Loopback(_reply, chat_deviations=DEVIATIONS) as server:
        with set_stage(server, partial(new_loop, kind)) as stage:
            yield stage
        assert server.wait_for(lambda: server.open_connections == 0)


def _play(
    stage: Stage, kind: Kind, wire: WireName, sweeps: Iterable[tuple[Blow, Manner]], stride: int = 1
) -> list[str]:
    """
    How many runs were interrupted by what, and that nothing was wrong with any of them.
    """
    model = Through(wire, stage.server, stage.provider(wire))

    async def scene() -> list[str]:
        told: list[str] = []
        with nothing_left():
            for first, (blow, manner) in enumerate(sweeps, 1):
                made = partial(Interrupted, model, manner, blow)
                found = await swept(made, first=1 + 3 * first % stride, stride=stride)
                assert () == found.faults
                told.append(f"{blow}, {wire}, {manner}, on {kind}: {found.runs} runs of {found.points} await points")
        return told

    try:
        return stage.run(scene())
    finally:
        stage.run(model.provider.aclose())  # what is open next is another wire's


@pytest.mark.parametrize("wire", WIRES)
def test_every_await_point_through_an_sdk_here_and_there(
    count: Callable[[str], None], wire: WireName, stage: Stage, kind: Kind
) -> None:
    for told in _play(stage, kind, wire, zip(BLOWS, cycle(MANNERS), strict=False), STRIDE):
        count(told)


@pytest.mark.long
@pytest.mark.parametrize("manner", MANNERS, ids=str)
@pytest.mark.parametrize("wire", WIRES)
def test_every_await_point_through_an_sdk(
    count: Callable[[str], None], wire: WireName, manner: Manner, stage: Stage, kind: Kind
) -> None:
    """
    At each of them on asyncio's own event loop, at some on the others; a timeout is the owner's cancel by another name.
    """
    for blow in BLOWS:
        stride = 8 if kind != "asyncio" else 4 if blow == "owner's timeout" else 1
        for told in _play(stage, kind, wire, [(blow, manner)], stride):
            count(told)
