"""
The words of a script: what the loopback server answers.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias, cast

from attrs import field, frozen

from rodada.providers.loopback.json_values import Json, Object

Stop: TypeAlias = Literal["whole", "cut", "paused", "malformed", "refused", "unknown"]
Search: TypeAlias = Literal["none", "done", "open"]
WireName: TypeAlias = Literal["anthropic", "openai", "openai_chat", "google"]


def _object(value: Mapping[str, object]) -> Object:
    """
    A copy as plain JSON: what is none raises TypeError or ValueError where the script is written.
    """
    return cast(Object, json.loads(json.dumps(value, allow_nan=False)))


def _object_or_text(value: Mapping[str, object] | str) -> Object | str:
    return value if isinstance(value, str) else _object(value)


def _objects(values: Sequence[Mapping[str, object]]) -> tuple[Object, ...]:
    return tuple(map(_object, values))


def _no_headers() -> Mapping[str, str]:
    return {}


class ScriptFault(Exception):
    """
    The script gives no reply that could be sent; the client gets a vendor error of status 500.
    """


class UnspeakableTurn(ScriptFault):
    """
    A turn that a wire has no form for.
    """

    def __init__(self, wire: WireName, what: str) -> None:
        super().__init__(f"the script asks for {what}, for which the {wire} wire has no form; use Body for it")
        self.wire = wire
        self.what = what


@frozen
class Call:
    """
    A request for a tool.

    Attributes:
        name: of the tool.
        arguments: an object, or the argument text as a model produced it. OpenAI's wires send any text as it is. The
            two others carry arguments as JSON values: there the text is parsed, "" stands for no arguments, and text
            that is no JSON cannot be said (`UnspeakableTurn`).
        id: None lets the server make one; "" on the Google wire leaves it out.
    """

    name: str
    arguments: Object | str = field(factory=dict[str, Json], converter=_object_or_text)
    id: str | None = None


@frozen
class Usage:
    """
    Tokens of one turn.

    Attributes:
        input, output: totals.
        cached, cache_write: the parts of the input that were read from a cache, or written to it.
        reasoning: the part of the output that is hidden reasoning.
    """

    input: int = 100
    output: int = 20
    cached: int = 0
    cache_write: int = 0
    reasoning: int = 0


@frozen
class Turn:
    """
    A turn of the model in neutral form, rendered in each wire's own.

    Attributes:
        text: what it says.
        calls: what it asks for.
        stop: how it ended. One for which a wire has no word is an `UnspeakableTurn`: "malformed" exists on Google
            alone, and "paused" not on OpenAI's Chat Completions.
        reasoning: add what the wire carries as hidden reasoning.
        usage: its tokens.
        word: instead of the wire's own word for the stop (`stop_sequence`, `RECITATION`, ...).
        unknown: add a block (an item, a part; on Chat Completions a field) of a kind that no client knows, which the
            server takes back.
        search: one by the vendor's own tool, which the request must declare: "done" within the turn, or, on Anthropic
            alone, "open": its result comes at the head of the next turn.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    stop: Stop = "whole"
    reasoning: bool = False
    usage: Usage = Usage()
    word: str | None = None
    unknown: bool = False
    search: Search = "none"


@frozen
class Body:
    """
    A ready body in the vendor's own form.
    """

    json: Object = field(converter=_object)
    status: int = 200
    headers: Mapping[str, str] = field(factory=_no_headers)


@frozen
class Failure:
    """
    An error, rendered in the vendor's own envelope.

    Attributes:
        status: of HTTP.
        message: for people.
        kind: the vendor's word for it (Anthropic and OpenAI `error.type`, Google `error.status`); "" lets it follow
            from the status.
        code, param: fields of the OpenAI envelope.
        details: a field of the Google one.
        headers: beside the usual ones.
    """

    status: int
    message: str = "The server could not answer."
    kind: str = ""
    code: str | None = None
    param: str | None = None
    details: tuple[Object, ...] = field(default=(), converter=_objects)
    headers: Mapping[str, str] = field(factory=_no_headers)


@frozen
class Raw:
    """
    Bytes as a body, unchecked.

    Attributes:
        data: the bytes.
        status: of HTTP.
        headers: beside the usual ones.
        promised: a content-length to announce that is not the true one; the connection is then closed after the bytes.
    """

    data: bytes
    status: int = 200
    headers: Mapping[str, str] = field(factory=_no_headers)
    promised: int | None = None


@frozen
class Drop:
    """
    The connection is closed without an answer.

    Attributes:
        reset: the connection is reset, not closed.
    """

    reset: bool = False


@frozen
class Broken:
    """
    A streamed reply of which only the beginning comes. Of a reply that is not streamed nothing comes.

    Attributes:
        reply: of which it is the beginning.
        frames: how many events of the stream come.
        then: the end of the body as if all was well ("end"), a lost connection ("drop"), nothing any more ("hang"), or
            the vendor's error within the stream.
    """

    reply: "Turn | Body"
    frames: int
    then: "Literal['end', 'drop', 'hang'] | Failure" = "drop"


@frozen
class Altered:
    """
    A reply whose bytes are changed on the way.

    Attributes:
        reply: as it would be sent.
        change: gets its bytes in pieces, the events of a stream or the one body, and gives those that are sent, each by
            itself.
        then: the end of the body as if all was well ("end"), a connection that is closed ("drop") or reset ("reset"),
            or nothing any more ("hang").
    """

    reply: "Turn | Body"
    change: Callable[[tuple[bytes, ...]], tuple[bytes, ...]]
    then: Literal["end", "drop", "reset", "hang"] = "end"


@frozen
class Hang:
    """
    No answer, until the client hangs up or the server closes.
    """


@frozen
class Held:
    """
    A reply that waits.

    Attributes:
        until: the event that it waits for; it ends too when the client hangs up or the server closes.
        reply: what then comes.
    """

    until: threading.Event
    reply: "Turn | Body | Failure | Raw | Drop | Broken | Altered"


Reply: TypeAlias = Turn | Body | Failure | Raw | Drop | Broken | Altered | Hang | Held
