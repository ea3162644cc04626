"""
Input items, and which of them make a turn.
"""

from attrs import frozen

from rodada.providers.loopback.json_values import Object, objs, text

CALLS = ("function_call", "custom_tool_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")
_FROM_OUTSIDE = (*OUTPUTS, "item_reference", "mcp_approval_response")


@frozen
class Item:
    """
    One item of the input.
    """

    at: int
    type: str
    fields: Object

    @property
    def id(self) -> str:
        return text(self.fields.get("id"))

    @property
    def call_id(self) -> str:
        return text(self.fields.get("call_id"))

    @property
    def by_model(self) -> bool:
        """
        Whether the model made it: such items in a row are a turn.
        """
        if self.type == "message":
            return self.fields.get("role") == "assistant"
        return self.type not in _FROM_OUTSIDE


def items_of(body: Object) -> tuple[Item, ...]:
    """
    The input of a request, read leniently; a string is one message.
    """
    said = body.get("input")
    fields: list[Object] = [{"role": "user", "content": said}] if isinstance(said, str) else objs(said)
    return tuple(Item(at, kind(each), each) for at, each in enumerate(fields))


def kind(fields: Object) -> str:
    """
    The item's type; a message may leave it out.
    """
    return text(fields.get("type")) or ("message" if "role" in fields else "")
