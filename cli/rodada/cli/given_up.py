"""
The outcome of a run that had to be given up: what is stored of it is true, of what was in hand nothing is known.
"""

from attrs import define

from rodada.statemachine import (
    Conversation,
    Entry,
    Exchange,
    Notice,
    Outcome,
    Reason,
    RunStatus,
    Selection,
    StepTaken,
    ToolEnded,
    ToolStarted,
    Unfinished,
)
from rodada.statemachine.outcome import call_records, narration_of, total_usage
from rodada.statemachine.toolbox import ToolList

DETAIL = "given up while something blocked the event loop: what the calls in hand did is not known"


@define
class KeptHistory:
    """
    A history in memory, for the case that a run gives no outcome.

    Attributes:
        conversation: with all that was appended so far.
        first: how many entries it had before.
    """

    conversation: Conversation
    first: int

    async def append(self, conversation_id: str, after: int, entries: tuple[Entry, ...]) -> None:
        """
        Keep entries.
        """
        for entry in entries:
            self.conversation = self.conversation.append(entry)


def given_up(run_id: str, kept: KeptHistory, seen: tuple[Notice, ...], tools: ToolList) -> Outcome:
    """
    The outcome, as far as it is known from what was stored and `seen`; `tools` say which calls are deterministic.
    """
    appended = kept.conversation.entries[kept.first :]
    exchanges = [entry for entry in appended if isinstance(entry, Exchange)]
    steps = tuple(notice.step for notice in seen if isinstance(notice, StepTaken))
    unfinished = _unfinished(seen)
    deterministic = [each for exchange in exchanges for each in tools.plan(exchange.turn.requests).deterministic]
    usages = tuple(exchange.turn.usage for exchange in exchanges)
    return Outcome(
        run_id=run_id,
        status=RunStatus.CANCELLED,
        reason=Reason.CANCELLED,
        detail=DETAIL,
        answer="",
        answer_by="",
        partial="",
        conversation=kept.conversation,
        appended=appended,
        selection=Selection(0, 0),
        narration=narration_of(exchanges),
        rounds=len(exchanges) + bool(unfinished),
        model_calls=steps[-1].call if steps else 0,
        calls=call_records(exchanges, deterministic),
        unfinished=unfinished,
        usage=total_usage(usages),
        usages=usages,
        still_running=tuple(each.id for each in unfinished),
        transitions=steps,
    )


def _unfinished(seen: tuple[Notice, ...]) -> tuple[Unfinished, ...]:
    ended = {notice.id for notice in seen if isinstance(notice, ToolEnded)}
    started = (notice for notice in seen if isinstance(notice, ToolStarted))
    return tuple(Unfinished(notice.id, notice.name) for notice in started if notice.id not in ended)
