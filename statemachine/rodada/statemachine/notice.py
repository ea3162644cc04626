"""
What every notice to a watcher has, and the notices that a provider gives: pieces of a turn as they come.
"""

from attrs import field, frozen

from rodada.statemachine.codec import encode
from rodada.statemachine.jsontext import JsonObject, clean_text


@frozen(kw_only=True)
class Notice:
    """
    Something that a watcher sees.

    Attributes:
        n: its number in the run, from 1; 0 until it is told. Of a `Gap` and of `SoFar`, the last one left out.
        call: number of the model call in hand, or of the last one.
        attempt: which try of that call it is, from 1.
    """

    n: int = 0
    call: int = 0
    attempt: int = 0

    def to_json(self) -> JsonObject:
        """
        The notice as one JSON object, its class's name under "type".
        """
        return encode(self)  # type: ignore[return-value]  # of an attrs value it is an object


@frozen
class TextDelta(Notice):
    """
    Visible text that the model has just said.
    """

    text: str = field(converter=clean_text)


@frozen
class ReasoningDelta(Notice):
    """
    A piece of the summary of its reasoning, where the host asked for one; it is never stored.
    """

    text: str = field(converter=clean_text)


@frozen
class ArgumentsDelta(Notice):
    """
    A piece of the arguments that the model writes for the request at `position` of the turn. Nothing of it runs before
    the turn is whole.
    """

    position: int
    name: str = field(converter=clean_text)
    text: str = field(converter=clean_text)


Delta = TextDelta | ReasoningDelta | ArgumentsDelta
