"""
Whose name a name is.
"""

import unicodedata

from rodada.statemachine.jsontext import clean_text


def person(name: str) -> str:
    """
    What all ways to write one name have in common: two that differ only in case, in spaces or in the form of their
    letters are one person's. Two channels may write somebody differently, and nobody may be two people.
    """
    folded = unicodedata.normalize("NFKC", clean_text(name)).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())
