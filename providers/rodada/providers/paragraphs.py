"""
What a model says before and behind a tool that the vendor ran within the turn: two paragraphs, for between them it
learned something. Joined as other pieces of a text are, the last word of one would run into the first of the other.
"""

from collections.abc import Iterable

from attrs import define

PARAGRAPH = "\n\n"
OPENS_JSON = ("{", "`")  # the latter of a code fence around it


@define
class Paragraphs:
    """
    The text of a turn while it is put together.

    Attributes:
        is_typed: whether it shall be the answer of a type, which is JSON. Nothing may be put into that.
    """

    is_typed: bool = False
    _first: str = ""
    _last: str = " "
    _parted: bool = False

    def heard(self, text: str | None) -> str:
        """
        The next piece of the text as it is heard; None stands for a tool that the vendor ran, and nothing is heard
        of it.
        """
        if text is None:
            self._parted = True
        if not text:
            return ""
        runs_in = self._parted and not (self._last.isspace() or text[0].isspace())
        self._first = self._first or text.lstrip()[:1]
        self._last, self._parted = text[-1], False
        is_json = self.is_typed and self._first in OPENS_JSON
        return PARAGRAPH + text if runs_in and not is_json else text

    def text_of(self, pieces: Iterable[str | None]) -> str:
        """
        Pieces as one text. Words before the last tool are no part of the JSON that stands behind it.
        """
        found = [*pieces]
        begins = next((at for at in range(len(found), 0, -1) if found[at - 1] is None), 0)
        behind = "".join(filter(None, found[begins:]))
        whole = "".join(map(self.heard, found))
        return behind if self.is_typed and _opens_json(behind) and not _opens_json(whole) else whole


def _opens_json(text: str) -> bool:
    return text.lstrip().startswith(OPENS_JSON)
