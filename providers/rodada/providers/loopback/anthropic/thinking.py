"""
Rules about thinking that is sent back.
"""

from collections.abc import Callable, Iterator
from itertools import groupby

from rodada.providers.loopback.anthropic.memory import REQUEST, Skeleton, skeleton, thought_digest, thoughts_in
from rodada.providers.loopback.anthropic.messages import Said
from rodada.providers.loopback.anthropic.models import binds_thinking
from rodada.providers.loopback.anthropic.prefix import THOUGHTS, prefixes
from rodada.providers.loopback.anthropic.view import View, bad
from rodada.providers.loopback.json_values import obj
from rodada.providers.loopback.script import Failure

_CHANGED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)
_MISSING = (
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` "
    "message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks)."
)


def signatures_are_valid(view: View) -> Failure | None:
    """
    Every thought has a signature that the vendor made, for the text that it stands beside.
    """
    for path, _, block in view.blocks():
        if block.get("type") not in THOUGHTS:
            continue
        known = view.memory.thought(block)
        if known is None:
            return bad(f"{path}: Invalid `{_seal_name(block.get('type'))}` in `{block['type']}` block")
        if known.block != thought_digest(block):
            return bad(f"{path}: {_CHANGED}")
    return None


def active_thinking_is_whole(view: View) -> Failure | None:
    """
    Each turn of the current tool loop has its thoughts, in their places.
    """
    if view.stripped_thinking and not any(map(_thinks, _active(view))):
        return None
    for said in _assistants(_active(view)):
        echoed = skeleton(said.blocks)
        for sent in view.memory.turns_in(said.blocks):
            if not _contains(echoed, sent):
                lost = not thoughts_in(sent) <= thoughts_in(echoed)
                return bad(f"messages.{said.at}.content.0: {_MISSING if lost else _CHANGED}")
    return None


def manual_thinking_comes_first(view: View) -> Failure | None:
    """
    With thinking "enabled" a turn of the current tool loop that asks for tools starts with a thought.
    """
    if obj(view.body.get("thinking")).get("type") != "enabled":
        return None
    for said in _assistants(_active(view)):
        if said.of_type("tool_use") and said.blocks[0].get("type") not in THOUGHTS:
            return bad(f"messages.{said.at}.content.0.type: {_MISSING}")
    return None


def thoughts_fit_their_prefix(view: View) -> Failure | None:
    """
    On models with preserved thinking nothing before a thought was changed since it was thought.
    """
    if not binds_thinking(view.model):
        return None
    for path, block, prefix in prefixes(view.body, view.messages):
        known = view.memory.thought(block)
        if known is not None and known.prefix != prefix:
            return bad(
                f"{path}: this `{block['type']}` block is bound to a different conversation: the system prompt, the "
                "tools or a message before it changed."
            )
    return None


def thoughts_have_no_gap(view: View) -> Failure | None:
    """
    On models with preserved thinking thoughts may be removed from either end, not from the middle.
    """
    if not binds_thinking(view.model):
        return None
    kept = [(said, thoughts_in(sent) <= thoughts_in(skeleton(said.blocks))) for said, sent in _thoughtful(view)]
    runs = [(whole, list(group)) for whole, group in groupby(kept, key=lambda pair: pair[1])]
    again = [group for whole, group in runs if whole][1:]
    if not again:
        return None
    return bad(
        f"messages.{again[0][0][0].at}.content.0: this `thinking` block is bound to a different conversation: a "
        "thinking block before it is missing."
    )


def _thoughtful(view: View) -> Iterator[tuple[Said, Skeleton]]:
    for said in _assistants(view.messages):
        for sent in view.memory.turns_in(said.blocks):
            if thoughts_in(sent):
                yield said, sent


def _active(view: View) -> tuple[Said, ...]:
    """
    The messages after the last one in which the user speaks (and does not merely give results).
    """
    said = [at for at, each in enumerate(view.messages) if each.role == "user" and not each.of_type("tool_result")]
    return view.messages[said[-1] + 1 :] if said else view.messages


def _assistants(messages: tuple[Said, ...]) -> Iterator[Said]:
    """
    The assistant's messages; the vendor reads neighbours as one.
    """
    for role, group in groupby(messages, key=lambda said: said.role):
        row = list(group)
        if role == "assistant":
            yield Said(row[0].at, role, tuple(block for said in row for block in said.blocks))


def _thinks(said: Said) -> bool:
    return any(block.get("type") in THOUGHTS for block in said.blocks)


def _contains(echoed: Skeleton, sent: Skeleton) -> bool:
    """
    Whether the turn stands in the echo in one piece.
    """
    places = range(len(echoed) - len(sent) + 1)
    return any(all(map(_is_echo, echoed[at : at + len(sent)], sent)) for at in places)


def _is_echo(echoed: tuple[str, str], sent: tuple[str, str]) -> bool:
    return echoed == sent or (echoed[0], *sent) == (REQUEST, REQUEST, "")


def _seal_name(kind: object) -> str:
    return "signature" if kind == "thinking" else "data"


RULES: tuple[Callable[[View], Failure | None], ...] = (
    manual_thinking_comes_first,
    signatures_are_valid,
    active_thinking_is_whole,
    thoughts_have_no_gap,
    thoughts_fit_their_prefix,
)
