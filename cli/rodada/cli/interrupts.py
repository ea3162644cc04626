"""
Ctrl-C as news that somebody waits for, instead of an exception anywhere.
"""

import enum
import signal
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self


class News(enum.Enum):
    """
    Why a wait is over.
    """

    ENDED = "ended"
    PRESSED = "pressed"
    TIME = "time"


class Interrupts:
    """
    Within its block Ctrl-C is only noted, and heard by `next`. While nobody listens yet (tools are being imported)
    the second one is an ordinary KeyboardInterrupt.
    """

    def __init__(self) -> None:
        # Of all queues only this one may be filled by a signal handler.
        self._news: SimpleQueue[News] = SimpleQueue()
        self._heard = False
        self._pressed = 0

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def end(self) -> None:
        """
        Tell whoever waits that it is over. From any thread.
        """
        self._news.put(News.ENDED)

    def next(self, seconds: float | None) -> News:
        """
        The next news, within some seconds; None waits for ever.
        """
        self._heard = True
        try:
            return self._news.get(timeout=seconds)
        except Empty:
            return News.TIME

    def _press(self, number: int, frame: object) -> None:
        self._pressed += 1
        self._news.put(News.PRESSED)
        if self._pressed > 1 and not self._heard:
            raise KeyboardInterrupt
