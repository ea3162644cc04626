"""
A lab as a run of the loop, and what is said of it: by id, in the order of the file, whatever finished first.
"""

from collections.abc import Iterator

from rodada.cli.lab.bench import Bench
from rodada.cli.lab.calls import LabCall
from rodada.cli.plain import one_line
from rodada.providers.scripted import Scripted
from rodada.statemachine import CallRecord, Exchange, Limits, Outcome, RunStatus, Status, ToolLoop
from rodada.statemachine.drivers.clock import SystemClock
from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_json
from rodada.statemachine.ports import Clock

LONGEST_TOLD = 200
NEVER_ASKED = "Never asked for: the iterations were used up before what it needs had its result."


async def run_lab(calls: tuple[LabCall, ...], max_iterations: int, clock: Clock | None = None) -> Outcome:
    """
    The outcome of a lab's run; `max_iterations` is its limit of rounds.
    """
    bench = Bench({call.id: call for call in calls}, clock or SystemClock())
    limits = Limits(
        max_rounds=max_iterations,
        max_parallel=max(1, len(calls)),
        seconds=None,
        call_seconds=None,
        tool_seconds=None,
        max_result_chars=None,
    )
    loop = ToolLoop(Scripted(reply=bench.reply), tools=bench.tools, parallel=True, limits=limits, clock=bench.clock)
    return await loop.run("Make the calls of the lab.")


def completed(outcome: Outcome) -> bool:
    """
    Whether every call has its result.
    """
    return outcome.status is RunStatus.COMPLETED


def lab_json(calls: tuple[LabCall, ...], outcome: Outcome) -> JsonObject:
    """
    What became of a lab, as one JSON object.
    """
    records = {record.id: record for record in outcome.calls}
    left: list[JsonValue] = [call.id for call in calls if _left(records.get(call.id))]
    results: JsonObject = {call.id: _call_json(call, records.get(call.id), outcome) for call in calls}
    return {
        "state": "completed" if completed(outcome) else "not_completed",
        "reason": None if outcome.reason is None else _reason(outcome.reason.value),
        "iterations": outcome.rounds,
        "left": left,
        "results": results,
    }


def lab_lines(calls: tuple[LabCall, ...], outcome: Outcome) -> Iterator[str]:
    """
    The same for people, one line a call.
    """
    records = {record.id: record for record in outcome.calls}
    for call in calls:
        record = records.get(call.id)
        status = (Status.NOT_EXECUTED if record is None else record.status).value.replace("_", " ")
        told = NEVER_ASKED if record is None else record.text
        by = " (deterministic)" if call.deterministic else ""
        yield one_line(f"{call.id}: {call.name}{by}: {status}: {told}", LONGEST_TOLD)
    left = ", ".join(call.id for call in calls if _left(records.get(call.id)))
    ending = "completed" if completed(outcome) else "NOT COMPLETED"
    yield one_line(f"{ending} after {outcome.rounds} iterations" + (f"; left: {left}" if left else ""))


def _reason(word: str) -> str:
    return "max_iterations" if word == "max_rounds" else word


def _left(record: CallRecord | None) -> bool:
    return record is None or record.status is Status.NOT_EXECUTED


def _call_json(call: LabCall, record: CallRecord | None, outcome: Outcome) -> JsonObject:
    told: JsonObject = {"name": call.name, "deterministic": call.deterministic}
    if record is None:
        return {**told, "status": Status.NOT_EXECUTED.value, "iteration": None, "error": NEVER_ASKED}
    told |= {"status": record.status.value, "iteration": _iteration(record, outcome)}
    if record.status is not Status.SUCCEEDED:
        return {**told, "error": record.text}
    resolved_by = "code" if record.deterministic else "tool"
    return {
        **told,
        "resolved_by": resolved_by,
        "arguments": parse_json(record.arguments),
        "result": parse_json(record.text),
    }


def _iteration(record: CallRecord, outcome: Outcome) -> int | None:
    if record.status is Status.NOT_EXECUTED:
        return None
    exchanges = (entry for entry in outcome.appended if isinstance(entry, Exchange))
    asked = enumerate(({request.id for request in each.turn.requests} for each in exchanges), start=1)
    return next(number for number, ids in asked if record.id in ids)
