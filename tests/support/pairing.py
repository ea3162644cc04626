"""
Promise P1, checked without the core: on a conversation's JSON, laid out as the messages that a wire would see.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

Message: TypeAlias = tuple[str, tuple[str, ...]]


def messages(document: Any) -> Iterator[Message]:
    """
    Who speaks, with the ids of the calls that are asked or answered.
    """
    for entry in document["entries"]:
        if entry["type"] == "UserMessage":
            yield "user", ()
        else:
            exchange = entry["type"] == "Exchange"
            turn = entry["turn"] if exchange else entry
            yield "model", tuple(request["id"] for request in turn["requests"])
            if exchange:
                yield "results", tuple(result["id"] for result in entry["results"])


def broken_pairs(document: Any) -> list[str]:
    """
    What is wrong with a conversation; nothing, if every call has its one result straight after its turn, in order.
    """
    told = list(messages(document))
    found: list[str] = []
    if told and told[0][0] != "user":
        found.append("starts with another than the person")
    for place, (who, asked) in enumerate(told):
        follows = told[place + 1] if place + 1 < len(told) else None
        if who == "model" and asked and follows != ("results", asked):
            found.append(f"{place}: {asked} is answered by {follows}")
        if who == "model" and not asked and follows is not None and follows[0] != "user":
            found.append(f"{place}: {follows[0]} follows an answer")
        if who == "results" and (place == 0 or told[place - 1] != ("model", asked)):
            found.append(f"{place}: results {asked} of nothing")
    every = [call for who, asked in told if who == "model" for call in asked]
    if len(set(every)) != len(every):
        found.append("an id stands twice")
    return found
