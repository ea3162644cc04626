"""
What the view does with a console that lacks signs, and with a terminal.
"""

import io

from rich.console import Console

from rodada.cli.demo.scene import Judged, Promise
from rodada.cli.demo.view import View

KEPT = Judged(Promise("P1", "kept", lambda played: ""), "")
BROKEN = Judged(Promise("P2", "broken", lambda played: ""), "a fault: [bold]\x1b[2J\N{LATIN SMALL LETTER E WITH ACUTE}")


def shown(encoding: str, terminal: bool = False) -> str:
    """
    Two judgements, as bytes of an encoding.
    """
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="")
    console = Console(
        file=file,
        width=60,
        highlight=False,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        legacy_windows=False,
    )
    View(console).promises((KEPT, BROKEN))
    file.flush()
    return raw.getvalue().decode(encoding)


def test_signs_are_shown_where_they_can_be() -> None:
    assert shown("utf-8") == (
        "\npromises  ✓ P1    kept\n          ✗ P2    broken\n          P2 is broken: a fault: [bold]\\x1b[2Jé\n"
    )


def test_an_encoding_without_signs_gets_words_and_spelt_letters() -> None:
    assert shown("ascii") == (
        "\n"
        "promises  ok P1    kept\n"
        "          BROKEN P2    broken\n"
        "          P2 is broken: a fault: [bold]\\x1b[2J\\xe9\n"
    )


def test_a_terminal_gets_colours_and_no_control_of_a_fault_reaches_it() -> None:
    told = shown("utf-8", terminal=True)
    assert "\x1b[1;32m✓" in told
    assert "\x1b[2J" not in told
