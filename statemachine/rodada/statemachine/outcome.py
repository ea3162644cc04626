"""
The outcome of a run: what the host gets, as a function of the ended run and its steps.
"""

from collections.abc import Iterable
from typing import Generic, cast

from attrs import field, frozen
from typing_extensions import TypeVar

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.events import Failure
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, parse_object
from rodada.statemachine.messages import Entry, Exchange, Status, Usage
from rodada.statemachine.run import Run, unfinished
from rodada.statemachine.states import Reason, RunStatus
from rodada.statemachine.step import Step

T = TypeVar("T", default=object)
T_co = TypeVar("T_co", covariant=True, default=object)


@frozen
class CallRecord:
    """
    One request of the run and what is true of it; `arguments` is the text as received, `text` is the result with its
    media told by type and size, and `deterministic` says that code alone decides the result, so that the call could
    leave the loop.
    """

    id: str
    name: str
    arguments: str
    status: Status
    text: str
    deterministic: bool = False


@frozen
class Unfinished:
    """
    A request that was never executed, or whose outcome is not known.
    """

    id: str
    name: str


@frozen
class Selection:
    """
    What of the history was sent: entries from index `first` on; `left_out` entries before it were not.
    """

    first: int
    left_out: int


@frozen(kw_only=True)
class Outcome(Generic[T_co]):
    """
    How a run ended.

    Attributes:
        run_id: of the run.
        status: completed, incomplete, cancelled or failed.
        reason: why it stopped short; None only when completed.
        detail: the host's reason, or the provider's word.
        answer: completed: the final turn's text; incomplete: the closing reply, else the engine's own words;
            otherwise "".
        answer_by: "model" or "engine"; "" without an answer.
        partial: text that came but is no answer (cut, refused, cancelled).
        conversation: all entries; hand it to the next `run`.
        appended: this run's own entries.
        selection: what of the history was sent.
        narration: texts between the rounds, never part of the answer.
        rounds: rounds of tools (promise P3).
        model_calls: calls begun, retries included, and one that was given up before it was sent.
        calls: every request, with what is true of it.
        unfinished: requests never executed or with unknown outcome.
        usage: tokens of all turns together; None is "not told by any". See `usage_is_whole`.
        usages: tokens of each model call; one that gave no turn told nothing.
        cost: of all turns together, by the loop's prices; None where it is not known. A call that gave no turn has no
            cost here, though a vendor may bill it: see `usage_is_whole`.
        output: completed with `output_type`: the answer as a value of that type; otherwise None.
        still_running: ids of calls of which something still runs, such as a thread that cannot be stopped.
        transitions: every step.
        error: what failed, where something did.
    """

    run_id: str
    status: RunStatus
    reason: Reason | None
    detail: str
    answer: str
    answer_by: str
    partial: str
    conversation: Conversation
    appended: tuple[Entry, ...]
    selection: Selection
    narration: tuple[str, ...]
    rounds: int
    model_calls: int
    calls: tuple[CallRecord, ...]
    unfinished: tuple[Unfinished, ...]
    usage: Usage
    usages: tuple[Usage, ...]
    cost: float | None = None
    output: T_co | None = field(default=None, hash=False)
    still_running: tuple[str, ...] = ()
    transitions: tuple[Step, ...] = ()
    error: Failure | None = None

    @property
    def usage_is_whole(self) -> bool:
        """
        Whether each call told its input and its output; else `usage` holds what is known, and more may have been used.
        A call that failed tells nothing.
        """
        return all(None not in (each.input_tokens, each.output_tokens) for each in self.usages)

    def to_json(self) -> JsonObject:
        """
        The outcome as one JSON object, as `rodada run --json` prints it.
        """
        return {
            "run_id": self.run_id,
            "status": self.status.value,
            "reason": None if self.reason is None else self.reason.value,
            "detail": self.detail,
            "answer": self.answer,
            "answer_by": self.answer_by,
            "narration": list(self.narration),
            "partial": self.partial,
            "output": _output_json(self.output, self.answer),
            "rounds": self.rounds,
            "model_calls": self.model_calls,
            "calls": [_call_json(call) for call in self.calls],
            "unfinished": [{"id": each.id, "name": each.name} for each in self.unfinished],
            "usage": _usage_json(self.usage),
            "usage_is_whole": self.usage_is_whole,
            "cost": self.cost,
            "still_running": list(self.still_running),
            "error": _failure_json(self.error),
            "transitions": [_step_json(step) for step in self.transitions],
        }


