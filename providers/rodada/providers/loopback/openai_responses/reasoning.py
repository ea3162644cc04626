"""
Rules about reasoning that is sent back, and about ids of items.
"""

from collections import Counter
from collections.abc import Callable

from rodada.providers.loopback.json_values import text
from rodada.providers.loopback.openai_responses.items import Item
from rodada.providers.loopback.openai_responses.memory import identity
from rodada.providers.loopback.openai_responses.view import View, bad
from rodada.providers.loopback.script import Failure


def ids_are_unique(view: View) -> Failure | None:
    """
    No item id twice.
    """
    ids = Counter(item.id for item in view.items if item.id)
    doubled = next((name for name, count in ids.items() if count > 1), None)
    if doubled is None:
        return None
    return bad(f"Duplicate item found with id {doubled}. Remove duplicate items from your input and try again.")


def nothing_is_referred_to(view: View) -> Failure | None:
    """
    Items are not kept: neither a reference nor reasoning without its encrypted content can be found.
    """
    for item in view.items:
        bare = item.type == "reasoning" and not text(item.fields.get("encrypted_content"))
        if bare or item.type == "item_reference":
            message = (
                f"Item with id '{item.id}' not found. Items are not persisted when `store` is set to false. Try again "
                "with `store` set to true, or remove this item from your input."
            )
            return Failure(404, message, param="input")
    return None


def encrypted_content_is_genuine(view: View) -> Failure | None:
    """
    Encrypted content is the vendor's, unaltered, and stands with its own id or with none.
    """
    for item in view.items:
        if item.type != "reasoning":
            continue
        owner = view.memory.owner(text(item.fields.get("encrypted_content")))
        if owner is None or item.id not in ("", owner):
            message = (
                f"The encrypted content for item {item.id or '(no id)'} could not be verified. Reason: Encrypted "
                "content could not be decrypted or parsed."
            )
            return bad(message, "input", "invalid_encrypted_content")
    return None


def reasoning_is_followed(view: View) -> Failure | None:
    """
    After reasoning comes the item that came after it.
    """
    for item, after in _with_next(view):
        if item.type == "reasoning" and not _follows(view, item, after):
            return bad(
                f"Item '{item.id}' of type 'reasoning' was provided without its required following item.",
            )
    return None


def reasoning_is_not_dropped(view: View) -> Failure | None:
    """
    An item that kept its id has the reasoning before it that it was sent with.
    """
    there: list[str] = []
    for item in view.items:
        needed = view.memory.needed_by(item.id) if item.id else None
        if needed is not None and needed not in there:
            return bad(
                f"Item '{item.id}' of type '{item.type}' was provided without its required 'reasoning' item: "
                f"'{needed}'."
            )
        there = [*there, item.id] if item.by_model else []
    return None


def _follows(view: View, item: Item, after: Item | None) -> bool:
    if after is None or not after.by_model:
        return False
    owner = view.memory.owner(text(item.fields.get("encrypted_content")))
    return view.memory.following(owner or "") in (None, identity(after.fields))


def _with_next(view: View) -> list[tuple[Item, Item | None]]:
    return list(zip(view.items, (*view.items[1:], None), strict=True))


RULES: tuple[Callable[[View], Failure | None], ...] = (
    ids_are_unique,
    nothing_is_referred_to,
    encrypted_content_is_genuine,
    reasoning_is_followed,
    reasoning_is_not_dropped,
)
