"""
What a provider is asked: one model call, as plain values. Every request is built here, from one selection that was
made once for the run, so none can hold an open call (fault F005).
"""

from collections import Counter
from collections.abc import Container

from attrs import field, frozen
from attrs.converters import optional

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonObject, clean_json, clean_text, parse_object
from rodada.statemachine.messages import Entry, ModelTurn
from rodada.statemachine.run import Run

LONGEST_ID = 200


@frozen
class ToolDeclaration:
    """
    A tool as the model is told of it.

    Attributes:
        name: unique in a loop.
        description: for the model.
        schema: JSON text of the arguments' JSON Schema, an object at its root.

    Raises:
        InvalidValue: the schema is not of type object.
    """

    name: str
    description: str = field(converter=clean_text)
    schema: str = field(default='{"type":"object","properties":{}}', converter=clean_json)

    def __attrs_post_init__(self) -> None:
        if self.schema_object.get("type") != "object":
            raise InvalidValue(f"ToolDeclaration {self.name}", "its schema must be a JSON object of type object")

    @property
    def schema_object(self) -> JsonObject:
        """
        The schema as a fresh object.
        """
        return parse_object(self.schema) or {}


@frozen(kw_only=True)
class ModelRequest:
    """
    One model call.

    Attributes:
        conversation: the stored conversation, whole; only `entries` is sent.
        start: index of this run's user message in it: the active turn begins there and is always sent whole.
        selected: index of the first entry that is sent.
        call: number of the call in its run.
        held: pieces of a paused turn, sent last, as received.
        instructions: the system instructions, the same in every call of a run.
        guidance: of the closing call; "" in every other. It belongs in the system instructions, in the form that
            the wire needs, and never in a tool result (promise P4).
        tools: what the model may ask for; declared in every call.
        tools_allowed: False in the closing call: tools stay declared but cannot be used.
        max_request_bytes: as in `Limits`.
        seconds: the time that this call may take; None is unlimited.
        stream: give the pieces of the turn to `watch` as they come.
        output_schema: JSON text of the JSON Schema that the answer shall fulfil, an object at its root; None when no
            type is asked for, as in the closing call. A turn that asks for tools need not fulfil it.
        lifted_schema: in the closing call, the one that the calls before asked for; None in every other. A provider
            that tells types in its instructions may have to leave them as they are.
    """

    conversation: Conversation
    start: int = 0
    selected: int = 0
    call: int = 1
    held: tuple[ModelTurn, ...] = ()
    instructions: str = field(default="", converter=clean_text)
    guidance: str = field(default="", converter=clean_text)
    tools: tuple[ToolDeclaration, ...] = ()
    tools_allowed: bool = True
    max_request_bytes: int | None = None
    seconds: float | None = None
    stream: bool = False
    output_schema: str | None = field(default=None, converter=optional(clean_json))
    lifted_schema: str | None = field(default=None, converter=optional(clean_json))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """
        The entries that are sent.
        """
        return self.conversation.entries[self.selected :]

    @property
    def active(self) -> int:
        """
        Index in `entries` at which the active turn begins.
        """
        return self.start - self.selected

    def request_ids(self, wire_ids: tuple[str | None, ...]) -> tuple[str, ...]:
        """
        Our ids for the requests of the turn that answers this call: the wire's own where usable and new in the
        conversation, else made from turn and position, so that a replay makes the same ones (faults F021-F023).
        """
        return chosen_ids(wire_ids, self.conversation.seen, len(self.conversation.entries))


def chosen_ids(wire_ids: tuple[str | None, ...], used: Container[str], turn: int) -> tuple[str, ...]:
    """
    Our ids for the requests of one turn: the wire's own where usable and not used before, else made from turn and
    position.
    """
    chosen: dict[str, None] = {}
    later = Counter(wire_id for wire_id in wire_ids if wire_id)
    for position, wire_id in enumerate(wire_ids):
        if wire_id:
            later[wire_id] -= 1
        if wire_id and _usable(wire_id) and wire_id not in chosen and wire_id not in used:
            chosen[wire_id] = None
            continue
        made = f"call_{turn}_{position}"
        while made in chosen or later.get(made) or made in used:
            made += "x"
        chosen[made] = None
    return tuple(chosen)


def _usable(wire_id: str) -> bool:
    return len(wire_id) <= LONGEST_ID and wire_id.isprintable() and wire_id.strip() == wire_id


def model_request(
    run: Run,
    instructions: str,
    tools: tuple[ToolDeclaration, ...],
    seconds: float | None,
    *,
    stream: bool = False,
    output_schema: str | None = None,
) -> ModelRequest:
    """
    The request of the run's call in hand. The closing call asks for no type: it is words for the person.
    """
    return ModelRequest(
        conversation=run.conversation,
        start=run.start,
        selected=run.selected,
        call=run.calls,
        held=run.held,
        instructions=instructions,
        guidance="" if run.reason is None else run.wording.closing_because(run.reason),
        tools=tools,
        tools_allowed=run.reason is None,
        max_request_bytes=run.limits.max_request_bytes,
        seconds=seconds,
        stream=stream,
        output_schema=output_schema if run.reason is None else None,
        lifted_schema=None if run.reason is None else output_schema,
    )
