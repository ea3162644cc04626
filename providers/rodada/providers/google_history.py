"""
The contents of a request to generateContent as bytes, of what each entry became once.
"""

import json
from collections.abc import Sequence
from functools import partial

from attrs import frozen

from rodada.providers.failures import broken_pairs
from rodada.providers.google_wire import (
    CONTENTS,
    NONE_OF_THEM,
    USER,
    WIRE,
    VendorsOwn,
    check_pairs,
    entry_contents,
    frame,
    stand_ins,
)
from rodada.providers.history import History
from rodada.providers.kept import Kept
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import Entry, UserMessage
from rodada.statemachine.request import ModelRequest

COMMA = b", "


@frozen(eq=False)
class Sent:
    """
    An entry as it is sent.

    Attributes:
        items: its contents, encoded as the SDK does it: with ASCII escapes and spaces.
        size: their bytes, with the comma behind them.
        ends: whether a request may end with it: the user speaks last.
        stand_ins: calls that were signed by the stand-in.
    """

    items: bytes
    size: int
    ends: bool
    stand_ins: int


@frozen
class Fitted:
    """
    A request body and what did not fit into it.

    Attributes:
        around: the body without contents.
        contents: that fitted.
        size: bytes of both.
        dropped: old user messages that were left out, each with all that followed it.
        stand_ins: calls that were signed by the stand-in.
    """

    around: JsonObject
    contents: History
    size: int
    dropped: int
    stand_ins: int

    @property
    def body(self) -> JsonObject:
        """
        The body as the SDK can send it by itself.
        """
        return {CONTENTS: self.contents.value, **self.around}


class GoogleHistory:
    """
    The contents of requests to one model; each entry is converted when it is first sent, and again, but for what the
    person said, when its turn is no longer the active one, where signatures are enforced.
    """

    def __init__(self, model: str, own: VendorsOwn = NONE_OF_THEM) -> None:
        self._own = own
        self._active = Kept(partial(_sent, model=model, active=True))
        self._old = Kept(partial(_old, model=model, active=self._active))

    def fitted(self, request: ModelRequest, limit: int) -> Fitted:
        """
        The body of a request, with the oldest exchanges left out until it has at most `limit` bytes. The active turn
        is always whole.

        Raises:
            ProviderRejected: it breaks promise P1, which is a fault of this library.
        """
        around = frame(request, self._own)
        entries, active = request.entries, request.active
        sent = [*self._old.of(entries[:active]), *self._active.of(entries[active:])]
        if not sent or not isinstance(entries[0], UserMessage) or not sent[-1].ends:
            raise broken_pairs(WIRE, "the contents must start and end with the user")
        size = len(json.dumps({CONTENTS: [], **around})) + sum([each.size for each in sent]) - len(COMMA)
        starts = _starts(entries[: active + 1]) if size > limit else [0]
        dropped = 0
        while size > limit and dropped < len(starts) - 1:
            size -= sum([each.size for each in sent[starts[dropped] : starts[dropped + 1]]])
            dropped += 1
        left = sent[starts[dropped] :]
        contents = History(CONTENTS, [each.items for each in left], COMMA)
        return Fitted(around, contents, size, dropped, sum([each.stand_ins for each in left]))


def _starts(entries: Sequence[Entry]) -> list[int]:
    """
    Where a message of the user begins what may be left out as a whole.
    """
    return [at for at, entry in enumerate(entries) if at == 0 or isinstance(entry, UserMessage)]


def _old(entry: Entry, *, model: str, active: Kept[Entry, Sent]) -> Sent:
    if isinstance(entry, UserMessage):  # sent alike in both: its media are kept once
        [sent] = active.of((entry,))
        return sent
    return _sent(entry, model=model, active=False)


def _sent(entry: Entry, *, model: str, active: bool) -> Sent:
    contents = entry_contents(entry, model, active=active)
    nothing: JsonObject = {"role": USER, "parts": []}
    check_pairs([nothing, *contents, nothing])
    items = json.dumps(contents)[1:-1].encode()
    return Sent(items, len(items) + len(COMMA), contents[-1]["role"] == USER, sum(map(stand_ins, contents)))
