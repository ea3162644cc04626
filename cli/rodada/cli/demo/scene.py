"""
A scene of the demo, as data: what the person says, what the scripted model does, what must hold; and what a scene
gave when it was played.
"""

from collections.abc import Callable, Mapping

from attrs import frozen

from rodada.cli.demo.desk import Desk
from rodada.cli.demo.seen import Seen
from rodada.providers.loopback import Received, Turn
from rodada.providers.loopback.json_values import Object
from rodada.statemachine import Limits, Outcome, Reason, RunStatus, Status
from rodada.statemachine.jsontext import JsonValue
from rodada.statemachine.ports import AnyTool


@frozen(kw_only=True)
class Message:
    """
    One message of the person and what must come of it.

    Attributes:
        says: the message.
        script: the model's turns.
        ends: status and reason.
        answer: the answer; None when it is the script's last text.
        calls: name and status of each call, in request order.
        rounds: of tools.
        limits: of the run.
        leaves: whether the person leaves once the coach was asked.
    """

    says: str
    script: tuple[Turn, ...]
    ends: tuple[RunStatus, Reason | None] = (RunStatus.COMPLETED, None)
    answer: str | None = None
    calls: tuple[tuple[str, Status], ...] = ()
    rounds: int = 0
    limits: Limits = Limits()
    leaves: bool = False


@frozen
class Answered:
    """
    A message that was answered.

    Attributes:
        message: as in the scene.
        outcome: of the run.
        received: what reached the server, in order.
        look: how the wire's requests are looked at.
        unplayed: turns of the script that nobody asked for.
    """

    message: Message
    outcome: Outcome
    received: tuple[Received, ...]
    look: Callable[[Object], Seen]
    unplayed: int = 0

    @property
    def seen(self) -> tuple[Seen, ...]:
        """
        The requests, as promises look at them.
        """
        return tuple(self.look(each.body) for each in self.received)


@frozen
class Played:
    """
    A scene that was played.

    Attributes:
        scene: the scene.
        answered: its messages, in order.
        goals: what the desk's goals were at the end, in kg.
        folder: name of the desk's folder, which no model may learn.
    """

    scene: "Scene"
    answered: tuple[Answered, ...]
    goals: Mapping[str, JsonValue]
    folder: str

    @property
    def seen(self) -> tuple[Seen, ...]:
        """
        Every request of the scene, in order.
        """
        return tuple(each for answered in self.answered for each in answered.seen)


@frozen
class Promise:
    """
    Something that must hold.

    Attributes:
        name: which promise it is: P1 to P10, or a word.
        says: what is promised.
        fault: where a played scene breaks it; "" when it is kept.
    """

    name: str
    says: str
    fault: Callable[[Played], str]


@frozen
class Judged:
    """
    A promise, and where it is broken; "" when it is kept.
    """

    promise: Promise
    fault: str


@frozen(kw_only=True)
class Scene:
    """
    A scene.

    Attributes:
        title: its name.
        shows: one sentence.
        instructions: of the assistant.
        tools: of the assistant, at a desk.
        messages: of the person, on one conversation.
        promises: what must hold, beside what must hold in every scene.
    """

    title: str
    shows: str
    instructions: str
    tools: Callable[[Desk], tuple[AnyTool, ...]]
    messages: tuple[Message, ...]
    promises: tuple[Promise, ...] = ()
