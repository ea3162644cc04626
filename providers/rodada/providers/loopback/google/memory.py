"""
What the server keeps of the turns that it sent, to compare their echo with.
"""

from attrs import field, frozen

from rodada.providers.loopback.google.fields import signature_bytes
from rodada.providers.loopback.json_values import Object, digest, obj, objs, text, unseal

_ESCAPES = (b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go")


@frozen
class Memory:
    """
    Signatures with the part they stand on, turns that were sent unsigned, ids by signature, continuation tokens.
    """

    _signed: dict[bytes, str] = field(factory=dict[bytes, str])
    _unsigned: set[str] = field(factory=set[str])
    _ids: dict[bytes, tuple[str, ...]] = field(factory=dict[bytes, tuple[str, ...]])
    _tokens: set[str] = field(factory=set[str])

    def remember(self, reply: Object) -> None:
        """
        Keep what the echo of this response will be compared with.
        """
        for candidate in objs(reply.get("candidates")):
            self._tokens.add(text(candidate.get("continuationToken")))
            parts = objs(obj(candidate.get("content")).get("parts"))
            calls = [part for part in parts if "functionCall" in part]
            for part in parts:
                if "thoughtSignature" in part:
                    self._signed[_bytes(part)] = part_digest(part)
            if calls and "thoughtSignature" in calls[0]:
                self._ids[_bytes(calls[0])] = ids_of(calls)
            elif calls:
                self._unsigned.add(part_digest(calls[0]))

    def vouches(self, part: Object) -> str | None:
        """
        The digest of the part for which a signature was made; None when no loopback server made it.
        """
        signature = _bytes(part)
        if signature in _ESCAPES:
            return part_digest(part)
        sealed = unseal(signature.decode("latin-1"))
        return sealed[2] if sealed and sealed[0] == "google" else self._signed.get(signature)

    def was_unsigned(self, part: Object) -> bool:
        """
        Whether the server sent this call without a signature.
        """
        return part_digest(part) in self._unsigned

    def ids_sent(self, part: Object) -> tuple[str, ...] | None:
        """
        The ids of the calls of the turn that begins with this signed call.
        """
        return self._ids.get(_bytes(part))

    def gave(self, token: str) -> bool:
        """
        Whether the server gave this continuation token.
        """
        return token in self._tokens


def part_digest(part: Object) -> str:
    """
    What a signature is bound to: the data of its part.
    """
    if "functionCall" in part:
        call = obj(part["functionCall"])
        return digest(call.get("name"), call.get("args") or {})
    return digest(part.get("text"))


def ids_of(calls: list[Object]) -> tuple[str, ...]:
    """
    The ids of the calls in these parts, "" for none.
    """
    return tuple(text(obj(part["functionCall"]).get("id")) for part in calls)


def _bytes(part: Object) -> bytes:
    return signature_bytes(part.get("thoughtSignature")) or b""
