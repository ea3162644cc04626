"""
Whatever goes wrong on a wire, at whichever call: the run ends as the table says, watchers are told what adds up to its
outcome, the conversation goes on, and nothing is left open.
"""

import asyncio
import gc
import json
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from itertools import accumulate

import pytest
from attrs import field, frozen

from rodada.providers.loopback import Loopback, Turn, WireName
from rodada.statemachine import (
    Conversation,
    Ended,
    ModelRequest,
    ModelTurn,
    Notice,
    Outcome,
    RunStatus,
    Said,
    ToolLoop,
    TurnEnded,
    Watch,
    audience,
)
from rodada.statemachine import told as folded
from rodada.tools import tool
from support.clock import idle
from support.fault_cells import CALL_SECONDS, PLACES, Cell, cells, expected, seen, waiting_time
from support.left_behind import generators_left, tasks_left
from support.pairing import broken_pairs
from support.stage import DEVIATIONS, MAKERS, MODELS, WIRES, AnyProvider, Stage, set_stage
from support.virtual_clock import VirtualClock
from support.wire_faults import FAULTS
from support.wire_pairs import pair_faults

CELLS = tuple(cells())
GO_ON = Turn("It goes on.", reasoning=True)
KEPT = 5  # notices that the small audience keeps


@tool
def look() -> str:
    """
    Look something up.
    """
    return "85 kg"


@frozen
class Set:
    """
    A stage for one wire alone, so that what is open on its server is that wire's, and the same model where nobody
    listens.
    """

    wire: WireName
    stage: Stage
    unheard: AnyProvider = field(repr=False)


@frozen
class Detour:
    """
    A model that nobody listens to in some of its calls.
    """

    usual: AnyProvider = field(repr=False)
    unheard: AnyProvider = field(repr=False)
    calls: range

    @property
    def streams(self) -> bool:
        return self.usual.streams

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        return await (self.unheard if request.call in self.calls else self.usual).ask(request, watch)


@pytest.fixture(name="scene", scope="module", params=WIRES)
def _scene(request: pytest.FixtureRequest) -> Generator[Set]:
    wire: WireName = request.param
    with set_stage() as stage, _taken_port() as port:
        unheard = MAKERS[wire][MODELS[wire][0]](_Nobody(port))
        gc.collect()
        gc.freeze()  # what is there already is no garbage of the cells
        try:
            yield Set(wire, stage, unheard)
        finally:
            stage.run(unheard.aclose())
            stage.run(stage.provider(wire).aclose())
            gc.collect()
            assert stage.server.wait_for(lambda: stage.server.open_connections == 0)


class _Nobody(Loopback):
    """
    The address of a server that is not there.
    """

    def __init__(self, port: int) -> None:
        super().__init__(chat_deviations=DEVIATIONS)
        self._at = f"http://127.0.0.1:{port}"

    @property
    def url(self) -> str:
        return self._at


