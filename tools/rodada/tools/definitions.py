"""
What may be a tool at all: something that can be called once for one result, under a name that every wire takes.
"""

import inspect
import re

from rodada.statemachine.ports import AnyTool
from rodada.tools.errors import ToolDefinitionError
from rodada.tools.signatures import place_of

LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def defined_place(function: object) -> str:
    """
    Where a function is defined.

    Raises:
        ToolDefinitionError: it cannot be called for one result.
    """
    if isinstance(function, AnyTool):
        raise ToolDefinitionError(function.declaration.name, "it is a tool already: use @tool once")
    if not callable(function) or isinstance(function, type):
        raise ToolDefinitionError(f"{function!r:.80}", "it is no function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(place_of(function), "it yields, and a tool has one result: return it")
    return place_of(function)


def legal_name(place: str, name: object) -> str:
    """
    The name, which is one that no wire has to mend.

    Raises:
        ToolDefinitionError: it is none.
    """
    if not isinstance(name, str) or not LEGAL_NAME.fullmatch(name):
        wanted = "1 to 64 letters, digits, _ and -"
        raise ToolDefinitionError(place, f"{name!r:.80} is no legal name ({wanted}): pass name=...")
    return name
