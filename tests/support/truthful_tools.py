"""
Tools that keep a diary of what they did, to be held against what is said of their calls.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, TypeAlias

from attrs import define, field

from rodada.statemachine import CallRecord, Status
from rodada.tools import Context, tool

Deed: TypeAlias = Literal["started", "finished", "raised", "cut"]
# What may be said of a call, by what its function did. One that was stopped before it began has failed.
TRUE: dict[tuple[Deed, ...], frozenset[Status]] = {
    (): frozenset({Status.NOT_EXECUTED, Status.FAILED, Status.DENIED}),
    ("started", "finished"): frozenset({Status.SUCCEEDED}),
    ("started", "raised"): frozenset({Status.FAILED}),
    ("started", "cut"): frozenset({Status.OUTCOME_UNKNOWN}),
}
# Such as a thread, when its call is given up.
TRUE_OF_WHAT_GOES_ON = {
    **TRUE,
    ("started", "finished"): frozenset({Status.SUCCEEDED, Status.OUTCOME_UNKNOWN}),
    ("started", "raised"): frozenset({Status.FAILED, Status.OUTCOME_UNKNOWN}),
    ("started",): frozenset({Status.OUTCOME_UNKNOWN}),
}


class Broken(Exception):
    """
    A tool does not work.
    """


@define
class Diary:
    """
    What the tools of a run did, by the id of the call.

    Attributes:
        is_broken: whether whatever works fails from now on.
        deeds: of each call.
        goes_on: calls that do not end when they are given up.
    """

    is_broken: bool = False
    deeds: defaultdict[str, list[Deed]] = field(factory=lambda: defaultdict(list))
    goes_on: set[str] = field(factory=set[str])

    def unended(self) -> Iterator[str]:
        """
        Calls on the event loop that have not come to an end.
        """
        for call, deeds in self.deeds.items():
            if len(deeds) == 1 and call not in self.goes_on:
                yield f"{call} still runs"

    def untrue(self, calls: tuple[CallRecord, ...]) -> Iterator[str]:
        """
        What is said of calls and is not so.
        """
        for call in calls:
            deeds = tuple(self.deeds.get(call.id, ()))
            allowed = (TRUE_OF_WHAT_GOES_ON if call.id in self.goes_on else TRUE).get(deeds, frozenset())
            if call.status not in allowed:
                yield f"{call.name} {deeds} is said to be {call.status.value}: {call.text}"
        for lost in set(self.deeds) - {call.id for call in calls}:
            yield f"nothing is said of {lost} {self.deeds[lost]}"


async def _work(context: Context[Diary]) -> str:
    diary, deeds = context.value, context.value.deeds[context.call_id]
    deeds.append("started")
    try:
        for _ in range(3):
            await asyncio.sleep(0)
            if diary.is_broken:
                deeds.append("raised")
                raise Broken
    except asyncio.CancelledError:
        try:
            await asyncio.sleep(0)  # it tidies up
        finally:
            deeds.append("cut")
        raise
    deeds.append("finished")
    return "85 kg"


@tool(reads="log")
async def look(context: Context[Diary]) -> str:
    """
    Look something up.
    """
    return await _work(context)


@tool(writes="goals")
async def save(context: Context[Diary]) -> str:
    """
    Save a goal.
    """
    return await _work(context)


@tool(writes="account", needs_approval=True)
async def pay(context: Context[Diary]) -> str:
    """
    Pay for an entry.
    """
    return await _work(context)


@tool(reads="scale")
def weigh(context: Context[Diary]) -> str:
    """
    Weigh a person.
    """
    context.value.goes_on.add(context.call_id)
    deeds = context.value.deeds[context.call_id]
    deeds.append("started")
    if context.value.is_broken:
        deeds.append("raised")
        raise Broken
    deeds.append("finished")
    return "85 kg"


TRUTHFUL = (look, save, pay, weigh)
