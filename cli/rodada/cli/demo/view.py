"""
What the demo prints. Styles only where a terminal shows them, and every text of a model, tool or person made visible.
"""

from attrs import frozen
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from rodada.cli.demo.scene import Judged, Message, Played, Scene
from rodada.cli.plain import one_line, plain
from rodada.statemachine import CallRecord, Notice, Outcome, RunStatus, Status, StepTaken

MARGIN = 10
LONGEST_TOLD, LONGEST_FAULT = 200, 600
COLOURS = {
    RunStatus.COMPLETED: "green",
    RunStatus.INCOMPLETE: "yellow",
    RunStatus.CANCELLED: "yellow",
    RunStatus.FAILED: "red",
    Status.SUCCEEDED: "green",
    Status.FAILED: "red",
    Status.NOT_EXECUTED: "yellow",
    Status.DENIED: "yellow",
    Status.OUTCOME_UNKNOWN: "magenta",
}


@frozen
class Marks:
    """
    Signs that an encoding may lack.
    """

    kept: str
    broken: str
    to: str
    dot: str

    @classmethod
    def of(cls, encoding: str) -> "Marks":
        """
        The marks that can be written.
        """
        try:
            "✓✗→·─".encode(encoding)
        except UnicodeEncodeError:
            return cls("ok", "BROKEN", "->", "-")
        return cls("✓", "✗", "→", "·")


