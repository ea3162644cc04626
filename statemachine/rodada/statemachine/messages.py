"""
The entries of a conversation: what the person said, what the model asked or answered, what each call gave.

An entry that exists is legal: it checks itself when it is built. Guards read an entry's facts only (`stop`,
`has_words`, ids, names, statuses, sizes, digests); texts, arguments and native pieces are content, which may be
erased without changing what the machine does.
"""

import enum
from collections.abc import Iterable
from typing import TypeAlias, cast

from attrs import Factory, field, frozen
from attrs.converters import optional

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonObject, clean_text, digest_arguments, digest_text, parse_object


def _check_kind(what: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise InvalidValue(what, f"takes a {kind.__name__}, got {value!r:.80}")


def _check_row(what: str, value: object, kind: type) -> None:
    if not isinstance(value, tuple) or not all(isinstance(each, kind) for each in cast("tuple[object, ...]", value)):
        raise InvalidValue(what, f"takes a tuple of {kind.__name__}, got {value!r:.80}")


def _check_count(what: str, value: object) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise InvalidValue(what, f"takes a number of tokens or None, got {value!r:.80}")


class Stop(enum.Enum):
    """
    Why a model turn ended, in our words; the wire's own word stands beside it.
    """

    WHOLE = "whole"
    CUT = "cut"
    PAUSED = "paused"
    MALFORMED = "malformed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Status(enum.Enum):
    """
    What is true of a call (promise P5).
    """

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    NOT_EXECUTED = "not_executed"
    DENIED = "denied"
    OUTCOME_UNKNOWN = "outcome_unknown"


@frozen
class Text:
    """
    A piece of text in a message or a result.
    """

    text: str = field(converter=clean_text)


Part: TypeAlias = Text


def plain_text(parts: Iterable[Part]) -> str:
    """
    The text of some parts, joined.
    """
    return "".join(part.text for part in parts)


@frozen
class Usage:
    """
    Tokens of one model call, with one meaning on every wire; None is "not told", never zero.

    Attributes:
        input_tokens: all input, cached and written to the cache included.
        cached_input_tokens: the part of the input that was read from a cache.
        cache_write_tokens: the part of the input that was written to a cache.
        output_tokens: all output, reasoning included.
        reasoning_tokens: the part of the output that is hidden reasoning.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"):
            _check_count(f"Usage.{name}", getattr(self, name))

    @property
    def total(self) -> int:
        """
        Input and output together, as far as told.
        """
        return (self.input_tokens or 0) + (self.output_tokens or 0)


@frozen
class Piece:
    """
    One block, item or part of a turn, as JSON text.

    Attributes:
        received: as the wire sent it.
        bare: the same without hidden reasoning and signatures; None when nothing is left.
    """

    received: str = field(repr=False)
    bare: str | None = field(repr=False)


@frozen(cache_hash=True)
class ToolRequest:
    """
    One call that the model asks for.

    Attributes:
        id: ours, unique in the conversation.
        name: the tool's name as the model wrote it.
        raw: the arguments' text as received.
        wire_id: the wire's own id, or None where it gave none.
        digest: of the arguments, whatever their key order.
    """

    id: str
    name: str = field(converter=clean_text)
    raw: str = field(converter=clean_text)
    wire_id: str | None = field(default=None, converter=optional(clean_text))
    digest: str = Factory(lambda self: digest_arguments(self.raw), takes_self=True)

    def __attrs_post_init__(self) -> None:
        _check_kind("ToolRequest.id", self.id, str)
        if not self.id:
            raise InvalidValue("ToolRequest.id", "an id must not be empty; make one from turn and position")

    @property
    def arguments(self) -> JsonObject | None:
        """
        The arguments as a fresh object; None when the text is no JSON object.
        """
        return parse_object(self.raw)


@frozen(cache_hash=True)
class ToolResult:
    """
    The one result of a request; build it with `ToolResult.of(request, ...)`.

    Attributes:
        id: the request's id.
        status: what is true of the call.
        content: what the model is told.
        size: characters of the content.
        digest: of the content.
    """

    id: str
    status: Status
    content: tuple[Part, ...]
    size: int = Factory(lambda self: len(plain_text(self.content)), takes_self=True)
    digest: str = Factory(lambda self: digest_text(plain_text(self.content)), takes_self=True)

    @classmethod
    def of(cls, request: ToolRequest, status: Status, text: str) -> "ToolResult":
        """
        The result of a request.
        """
        return cls(request.id, status, (Text(text),))

    @property
    def text(self) -> str:
        """
        The content as plain text.
        """
        return plain_text(self.content)


@frozen(cache_hash=True)
class UserMessage:
    """
    What the person said.
    """

    id: str
    content: tuple[Part, ...]

    def __attrs_post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidValue("UserMessage", "a message must say something: every wire refuses a blank one")

    @property
    def text(self) -> str:
        """
        The content as plain text.
        """
        return plain_text(self.content)


@frozen(cache_hash=True)
class ModelTurn:
    """
    One reply of the model. Without requests it is an answer; with requests it enters a conversation only inside
    an `Exchange`.

    Attributes:
        stop: why it ended, in our words.
        stop_word: the wire's own word.
        text: all visible text.
        requests: the calls that it asks for; only a whole or a cut turn may carry any.
        usage: tokens of the call.
        native: the pieces as received, for the wire that sent them.
        wire: the wire that sent them; "" when there are none.
        model: the model that served.
        response_id: the vendor's id of the reply.
        has_words: whether the visible text is more than blanks.
    """

    stop: Stop
    text: str = field(default="", converter=clean_text)
    requests: tuple[ToolRequest, ...] = ()
    stop_word: str = field(default="", converter=clean_text)
    usage: Usage = Usage()
    native: tuple[Piece, ...] = ()
    wire: str = ""
    model: str = field(default="", converter=clean_text)
    response_id: str = field(default="", converter=clean_text)
    has_words: bool = Factory(lambda self: bool(self.text.strip()), takes_self=True)

    def __attrs_post_init__(self) -> None:
        _check_kind("ModelTurn.stop", self.stop, Stop)
        _check_kind("ModelTurn.usage", self.usage, Usage)
        _check_row("ModelTurn.requests", self.requests, ToolRequest)
        _check_row("ModelTurn.native", self.native, Piece)
        if self.requests and self.stop not in (Stop.WHOLE, Stop.CUT):
            raise InvalidValue("ModelTurn", f"a {self.stop.value} turn must not carry requests")
        if len({request.id for request in self.requests}) != len(self.requests):
            raise InvalidValue("ModelTurn", "two requests share an id")


@frozen(cache_hash=True)
class Exchange:
    """
    A turn that asked for tools plus all its results, in request order: one value, so that no history can hold
    half of it (promise P1).
    """

    turn: ModelTurn
    results: tuple[ToolResult, ...]

    def __attrs_post_init__(self) -> None:
        asked = [request.id for request in self.turn.requests]
        answered = [result.id for result in self.results]
        if not asked:
            raise InvalidValue("Exchange", "the turn asks for nothing: it is an answer, not an exchange")
        if asked != answered:
            raise InvalidValue("Exchange", f"results must answer {asked} in this order, got {answered}")


Entry: TypeAlias = UserMessage | ModelTurn | Exchange


def merged(pieces: tuple[ModelTurn, ...], last: ModelTurn) -> ModelTurn:
    """
    One turn from the pieces of a paused one and the piece that ended the pause.
    """
    if not pieces:
        return last
    every = (*pieces, last)
    return ModelTurn(
        stop=last.stop,
        text="".join(turn.text for turn in every),
        requests=last.requests,
        stop_word=last.stop_word,
        usage=last.usage,
        native=tuple(piece for turn in every for piece in turn.native),
        wire=last.wire,
        model=last.model,
        response_id=last.response_id,
        has_words=any(turn.has_words for turn in every),
    )
