"""
What a host may give for a loop and for one run of it: options by name, and a message.
"""

from collections.abc import Iterable, Mapping
from typing import TypedDict, cast

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Media, MediaLink, Part, Text, is_part
from rodada.statemachine.ports import AnyTool, Clock, History, Provider
from rodada.statemachine.prices import Price
from rodada.statemachine.run import Origin
from rodada.statemachine.toolbox import ToolList
from rodada.statemachine.wording import Wording

_KINDS: Mapping[str, type] = {"conversation": Conversation, "origin": Origin, "instructions": str, "limits": Limits}


class RunOptions(TypedDict, total=False):
    """
    What may differ for one run, beside `output_type`.

    Attributes:
        conversation: what was said before; None begins a new one.
        origin: who the run is for; never sent to a provider.
        instructions, tools, limits: instead of the loop's own.
        context: the host's own value, for tools that take a `Context`; never sent, never stored.
        stream: instead of the loop's own.
    """

    conversation: Conversation | None
    context: object
    origin: Origin | None
    instructions: str | None
    tools: Iterable[AnyTool] | ToolList | None
    limits: Limits | None
    stream: bool


class LoopOptions(TypedDict, total=False):
    """
    What may differ in a loop made from another one, beside `output_type`; the attributes are those of `ToolLoop`.
    """

    provider: Provider
    tools: Iterable[AnyTool] | ToolList
    instructions: str
    limits: Limits
    parallel: bool
    stream: bool
    wording: Wording
    prices: Iterable[Price]
    history: History | None
    clock: Clock


def check_options(options: Mapping[str, object]) -> None:
    """
    Raises:
        InvalidValue: an option that no run has, or one of another kind.
    """
    # Python passes every keyword on, so a misspelt one would be lost without a word.
    known = RunOptions.__annotations__
    unknown = [name for name in options if name not in known]
    if unknown:
        there = ", ".join([*known, "output_type"])
        raise InvalidValue(f"option {unknown[0]!r}", f"no run has it; these are there: {there}")
    for name, kind in _KINDS.items():
        if options.get(name) is not None:
            must_be(name, options[name], kind)


def must_be(what: str, value: object, kind: type) -> None:
    """
    Raises:
        InvalidValue: a value of another kind; it is not shown, for it may be content.
    """
    if not isinstance(value, kind):
        raise InvalidValue(what, f"takes a {kind.__name__}, got a {type(value).__name__}")


def message_parts(message: object) -> tuple[Part, ...]:
    """
    A message, given as text or as parts.

    Raises:
        InvalidValue: it is neither.
    """
    if isinstance(message, str):
        return (Text(message),)
    if isinstance(message, Text | Media | MediaLink) or not isinstance(message, Iterable):
        return _checked_parts((message,))
    return _checked_parts(tuple(cast("Iterable[object]", message)))


def _checked_parts(parts: tuple[object, ...]) -> tuple[Part, ...]:
    found = tuple(part for part in parts if is_part(part))
    if len(found) < len(parts):
        raise InvalidValue("message", "takes text, or parts such as Text('...') and Media.from_path('photo.png')")
    return found
