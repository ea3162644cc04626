"""
What the name of a Claude model tells of the requests that it takes.
"""

import re

from attrs import frozen


@frozen
class Since:
    """
    From which version on a family of models has a trait.

    Attributes:
        system_role: messages may have the role "system".
        bound_thinking: thinking is valid only behind the very prefix in which it was thought.
    """

    system_role: tuple[int, int]
    bound_thinking: tuple[int, int]


NEWEST = (99, 0)
FAMILIES = {
    "opus": Since((4, 8), (5, 5)),
    "sonnet": Since((5, 5), (5, 5)),
    "haiku": Since((5, 5), (5, 5)),
    "fable": Since((5, 0), (5, 1)),
    "mythos": Since((5, 0), (5, 1)),
}
OTHER_FAMILY = Since((5, 0), (5, 1))
MODEL_NAME = re.compile(r"claude-(?:([a-z]+)-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")


@frozen
class Traits:
    """
    What the form of a request depends on; a model whose name tells no version counts as the newest.
    """

    system_role: bool
    bound_thinking: bool

    @classmethod
    def of(cls, model: str) -> "Traits":
        """
        What is known of a model by its name.
        """
        found = MODEL_NAME.search(model)
        since = FAMILIES.get(found[1], OTHER_FAMILY) if found else OTHER_FAMILY
        version = (int(found[2]), int(found[3] or 0)) if found else NEWEST
        return cls(version >= since.system_role, version >= since.bound_thinking)
