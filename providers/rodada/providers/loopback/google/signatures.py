"""
Rules about thought signatures (Gemini 3 and later).
"""

from collections.abc import Callable

from rodada.providers.loopback.google.memory import ids_of, part_digest
from rodada.providers.loopback.google.models import checks_ids, signs_always
from rodada.providers.loopback.google.view import Said, View, bad
from rodada.providers.loopback.json_values import Object, obj, text
from rodada.providers.loopback.script import Failure


def signatures_are_genuine(view: View) -> Failure | None:
    """
    A signature is the vendor's, unaltered, and on the part for which it was made.
    """
    for said in view.contents if signs_always(view.model) else ():
        for part in said.parts:
            known = view.memory.vouches(part) if "thoughtSignature" in part else part_digest(part)
            if known is None:
                return bad("Corrupted thought signature.")
            if known != part_digest(part):
                return bad("Invalid thought signature.")
    return None


def active_calls_are_signed(view: View) -> Failure | None:
    """
    In the current turn the first call of each step has its signature.
    """
    for said in _active(view) if signs_always(view.model) else ():
        first = next((part for part in said.parts if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first and not view.memory.was_unsigned(first):
            name = text(obj(first["functionCall"]).get("name"))
            return bad(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                f"data, function call `default_api:{name}`, position {said.at + 1}."
            )
    return None


def ids_are_echoed(view: View) -> Failure | None:
    """
    The calls of a turn come back with the ids, in the order, in which they were sent; after a continuation those of
    each piece.
    """
    for said in view.contents if checks_ids(view.model) else ():
        calls = [part for part in said.parts if "functionCall" in part]
        known = bool(calls) and view.memory.ids_sent(calls[0]) is not None
        if known and not _are_pieces(view, calls):
            return bad("functionCall.id does not match the id of the function call that the model made.")
    return None


def _are_pieces(view: View, calls: list[Object]) -> bool:
    """
    Whether the calls are those of turns that were sent, one after the other.
    """
    sent = view.memory.ids_sent(calls[0]) or ()
    here, rest = calls[: len(sent)], calls[len(sent) :]
    return bool(sent) and sent == ids_of(here) and (not rest or _are_pieces(view, rest))


def _active(view: View) -> tuple[Said, ...]:
    """
    The contents after the last one in which the user speaks (and does not merely give responses).
    """
    said = [at for at, each in enumerate(view.contents) if each.role == "user" and not each.responses]
    return view.contents[said[-1] + 1 :] if said else view.contents


RULES: tuple[Callable[[View], Failure | None], ...] = (
    signatures_are_genuine,
    active_calls_are_signed,
    ids_are_echoed,
)
