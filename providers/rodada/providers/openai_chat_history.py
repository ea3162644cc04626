"""
The messages of a request to Chat Completions as bytes, of what each entry became once.
"""

from collections.abc import Sequence

from attrs import frozen

from rodada.providers.failures import check_distinct, check_paired
from rodada.providers.history import History
from rodada.providers.kept import Kept, encoded
from rodada.providers.openai_chat_dialect import OPENAI, Dialect
from rodada.providers.openai_chat_input import (
    FIELD,
    WIRE,
    called,
    entry_messages,
    pairing_fault,
    system_message,
    turn_message,
)
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import Entry
from rodada.statemachine.request import ModelRequest


@frozen(eq=False)
class Sent:
    """
    An entry as it is sent.

    Attributes:
        items: its messages, encoded.
        calls: ids of its calls.
    """

    items: bytes
    calls: tuple[str, ...]


class ChatHistory:
    """
    The messages of requests to one kind of server; each entry is converted when it is first sent.
    """

    def __init__(self, dialect: Dialect = OPENAI) -> None:
        self._dialect = dialect
        self._kept = Kept[Entry, Sent](lambda entry: _sent(entry_messages(entry, dialect)))

    def of(self, request: ModelRequest) -> History:
        """
        All messages of a request.

        Raises:
            ProviderRejected: they break promise P1, which is a fault of this library, or cannot be sent.
        """
        held = _sent([turn_message(turn, self._dialect) for turn in request.held])
        sent = [*self._kept.of(request.entries), held]
        check_distinct(WIRE, [each.calls for each in sent])
        items = [each.items for each in sent]  # no generator: it would be resumed for each entry
        return History(FIELD, [encoded(WIRE, system_message(request)), *items])


def _sent(messages: Sequence[JsonObject]) -> Sent:
    check_paired(WIRE, pairing_fault(messages))
    return Sent(encoded(WIRE, messages), tuple(str(call.get("id")) for each in messages for call in called(each)))
