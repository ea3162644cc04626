"""
A model that plays a script: the public test double, in Python or in a JSON file.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from rodada.providers.scripted_turns import WIRE as WIRE
from rodada.providers.scripted_turns import Call as Call
from rodada.providers.scripted_turns import Turn as Turn
from rodada.providers.scripted_turns import parse_script, read_script
from rodada.statemachine.errors import FormatError, InvalidValue, ProviderError
from rodada.statemachine.jsontext import JsonValue, dump_json
from rodada.statemachine.messages import Entry, Exchange, ModelTurn, ToolRequest, UserMessage
from rodada.statemachine.notice import ArgumentsDelta, TextDelta
from rodada.statemachine.ports import Watch
from rodada.statemachine.request import ModelRequest

Says: TypeAlias = Turn | ModelTurn
Reply: TypeAlias = Callable[[ModelRequest], Says]
WORDS = re.compile(r"\S+\s*|\s+")


class Scripted:
    """
    A model that says what a script tells it to, and remembers what it was shown.

    One script is one conversation's: its turns are given in the order of the calls, whoever makes them. For runs at
    the same time give a `reply` instead, which answers each request by what is in it.

    Nothing is judged: a script may ask for tools in the closing call, repeat an id, say nothing, or stop for any
    reason, so that tests see what the loop makes of it. The JSON form is a list of turns, or an object with `turns`
    and `closing`; every field of a turn may be left out:

        {
          "turns": [
            {"text": "Let me look.",
             "calls": [{"name": "read_log", "arguments": {"exercise": "bench press"}}],
             "usage": {"input_tokens": 120, "output_tokens": 15}},
            {"error": {"class": "ProviderOverloaded", "message": "busy", "retryable": true, "retry_after": 0.5}},
            {"calls": [{"name": "save_goal", "arguments": "{\\"kg\\": ", "id": "toolu_1"}], "stop": "cut"},
            {"text": "You lift 5 kg more.", "stop": "whole", "seconds": 2}
          ],
          "closing": {"text": "I looked, but saved nothing yet. Shall I go on?"}
        }

    - `arguments`: an object, or text that is sent as it is.
    - `id`: as a wire would give it; without one the wire gave none.
    - `stop`: whole, cut, paused, malformed, refused or unknown.
    - `seconds`: to wait before the reply.
    - `error`: the call fails, after its text where it streams; its `class` is `ProviderError` or one of its subclasses
      in `rodada.statemachine.errors`.

    >>> model = Scripted([Turn("Let me look.", [Call("read_log", {"weeks": 4})]), Turn("You lift 5 kg more.")])
    >>> model
    Scripted(2 turns left)

    Args:
        turns: what it says, call by call. A `ModelTurn` is given as it is.
        closing: what it says whenever tools are not allowed; None takes the next turn for that too.
        reply: answers each request, instead of turns.

    Raises:
        InvalidValue: a `reply` beside turns, or something that is no turn.
    """

    def __init__(self, turns: Iterable[Says] = (), *, closing: Says | None = None, reply: Reply | None = None) -> None:
        self._turns = tuple(turns)
        self._closing = closing
        self._reply = reply
        self._waiting = deque(enumerate(self._turns))
        self._requests: list[ModelRequest] = []
        self._closed = False
        _check(self._turns if closing is None else (*self._turns, closing))
        if reply is not None and (self._turns or closing is not None):
            raise InvalidValue("Scripted.reply", "answers every request: give no turns and no closing beside it")

    def __repr__(self) -> str:
        return "Scripted(reply)" if self._reply is not None else f"Scripted({len(self._waiting)} turns left)"

    @classmethod
    def from_json(cls, value: JsonValue) -> "Scripted":
        """
        A script from its JSON form.

        Raises:
            FormatError: malformed; `path` is the place, such as `turns[2].calls[0].arguments`.
        """
        turns, closing = read_script(value)
        return cls(turns, closing=closing)

    @classmethod
    def from_file(cls, path: str | Path) -> "Scripted":
        """
        A script from a JSON file.

        Raises:
            FormatError: it cannot be read, is no JSON, or is malformed.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise FormatError(str(path), f"cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise FormatError(str(path), "expected JSON in UTF-8") from None
        turns, closing = parse_script(text, f"{path}: ")
        return cls(turns, closing=closing)

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """
        Every request so far.
        """
        return tuple(self._requests)

    @property
    def shown(self) -> tuple[str, ...]:
        """
        Every request so far as plain lines, for people and for tests.
        """
        return tuple("\n".join(_lines(request)) for request in self._requests)

    @property
    def streams(self) -> bool:
        """
        It can: text comes word by word, and the arguments of each request whole.
        """
        return True

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        """
        The next turn of the script. A turn with text and an error says the text, where it streams, and then fails.

        Raises:
            ProviderError: the script says so, or it is used up.
        """
        self._requests.append(request)
        says = self._next(request)
        if isinstance(says, ModelTurn):
            return await _said(says, request, watch)
        if says.seconds:
            await asyncio.sleep(says.seconds)
        turn = await _said(says.reply(request), request, watch)
        if says.error is not None:
            raise says.error
        return turn

    def assert_all_used(self) -> None:
        """
        Raises:
            AssertionError: something of the script was never said.
            InvalidValue: there is no script, but a `reply`.
        """
        if self._reply is not None:
            raise InvalidValue("assert_all_used", "a reply has no turns that could be used up")
        left = [f"turns[{index}]" for index, _ in self._waiting]
        if self._closing is not None and not self._closed:
            left.append("closing")
        if left:
            raise AssertionError(f"never used: {', '.join(left)}, in {len(self._requests)} calls")

    def _next(self, request: ModelRequest) -> Says:
        if self._reply is not None:
            return self._reply(request)
        if self._closing is not None and not request.tools_allowed:
            self._closed = True
            return self._closing
        if not self._waiting:
            told = f"the script is used up: it has {len(self._turns)} turns, and call {request.call} wants another"
            raise ProviderError(WIRE, told, code="script_used_up")
        return self._waiting.popleft()[1]


async def _said(turn: ModelTurn, request: ModelRequest, watch: Watch) -> ModelTurn:
    if not request.stream:
        return turn
    for word in WORDS.findall(turn.text):
        watch(TextDelta(word))
        await asyncio.sleep(0)
    for position, each in enumerate(turn.requests):
        watch(ArgumentsDelta(position, each.name, each.raw))
    return turn


def _check(turns: tuple[object, ...]) -> None:
    for index, turn in enumerate(turns):
        if not isinstance(turn, Turn | ModelTurn):
            raise InvalidValue(f"Scripted.turns[{index}]", f"expected a Turn or a ModelTurn, got {turn!r:.120}")


def _lines(request: ModelRequest) -> Iterator[str]:
    names = ", ".join(tool.name for tool in request.tools) or "none"
    yield f"call {request.call}, tools {'' if request.tools_allowed else 'not '}allowed: {names}"
    for word, text in (("instructions", request.instructions), ("guidance", request.guidance)):
        if text:
            yield f"{word}: {dump_json(text)}"
    if request.output_schema is not None:
        yield f"output: {request.output_schema}"
    for entry in request.entries:
        yield from _entry_lines(entry)
    yield from (f"model, paused: {dump_json(turn.text)}" for turn in request.held)


def _entry_lines(entry: Entry) -> Iterator[str]:
    if isinstance(entry, UserMessage):
        yield f"user: {dump_json(entry.told)}"
        return
    turn = entry.turn if isinstance(entry, Exchange) else entry
    if turn.text:
        yield f"model: {dump_json(turn.text)}"
    yield from (_asked(request) for request in turn.requests)
    if isinstance(entry, Exchange):
        yield from (f"result {each.id}, {each.status.value}: {dump_json(each.told)}" for each in entry.results)


def _asked(request: ToolRequest) -> str:
    return f"asks {request.id}: {request.name} {request.raw}"
