"""
The type that an answer shall have: what the model is told of it, and what an answer is read with.

Whether an answer has it is found out where its turn enters the run: one that has not is a malformed turn, and the
table does the rest.
"""

from typing import Protocol, TypeAlias

from attrs import evolve, field, frozen

from rodada.statemachine.messages import ModelTurn, Stop, merged
from rodada.statemachine.request import ModelRequest


@frozen
class Fits:
    """
    What an answer holds, as a value of the type.
    """

    value: object


@frozen
class Misfit:
    """
    Why an answer does not have the type, in a short line without a word of the model's.
    """

    told: str


Reading: TypeAlias = Fits | Misfit


class Output(Protocol):
    """
    A type of answers.
    """

    @property
    def schema(self) -> str:
        """
        JSON text of its JSON Schema, an object at its root.
        """
        ...

    def read(self, text: str) -> Reading:
        """
        What a text holds, or why it does not fit.
        """
        ...


@frozen
class Judged:
    """
    A turn as it enters the run, and what it holds where it is an answer that has the type.
    """

    turn: ModelTurn
    value: object = field(default=None, hash=False)


def judged(output: Output | None, request: ModelRequest, turn: ModelTurn) -> Judged:
    """
    The turn that answers a request: malformed where it is a whole answer that has not the type that was asked for.
    The pieces of a paused turn are read with the one that ends it.
    """
    answers = turn.stop is Stop.WHOLE and turn.has_words and not turn.requests
    if output is None or request.output_schema is None or not answers:
        return Judged(turn)
    match output.read(merged(request.held, turn).text):
        case Fits(value):
            return Judged(turn, value)
        case Misfit(told):
            return Judged(evolve(turn, stop=Stop.MALFORMED, stop_word=told))
