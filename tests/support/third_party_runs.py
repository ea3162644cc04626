"""
Runs against a server that nobody here wrote: it is told before each call what to answer, and how the run must end is
computed as for the loopback server.
"""

import asyncio
import gc
import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

from attrs import evolve, field, frozen

from rodada.providers.loopback import Turn, WireName
from rodada.providers.loopback.json_values import Object
from rodada.statemachine import (
    Clock,
    Conversation,
    Limits,
    ModelRequest,
    ModelTurn,
    Notice,
    Outcome,
    RunStatus,
    TextDelta,
    ToolLoop,
    TurnEnded,
    Watch,
)
from rodada.statemachine.ports import AnyTool
from rodada.tools import tool
from support.clock import idle
from support.fault_cells import CALL_SECONDS, Cell, expected, seen, waiting_time
from support.left_behind import generators_left, tasks_left
from support.pairing import broken_pairs
from support.stage import MAKERS, AnyProvider
from support.third_party import ThirdParty
from support.virtual_clock import VirtualClock
from support.wire_faults import Fault, Moment

GO_ON = Turn("It goes on.")


@tool
def look() -> str:
    """
    Look something up.
    """
    return "85 kg"


@frozen
class Guest:
    """
    A server, and a model of one wire that asks it.

    Attributes:
        tell: how the next call is to be answered.
        say: the form in which `tell` is told of a turn on a wire.
        heard: the words of a turn that come before a fault that speaks.
        holds: whether the call that was told of came, and is not answered.
    """

    server: ThirdParty
    wire: WireName
    tell: Callable[[Object], None]
    say: Callable[[WireName, Turn], Object]
    heard: Callable[[Turn], str]
    holds: Callable[[], bool]
    model: AnyProvider = field(repr=False)
    runner: asyncio.Runner = field(repr=False)


@contextmanager
def asking(server: ThirdParty, wire: WireName, name: str) -> Generator[tuple[AnyProvider, asyncio.Runner]]:
    """
    A model of a wire, and its event loop; in the end no connection is left.
    """
    with asyncio.Runner() as runner:
        model = MAKERS[wire][name](server)
        gc.collect()
        gc.freeze()  # what is there already is no garbage of the runs
        try:
            yield model, runner
        finally:
            runner.run(model.aclose())
            runner.run(idle())
            gc.unfreeze()
            assert server.connections == 0


@frozen
class Stall:
    """
    Calls whose time passes once the server has said `words` of the turn and says no more.

    Attributes:
        calls: their numbers.
        holds: as in `Guest`.
    """

    clock: VirtualClock
    words: str
    calls: range
    holds: Callable[[], bool]

    def hear(self, notices: Sequence[Notice]) -> None:
        """
        Let the time of the call pass if its last words were just heard.
        """
        last = notices[-1]
        if not isinstance(last, TextDelta) or last.call not in self.calls:
            return
        said = "".join(each.text for each in notices if isinstance(each, TextDelta) and each.call == last.call)
        if said == self.words:
            self._pass()

    async def pass_silence(self, call: int) -> None:
        """
        Let the time of a call pass in which nothing is said.
        """
        if self.words or call not in self.calls:
            return
        while not await asyncio.to_thread(self.holds):
            await idle()
        self._pass()

    def _pass(self) -> None:
        self.clock.move_to(self.clock.mono() + CALL_SECONDS)


@frozen
class Prompted:
    """
    A model whose server is told before each call how to answer it.
    """

    model: AnyProvider = field(repr=False)
    tell: Callable[[Object], None]
    prompts: Sequence[Object]
    stall: Stall | None = None

    @property
    def streams(self) -> bool:
        return self.model.streams

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        self.tell(self.prompts[request.call - 1])
        passing = asyncio.create_task(self.stall.pass_silence(request.call) if self.stall else idle())
        try:
            return await self.model.ask(request, watch)
        finally:
            passing.cancel()


