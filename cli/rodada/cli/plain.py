"""
Text that came from outside, made safe to print: no control character of it reaches the terminal.
"""

import unicodedata

JOINERS = "\u200c\u200d"
LONGEST_LINE = 2000


def plain(text: str) -> str:
    """
    The text with its line breaks, every other control, format or lone surrogate character spelled out.
    """
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    return "".join(letter if letter == "\n" or _harmless(letter) else _spelled(letter) for letter in text)


def plain_json(text: str) -> str:
    """
    JSON text that says the same, with such characters as escapes.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(letter if letter == "\n" or _harmless(letter) else _escaped(letter) for letter in text)


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """
    The text on one line of bounded length.
    """
    line = plain(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[:longest]} ..."


def _harmless(letter: str) -> bool:
    return letter in JOINERS or unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _spelled(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
