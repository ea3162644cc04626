"""
Playing a scene: the loop, the SDK, the wire and the tools are real; the loopback server plays the model.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from rodada.cli.demo.desk import Desk, new_desk
from rodada.cli.demo.scene import Answered, Message, Played, Scene
from rodada.cli.demo.vendors import Vendor
from rodada.providers.loopback import Loopback
from rodada.statemachine import Conversation, LiveRun, Notice, Outcome, ToolLoop


class Audience(Protocol):
    """
    Who watches a scene while it is played.
    """

    def message(self, message: Message) -> None:
        """
        Told of a message before it is answered.
        """
        ...

    def notice(self, notice: Notice) -> None:
        """
        Told of what happens in its run.
        """
        ...

    def outcome(self, outcome: Outcome) -> None:
        """
        Told how its run ended.
        """
        ...


class Nobody:
    """
    Sees nothing.
    """

    def message(self, message: Message) -> None:
        """
        Nothing.
        """

    def notice(self, notice: Notice) -> None:
        """
        Nothing.
        """

    def outcome(self, outcome: Outcome) -> None:
        """
        Nothing.
        """


SILENT = Nobody()


async def play(scene: Scene, vendor: Vendor, loop: ToolLoop, server: Loopback, audience: Audience = SILENT) -> Played:
    """
    Play a scene through a vendor's SDK; `loop` has the provider.
    """
    answered: list[Answered] = []
    conversation: Conversation | None = None
    with new_desk() as desk:
        scene_loop = loop.evolve(tools=scene.tools(desk), instructions=scene.instructions)
        for message in scene.messages:
            server.play(message.script)
            audience.message(message)
            outcome = await _answered(scene_loop, message, conversation, desk, audience.notice)
            audience.outcome(outcome)
            conversation = outcome.conversation
            answered.append(Answered(message, outcome, server.received, vendor.seen, server.unplayed))
        return Played(scene, tuple(answered), desk.goals, desk.folder.name)


async def watched(live: LiveRun, watch: Callable[[Notice], None]) -> Outcome:
    """
    The outcome of a run, with all its notices told.
    """
    async for notice in live.events():
        watch(notice)
    return await live.outcome()


async def _answered(
    loop: ToolLoop, message: Message, conversation: Conversation | None, desk: Desk, watch: Callable[[Notice], None]
) -> Outcome:
    async with loop.start(message.says, conversation=conversation, limits=message.limits) as live:
        if not message.leaves:
            return await watched(live, watch)
        async with _leaving(live, desk):
            return await watched(live, watch)


@asynccontextmanager
async def _leaving(live: LiveRun, desk: Desk) -> AsyncGenerator[None]:
    async def leave() -> None:
        await desk.coach_asked.wait()
        live.cancel("the person left")

    leaver = asyncio.create_task(leave())
    try:
        yield
    finally:
        leaver.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await leaver
