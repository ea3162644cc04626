"""
The matrix of faults: each fault at each place of a run, streamed or not, once or for as long as it is tried; and what
must come of each cell, computed from a model that knows the table's promises and nothing of the adapters.
"""

from collections.abc import Iterator
from itertools import chain, product
from typing import Literal, TypeAlias

from attrs import frozen

from rodada.providers.loopback import Call, Reply, Turn, WireName
from rodada.statemachine import ENGLISH, Limits, Outcome, Reason, RunStatus, Status, TurnKind
from support.wire_faults import FAULTS, Fault, Moment, heard_before

Place: TypeAlias = Literal["first call", "later call", "closing call"]
PLACES: tuple[Place, ...] = ("first call", "later call", "closing call")
MAX_ATTEMPTS = 2
CALL_SECONDS = 100.0
RETRIED = {"ProviderOverloaded", "ProviderUnreachable", "ProviderTimeout", "ProviderGarbled"}
LONGEST_TRIED = 1000.0  # seconds of a wait that fits into a run

ASK = Turn("Let me look that up in the log.", [Call("look")], reasoning=True)
ASK_AGAIN = Turn("Once more, to be quite sure.", [Call("look")], reasoning=True)
ANSWER = Turn("You lift five kilos more than in spring.", reasoning=True)
CLOSING = Turn("So far: five kilos. Shall I go on?", reasoning=True)

# Which rows a run takes up to each of its calls, and behind the last one.
ANSWERED = (("model_called",), ("tools_started", "turn_settled", "model_called"), ("answer_kept", "answer_stored"))
CLOSED = (*ANSWERED[:2], ("answer_out_of_rounds", "closing_called"), ("closing_kept", "answer_stored"))


@frozen
class Cell:
    """
    One fault at one place; `lasts`: as often as the call is tried, or once.
    """

    fault: Fault
    streams: bool
    place: Place
    lasts: bool = False

    def __str__(self) -> str:
        streamed, often = "streamed" if self.streams else "whole", "lasting" if self.lasts else "once"
        return f"{self.fault.name}, {streamed}, {self.place}, {often}"

    @property
    def turns(self) -> tuple[Turn, ...]:
        """
        What the model says in a run without faults.
        """
        return (ASK, ASK_AGAIN, CLOSING) if self.place == "closing call" else (ASK, ANSWER)

    @property
    def at(self) -> int:
        """
        The turn that meets the fault.
        """
        return PLACES.index(self.place)

    @property
    def limits(self) -> Limits:
        """
        Of a run that closes after one round where it must, and has no deadline unless a wait must not fit.
        """
        return Limits(
            max_rounds=1 if self.place == "closing call" else 10,
            max_attempts=MAX_ATTEMPTS,
            call_seconds=CALL_SECONDS,
            seconds=10_000 if self.fault.wait else None,
        )

    @property
    def error(self) -> str:
        """
        Name of the error of the faulty call, or "".
        """
        return self.fault.error(self.streams).__name__ if self.fault.error else ""

    @property
    def is_retried(self) -> bool:
        """
        Whether a call that met the fault is worth another try.
        """
        return self.error in RETRIED and (self.fault.wait or 0) <= LONGEST_TRIED

    @property
    def fails(self) -> bool:
        """
        Whether no turn comes in the end.
        """
        return bool(self.error) and (self.lasts or not self.is_retried)

    @property
    def tries(self) -> int:
        """
        Calls made at the place.
        """
        return 1 if not self.error or not self.is_retried else MAX_ATTEMPTS

    @property
    def faulty(self) -> int:
        """
        How many of them meet the fault.
        """
        return self.tries if self.fails else 1

    def script(self, wire: WireName) -> tuple[Reply, ...]:
        """
        What the server plays; a refused connection does not reach it.
        """
        turns = self.turns
        rest = () if self.fails else turns[self.at if self.error else self.at + 1 :]
        makes = self.fault.makes
        faults = [makes(Moment(wire, self.streams, turns[self.at]))] * self.faulty if makes else []
        return (*turns[: self.at], *faults, *rest)


