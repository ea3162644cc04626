"""
The view on a terminal, and the notices that a run seldom gives.
"""

import io
import sys

import pytest

from rodada.cli.view import View
from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import ApprovalAsked, Gap, Media, Stop, TextDelta, ToolLoop, ToolStarted, TurnEnded, TurnKind
from rodada.tools import tool


class Terminal(io.StringIO):
    """
    Text that says it is a terminal.
    """

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_are_colours_but_only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    with View() as view:
        view.show(ToolStarted("\x1b[2Jid", "[blink]name"))
    view.end(ToolLoop(Scripted([Turn("\x1b]0;x\x07[bold]")])).run_sync("Hi"))
    shown = terminal.getvalue()
    assert "\x1b[36m     [blink]name started  \\x1b[2Jid\x1b[0m\n" in shown
    assert "\x1b[1;32mcompleted\x1b[0m\n" in shown
    assert shown.endswith("\n\\x1b]0;x\\x07[bold]\n")


@pytest.mark.parametrize(
    ("notice", "line"),
    [
        (Gap(1), "     1 notice left out\n"),
        (Gap(3), "     3 notices left out\n"),
        (TurnEnded(TurnKind.DISCARDED, "half a\nsentence"), "     discarded: half a sentence\n"),
        (TurnEnded(TurnKind.NARRATION, " "), ""),
        (TurnEnded(TurnKind.ANSWER, "shown at the end"), ""),
        (
            ApprovalAsked("i", "pay", "{}"),
            "     pay needs an approval, which nobody can give here: denied\n",
        ),
    ],
)
def test_a_notice_is_a_line(
    capsys: pytest.CaptureFixture[str], notice: Gap | TurnEnded | ApprovalAsked, line: str
) -> None:
    View().show(notice)
    assert capsys.readouterr().out == line


def test_media_in_results_are_told_by_type_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    @tool
    def shot() -> list[object]:
        return ["seen", Media.of(b"12345678", "image/png"), Media.of(b"%PDF-", "application/pdf", "\x1b[2J.pdf")]

    model = Scripted([Turn(calls=(Call("shot", {}),)), Turn("A squat.")])
    View().end(ToolLoop(model, tools=[shot]).run_sync([Media.of(b"1", "image/png")]))
    assert capsys.readouterr().out == (
        "completed\n1 round, 2 model calls\n"
        "in the result of shot (call_1_0): [image/png, 8 bytes] [\\x1b[2J.pdf: application/pdf, 5 bytes]\n"
        "\nA squat.\n"
    )


def test_words_are_shown_in_lines_of_their_own_while_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    view = View()
    for text in ("Let me", " look.\n\x1b[2Jlong ", "word " * 20, "end"):
        view.show(TextDelta(text))
    view.show(TurnEnded(TurnKind.NARRATION, "Let me look. ..."))
    view.show(TextDelta("You li"))
    view.show(TurnEnded(TurnKind.DISCARDED, "You li"))
    view.show(TextDelta("You lift 5 kg more."))
    view.show(TurnEnded(TurnKind.ANSWER, "You lift 5 kg more."))
    assert capsys.readouterr().out.splitlines() == [
        "     | Let me look.",
        "     | \\x1b[2Jlong " + " ".join(["word"] * 20),
        "     | end",
        "     | You li",
        "     discarded: the words above",
        "     | You lift 5 kg more.",
    ]


def test_text_that_is_no_answer_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    View().end(ToolLoop(Scripted([Turn("I will not.", stop=Stop.REFUSED)])).run_sync("Hi"))
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("incomplete (refused)")
    assert "said, but no answer: I will not." in out
