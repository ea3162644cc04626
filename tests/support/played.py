"""
A script being played: the loopback server asks it for replies, the tools ask it what to do.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from itertools import count

from attrs import evolve, field, frozen

from rodada.providers import loopback
from rodada.providers.loopback import Broken, Call, Hang, Received, Turn, WireName
from rodada.statemachine import (
    AnyTool,
    LiveRun,
    Media,
    Notice,
    Part,
    PlannedCall,
    TextDelta,
    ToolCall,
    ToolDeclaration,
    ToolRequest,
)
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.scheduling import Touches
from rodada.tools import ToolError, ToolResultParts, tool
from support.heard import heard
from support.turn_scripts import (
    AGAIN,
    BROKEN_OFF,
    HELD_FRAMES,
    IMAGE,
    LONE,
    MADE_IDS,
    PAPER,
    PHOTO_LINK,
    STORED,
    Ask,
    Break,
    Hold,
    Message,
    Reply,
    Say,
)
from support.virtual_clock import VirtualClock

NAMES = ("fetch", "store", "notes.read all")
INSTRUCTIONS = "You keep the notes of a gym."
DEADLINE, END = 9000.0, 10_001.0
TOOL_SECONDS = 200.0
WITH_TEXT_ARGUMENTS = ("openai", "openai_chat")
SHARED: dict[str, object] = {"kept": [1, 2, {"three": 3}]}


@frozen
class Told:
    """
    A reply as it was given to a request.
    """

    received: Received
    reply: Reply


class Play:
    """
    One message of a script being answered; `serial` is the script's own number.

    Attributes:
        told: the replies so far.
        ran: the numbers of the calls whose function ran, in order.
        acts: what each numbered call does.
    """

    def __init__(self, message: Message, serial: int, numbers: Iterator[int]) -> None:
        self.clock = VirtualClock()
        self.live: LiveRun | None = None
        self.told: list[Told] = []
        self.ran: list[int] = []
        self.acts: dict[int, str] = {}
        self._message = message
        self._serial = serial
        self._first = next(numbers)
        self._numbers = numbers
        self._loop: asyncio.AbstractEventLoop | None = None
        self._held: tuple[Hold, Received] | None = None

    @property
    def says(self) -> str | tuple[Part, ...]:
        """
        What the person says.
        """
        return self._message.says

    def watch(self, live: LiveRun) -> None:
        """
        The run that the script may cancel.
        """
        self.live = live
        self._loop = asyncio.get_running_loop()

    def __call__(self, received: Received) -> loopback.Reply:
        """
        The reply to a request, asked for in the server's thread.
        """
        at = len(self.told)
        wanted = self._message.replies[at] if at < len(self._message.replies) else self._tail()
        reply = _sayable(wanted, received.wire) if isinstance(wanted, Say) else wanted
        self.told.append(Told(received, reply))
        match reply:
            case Break():
                return reply.fault
            case Hold() if streams(received):
                self._held = reply, received
                return Broken(BROKEN_OFF, HELD_FRAMES, "hang")
            case Hold():
                self._interrupt(reply, received)
                return Hang()
            case Say():
                return self._turn(reply, received)

    def hear(self, notice: Notice) -> None:
        """
        What a watcher sees: the first words of a turn that is held.
        """
        if self._held is not None and isinstance(notice, TextDelta):
            held, self._held = self._held, None
            self._interrupt(*held)

    def cancel(self) -> None:
        """
        Cancel the run, from any thread.
        """
        if self.live is not None:
            self.live.cancel("enough")

    def pass_time(self, until: float = DEADLINE) -> None:
        """
        Let time pass, from any thread.
        """
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.clock.move_to, until)

    def _interrupt(self, hold: Hold, received: Received) -> None:
        told = heard(received)
        closing = told.aside or told.system != INSTRUCTIONS  # such a call has all the time that is left
        self.cancel() if hold.cancels else self.pass_time(END if closing else DEADLINE)

    def _tail(self) -> Reply:
        return Say("", (Ask(),), reasoning=True) if self._message.asks_on else Say("All done.", reasoning=True)

    def _turn(self, say: Say, received: Received) -> Turn:
        declared = heard(received).tools
        calls = [self._call(ask, declared, received.wire) for ask in say.asks]
        if say.stop == "malformed" and received.wire == "anthropic":  # such a turn contradicts itself
            return Turn(say.text, calls, "whole", say.reasoning, word="end_turn" if calls else "tool_use")
        if say.stop == "malformed" and received.wire == "openai_chat":
            return Turn(say.text, calls, "whole", say.reasoning, word="tool_calls")
        return Turn(say.text, calls, say.stop, say.reasoning)

    def _call(self, ask: Ask, declared: tuple[str, ...], wire: WireName) -> Call:
        name = declared[ask.tool] if ask.tool < len(declared) else ask.unknown
        wire_id = self._wire_id(ask, wire)
        if ask.arguments is None:
            number = next(self._numbers)
            self.acts[number] = ask.act
            return Call(name, {"n": number}, wire_id)
        return Call(name, _sayable_arguments(ask.arguments, wire), wire_id)

    def _wire_id(self, ask: Ask, wire: WireName) -> str | None:
        # The server knows Anthropic's turns by their ids, in all conversations: one must not pass for another.
        if wire == "anthropic" and ask.id in (AGAIN, *MADE_IDS):
            return f"{AGAIN}-{self._serial}-{self._first}"
        if wire != "anthropic" and ask.id == LONE:
            return None  # their servers know a turn by its ids, and ids of theirs are UTF-8
        return f"{AGAIN}-{self._serial}" if ask.id == AGAIN else ask.id


def streams(received: Received) -> bool:
    """
    Whether a request asks for a stream.
    """
    return received.body.get("stream") is True or "streamGenerateContent" in received.path


def is_unreadable(say: Say, received: Received) -> bool:
    """
    Whether a turn comes as no JSON, for its arguments hold numbers that JSON does not know. OpenAI's are a text, and
    so are Anthropic's where they stream.
    """
    raw = "".join(ask.arguments or "" for ask in say.asks)
    as_text = received.wire in WITH_TEXT_ARGUMENTS or (received.wire == "anthropic" and streams(received))
    return not as_text and ("NaN" in raw or "1e400" in raw)


def _sayable(say: Say, wire: WireName) -> Say:
    """
    The turn with a stop that the wire has words for: OpenAI knows no pause, but commentary without an answer, and on
    the older wire calls that are announced and not there.
    """
    if wire == "anthropic" and say.stop == "paused":
        return evolve(say, text=say.text.replace("\ud83d", "?"))  # the server knows a paused turn by its words
    if wire not in WITH_TEXT_ARGUMENTS or say.stop not in ("paused", "malformed"):
        return say
    if wire == "openai_chat":  # with calls such a turn is as good as any
        return evolve(say, stop="whole") if say.asks else evolve(say, stop="malformed")
    if say.stop == "paused":
        return evolve(say, stop="whole") if say.asks else evolve(say, text=say.text or "One moment.")
    return Say(say.text or "One moment.", (), "paused", say.reasoning)


def _sayable_arguments(raw: str, wire: WireName) -> str:
    if wire in WITH_TEXT_ARGUMENTS:
        return raw
    try:
        json.loads(raw or "{}")
    except ValueError:
        return '{"broken": true}'
    return raw


# Tools


def tools_of(play: Callable[[], Play]) -> tuple[AnyTool, ...]:
    """
    Three tools that do what the script says: an async one, a sync one, one with a name that no wire takes.
    """

    @tool(reads="log")
    async def fetch(n: int) -> object:
        """Fetch an entry."""
        return await _async_act(play(), n)

    @tool
    def store(n: int) -> object:
        """Store an entry."""
        return _sync_act(play(), n)

    @tool(idempotent=True)
    async def notes(n: int) -> object:
        """Read notes."""
        return await _async_act(play(), n)

    return fetch, store, Renamed(NAMES[2], notes)


@frozen
class Renamed:
    """
    A tool of another origin: its name need not be one that the wires take.
    """

    name: str
    tool: AnyTool = field(repr=False)

    @property
    def declaration(self) -> ToolDeclaration:
        return evolve(self.tool.declaration, name=self.name)

    def planned(self, request: ToolRequest) -> PlannedCall | None:
        return self.tool.planned(request)

    def seconds(self, usual: float | None) -> float | None:
        return self.tool.seconds(usual)

    @property
    def declared(self) -> bool:
        return self.tool.declared

    def touches(self, request: ToolRequest) -> Touches:
        return self.tool.touches(request)

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        return self.tool.call(request, setting)


async def _async_act(play: Play, n: int) -> object:
    play.ran.append(n)
    act = play.acts.get(n, "text")
    match act:
        case "slow":
            await asyncio.sleep(0)
        case "cancel" | "cancel and hang":
            play.cancel()
        case "deadline" | "deadline and hang":
            play.pass_time()
        case "time out":
            play.pass_time(play.clock.mono() + TOOL_SECONDS)
        case "cancel itself":
            raise asyncio.CancelledError
        case _:
            pass
    if act in ("cancel and hang", "deadline and hang", "time out"):
        await asyncio.Event().wait()
    return _value(act, n)


def _sync_act(play: Play, n: int) -> object:
    play.ran.append(n)
    act = play.acts.get(n, "text")
    match act:
        case "slow":
            time.sleep(0)
        case "cancel" | "cancel and hang":
            play.cancel()
        case "deadline" | "deadline and hang":
            play.pass_time()
        case "cancel itself":
            raise asyncio.CancelledError
        case _:
            pass
    return _value(act, n)


class _OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("this exception cannot even be shown")


async def _coroutine() -> None:
    await asyncio.sleep(0)


def _endless() -> list[object]:
    made: list[object] = []
    made.append(made)
    return made


def _value(act: str, n: int) -> object:
    match act:
        case "raise":
            raise ValueError("a secret that no model may read")
        case "tell":
            raise ToolError("there is no such entry \ud83d")
        case "raise odd":
            raise _OddError
        case "return an error":
            return KeyError(n)
        case "nothing":
            return None
        case "empty":
            return ""
        case "huge":
            return "tall story " * 2000
        case "surrogate":
            return {"\ud83d": "\ude00 \x00"}
        case "nan":
            return [float("nan"), float("inf"), -0.0]
        case "bytes":
            return b"\xff\x00"
        case "object":
            return object()
        case "endless":
            return _endless()
        case "ref":
            return {"$ref": "#/defs/x", "n": n}
        case "coroutine":
            return _coroutine()
        case "generator":
            return (each for each in (1, 2))
        case "set":
            return {3, 1, 2}
        case "shared":
            return SHARED
        case "image":
            return IMAGE if n % 2 else IMAGE.bytes
        case "parts":
            return [f"entry {n}", IMAGE, PAPER, Media.of(b"GIF89a", "image/gif"), {"n": n}, "tall story " * 500]
        case "failed parts":
            return ToolResultParts(["disk full", IMAGE, " ", PAPER], failed=True)
        case "links":
            return [f"entry {n}", PHOTO_LINK, STORED]
        case "odd media":
            return [Media.of(b"BM", "image/bmp"), Media.of(b"no", "image/png"), Media.of(b"a,b", "text/csv")]
        case _:
            return f"entry {n}"


def numbered() -> Iterator[int]:
    """
    A number for each call with good arguments.
    """
    return count(1000)
