"""
The entries of a conversation: what the person said, what the model asked or answered, what each call gave.

An entry that exists is legal: it checks itself when it is built. Guards read an entry's facts only (`stop`,
`has_words`, ids, names, statuses, sizes, digests); texts, arguments and native pieces are content, which may be
erased without changing what the machine does.
"""

import enum
import hashlib
from collections.abc import Iterable
from typing import TypeAlias, TypeGuard, cast

from attrs import Factory, field, frozen
from attrs.converters import optional

from rodada.statemachine.codec import UNSTORED
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import (
    JsonObject,
    JsonValue,
    canonical_json,
    clean_text,
    digest_arguments,
    digest_text,
    parse_object,
)
from rodada.statemachine.media import Media as Media
from rodada.statemachine.media import MediaLink as MediaLink
from rodada.statemachine.media import check_kind


def _check_row(what: str, value: object, kind: type) -> None:
    if not isinstance(value, tuple) or not all(isinstance(each, kind) for each in cast("tuple[object, ...]", value)):
        raise InvalidValue(what, f"takes a tuple of {kind.__name__}, got {value!r:.80}")


MOST_TOKENS = 2**53 - 1  # what each reader of JSON holds exactly


def is_count(value: object) -> TypeGuard[int]:
    """
    Whether it can be a count of tokens.
    """
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


def _check_count(what: str, value: object) -> None:
    if value is not None and not is_count(value):
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


Part: TypeAlias = Text | Media | MediaLink


def is_part(value: object) -> TypeGuard[Part]:
    """
    Whether a value is one of these. A class of the host's own that is made of one is none: it would be stored under a
    name that no reader knows.
    """
    kind = type(value)
    return kind is Text or kind is Media or kind is MediaLink


def _checked_parts(value: tuple[Part, ...]) -> tuple[Part, ...]:
    # A converter, since size and digest are made of the content before a validator would run.
    if not isinstance(cast(object, value), tuple):
        raise InvalidValue("content", f"takes a tuple of Text, Media and MediaLink, got a {type(value).__name__}")
    for part in cast("tuple[object, ...]", value):
        if not is_part(part):
            raise InvalidValue("content", f"takes Text, Media and MediaLink, got a {type(part).__name__}")
    return value


def plain_text(parts: Iterable[Part]) -> str:
    """
    The text of some parts, joined; media are left out.
    """
    return "".join(part.text for part in parts if isinstance(part, Text))


def told_text(parts: Iterable[Part]) -> str:
    """
    Some parts where only text can stand: each medium is told on a line of its own, by its `told`.
    """
    told = ""
    after_media = False
    for part in parts:
        text = part.text if isinstance(part, Text) else part.told
        apart = after_media or not isinstance(part, Text)
        told += "\n" + text if apart and text and told and not told.endswith("\n") else text
        after_media = not isinstance(part, Text)
    return told


def parts_size(parts: Iterable[Part]) -> int:
    """
    Characters of the texts and addresses, and bytes of the media.
    """
    return sum(map(_part_size, parts))


def _part_size(part: Part) -> int:
    if isinstance(part, Media):
        return part.size
    return len(part.text if isinstance(part, Text) else part.url)


def parts_digest(parts: tuple[Part, ...]) -> str:
    """
    SHA-256 in hex: of the text where there is nothing else, otherwise of all parts in their order.
    """
    if all(isinstance(part, Text) for part in parts):
        return digest_text(plain_text(parts))
    told: list[JsonValue] = [_part_json(part) for part in parts]
    # 0xff stands in no UTF-8, so that no text has the digest of media.
    return hashlib.sha256(b"\xff" + canonical_json(told).encode()).hexdigest()


def _part_json(part: Part) -> JsonValue:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, MediaLink):
        return {"media_type": part.media_type, "name": part.name, "url": part.url}
    return {"media_type": part.media_type, "name": part.name, "data": digest_text(part.data)}


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
class Served:
    """
    Who served a turn, as far as it was told; None is "not told".

    Attributes:
        host: that was asked: "host" or "host:port", and nothing else of its address.
        asked: the model that was asked for; the one that served is the turn's own `model`.
        request_id: the vendor's id of the request.
        service_tier: the vendor's word for it.
    """

    host: str | None = field(default=None, converter=optional(clean_text))
    asked: str | None = field(default=None, converter=optional(clean_text))
    request_id: str | None = field(default=None, converter=optional(clean_text))
    service_tier: str | None = field(default=None, converter=optional(clean_text))


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
        check_kind("ToolRequest.id", self.id, str)
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
        size: characters of its texts and addresses, and bytes of its media.
        digest: of the content: of its text, and of its media where it has any.
    """

    id: str
    status: Status
    content: tuple[Part, ...] = field(converter=_checked_parts)
    size: int = Factory(lambda self: parts_size(self.content), takes_self=True)
    digest: str = Factory(lambda self: parts_digest(self.content), takes_self=True)

    @classmethod
    def of(cls, request: ToolRequest, status: Status, text: str) -> "ToolResult":
        """
        The result of a request, as text.
        """
        return cls(request.id, status, (Text(text),))

    @classmethod
    def with_parts(cls, request: ToolRequest, status: Status, parts: Iterable[Part]) -> "ToolResult":
        """
        The result of a request, as texts and media.

        Raises:
            InvalidValue: something that is neither.
        """
        return cls(request.id, status, tuple(parts))

    @property
    def text(self) -> str:
        """
        The text of the content; media are left out.
        """
        return plain_text(self.content)

    @property
    def told(self) -> str:
        """
        The content where only text can stand: media are told by type and size.
        """
        return told_text(self.content)


@frozen(cache_hash=True)
class UserMessage:
    """
    What the person said: text, media, or both.
    """

    id: str
    content: tuple[Part, ...] = field(converter=_checked_parts)

    def __attrs_post_init__(self) -> None:
        if not any(not isinstance(part, Text) or part.text.strip() for part in self.content):
            raise InvalidValue("UserMessage", "a message must say something: every wire refuses a blank one")

    @property
    def text(self) -> str:
        """
        The text of the content; media are left out.
        """
        return plain_text(self.content)

    @property
    def told(self) -> str:
        """
        The content where only text can stand: media are told by type and size.
        """
        return told_text(self.content)


@frozen(cache_hash=True)
class ModelTurn:
    """
    One reply of the model. Without requests it is an answer; with requests it enters a conversation only inside
    an `Exchange`.

    Attributes:
        stop: why it ended, in our words.
        stop_word: the wire's own word, or what makes the turn malformed.
        text: all visible text.
        requests: the calls that it asks for; only a whole or a cut turn may carry any.
        usage: tokens of the call.
        native: the pieces as received, for the wire that sent them.
        wire: the wire that sent them; "" when there are none.
        model: the model that served.
        response_id: the vendor's id of the reply.
        served: who served it. Of the call and not of what was said: it is not stored, and turns that differ in it alone
            are equal.
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
    served: Served = field(default=Served(), eq=False, metadata=UNSTORED)
    has_words: bool = Factory(lambda self: bool(self.text.strip()), takes_self=True)

    def __attrs_post_init__(self) -> None:
        check_kind("ModelTurn.stop", self.stop, Stop)
        check_kind("ModelTurn.usage", self.usage, Usage)
        check_kind("ModelTurn.served", self.served, Served)
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
        served=last.served,
        has_words=any(turn.has_words for turn in every),
    )
