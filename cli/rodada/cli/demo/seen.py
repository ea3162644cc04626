"""
A request as a promise looks at it: the same few words for every wire.
"""

from typing import TypeAlias

from attrs import frozen

from rodada.providers.loopback.json_values import Json, Object


@frozen
class Said:
    """
    A message without calls or results; `who` is "person", "model" or "engine".
    """

    who: str
    text: str


@frozen
class Asked:
    """
    What one turn of the model asked for: the ids of its calls.
    """

    ids: tuple[str, ...]


@frozen
class Answer:
    """
    The result of one call.
    """

    id: str
    text: str
    failed: bool


@frozen
class Answers:
    """
    One message of results, or one unbroken row of result items.
    """

    results: tuple[Answer, ...]


Item: TypeAlias = Said | Asked | Answers


@frozen
class Seen:
    """
    What the server received.

    Attributes:
        items: the history, one for each message.
        history: the same as it came.
        tools: names of the declared tools.
        may_use_tools: False when the choice is none.
        system: the system instructions that stand outside the history.
        bound: what may not change while a message is being answered.
    """

    items: tuple[Item, ...]
    history: tuple[Json, ...]
    tools: tuple[str, ...]
    may_use_tools: bool
    system: str
    bound: Object

    @property
    def answers(self) -> tuple[Answer, ...]:
        """
        Every result, in order.
        """
        return tuple(answer for item in self.items if isinstance(item, Answers) for answer in item.results)
