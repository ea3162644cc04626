"""
The conversation: an immutable sequence of entries that no one can make invalid.

`append` checks the new entry against the last one and the ids seen so far, and nothing else: earlier entries are never
looked at again, however long the history is.
"""

from collections.abc import Set

from attrs import Factory, evolve, field, frozen

from rodada.statemachine.codec import UNSTORED, decode, document, encode, read_document
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.identity import new_id
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.messages import Entry, Exchange, ModelTurn, Piece, Stop, UserMessage
from rodada.statemachine.stored_media import SINCE, media_apart, media_inside

FORMAT = "rodada.conversation"
VERSION = 2


def _check_entry(last: Entry | None, seen: Set[str], entry: Entry) -> None:
    if isinstance(entry, UserMessage):
        return
    if last is None:
        raise InvalidValue("Conversation", "it must start with a user message")
    if isinstance(last, ModelTurn):
        raise InvalidValue("Conversation", "after an answer only a user message may follow")
    if isinstance(entry, ModelTurn):
        _check_answer(entry)
    else:
        _check_ids(seen, entry)


def _check_answer(turn: ModelTurn) -> None:
    if turn.requests:
        raise InvalidValue("Conversation", "a turn with requests enters only as an Exchange, with its results")
    if turn.stop is not Stop.WHOLE or not turn.has_words:
        raise InvalidValue("Conversation", f"a {turn.stop.value} turn or a blank one is no answer")


def _check_ids(seen: Set[str], exchange: Exchange) -> None:
    again = [request.id for request in exchange.turn.requests if request.id in seen]
    if again:
        raise InvalidValue("Conversation", f"request ids {again} were used before in this conversation")


def _ids(entry: Entry) -> frozenset[str]:
    if isinstance(entry, Exchange):
        return frozenset(request.id for request in entry.turn.requests)
    return frozenset()


def _checked_ids(entries: tuple[Entry, ...]) -> frozenset[str]:
    """
    The ids of all requests; each entry is checked against those before it.
    """
    last: Entry | None = None
    seen: set[str] = set()
    for entry in entries:
        _check_entry(last, seen, entry)
        last = entry
        seen |= _ids(entry)
    return frozenset(seen)


@frozen(cache_hash=True)
class Conversation:
    """
    Entries that satisfy promise P1 by construction.

    Attributes:
        id: kept in its JSON; a conversation with one id is answered by one run at a time.
        entries: user messages, exchanges and answers.
        seen: ids of their requests.

    Raises:
        InvalidValue: an entry that may not stand where it stands.
    """

    id: str = field(factory=lambda: new_id("conversation"))
    entries: tuple[Entry, ...] = ()
    seen: frozenset[str] = field(
        default=Factory(lambda self: _checked_ids(self.entries), takes_self=True),
        eq=False,
        repr=False,
        alias="_seen",
        metadata=UNSTORED,
    )

    @property
    def last(self) -> Entry | None:
        """
        The newest entry.
        """
        return self.entries[-1] if self.entries else None

    def uses(self, request_id: str) -> bool:
        """
        Whether a request of this conversation has this id.
        """
        return request_id in self.seen

    def append(self, entry: Entry) -> "Conversation":
        """
        A new conversation with one entry more.

        Raises:
            InvalidValue: the entry may not stand there.
        """
        _check_entry(self.last, self.seen, entry)
        return Conversation(self.id, (*self.entries, entry), self.seen | _ids(entry))

    def branch(self) -> "Conversation":
        """
        The same entries under a new id, so that both can go on.
        """
        return evolve(self, id=new_id("conversation"))

    def without_reasoning(self) -> "Conversation":
        """
        The same entries with hidden reasoning and signatures left out; every wire accepts them in that form.
        """
        return Conversation(self.id, tuple(_bare_entry(entry) for entry in self.entries), self.seen)

    def to_json(self, *, reasoning: bool = False) -> JsonObject:
        """
        A JSON object that `from_json` reads, with equal media stored once; with `reasoning=True` hidden reasoning and
        signatures are in it.
        """
        kept = self if reasoning else self.without_reasoning()
        return document(FORMAT, VERSION, media_apart({"id": self.id, "entries": encode(kept.entries)}))

    @classmethod
    def from_json(cls, value: JsonValue) -> "Conversation":
        """
        The conversation that a JSON object holds.

        Raises:
            FormatError: not a conversation, a later format, or one that breaks promise P1.
        """
        version, content = read_document(FORMAT, VERSION, value)
        content = content if version < SINCE else media_inside(content)
        return decode(cls, {"type": cls.__name__, **content})


def _bare_pieces(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    return tuple(Piece(piece.bare, piece.bare) for piece in pieces if piece.bare is not None)


def _bare_entry(entry: Entry) -> Entry:
    if isinstance(entry, UserMessage):
        return entry
    if isinstance(entry, ModelTurn):
        return evolve(entry, native=_bare_pieces(entry.native))
    return evolve(entry, turn=evolve(entry.turn, native=_bare_pieces(entry.turn.native)))
