"""
Text from outside is printed without any control of the terminal.
"""

import json
import sys
import unicodedata

import pytest

from rodada.cli.plain import one_line, plain, plain_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("olá, 世界 👩\u200d💻\nnext", "olá, 世界 👩\u200d💻\nnext"),
        ("a\tb\r\nc", "a    b\nc"),
        ("\x1b[31m\x9b2J\x00\x7f", "\\x1b[31m\\x9b2J\\x00\\x7f"),
        ("over\rwritten", "over\\rwritten"),
        ("\u202eevil\u2066\u2028\u2029\ufeff", "\\u202eevil\\u2066\\u2028\\u2029\\ufeff"),
        ("\ud800", "\\ud800"),
    ],
)
def test_controls_are_spelled_out(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_no_character_at_all_leaves_a_control_behind() -> None:
    every = plain("".join(map(chr, range(sys.maxunicode + 1))))
    left = {letter for letter in every if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert left == {"\n", "\u200c", "\u200d"}


def test_json_says_the_same_without_a_control() -> None:
    every = [letter for letter in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(letter) != "Cs"]
    text = json.dumps({"text": "".join(every)}, ensure_ascii=False, indent=2)
    shown = plain_json(text)
    left = {letter for letter in shown if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert left == {"\n", "\u200c", "\u200d"}
    assert json.loads(shown) == {"text": "".join(every)}


def test_one_line_is_one_line_of_bounded_length() -> None:
    assert one_line("a\n\n b\x1b") == "a b\\x1b"
    assert one_line("abcdef", 3) == "abc ..."
