"""
The messages of a request to the Messages API as bytes, of what each entry became once.
"""

from functools import partial
from itertools import chain

from attrs import frozen

from rodada.providers.anthropic_models import Traits
from rodada.providers.anthropic_wire import (
    FIELD,
    THOUGHTS,
    WIRE,
    ServerMark,
    answered,
    messages_behind,
    messages_of,
    objects,
    of_type,
    pairing_fault,
    server_marks,
    settled,
)
from rodada.providers.failures import check_distinct, check_paired
from rodada.providers.history import History
from rodada.providers.json_body import told_text
from rodada.providers.kept import Kept, encoded
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import Entry, UserMessage
from rodada.statemachine.request import ModelRequest


@frozen(eq=False)
class Sent:
    """
    An entry as it is sent.

    Attributes:
        items: its messages, encoded.
        calls: ids of its calls.
        marks: what it holds of the vendor's own tools.
        whole: whether nothing of that was left out, judged by this entry alone.
        thoughtless: whether it is a turn with requests that does not start with a thought.
    """

    items: bytes
    calls: tuple[str, ...]
    marks: tuple[ServerMark, ...]
    whole: bool
    thoughtless: bool


class AnthropicHistory:
    """
    The messages of requests to one kind of model; each entry is converted when it is first sent, and again, but for
    what the person said, when its turn is no longer the active one.
    """

    def __init__(self, traits: Traits) -> None:
        self._traits = traits
        self._active = Kept(_sent)
        # A bound thought outlives its turn only while instructions, tools and selection stay the same, which one
        # request cannot know: so none is sent from before the active turn.
        self._old = Kept(partial(_old, active=self._active, bare=traits.bound_thinking))

    def of(self, request: ModelRequest) -> History:
        """
        All messages of a request.

        Raises:
            ProviderRejected: they break promise P1, which is a fault of this library, or cannot be sent.
        """
        behind = messages_behind(request, self._traits)
        check_paired(WIRE, pairing_fault([*behind]))
        sent = self._with_others(request, self._entries(request))
        check_distinct(WIRE, [each.calls for each in sent])
        items = [each.items for each in sent]  # no generator: it would be resumed for each entry
        return History(FIELD, [*items, encoded(WIRE, behind)])

    def thinks_first(self, request: ModelRequest) -> bool:
        """
        Whether each turn with requests behind the last words of the person before the newest turn starts with a
        thought: without it manual thinking is refused.
        """
        seen_turn = bool(request.held and not request.guidance)
        for entry, sent in zip(reversed(request.entries), reversed(self._entries(request)), strict=True):
            if isinstance(entry, UserMessage):
                if seen_turn:
                    break
            elif sent.thoughtless:
                return False
            else:
                seen_turn = True
        return True

    def _entries(self, request: ModelRequest) -> list[Sent]:
        entries, active = request.entries, request.active
        return [*self._old.of(entries[:active]), *self._active.of(entries[active:])]

    def _with_others(self, request: ModelRequest, sent: list[Sent]) -> list[Sent]:
        """
        Entries before the active turn that ask the vendor's own tools without an answer of their own, or the other way
        round, are judged by what all entries hold.
        """
        open_ones = [at for at, each in enumerate(sent[: request.active]) if not each.whole]
        if not open_ones:
            return sent
        known = answered(chain.from_iterable(each.marks for each in sent))
        found, entries = [*sent], request.entries
        for at in open_ones:
            found[at] = _settled(messages_of(entries[at], self._traits.bound_thinking), known)
        return found


def _sent(entry: Entry) -> Sent:
    messages = messages_of(entry)
    return _encoded(messages, messages)


def _old(entry: Entry, *, active: Kept[Entry, Sent], bare: bool) -> Sent:
    if isinstance(entry, UserMessage):  # sent alike in both: its media are kept once
        [sent] = active.of((entry,))
        return sent
    return _settled(messages_of(entry, bare))


def _settled(messages: list[JsonObject], known: frozenset[str] | None = None) -> Sent:
    judged = answered(server_marks(messages)) if known is None else known
    return _encoded([settled(message, judged) for message in messages], messages)


def _encoded(sent: list[JsonObject], whole: list[JsonObject]) -> Sent:
    check_paired(WIRE, pairing_fault([*sent]))
    blocks = objects(sent[0]["content"])
    requests = of_type(blocks, "tool_use")
    return Sent(
        encoded(WIRE, sent),
        tuple(told_text(block.get("id")) for block in requests),
        server_marks(whole),
        sent == whole,
        bool(requests) and blocks[0].get("type") not in THOUGHTS,
    )
