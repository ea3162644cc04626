"""
What goes wrong between a client and a vendor's server, declared once: what the server does, and which error that is.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from attrs import frozen

from rodada.providers.loopback import Altered, Broken, Drop, Failure, Hang, Raw, Reply, Turn, WireName
from rodada.statemachine.errors import (
    ProviderAuthentication,
    ProviderError,
    ProviderGarbled,
    ProviderOverloaded,
    ProviderQuota,
    ProviderRejected,
    ProviderTimeout,
    ProviderTooLarge,
    ProviderUnreachable,
)

Pieces: TypeAlias = tuple[bytes, ...]
Error: TypeAlias = type[ProviderError]

WORD = 7  # characters: the pieces in which the loopback server says a text
PAGE = b"<!doctype html><title>502 Bad Gateway</title>"
DRIP = 3  # bytes
QUOTAS: Mapping[WireName, Failure] = {
    "anthropic": Failure(429, code="enforced_spend_limit_reached"),
    "openai": Failure(429, kind="insufficient_quota", code="insufficient_quota"),
    "openai_chat": Failure(429, kind="insufficient_quota", code="insufficient_quota"),
    "google": Failure(
        429,
        details=(
            {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
            {"retryDelay": "1s"},
        ),
    ),
}
UNKNOWN_EVENTS: Mapping[WireName, bytes] = {
    "anthropic": b'event: a_thing_of_tomorrow\ndata: {"type": "a_thing_of_tomorrow", "n": 1}\n\n',
    "openai": b'event: response.tomorrow\ndata: {"type": "response.tomorrow", "output_index": 0}\n\n',
    "openai_chat": b'data: {"object": "a.thing.of.tomorrow"}\n\n',
    "google": b'data: {"aThingOfTomorrow": {"n": 1}}\r\n\r\n',
}
COMMENTS = b": keep-alive\n\nretry: 1000\nid: 7\n\nevent: nothing\n\n"
# Events of a turn that thinks, before its first words.
FRAMES_BEFORE_WORDS: Mapping[WireName, int] = {"anthropic": 7, "openai": 6, "openai_chat": 1, "google": 0}
# Events that end a reply: a server that says them twice says nothing new.
LAST_EVENTS: Mapping[WireName, int] = {"anthropic": 2, "openai": 1, "openai_chat": 2, "google": 1}


@frozen
class Moment:
    """
    The reply that is due when something goes wrong.
    """

    wire: WireName
    streams: bool
    turn: Turn


@frozen
class Fault:
    """
    One thing that goes wrong.

    Attributes:
        name: of it.
        makes: what the server does; None: nobody listens, so that the connection is refused.
        error: what the call fails with; None where the turn comes all the same.
        status: HTTP status that the error tells.
        wait: seconds that the server asks to wait.
        speaks: whether some words of the turn are heard before it, where it streams.
        stalls: whether nothing comes any more until the time of the call is over.
        streamed_only: whether there is such a thing in a stream alone.
    """

    name: str
    makes: Callable[[Moment], Reply] | None
    error: Callable[[bool], Error] | None = None
    status: int | None = None
    wait: float | None = None
    speaks: bool = False
    stalls: bool = False
    streamed_only: bool = False


def heard_before(turn: Turn) -> str:
    """
    The words that come before a fault that `speaks`.
    """
    return turn.text[: 2 * WORD]


def _begun(moment: Moment, pieces: Pieces) -> Pieces:
    """
    The events until some words were said; of a body that comes whole a half.
    """
    if not moment.streams:
        return (pieces[0][: len(pieces[0]) // 2],)
    last = heard_before(moment.turn)[WORD:].encode()
    return pieces[: 1 + next(at for at, piece in enumerate(pieces) if last in piece)]


def _torn(moment: Moment, pieces: Pieces) -> Pieces:
    if not moment.streams:
        return _begun(moment, pieces)
    return (*_begun(moment, pieces), b'data: {"type": \n\n', *pieces[-1:])


def _repeated(moment: Moment, pieces: Pieces) -> Pieces:
    return (*pieces, *pieces[-LAST_EVENTS[moment.wire] :])


def _surprising(moment: Moment, pieces: Pieces) -> Pieces:
    """
    With events that no client knows; where it does not stream, with such a field.
    """
    if not moment.streams:
        return (pieces[0].replace(b"{", b'{"a_thing_of_tomorrow": {"n": [1]}, ', 1),)
    unknown = COMMENTS + UNKNOWN_EVENTS[moment.wire]
    return (unknown, *pieces[:2], unknown, *pieces[2:-1], unknown, *pieces[-1:])


def _dripping(moment: Moment, pieces: Pieces) -> Pieces:
    whole = b"".join(pieces)
    return tuple(whole[at : at + DRIP] for at in range(0, len(whole), DRIP))


def _altered(change: Callable[[Moment, Pieces], Pieces], moment: Moment) -> Reply:
    return Altered(moment.turn, partial(change, moment))


def _frames_before_error(moment: Moment, failure: Failure) -> Reply:
    """
    An error as an event, behind some words.
    """
    return Broken(moment.turn, FRAMES_BEFORE_WORDS[moment.wire] + 2, failure)


def _refused(status: int, error: Error, name: str = "", wait: float | None = None) -> Fault:
    def answer(moment: Moment) -> Reply:
        if wait is None:
            return Failure(status)
        if moment.wire == "google":
            return Failure(status, details=({"retryDelay": f"{wait:g}s"},))
        return Failure(status, headers={"retry-after": f"{wait:g}"})

    return Fault(name or str(status), answer, lambda streams: error, status, wait)


def _always(reply: Reply) -> Callable[[Moment], Reply]:
    return lambda moment: reply


def _empty(moment: Moment) -> Reply:
    return Raw(b"", headers={"content-type": "text/event-stream"}) if moment.streams else Raw(b"")


def _is(error: Error) -> Callable[[bool], Error]:
    return lambda streams: error


FAULTS: tuple[Fault, ...] = (
    _refused(400, ProviderRejected),
    _refused(401, ProviderAuthentication),
    _refused(404, ProviderRejected),
    _refused(408, ProviderTimeout),
    _refused(413, ProviderTooLarge),
    _refused(429, ProviderOverloaded),
    _refused(429, ProviderOverloaded, "429, again in 7 s", wait=7),
    _refused(429, ProviderOverloaded, "429, again in a day", wait=86_400),
    Fault("429, quota used up", lambda moment: QUOTAS[moment.wire], _is(ProviderQuota), 429),
    _refused(500, ProviderOverloaded),
    _refused(503, ProviderOverloaded),
    _refused(529, ProviderOverloaded),
    Fault("connection refused", None, _is(ProviderUnreachable)),
    Fault("reset before the body", _always(Drop(reset=True)), _is(ProviderUnreachable)),
    Fault("closed before the body", _always(Drop()), _is(ProviderUnreachable)),
    Fault(
        "reset in the body",
        lambda moment: Altered(moment.turn, partial(_begun, moment), "reset"),
        _is(ProviderUnreachable),
        speaks=True,
    ),
    Fault(
        "closed in the body",
        lambda moment: Altered(moment.turn, partial(_begun, moment), "drop"),
        _is(ProviderUnreachable),
        speaks=True,
    ),
    Fault("stall before the body", _always(Hang()), _is(ProviderTimeout), stalls=True),
    Fault(
        "stall in the body",
        lambda moment: Altered(moment.turn, partial(_begun, moment), "hang"),
        _is(ProviderTimeout),
        speaks=True,
        stalls=True,
    ),
    Fault("malformed JSON", partial(_altered, _torn), _is(ProviderGarbled), speaks=True),
    Fault("HTML", _always(Raw(PAGE, headers={"content-type": "text/html"})), _is(ProviderGarbled)),
    Fault("empty body", _empty, lambda streams: ProviderUnreachable if streams else ProviderGarbled),
    Fault(
        "error event, overloaded",
        partial(_frames_before_error, failure=Failure(503)),
        _is(ProviderOverloaded),
        speaks=True,
        streamed_only=True,
    ),
    Fault(
        "error event, rejected",
        partial(_frames_before_error, failure=Failure(400)),
        _is(ProviderRejected),
        speaks=True,
        streamed_only=True,
    ),
    Fault("early end", partial(_altered, _begun), _is(ProviderUnreachable), speaks=True, streamed_only=True),
    Fault("final event twice", partial(_altered, _repeated), streamed_only=True),
    Fault("unknown event", partial(_altered, _surprising)),
    Fault("unknown block", lambda moment: _with_unknown(moment.turn)),
    Fault("slow drip", partial(_altered, _dripping)),
)


def _with_unknown(turn: Turn) -> Turn:
    return Turn(turn.text, turn.calls, reasoning=turn.reasoning, unknown=True)
