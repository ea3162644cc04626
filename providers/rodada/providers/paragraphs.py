"""
What a model says before and behind a tool that the vendor ran within the turn: two paragraphs, for between them it
learned something. Joined as other pieces of a text are, the last word of one would run into the first of the other.
"""

from attrs import define

PARAGRAPH = "\n\n"


@define
class Paragraphs:
    """
    The text of a turn while it is put together.

    Attributes:
        is_json: nothing may be put into it, for it shall be the answer of a type.
    """

    is_json: bool = False
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
        self._last, self._parted = text[-1], False
        return PARAGRAPH + text if runs_in and not self.is_json else text