@frozen
class Played:
    """
    A run with what a watcher was told, and what it left open.
    """

    outcome: Outcome
    notices: tuple[Notice, ...]
    left: tuple[str, ...]


def play(
    guest: Guest,
    prompts: Sequence[Object],
    *,
    streams: bool,
    tools: Sequence[AnyTool] = (look,),
    limits: Limits = Limits(),
    clock: Clock | None = None,
    conversation: Conversation | None = None,
    stall: Stall | None = None,
) -> Played:
    """
    One run, each call of which is answered as `prompts` say, and the checks that hold after every run.
    """
    model = Prompted(guest.model, guest.tell, prompts, stall)
    loop = ToolLoop(model, tools=tools, limits=limits, clock=clock or VirtualClock(), stream=streams)
    played = guest.runner.run(_played(loop, conversation, stall))
    assert () == played.left
    assert guest.server.connections <= 1
    document = played.outcome.conversation.to_json(reasoning=True)
    assert [] == broken_pairs(document)
    assert Conversation.from_json(json.loads(json.dumps(document))) == played.outcome.conversation
    return played


async def _played(loop: ToolLoop, conversation: Conversation | None, stall: Stall | None) -> Played:
    with generators_left() as left:
        async with loop.start("How much more do I lift?", conversation=conversation) as live:
            notices: list[Notice] = []
            async for notice in live.events(after=0):
                notices.append(notice)
                if stall:
                    stall.hear(notices)
            outcome = await live.outcome()
        await idle()
    return Played(outcome, tuple(notices), (*left, *tasks_left()))


@frozen
class Spoilt:
    """
    A fault, and how the server is told to make it; `fault.makes`, which is the loopback server's, is not asked.
    """

    fault: Fault
    prompt: Callable[[Moment], Object] = field(repr=False)


@frozen
class Case:
    """
    A spoilt call at one place of a run.
    """

    spoilt: Spoilt
    cell: Cell

    def __str__(self) -> str:
        return str(self.cell)


def cases(spoilt: Sequence[Spoilt]) -> Iterator[Case]:
    """
    Each fault in the first call, for as long as it is tried, and once in the call after a round of tools; the first of
    these comes whole where it can.
    """
    for each in spoilt:
        first = Cell(each.fault, each.fault.streamed_only, "first call")
        yield Case(each, evolve(first, lasts=first.is_retried))
        yield Case(each, Cell(each.fault, True, "later call"))


def meet(guest: Guest, case: Case) -> None:
    """
    The run of a case ends as the fault rules say, and the conversation goes on.
    """
    cell, clock = case.cell, VirtualClock()
    faulty = cell.turns[cell.at]
    said = [guest.say(guest.wire, turn) for turn in cell.turns]
    prompts = [
        *said[: cell.at],
        *[case.spoilt.prompt(Moment(guest.wire, cell.streams, faulty))] * cell.faulty,
        *said[cell.at :],
    ]
    words = guest.heard(faulty) if cell.fault.speaks else ""
    calls = range(cell.at + 1, cell.at + 1 + cell.faulty)
    stall = Stall(clock, words, calls, guest.holds) if cell.fault.stalls else None

    played = play(guest, prompts, streams=cell.streams, limits=cell.limits, clock=clock, stall=stall)

    due = expected(cell)
    kinds = tuple(notice.kind for notice in played.notices if isinstance(notice, TurnEnded))
    assert evolve(due, partial=words if due.partial else "") == seen(cell, played.outcome, kinds)
    least, most = waiting_time(cell)
    steps = played.outcome.transitions
    assert least - 0.002 <= (steps[-1].at - steps[0].at).total_seconds() <= most + 0.002
    after = play(
        guest, [guest.say(guest.wire, GO_ON)], streams=cell.streams, conversation=played.outcome.conversation
    ).outcome
    assert (RunStatus.COMPLETED, GO_ON.text) == (after.status, after.answer)
