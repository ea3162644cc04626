"""
The end of the process, which waits for nobody.
"""

import os
import signal
import sys
import threading
from typing import NoReturn

POOL = "rodada pool"
LINGERING_SECONDS = 0.5


def leave(code: int) -> NoReturn:
    """
    End the process now, even when a tool left a thread behind that Python would wait for. Ctrl-C is too late here.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _lingers():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _lingers() -> bool:
    # Python waits for the threads of a pool although they are daemons.
    waited_for = [
        each
        for each in threading.enumerate()
        if each is not threading.main_thread() and (not each.daemon or each.name.startswith(POOL))
    ]
    for each in waited_for:
        each.join(LINGERING_SECONDS / len(waited_for))
    return any(each.is_alive() for each in waited_for)
