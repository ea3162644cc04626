"""
What a person sees of a run: its steps and tool calls as they happen, then how it ended, and the answer last.

All text that comes from a model, a tool or a file is printed as it reads: neither markup nor terminal controls.
"""

import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from attrs import evolve
from rich.status import Status
from rich.text import Text

from rodada.cli.console import LeavableConsole
from rodada.cli.plain import one_line, plain
from rodada.statemachine import (
    ApprovalAsked,
    Exchange,
    Gap,
    Media,
    MediaLink,
    Notice,
    Outcome,
    RunStatus,
    StepTaken,
    TextDelta,
    ToolEnded,
    ToolNotRun,
    ToolStarted,
    TurnEnded,
    TurnKind,
)
from rodada.statemachine import Status as CallStatus

LONGEST_LINE = 80
COLOURS = {
    RunStatus.COMPLETED: "bold green",
    RunStatus.INCOMPLETE: "bold yellow",
    RunStatus.CANCELLED: "bold yellow",
    RunStatus.FAILED: "bold red",
}


class View:
    """
    A view on standard output: plain lines, in colour and with a moving mark on a terminal.
    """

    def __init__(self) -> None:
        self._console = LeavableConsole(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)
        self._moving: Status | None = self._console.status("") if self._console.is_terminal else None
        self._words = ""
        self._heard = False

    def __enter__(self) -> Self:
        if self._moving is not None:
            self._moving.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._moving is not None:
            self._moving.stop()

    def show(self, notice: Notice) -> None:
        """
        A notice, as it comes.
        """
        if isinstance(notice, TextDelta):
            self._hear(notice.text)
            return
        if isinstance(notice, TurnEnded) and self._heard:
            notice = self._heard_out(notice)
        for style, line in _notice_lines(notice):
            self._print(line, style)
        if self._moving is not None and isinstance(notice, StepTaken):
            self._moving.update(Text(notice.step.to.value))

    def end(self, outcome: Outcome) -> None:
        """
        How it ended; the answer comes last, so that nothing it says can pass for a line of ours.
        """
        self._print(_ending(outcome), COLOURS[outcome.status])
        for line in _remarks(outcome):
            self._print(line, "dim")
        if outcome.answer:
            self._print("", "")
            self._print(plain(outcome.answer), "")

    def _hear(self, text: str) -> None:
        # In lines of its own, so that nothing the model says can pass for a line of ours.
        self._heard = True
        *lines, self._words = f"{self._words}{text}".split("\n")
        if len(self._words) > LONGEST_LINE and " " in self._words:
            line, _, self._words = self._words.rpartition(" ")
            lines.append(line)
        for line in lines:
            self._print(f"     | {one_line(line)}", "")

    def _heard_out(self, turn: TurnEnded) -> TurnEnded:
        if self._words:
            self._hear("\n")
        self._heard = False
        return evolve(turn, text="the words above" if turn.kind is TurnKind.DISCARDED else "")

    def _print(self, line: str, style: str) -> None:
        self._console.print(Text(line, style=style))


def _notice_lines(notice: Notice) -> Iterator[tuple[str, str]]:
    match notice:
        case StepTaken(step=step):
            yield "dim", f"{step.n:>3}  {step.state.value} -> {step.to.value}  {step.row}"
        case ToolStarted():
            yield "cyan", f"     {one_line(notice.name)} started  {one_line(notice.id)}"
        case ToolEnded():
            style = "green" if notice.status is CallStatus.SUCCEEDED else "yellow"
            took = f"{notice.status.value} after {notice.seconds:.2f} s"
            yield style, f"     {one_line(notice.name)} {took}  {one_line(notice.id)}"
        case ToolNotRun():
            yield "yellow", f"     {one_line(notice.name)} {notice.status.value}  {one_line(notice.id)}"
        case ApprovalAsked():
            yield "yellow", f"     {one_line(notice.name)} needs an approval, which nobody can give here: denied"
        case TurnEnded(kind=TurnKind.NARRATION | TurnKind.DISCARDED) if notice.text.strip():
            yield "", f"     {notice.kind.value}: {one_line(notice.text)}"
        case Gap():
            yield "dim", f"     {_counted(notice.missed, 'notice')} left out"
        case _:
            pass


def _ending(outcome: Outcome) -> str:
    reason = "" if outcome.reason is None else f" ({outcome.reason.value})"
    failed = "" if outcome.error is None else outcome.error.message
    detail = one_line(outcome.detail or failed)
    return f"{outcome.status.value}{reason}" + (f": {detail}" if detail else "")


def _remarks(outcome: Outcome) -> Iterator[str]:
    used = outcome.usage
    tokens = "" if used == type(used)() else f", tokens in {used.input_tokens or 0}, out {used.output_tokens or 0}"
    yield f"{_counted(outcome.rounds, 'round')}, {_counted(outcome.model_calls, 'model call')}{tokens}"
    for entry in outcome.appended:
        yield from _media_of(entry) if isinstance(entry, Exchange) else ()
    if outcome.unfinished:
        yield f"not finished: {', '.join(one_line(f'{each.name} ({each.id})') for each in outcome.unfinished)}"
    if outcome.still_running:
        yield f"still running: {', '.join(map(one_line, outcome.still_running))}"
    if outcome.partial:
        yield f"said, but no answer: {one_line(outcome.partial)}"


def _media_of(exchange: Exchange) -> Iterator[str]:
    for request, result in zip(exchange.turn.requests, exchange.results, strict=True):
        media = " ".join(part.told for part in result.content if isinstance(part, Media | MediaLink))
        if media:
            yield f"in the result of {one_line(f'{request.name} ({request.id})')}: {one_line(media)}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
