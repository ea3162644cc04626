"""
What the server keeps of the responses that it sent, to compare their echo with.
"""

from itertools import pairwise

from attrs import field, frozen

from rodada.providers.loopback.json_values import Object, objs, text, unseal
from rodada.providers.loopback.openai_responses.items import kind


@frozen
class Memory:
    """
    Which encrypted reasoning belongs to which item, and which items need which.
    """

    _encrypted: dict[str, str] = field(factory=dict[str, str])
    _reasoning: dict[str, str] = field(factory=dict[str, str])
    _following: dict[str, tuple[str, str]] = field(factory=dict[str, tuple[str, str]])

    def remember(self, reply: Object) -> None:
        """
        Keep what the echo of this response will be compared with.
        """
        output = objs(reply.get("output"))
        needed = ""
        for item in output:
            name = text(item.get("id"))
            if kind(item) == "reasoning":
                needed = name
                self._encrypted[text(item.get("encrypted_content"))] = name
            elif needed:
                self._reasoning[name] = needed
        for item, after in pairwise(output):
            if kind(item) == "reasoning":
                self._following[text(item.get("id"))] = identity(after)

    def owner(self, encrypted: str) -> str | None:
        """
        The id of the reasoning item to which the encrypted content belongs; None when no loopback server made it.
        """
        sealed = unseal(encrypted)
        return sealed[1] if sealed and sealed[0] == "openai" else self._encrypted.get(encrypted)

    def needed_by(self, name: str) -> str | None:
        """
        The reasoning item that has to be there when this item is.
        """
        return self._reasoning.get(name)

    def following(self, name: str) -> tuple[str, str] | None:
        """
        The identity of the item that came straight after a reasoning item.
        """
        return self._following.get(name)


def identity(item: Object) -> tuple[str, str]:
    """
    What of an item survives an echo without its id.
    """
    return kind(item), text(item.get("call_id"))
