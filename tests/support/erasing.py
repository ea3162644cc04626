"""
Content erased from a value, facts kept: what is left is all that a guard may look at.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeVar, cast

import attrs
from attrs import evolve

from rodada.statemachine.ballot import Vote
from rodada.statemachine.events import ApprovalDecided, CancelRequested, Failure
from rodada.statemachine.messages import ModelTurn, Status, Text, ToolRequest, ToolResult, UserMessage
from rodada.statemachine.run import Ending, Run

T = TypeVar("T")
ERASED = (Text("erased"),)  # of a person's message: a blank one cannot be built


def erased(value: T) -> T:
    """
    The value without its content: texts, arguments, native pieces, words of people and messages of failures.
    """
    if isinstance(value, tuple):
        return cast(T, tuple(erased(item) for item in cast("tuple[object, ...]", value)))
    if not attrs.has(type(value)):
        return value
    return cast(T, _erased(value))


@cache
def _erased(value: object) -> object:
    build = cast("Callable[..., object]", type(value))
    return _without_content(build(**dict(_parts(value))))


def _parts(value: object) -> Iterator[tuple[str, object]]:
    for field in attrs.fields(cast("type[attrs.AttrsInstance]", type(value))):
        if field.init:
            part = getattr(value, field.name)
            yield field.alias or field.name, part if field.name == "wording" else erased(part)


def _without_content(value: object) -> object:
    match value:
        case UserMessage():
            return evolve(value, content=ERASED)
        case ModelTurn():
            return evolve(value, text="", stop_word="", native=())
        case ToolRequest():
            return evolve(value, raw="")
        case ToolResult(status=Status.DENIED):
            return evolve(value, content=(), size=0, digest="")  # a denial's text is what a person said
        case ToolResult():
            return evolve(value, content=())
        case Failure():
            return evolve(value, message="")
        case ApprovalDecided() | Vote():
            return evolve(value, reason="")
        case CancelRequested() | Run():
            return evolve(value, detail="")
        case Ending():
            return evolve(value, detail="", answer="", partial="")
        case _:
            return value
