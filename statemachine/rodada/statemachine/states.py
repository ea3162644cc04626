"""
The places where a run can be, and the reasons for which it stops short.
"""

import enum


class State(enum.Enum):
    """
    Where a run is. A run starts in `APPEND_HISTORY`, with the person's message as the entry.
    """

    APPEND_HISTORY = "AppendHistory"
    CALL_MODEL = "CallModel"
    AWAIT_APPROVAL = "AwaitApproval"
    EXECUTE_TOOLS = "ExecuteTools"
    FINALIZE = "Finalize"
    CANCELLED = "Cancelled"
    ERROR = "Error"


ENDS = frozenset({State.FINALIZE, State.CANCELLED, State.ERROR})


class Reason(enum.Enum):
    """
    Why a run stops short. While it goes on it has none; the first one stands, and a cancel beats all.
    """

    MAX_ROUNDS = "max_rounds"
    MAX_TOKENS_TOTAL = "max_tokens_total"
    MAX_COST = "max_cost"
    MAX_REPEATS = "max_repeats"
    DEADLINE = "deadline"
    CUT = "cut"
    EMPTY = "empty"
    MALFORMED = "malformed"
    REFUSED = "refused"
    PAUSED = "paused"
    UNKNOWN_STOP = "unknown_stop"
    CALL_FAILED = "call_failed"
    APPEND_FAILED = "append_failed"
    CANCELLED = "cancelled"


class RunStatus(enum.Enum):
    """
    How a run ended (promise P2).
    """

    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"
    FAILED = "failed"
