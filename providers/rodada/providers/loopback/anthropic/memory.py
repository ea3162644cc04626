"""
What the server keeps of the turns that it sent, to compare their echo with.
"""

import re
from collections.abc import Iterable
from typing import TypeAlias

from attrs import field, frozen

from rodada.providers.loopback.anthropic.messages import Said, blocks_of, messages_of, plain
from rodada.providers.loopback.anthropic.prefix import THOUGHTS, prefixes
from rodada.providers.loopback.json_values import Object, digest, text, unseal

# Thoughts and tool requests in their order, each with its signature or id: the part of a turn that must come back as
# it was. The id is "" where it cannot come back (illegal, or on another request too): a client sends one of its own.
Skeleton: TypeAlias = tuple[tuple[str, str], ...]

THOUGHT, REQUEST = "thought", "request"
_LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@frozen
class Thought:
    """
    What a signature vouches for: the block and the prefix in which it was thought.
    """

    block: str
    prefix: str


@frozen
class Memory:
    """
    Thoughts by their signature, turns by the ids of their requests, and paused turns.
    """

    _thoughts: dict[str, Thought] = field(factory=dict[str, Thought])
    _turns: dict[str, Skeleton] = field(factory=dict[str, Skeleton])
    _pauses: dict[str, int] = field(factory=dict[str, int])

    def remember(self, body: Object, reply: Object) -> None:
        """
        Keep what the echo of this reply will be compared with.
        """
        blocks = blocks_of(reply.get("content"))
        before = messages_of(body)
        turn = Said(len(before), "assistant", blocks)
        for path, block, prefix in prefixes(body, (*before, turn)):
            if path.startswith(f"messages.{turn.at}."):
                self._thoughts[signature_of(block)] = Thought(thought_digest(block), prefix)
        self._remember_turn(before, turn)
        if reply.get("stop_reason") == "pause_turn":
            sent = _without_blanks(blocks)
            self._pauses[_content_digest(sent)] = len(sent)

    def _remember_turn(self, before: tuple[Said, ...], turn: Said) -> None:
        asked, own = _ids(before), _ids((turn,))
        lasting = frozenset(name for name in own if [*asked, *own].count(name) == 1 and _LEGAL_ID.fullmatch(name))
        for name in set(own).difference(asked):  # what they named before was dropped by the client
            self._turns.pop(name, None)
        for name in lasting:
            self._turns[name] = skeleton(turn.blocks, lasting)

    def thought(self, block: Object) -> Thought | None:
        """
        What the signature of an echoed block vouches for; None when no loopback server made it.
        """
        known = self._thoughts.get(signature_of(block))
        sealed = unseal(signature_of(block)) or ()
        return Thought(*sealed[2:]) if known is None and sealed[:1] == ("anthropic",) else known

    def turns_in(self, blocks: Iterable[Object]) -> list[Skeleton]:
        """
        The skeletons of the turns whose requests stand in the blocks, each once.
        """
        ids = (text(block.get("id")) for block in blocks if block.get("type") == "tool_use")
        return list(dict.fromkeys(self._turns[name] for name in ids if name in self._turns))

    def ends_paused(self, blocks: tuple[Object, ...]) -> bool:
        """
        Whether the blocks end with a turn that the server paused.
        """
        sent = _without_blanks(blocks)
        lengths = {length for length in self._pauses.values() if 0 < length <= len(sent)}
        return any(_content_digest(sent[-length:]) in self._pauses for length in lengths)


def skeleton(blocks: Iterable[Object], lasting: frozenset[str] | None = None) -> Skeleton:
    """
    The thoughts and tool requests of a turn in their order; of the ids those that last, or all.
    """
    return tuple(
        (THOUGHT, signature_of(block)) if block.get("type") in THOUGHTS else (REQUEST, _kept(block, lasting))
        for block in blocks
        if block.get("type") in (*THOUGHTS, "tool_use")
    )


def thoughts_in(turn: Skeleton) -> set[str]:
    """
    The signatures of a turn's thoughts.
    """
    return {name for kind, name in turn if kind == THOUGHT}


def _kept(block: Object, lasting: frozenset[str] | None) -> str:
    name = text(block.get("id"))
    return name if lasting is None or name in lasting else ""


def _ids(messages: Iterable[Said]) -> list[str]:
    return [text(block.get("id")) for said in messages for block in said.of_type("tool_use")]


def signature_of(block: Object) -> str:
    """
    The signature of a thinking block, or the data of a redacted one.
    """
    return text(block.get("signature")) or text(block.get("data"))


def thought_digest(block: Object) -> str:
    """
    What must not change in a thinking block.
    """
    return digest(block.get("thinking", ""))


def _without_blanks(blocks: tuple[Object, ...]) -> list[Object]:
    """
    What of a turn can come back: a blank text is refused, also one that the model said.
    """
    return [block for block in blocks if block.get("type") != "text" or text(block.get("text")).strip()]


def _content_digest(blocks: Iterable[Object]) -> str:
    return digest([plain(block) for block in blocks])
