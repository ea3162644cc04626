"""
Values whose classes raise where most code asks without thinking.
"""


class Incomparable(type):
    """
    Of a class that cannot be compared, nor be a key.
    """

    def __eq__(cls, other: object) -> bool:
        raise ValueError

    def __hash__(cls) -> int:
        raise ValueError


class Odd(metaclass=Incomparable):
    """
    One of such a class.
    """


class Unstrippable(str):
    """
    A text that cannot be stripped.
    """

    def strip(self, chars: str | None = None, /) -> str:
        raise ValueError