def outcome_of(
    run: Run, steps: tuple[Step, ...] = (), still_running: tuple[str, ...] = (), output: T | None = None
) -> Outcome[T]:
    """
    The outcome of an ended run; `output` is what its last turn holds, which only a completed run has as its answer.

    Raises:
        InvalidValue: the run has not ended.
    """
    ending = run.outcome
    if ending is None:
        raise InvalidValue("outcome_of", f"run {run.id} is in {run.state.value} and has not ended")
    return Outcome(
        run_id=run.id,
        status=ending.status,
        reason=ending.reason,
        detail=ending.detail,
        answer=ending.answer,
        answer_by=ending.answer_by,
        partial=ending.partial,
        conversation=run.conversation,
        appended=run.own,
        selection=Selection(run.selected, run.selected),
        narration=narration_of(run.exchanges),
        rounds=run.rounds,
        model_calls=run.calls,
        calls=call_records(run.exchanges, run.deterministic),
        unfinished=tuple(Unfinished(request.id, request.name) for request in unfinished(run)),
        usage=total_usage(run.usages),
        usages=run.usages,
        cost=run.cost if run.prices else None,
        output=output if ending.status is RunStatus.COMPLETED else None,
        still_running=still_running,
        transitions=steps,
        error=ending.failure,
    )


def narration_of(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """
    What the model said between rounds.
    """
    return tuple(exchange.turn.text for exchange in exchanges if exchange.turn.has_words)


def call_records(exchanges: Iterable[Exchange], deterministic: Iterable[str]) -> tuple[CallRecord, ...]:
    """
    Every request of some exchanges, with what is true of it; `deterministic` are ids.
    """
    marked = frozenset(deterministic)
    return tuple(
        CallRecord(request.id, request.name, request.raw, result.status, result.told, request.id in marked)
        for exchange in exchanges
        for request, result in zip(exchange.turn.requests, exchange.results, strict=True)
    )


def total_usage(usages: tuple[Usage, ...]) -> Usage:
    """
    Usages added up, each count over the turns that told it.
    """
    return Usage(
        input_tokens=_sum(usage.input_tokens for usage in usages),
        cached_input_tokens=_sum(usage.cached_input_tokens for usage in usages),
        cache_write_tokens=_sum(usage.cache_write_tokens for usage in usages),
        output_tokens=_sum(usage.output_tokens for usage in usages),
        reasoning_tokens=_sum(usage.reasoning_tokens for usage in usages),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    told = [count for count in counts if count is not None]
    return sum(told) if told else None


def _call_json(call: CallRecord) -> JsonValue:
    arguments = parse_object(call.arguments)
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments if arguments is None else arguments,
        "status": call.status.value,
        "deterministic": call.deterministic,
    }


def _output_json(output: object, answer: str) -> JsonValue:
    if output is None:
        return None
    # Only here: whoever has an output has imported pydantic already.
    from pydantic_core import to_jsonable_python

    from rodada.statemachine.output_types import unframed

    try:
        told = cast(JsonValue, to_jsonable_python(output, inf_nan_mode="null", serialize_unknown=True))
        dump_json(told)
    except Exception:  # noqa: BLE001 - a type's own way to JSON may raise anything; it came from JSON
        return parse_object(unframed(answer))
    return told


def _failure_json(failure: Failure | None) -> JsonValue:
    if failure is None:
        return None
    told: JsonObject = {"error": failure.error, "message": failure.message, "provider": failure.provider}
    return {**told, "status": failure.status, "code": failure.code, "request_id": failure.request_id}


def _usage_json(usage: Usage) -> JsonValue:
    return {
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _step_json(step: Step) -> JsonValue:
    return {"n": step.n, "state": step.state.value, "event": step.event, "row": step.row, "to": step.to.value}