@contextmanager
def _taken_port() -> Generator[int]:
    """
    A port that nobody else gets, and at which nobody listens.
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


# What differs by the number of tries alone is among the longer checks.
@pytest.mark.parametrize(
    "cell", [pytest.param(cell, marks=[pytest.mark.long] * (cell.lasts and cell.at > 0)) for cell in CELLS], ids=str
)
def test_a_run_that_meets_a_fault(scene: Set, cell: Cell) -> None:
    server = scene.stage.server
    server.play(cell.script(scene.wire))
    clock = VirtualClock()
    outcome, notices, left = scene.stage.run(_played(scene, cell, clock))

    kinds = tuple(notice.kind for notice in notices if isinstance(notice, TurnEnded))
    assert expected(cell) == seen(cell, outcome, kinds)
    least, most = waiting_time(cell)
    steps = outcome.transitions
    assert least - 0.002 <= (steps[-1].at - steps[0].at).total_seconds() <= most + 0.002

    assert (server.refusals, server.unplayed) == ((), 0)
    assert [pair_faults(scene.wire, each.body) for each in server.received] == [[]] * len(server.received)
    assert _is_echoed(scene, cell)
    assert left == []
    assert server.wait_for(lambda: server.answering == 0)
    assert server.wait_for(lambda: server.open_connections <= 1)

    _judge_notices(notices, outcome)
    _judge_conversation(scene, cell, outcome.conversation)


def test_the_matrix_is_whole(record_property: Callable[[str, object], None]) -> None:
    counted = f"{len(CELLS)} cells of {len(FAULTS)} faults, each on {len(WIRES)} wires"
    record_property("counted", f"fault matrix: {len(CELLS) * len(WIRES)} runs ({counted})")
    assert {(cell.fault.name, cell.place) for cell in CELLS} == {
        (fault.name, place) for fault in FAULTS for place in PLACES
    }
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


async def _played(scene: Set, cell: Cell, clock: VirtualClock) -> tuple[Outcome, list[Notice], list[str]]:
    """
    The run of a cell, what a watcher was told, and what it left behind: tasks, and generators for the garbage
    collector.
    """
    provider = scene.stage.provider(scene.wire)
    faulty = range(cell.at + 1, cell.at + 1 + cell.faulty) if cell.fault.makes is None else range(0)
    loop = ToolLoop(
        Detour(provider, scene.unheard, faulty),
        tools=[look],
        limits=cell.limits,
        clock=clock,
        stream=cell.streams,
    )
    with generators_left() as left:
        stalls = asyncio.create_task(_pass_time(scene.stage.server, clock, cell.faulty if cell.fault.stalls else 0))
        async with loop.start("How much more do I lift?") as live:
            notices = [notice async for notice in live.events(after=0)]
            outcome = await live.outcome()
        await stalls
        await idle()
    return outcome, notices, [*left, *tasks_left()]


async def _pass_time(server: Loopback, clock: VirtualClock, stalls: int) -> None:
    """
    Let the time of a call pass whenever the server says nothing more, and all that it said was read.
    """
    before = server.held_back
    for stall in range(stalls):
        await asyncio.to_thread(server.wait_for, partial(_is_held_back, server, before + stall + 1))
        await idle()
        clock.move_to(clock.mono() + CALL_SECONDS)


def _is_held_back(server: Loopback, answers: int) -> bool:
    return server.held_back >= answers


def _is_echoed(scene: Set, cell: Cell) -> bool:
    """
    A block that nobody knows comes back in the next call of the run. On Chat Completions no field may come back that
    its server does not name.
    """
    if cell.fault.name != "unknown block" or scene.wire == "openai_chat":
        return True
    later = [each.raw for each in scene.stage.server.received[cell.at + 1 :]]
    return all(b"omorrow" in raw for raw in later)


def _judge_notices(notices: list[Notice], outcome: Outcome) -> None:
    """
    A watcher misses nothing, and from whatever point it goes on, what it is told adds up to the outcome, also where
    the notices before that are no longer kept.
    """
    assert [notice.n for notice in notices] == list(range(1, len(notices) + 1))
    assert isinstance(notices[-1], Ended)
    assert notices[-1].outcome == outcome
    folds = list(accumulate(notices, folded, initial=Said()))
    whole = Said(outcome.narration, outcome.answer, outcome.partial)
    assert folds[-1] == whole
    small = _small_audience(notices)
    for n, said in enumerate(folds[:-1]):
        *_, ends = accumulate(_told_after(small, n), folded, initial=said)
        assert ends == whole


def _small_audience(notices: list[Notice]) -> audience.Audience:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audience, "LONGEST_QUEUE", KEPT)
        made = audience.Audience()
        for notice in notices:
            made.tell(notice)
        made.close()
    return made


def _told_after(heard: audience.Audience, n: int) -> list[Notice]:
    async def read() -> list[Notice]:
        return [notice async for notice in heard.events(n)]

    reading = read()
    try:
        reading.send(None)
    except StopIteration as ended:
        told: list[Notice] = ended.value
        return told
    raise AssertionError("a run that has ended has nothing to wait for")


def _judge_conversation(scene: Set, cell: Cell, conversation: Conversation) -> None:
    """
    What was said is whole, survives being stored, and the next message is answered on the same wire.
    """
    document = conversation.to_json(reasoning=True)
    assert broken_pairs(document) == []
    assert Conversation.from_json(json.loads(json.dumps(document))) == conversation
    server = scene.stage.server
    server.play([GO_ON])
    loop = ToolLoop(scene.stage.provider(scene.wire), tools=[look], clock=VirtualClock(), stream=cell.streams)
    outcome = scene.stage.run(loop.run("And now?", conversation=conversation))
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, GO_ON.text)
    assert (server.refusals, server.unplayed) == ((), 0)
    assert [pair_faults(scene.wire, each.body) for each in server.received] == [[]]
