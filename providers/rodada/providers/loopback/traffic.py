"""
What goes on at the door of the loopback server, counted for whoever waits.
"""

import threading
from collections import Counter
from typing import Literal, TypeAlias

# Since the start: connections opened, answers held back, clients that went away meanwhile. Now: connections that are
# open, requests that are being answered.
Counted: TypeAlias = Literal["connections", "held back", "hung up", "open", "answering"]


class Traffic:
    """
    Counts that any thread may change; every change wakes those who wait for `changed`.
    """

    def __init__(self, changed: threading.Condition) -> None:
        self._changed = changed
        self._counts: Counter[Counted] = Counter()

    def count(self, what: Counted, by: int = 1) -> None:
        """
        So many more, or fewer.
        """
        with self._changed:
            self._counts[what] += by
            self._changed.notify_all()

    def of(self, what: Counted) -> int:
        """
        How many there are.
        """
        with self._changed:
            return self._counts[what]
