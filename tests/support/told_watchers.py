"""
What a watcher was told of a run, held against its outcome.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from rodada.statemachine import (
    Ended,
    Notice,
    Outcome,
    Said,
    Status,
    TextDelta,
    ToolEnded,
    ToolNotRun,
    ToolStarted,
    TurnEnded,
)
from rodada.statemachine import told as folded


def untold(notices: list[Notice], outcome: Outcome, *, streams: bool) -> Iterator[str]:
    """
    What is wrong with the notices of a run whose model never pauses.
    """
    said = Said()
    for notice in notices:
        said = folded(said, notice)
    if said != Said(outcome.narration, outcome.answer, outcome.partial):
        yield f"watchers were told {said}"
    if [notice.n for notice in notices] != list(range(1, len(notices) + 1)):
        yield "watchers missed something"
    if not notices or not isinstance(notices[-1], Ended) or notices[-1].outcome != outcome:
        yield "watchers were not told the end"
    yield from _starts_without_end(notices, outcome)
    if streams:
        yield from _turns_not_streamed(notices)


def _starts_without_end(notices: Iterable[Notice], outcome: Outcome) -> Iterator[str]:
    """
    Each started call has one end, with the status that it has in the end (faults F087 and F113).
    """
    started = Counter(notice.id for notice in notices if isinstance(notice, ToolStarted))
    ended = [(notice.id, notice.status) for notice in notices if isinstance(notice, ToolEnded)]
    expected = Counter(
        (call.id, call.status)
        for call in outcome.calls
        if call.status not in (Status.NOT_EXECUTED, Status.DENIED) or call.id in started
    )
    withheld = Counter((notice.id, notice.status) for notice in notices if isinstance(notice, ToolNotRun))
    if withheld != Counter((call.id, call.status) for call in outcome.calls) - expected:
        yield f"watchers were told that these were not run: {withheld}"
    if started.keys() != {id for id, _ in expected} or Counter(ended) != expected or set(started.values()) - {1}:
        yield f"watchers were told of starts {dict(started)} and ends {ended}"


def _turns_not_streamed(notices: Iterable[Notice]) -> Iterator[str]:
    heard = ""
    for notice in notices:
        if isinstance(notice, TextDelta):
            heard += notice.text
        elif isinstance(notice, TurnEnded):
            if heard != notice.text:
                yield f"a turn was streamed as {heard!r}, and is {notice.text!r}"
            heard = ""
