"""
What stored messages say, in the order in which they are stored and without a look at the wire: the words between the
reading of a wire and the repair.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from attrs import field, frozen

from rodada.providers.import_reading import Place
from rodada.providers.imported import Change
from rodada.statemachine.codec import encode
from rodada.statemachine.jsontext import JsonValue, dump_json
from rodada.statemachine.messages import Media, MediaLink, Part, Piece, Status, Text


@frozen
class Said:
    """
    What the person said.
    """

    place: Place
    parts: tuple[Part, ...]

    @property
    def is_blank(self) -> bool:
        """
        Whether there is nothing to see.
        """
        return not any(not isinstance(part, Text) or part.text.strip() for part in self.parts)

    @property
    def told(self) -> str:
        """
        What was said, as JSON; "" for nothing.
        """
        return dump_json(encode(self.parts)) if self.parts else ""


@frozen
class Call:
    """
    A call that the model asked for.

    Attributes:
        id: as stored; None where there is none.
        raw: the arguments' text.
    """

    place: Place
    id: str | None
    name: str
    raw: str


@frozen
class Turn:
    """
    What the model said in one turn.

    Attributes:
        native: the pieces, in the form in which the wire takes them back.
    """

    place: Place
    text: str = ""
    calls: tuple[Call, ...] = ()
    native: tuple[Piece, ...] = field(default=(), repr=False)

    @property
    def is_blank(self) -> bool:
        """
        Whether it says nothing and asks for nothing.
        """
        return not self.calls and not self.text.strip()

    @property
    def told(self) -> str:
        """
        The turn as JSON, without hidden reasoning; "" for nothing.
        """
        calls: list[JsonValue] = [{"id": each.id, "name": each.name, "arguments": each.raw} for each in self.calls]
        bare: list[JsonValue] = [piece.bare for piece in self.native if piece.bare is not None]
        said = self.text or calls or bare
        return dump_json({"text": self.text, "calls": calls, "pieces": bare}) if said else ""


@frozen
class Result:
    """
    The result of a call.

    Attributes:
        id: of its call; None where it names none.
        name: of its tool, where the wire says it.
        is_misplaced: whether it stands where the wire takes none, such as among the words of the model.
    """

    place: Place
    id: str | None
    parts: tuple[Part, ...]
    status: Status = Status.SUCCEEDED
    name: str | None = None
    is_misplaced: bool = False

    @property
    def told(self) -> str:
        """
        Its content as JSON.
        """
        return dump_json(encode(self.parts))


Step: TypeAlias = Said | Turn | Result


def said_between(place: Place, found: Iterable[Part | Result | Change]) -> Iterator[Step | Change]:
    """
    The steps of a message in which parts of the person's and results may stand side by side: what stands between two
    results is one saying. A message with nothing in it is one too, a blank one.
    """
    said: list[Part] = []
    has_results = False
    for each in found:
        if isinstance(each, Text | Media | MediaLink):
            said.append(each)
            continue
        if isinstance(each, Result):
            has_results = True
            if said:
                yield Said(place, tuple(said))
            said = []
        yield each
    if said or not has_results:
        yield Said(place, tuple(said))


def joined(turns: Sequence[Turn]) -> Turn:
    """
    Turns in a row as one.
    """
    if len(turns) == 1:
        return turns[0]
    return Turn(
        turns[0].place,
        "\n\n".join(turn.text for turn in turns if turn.text),
        tuple(call for turn in turns for call in turn.calls),
        tuple(piece for turn in turns for piece in turn.native),
    )
