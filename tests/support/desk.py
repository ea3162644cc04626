"""
A loop on one wire of a stage, its turns whole or streamed, with tools that tell what they did.
"""

import pytest
from attrs import define, field

from rodada.providers.loopback import Received, Reply, Turn, WireName
from rodada.statemachine import AnyTool, Conversation, Limits, Notice, Outcome, Status, ToolLoop, TurnEnded, TurnKind
from rodada.tools import tool
from support.stage import WIRES, AnyProvider, Stage
from support.virtual_clock import VirtualClock
from support.wire_pairs import pair_faults

every_wire = pytest.mark.parametrize("wire", WIRES)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@define
class Desk:
    """
    The loop, what its tools did, and what a watcher was told of the last message.
    """

    stage: Stage
    wire: WireName
    stream: bool = False
    limits: Limits = Limits(seconds=10_000, closing_seconds=1000)
    provider: AnyProvider | None = None
    tools: tuple[AnyTool, ...] = ()
    clock: VirtualClock = field(factory=VirtualClock)
    ran: list[str] = field(factory=list[str])
    notices: list[Notice] = field(factory=list[Notice])

    @property
    def loop(self) -> ToolLoop:
        """
        With the tools `write` and `look`.
        """

        @tool(writes="files")
        def write(path: str = "", content: str = "") -> str:
            """Write a file."""
            self.ran.append(f"write {path}")
            return f"wrote {len(content)}"

        @tool(reads="files")
        async def look(path: str = "") -> str:
            """Look at a file."""
            self.ran.append(f"look {path}")
            return f"saw {path}"

        return ToolLoop(
            self.provider or self.stage.provider(self.wire),
            tools=[write, look, *self.tools],
            limits=self.limits,
            stream=self.stream,
            clock=self.clock,
        )

    def ask(self, *script: Reply, says: str = "Please do.", before: Conversation | None = None) -> Outcome:
        """
        One message, all of whose replies are wanted and none of whose requests is refused or badly paired.
        """
        self.stage.server.play(script)
        outcome = self.stage.run(self.watched(says, before))
        server = self.stage.server
        assert (server.refusals, server.unplayed) == ((), 0)
        assert [pair_faults(self.wire, each.body) for each in server.received] == [[]] * len(server.received)
        return outcome

    async def watched(self, says: str = "Please do.", before: Conversation | None = None) -> Outcome:
        """
        The same without a look at the server.
        """
        self.notices = []
        async with self.loop.start(says, conversation=before) as live:
            async for notice in live.events(after=0):
                self.notices.append(notice)
            return await live.outcome()

    def goes_on(self, outcome: Outcome) -> None:
        """
        See that the next message is answered.
        """
        assert self.ask(Turn("All is well."), says="And now?", before=outcome.conversation).answer == "All is well."

    @property
    def received(self) -> tuple[Received, ...]:
        """
        What reached the server.
        """
        return self.stage.server.received

    @property
    def kinds(self) -> list[TurnKind]:
        """
        What a watcher was told of each turn.
        """
        return [notice.kind for notice in self.notices if isinstance(notice, TurnEnded)]


def statuses(outcome: Outcome) -> list[Status]:
    """
    What is true of each call.
    """
    return [call.status for call in outcome.calls]