@frozen(eq=False)
class View:
    """
    A screen, or a file.
    """

    console: Console

    @property
    def marks(self) -> Marks:
        """
        The signs that it can show.
        """
        return Marks.of(self.console.encoding)

    def say(self, text: str, style: str = "") -> None:
        """
        A paragraph.
        """
        self._labelled("", Text(text, style), margin=0)

    def blank(self) -> None:
        """
        An empty line.
        """
        self.console.print()

    def scene(self, number: int, scene: Scene) -> None:
        """
        Title and sentence of a scene.
        """
        self.blank()
        self.blank()
        self.console.print(Rule(Text(f"{number} {self.marks.dot} {scene.title}", "bold"), align="left", style="dim"))
        self.say(scene.shows)

    def message(self, message: Message) -> None:
        """
        What the person says, and the head of the path.
        """
        self.person(message.says)
        if message.leaves:
            self._labelled("", Text("(leaves once the coach has been asked)", "dim"))
        self.path_head()

    def person(self, says: str) -> None:
        """
        What the person says.
        """
        self.blank()
        self._labelled("person", Text(self._plain(says), "bold"))

    def path_head(self) -> None:
        """
        The head of the path.
        """
        self.blank()
        self.console.print(Text(_columns("", "state", "event", "row", "", "to"), "dim"), no_wrap=True, crop=False)

    def notice(self, notice: Notice) -> None:
        """
        A step as it is taken; other notices are shown in the outcome.
        """
        if not isinstance(notice, StepTaken):
            return
        step = notice.step
        line = _columns(str(step.n), step.state.value, step.event, step.row, self.marks.to, step.to.value)
        text = Text(line)
        text.highlight_words([step.row], "cyan")
        self.console.print(text, no_wrap=True, crop=False)

    def outcome(self, outcome: Outcome) -> None:
        """
        The calls and how the run ended.
        """
        self.blank()
        for place, call in enumerate(outcome.calls):
            self._labelled("" if place else "calls", self._call(call))
        self._labelled("outcome", self._ended(outcome))
        if outcome.answer:
            by = " (the engine's own words)" if outcome.answer_by == "engine" else ""
            self._labelled("answer", Text(self._plain(outcome.answer) + by))
        if outcome.partial:
            self._labelled("partial", Text(self._plain(outcome.partial)))
        if outcome.unfinished:
            self._labelled("undone", Text(", ".join(self._line(each.name, 60) for each in outcome.unfinished)))
        if outcome.still_running:
            self._labelled("runs on", Text(", ".join(self._line(each, 60) for each in outcome.still_running), "red"))
        if outcome.error is not None:
            self._labelled("error", Text(self._line(outcome.error.message, LONGEST_FAULT), "red"))

    def promises(self, judgements: tuple[Judged, ...]) -> None:
        """
        Each promise with its tick, or with where it is broken.
        """
        self.blank()
        for place, each in enumerate(judgements):
            said = Text.assemble(self._tick(not each.fault), (f" {each.promise.name:<6}", "dim"), each.promise.says)
            self._labelled("" if place else "promises", said)
            self._fault(each)

    def scene_line(self, number: int, played: Played, judgements: tuple[Judged, ...]) -> None:
        """
        A scene in one line, and what is broken in it.
        """
        broken = sum(bool(each.fault) for each in judgements)
        told = f"{broken} of {len(judgements)} broken" if broken else f"{len(judgements)} kept"
        line = f" {number} {self.marks.dot} {played.scene.title}: {told}"
        self.console.print(Text.assemble("  ", self._tick(not broken), line))
        for each in judgements:
            self._fault(each)

    def through(self, sdk: str, in_full: bool) -> None:
        """
        Which SDK the scenes go through now.
        """
        self.blank()
        told = "the scenes in full" if in_full else "the same scenes, one line each"
        self.console.print(Text.assemble((f"Through {sdk}", "bold"), f": {told}."))

    def skipped(self, name: str, why: str) -> None:
        """
        An SDK that is not there.
        """
        self.blank()
        self.say(f"Skipped {name}: {why}", "yellow")

    def summary(self, sdks: int, scenes: int, promises: int, broken: tuple[str, ...]) -> None:
        """
        What was checked in all, and what was broken.
        """
        self.blank()
        told = f" {_count(scenes, 'scene')} through {_count(sdks, 'SDK')}: "
        told += f"{_count(promises, 'promise')} checked, {len(broken) or 'none'} broken."
        self.console.print(Text.assemble(self._tick(not broken), (told, "bold")))
        for each in broken:
            self.say(f"{self.marks.broken} {each}", "red")

    def _tick(self, kept: bool) -> Text:
        return Text(self.marks.kept, "bold green") if kept else Text(self.marks.broken, "bold red")

    def _fault(self, judged: Judged) -> None:
        if judged.fault:
            text = f"{judged.promise.name} is broken: {judged.fault}"
            self._labelled("", Text(self._line(text, LONGEST_FAULT), "red"))

    def _labelled(self, label: str, text: Text, margin: int = MARGIN) -> None:
        for place, line in enumerate(text.wrap(self.console, self._room + MARGIN - margin, overflow="fold")):
            line.rstrip()
            head = "" if place else label
            self.console.print(Text.assemble((f"{head:<{margin}}", "dim"), line), no_wrap=True, crop=False)

    @property
    def _room(self) -> int:
        return max(20, self.console.width - MARGIN)

    def _call(self, call: CallRecord) -> Text:
        asked = self._line(f"{call.name} {call.arguments}", self._room)
        status = call.status.value.replace("_", " ")
        # What a tool gave is data, of which one line will do; what failed is told in words.
        longest = self._room - len(f"{self.marks.to} {status}: ") if call.status is Status.SUCCEEDED else LONGEST_TOLD
        told = self._line(call.text, longest)
        return Text.assemble(asked, "\n", f"{self.marks.to} ", (status, COLOURS[call.status]), (f": {told}", "dim"))

    def _ended(self, outcome: Outcome) -> Text:
        counted = f"; {_count(outcome.rounds, 'round')}, {_count(outcome.model_calls, 'model call')}"
        detail = f" ({self._line(outcome.detail, 200)})" if outcome.detail else ""
        return Text.assemble((self._words(outcome), f"bold {COLOURS[outcome.status]}"), detail, counted)

    def _words(self, outcome: Outcome) -> str:
        told = outcome.reason is not None and outcome.reason.value != outcome.status.value
        reason = f": {outcome.reason.value}" if told and outcome.reason is not None else ""
        return f"{outcome.status.value}{reason}"

    def _plain(self, text: str) -> str:
        return plain(text).encode(self.console.encoding, "backslashreplace").decode(self.console.encoding)

    def _line(self, text: str, longest: int) -> str:
        return self._plain(one_line(text, longest - len(" ...")))


def _columns(n: str, state: str, event: str, row: str, to: str, destination: str) -> str:
    return f"{n:>3}  {state:<13}  {event:<16} {row:<21}  {to:<2} {destination}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