def cells() -> Iterator[Cell]:
    """
    The whole matrix of one wire.
    """
    for fault, streams, place in product(FAULTS, (False, True), PLACES):
        cell = Cell(fault, streams, place)
        if streams or not fault.streamed_only:
            yield cell
            if cell.is_retried:
                yield Cell(fault, streams, place, lasts=True)


@frozen
class Ending:
    """
    What of an outcome follows from the cell; the engine's own answer stands as "".
    """

    status: RunStatus
    reason: Reason | None
    answer: str
    answer_by: str
    partial: str
    narration: tuple[str, ...]
    rows: tuple[str, ...]
    kinds: tuple[TurnKind, ...]
    model_calls: int
    calls: tuple[Status, ...]
    error: str
    http_status: int | None


def expected(cell: Cell) -> Ending:
    """
    How the run of a cell must end.
    """
    closing, turns = cell.place == "closing call", cell.turns
    done = cell.at if cell.fails else len(turns)
    asked = min(done, len(turns) - 1)
    words = turns[-1].text
    return Ending(
        status=_status(cell),
        reason=Reason.MAX_ROUNDS if closing else Reason.CALL_FAILED if cell.fails else None,
        answer="" if cell.fails else words,
        answer_by=("engine" if cell.at else "") if cell.fails else "model",
        partial=heard_before(turns[cell.at]) if cell.fails and cell.streams and cell.fault.speaks else "",
        narration=tuple(turn.text for turn in turns[:asked]),
        rows=_rows(cell),
        kinds=_kinds(cell),
        model_calls=(cell.at if cell.fails else len(turns) - 1) + cell.tries,
        calls=(Status.SUCCEEDED, Status.NOT_EXECUTED)[:asked],
        error=cell.error if cell.fails else "",
        http_status=cell.fault.status if cell.fails else None,
    )


def seen(cell: Cell, outcome: Outcome, kinds: tuple[TurnKind, ...]) -> Ending:
    """
    The same of an outcome and of what a watcher was told of its turns; a status counts where the answer was refused.
    """
    if outcome.answer_by == "engine":
        assert ENGLISH.go_on in outcome.answer
    return Ending(
        status=outcome.status,
        reason=outcome.reason,
        answer="" if outcome.answer_by == "engine" else outcome.answer,
        answer_by=outcome.answer_by,
        partial=outcome.partial,
        narration=outcome.narration,
        rows=tuple(step.row for step in outcome.transitions),
        kinds=kinds,
        model_calls=outcome.model_calls,
        calls=tuple(call.status for call in outcome.calls),
        error=outcome.error.error if outcome.error else "",
        http_status=outcome.error.status if outcome.error and cell.fault.status else None,
    )


def waiting_time(cell: Cell) -> tuple[float, float]:
    """
    The least and the most seconds that a run takes: its waits before further tries, and the calls that stall.
    """
    waits = cell.tries - 1
    stalled = cell.faulty * CALL_SECONDS if cell.fault.stalls else 0.0
    asked = cell.fault.wait
    least, most = (asked, asked) if asked else (0.375, 0.5)  # half a second, less up to a quarter
    return stalled + waits * least, stalled + waits * most


def _status(cell: Cell) -> RunStatus:
    if cell.place == "closing call" or (cell.fails and cell.at):
        return RunStatus.INCOMPLETE
    return RunStatus.FAILED if cell.fails else RunStatus.COMPLETED


def _rows(cell: Cell) -> tuple[str, ...]:
    path = CLOSED if cell.place == "closing call" else ANSWERED
    end = ("failed_call_reported" if cell.at else "call_failed",) if cell.fails else _joined(path[cell.at + 1 :])
    return (*_joined(path[: cell.at + 1]), *["call_retried"] * (cell.tries - 1), *end)


def _joined(path: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(path))


def _kinds(cell: Cell) -> tuple[TurnKind, ...]:
    whole = [TurnKind.NARRATION] * (len(cell.turns) - 1) + [TurnKind.ANSWER]
    end = [TurnKind.PARTIAL] if cell.fails else whole[cell.at :]
    return (*whole[: cell.at], *[TurnKind.DISCARDED] * (cell.tries - 1), *end)
