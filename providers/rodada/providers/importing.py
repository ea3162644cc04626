"""
Stored messages become a conversation: what is open, doubled, orphaned or out of its place is repaired, and each repair
is named in the report. No wire is known here: each one reads its messages into steps.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve, frozen

from rodada.providers.import_pairing import paired
from rodada.providers.import_steps import Result, Said, Step, Turn, joined
from rodada.providers.imported import Change, ChangeKind, Imported
from rodada.providers.media import put_back
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    ModelTurn,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from rodada.statemachine.request import chosen_ids

UNANSWERED = "No result of this call was stored: it may have taken effect, and its result is not known."


@frozen
class Source:
    """
    Where stored messages come from.

    Attributes:
        wire: whose pieces their turns are.
        has_ids: whether every call of the wire has an id; else results may answer by name and position.
        model: that gave the turns; "" where nobody knows.
        unanswered: what the model is told of a call without a result.
    """

    wire: str
    has_ids: bool = True
    model: str = ""
    unanswered: str = UNANSWERED


def repaired(source: Source, read: Iterable[Step | Change]) -> Imported:
    """
    The conversation that stored messages make, from their steps and the changes that reading them took.

    Raises:
        AmbiguousResult: a result may answer several calls.
    """
    changes: list[Change] = []
    steps = _joined_turns(list(_speaking(read, changes)), changes)
    steps = _with_media_inside(steps)
    pairs = paired(steps, by_position=not source.has_ids)
    changes += pairs.changes
    rows = [
        _Row(step, pairs.of(at, step) if isinstance(step, Turn) else ())
        for at, step in enumerate(steps)
        if not isinstance(step, Result)
    ]
    entries = _entries(source, _joined_answers(rows, changes), changes)
    return Imported(Conversation(entries=entries), tuple(sorted(changes, key=lambda each: each.index)))


def _speaking(read: Iterable[Step | Change], changes: list[Change]) -> Iterable[Step]:
    for each in read:
        if isinstance(each, Change):
            changes.append(each)
        elif not isinstance(each, Result) and each.is_blank:
            changes.append(each.place.change(ChangeKind.BLANK, content=each.told))
        else:
            yield each


def _joined_turns(steps: Iterable[Step], changes: list[Change]) -> list[Step]:
    """
    Turns of the model that stand in a row are one, as the wires read them. Only words behind calls stay a turn of their
    own: they were said after those calls, or without their results.
    """
    found: list[Step] = []
    run: list[Turn] = []
    for step in steps:
        if isinstance(step, Turn) and run and (step.calls or not run[-1].calls):
            changes.append(step.place.change(ChangeKind.JOINED_TURNS))
            run.append(step)
            continue
        found += [joined(run)] if run else []
        run = [step] if isinstance(step, Turn) else []
        found += [] if run else [step]
    return [*found, joined(run)] if run else found


def _with_media_inside(steps: Sequence[Step]) -> list[Step]:
    """
    Media that a wire shows behind the results go back into the results that tell of them.
    """
    found: list[Step] = []
    row: list[Result] = []
    for step in steps:
        inside = put_back([each.parts for each in row], step.parts) if row and isinstance(step, Said) else None
        if inside is not None:
            found[-len(row) :] = [evolve(each, parts=parts) for each, parts in zip(row, inside, strict=True)]
        else:
            found.append(step)
        if isinstance(step, Result):
            row.append(step)
        else:
            row = []
    return found


# Rows: steps with the results in their turns


@frozen
class _Row:
    said: Said | Turn
    results: tuple[Result | None, ...] = ()


def _joined_answers(rows: Iterable[_Row], changes: list[Change]) -> list[_Row]:
    """
    A turn behind an answer is one with it: what stood between them is elsewhere now.
    """
    found: list[_Row] = []
    answers: list[Turn] = []
    for row in rows:
        if isinstance(row.said, Said):
            found += [_Row(joined(answers))] if answers else []
            found.append(row)
            answers = []
            continue
        if answers:
            changes.append(row.said.place.change(ChangeKind.JOINED_TURNS))
        answers.append(row.said)
        if row.said.calls:
            found.append(_Row(joined(answers), row.results))
            answers = []
    return [*found, _Row(joined(answers))] if answers else found


# Entries


def _entries(source: Source, rows: Iterable[_Row], changes: list[Change]) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    used: set[str] = set()
    for row in rows:
        if isinstance(row.said, Said):
            entries.append(UserMessage(f"message_{len(entries)}", row.said.parts))
        elif entries:
            requests = _requests(source, row.said, used, len(entries), changes)
            used.update(request.id for request in requests)
            entries.append(_entry(source, row, row.said, requests, changes))
        else:
            changes += _unasked(row, row.said)
    return tuple(entries)


def _unasked(row: _Row, turn: Turn) -> list[Change]:
    return [
        turn.place.change(ChangeKind.UNASKED_TURN, content=turn.told),
        *(
            each.place.change(ChangeKind.ORPHAN_RESULT, each.id or each.name or "", each.told)
            for each in row.results
            if each
        ),
    ]


def _requests(
    source: Source, turn: Turn, used: AbstractSet[str], position: int, changes: list[Change]
) -> tuple[ToolRequest, ...]:
    ids = chosen_ids(tuple(call.id for call in turn.calls), used, position)
    for call, own in zip(turn.calls, ids, strict=True):
        if own != call.id and (call.id is not None or source.has_ids):
            changes.append(call.place.change(ChangeKind.NEW_ID, call.id or call.name, call.id or ""))
    return tuple(ToolRequest(own, call.name, call.raw, call.id) for call, own in zip(turn.calls, ids, strict=True))


def _entry(
    source: Source, row: _Row, turn: Turn, requests: tuple[ToolRequest, ...], changes: list[Change]
) -> ModelTurn | Exchange:
    said = ModelTurn(
        Stop.WHOLE,
        turn.text,
        requests,
        native=turn.native,
        wire=source.wire if turn.native else "",
        model=source.model,
    )
    if not requests:
        return said
    for call, result in zip(turn.calls, row.results, strict=True):
        if result is None:
            changes.append(call.place.change(ChangeKind.OPEN_CALL, call.id or call.name))
    answered = zip(requests, row.results, strict=True)
    return Exchange(said, tuple(_result(source, request, result) for request, result in answered))


def _result(source: Source, request: ToolRequest, result: Result | None) -> ToolResult:
    if result is None:
        return ToolResult(request.id, Status.OUTCOME_UNKNOWN, (Text(source.unanswered),))
    return ToolResult(request.id, result.status, result.parts)
