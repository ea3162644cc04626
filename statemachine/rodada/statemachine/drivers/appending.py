"""
One entry stored, from its order to the event that answers it.
"""

from rodada.statemachine.drivers.clock import within
from rodada.statemachine.drivers.port_failures import foreign_failure, let_pass
from rodada.statemachine.drivers.ports import Ports
from rodada.statemachine.events import AppendFailed, Failure, HistoryAppended
from rodada.statemachine.limits import Limits
from rodada.statemachine.orders import Append
from rodada.statemachine.run import Run

NOT_STOPPED = AppendFailed(Failure("TimeoutError", "the history did not stop"))


def seconds_to_append(limits: Limits) -> float | None:
    """
    The time that storing an entry may take; None is unlimited.
    """
    return min((each for each in (limits.call_seconds, limits.seconds) if each is not None), default=None)


async def appended(order: Append, run: Run, ports: Ports) -> HistoryAppended | AppendFailed:
    """
    Store the entry of an order, where there is a history. Only a cancel of this task is raised.
    """
    history, conversation = ports.history, run.conversation
    try:
        if history is not None:
            store = history.append(conversation.id, len(conversation.entries), (order.entry,))
            await within(ports.clock, seconds_to_append(run.limits), store)
        return HistoryAppended()
    except BaseException as error:  # noqa: BLE001  (whatever a store raises ends in an outcome)
        let_pass(error)
        return AppendFailed(foreign_failure(error, "the history"))
