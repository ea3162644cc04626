"""
The calls of a turn as requests: which id each has, and which of our tools it names. One rule for all wires.
"""

from collections.abc import Callable, Sequence

from attrs import frozen

from rodada.statemachine.messages import ToolRequest
from rodada.statemachine.request import ModelRequest


@frozen
class WireCall:
    """
    A call as it came.

    Attributes:
        id: the wire's own; "" where it gave none.
        name: of the tool, as the wire has it.
        raw: the arguments as text.
    """

    id: str
    name: str
    raw: str


def requests_of(
    calls: Sequence[WireCall], request: ModelRequest, wire_name: Callable[[str], str]
) -> tuple[ToolRequest, ...]:
    """
    The requests that some calls are: their ids are new in the conversation of `request`, and names that `wire_name` had
    to mend are those of its tools again.
    """
    wire_ids = tuple(call.id or None for call in calls)
    names = {wire_name(tool.name): tool.name for tool in request.tools}
    return tuple(
        ToolRequest(own, names.get(call.name, call.name), call.raw, wire_id)
        for own, wire_id, call in zip(request.request_ids(wire_ids), wire_ids, calls, strict=True)
    )
