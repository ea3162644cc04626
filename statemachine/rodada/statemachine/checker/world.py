"""
The world that the checker plays: for a run, the events that an honest driver may feed, and those that only a
dishonest or confused one would.

What is honest is decided from the run's orders alone, never from the guards: the guards are what is checked.
"""

import itertools
from collections.abc import Iterator

from attrs import evolve, frozen

from rodada.statemachine.checker.bounds import COST_A_TURN, TOKENS_A_TURN, Scene
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.events import (
    AppendFailed,
    ApprovalDecided,
    CallFailed,
    CancelRequested,
    DeadlinePassed,
    Event,
    Failure,
    HistoryAppended,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.messages import (
    Exchange,
    ModelTurn,
    Piece,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from rodada.statemachine.orders import Append, AskApproval, AskModel, StartTool, orders
from rodada.statemachine.plan import Kind, Plan, PlannedCall, one_after_another
from rodada.statemachine.prices import TOKENS_PRICED, Price
from rodada.statemachine.run import Origin, Run, new_run
from rodada.statemachine.states import ENDS

REQUESTER, OTHERS = "requester", ("ana", "bob")
TOO_LONG_MS = 10**9
LOST = Failure("ProviderUnreachable", "the connection failed", retryable=True)
REFUSED = Failure("ProviderRejected", "the request was refused")
FULL = Failure("DiskFull", "the disk is full")
A_TOKEN = COST_A_TURN / TOKENS_A_TURN * TOKENS_PRICED
PRICES = (Price(input=A_TOKEN, output=A_TOKEN),)
USAGE = Usage(input_tokens=TOKENS_A_TURN - 1, output_tokens=1)


@frozen
class Offer:
    """
    An event that the world may bring, and whether an honest driver could feed it.
    """

    event: Event
    honest: bool


def first_run(scene: Scene) -> Run:
    """
    The run that a scene starts with: there is a past, and the requester is known.
    """
    past = Conversation("checked", (UserMessage("m0", (Text("before"),)), ModelTurn(Stop.WHOLE, "said before")))
    return new_run(
        "checked",
        UserMessage("m1", (Text("now"),)),
        past,
        limits=scene.limits,
        origin=Origin(actor=REQUESTER),
        prices=PRICES,
    )


def offers(scene: Scene, run: Run) -> Iterator[Offer]:
    """
    Every event the world may bring to a run.
    """
    waiting = orders(run)
    yield from (Offer(event, True) for event in _honest(scene, run, waiting))
    yield from (Offer(event, False) for event in _dishonest(scene, run, waiting))


def _honest(scene: Scene, run: Run, waiting: tuple[object, ...]) -> Iterator[Event]:
    for order in waiting:
        match order:
            case Append():
                yield HistoryAppended()
                yield AppendFailed(failure=FULL)
            case AskModel():
                yield from (TurnReceived(order.call, turn, plan) for turn, plan in _turns(scene, run))
                yield from _failures(order.call)
            case StartTool():
                yield from (_finished(order.id, status) for status in _STARTED)
            case AskApproval():
                yield from _decisions(run, order.id)
            case _:
                pass
    if run.state not in ENDS:
        yield CancelRequested(detail="the person left")
        yield DeadlinePassed()


_STARTED = (Status.SUCCEEDED, Status.FAILED, Status.OUTCOME_UNKNOWN)


def _dishonest(scene: Scene, run: Run, waiting: tuple[object, ...]) -> Iterator[Event]:
    awaited = {type(order) for order in waiting}
    asked = {order.id for order in waiting if isinstance(order, AskApproval)}
    going = {order.id for order in waiting if isinstance(order, StartTool)}
    answer = ModelTurn(Stop.WHOLE, "late")
    yield TurnReceived(run.calls + 1, answer)
    yield CallFailed(run.calls + 1, LOST)
    if run.calls > 1 or AskModel not in awaited:
        yield TurnReceived(run.calls - (AskModel in awaited), answer)
        yield CallFailed(run.calls - (AskModel in awaited), LOST)
    if Append not in awaited:
        yield HistoryAppended()
        yield AppendFailed(failure=FULL)
    for request_id in ("nobody", *(request.id for request in run.requests)):
        if request_id not in going:
            yield _finished(request_id, Status.SUCCEEDED)
        if request_id not in asked:
            yield from _decisions(run, request_id)
    if AskModel in awaited:
        yield from _ids_used_before(run)
    if run.state in ENDS:
        yield CancelRequested()
        yield DeadlinePassed()


def _ids_used_before(run: Run) -> Iterator[Event]:
    last = run.conversation.last
    if isinstance(last, Exchange):
        for again in last.turn.requests:
            yield TurnReceived(run.calls, ModelTurn(Stop.WHOLE, "", (again,)), Plan((PlannedCall(again.id),)))


def _failures(call: int) -> Iterator[Event]:
    yield CallFailed(call, LOST)
    yield CallFailed(call, LOST, wait_ms=TOO_LONG_MS)
    yield CallFailed(call, REFUSED)
    yield CallFailed(call, LOST, mono_ms=TOO_LONG_MS)


def _decisions(run: Run, request_id: str) -> Iterator[Event]:
    yield ApprovalDecided(request_id, True, REQUESTER)
    yield from (ApprovalDecided(request_id, True, who) for who in OTHERS)
    yield ApprovalDecided(request_id, False, OTHERS[0], reason="no")
    if any(call.id == request_id and call.within_ms is not None for call in run.plan.calls):
        yield ApprovalDecided(request_id, True, OTHERS[0], mono_ms=TOO_LONG_MS)


def _finished(request_id: str, status: Status) -> Event:
    return ToolFinished(result=ToolResult(request_id, status, (Text(status.value),)))


def _turns(scene: Scene, run: Run) -> Iterator[tuple[ModelTurn, Plan]]:
    for stop in Stop:
        yield _turn(stop, "words", ()), Plan()
    yield _turn(Stop.WHOLE, "", ()), Plan()
    for count, stop in itertools.product(range(1, scene.requests + 1), (Stop.WHOLE, Stop.CUT)):
        for words in ("", "words") if count == 1 else ("",):
            for requests in _requests(scene, run, count):
                for usage in (USAGE, Usage()) if scene.untold else (USAGE,):
                    yield from ((_turn(stop, words, requests, usage), plan) for plan in _plans(scene, requests))


def _turn(stop: Stop, words: str, requests: tuple[ToolRequest, ...], usage: Usage = USAGE) -> ModelTurn:
    native = (Piece(f'"{stop.value} {words} {len(requests)}"', None),)
    return ModelTurn(stop, words, requests, stop_word=stop.value, usage=usage, native=native, wire="checked")


def _requests(scene: Scene, run: Run, count: int) -> Iterator[tuple[ToolRequest, ...]]:
    ids = tuple(f"c{len(run.conversation.entries)}_{position}" for position in range(count))
    if scene.repeats:
        yield tuple(ToolRequest(request_id, "tool", "{}") for request_id in ids)
    if not scene.repeats or count == 1:
        yield tuple(
            ToolRequest(request_id, "tool", f'{{"turn":{len(run.conversation.entries)}}}') for request_id in ids
        )


def _plans(scene: Scene, requests: tuple[ToolRequest, ...]) -> Iterator[Plan]:
    calls = tuple(PlannedCall(request.id, Kind.WRITE) for request in requests)
    yield one_after_another(calls)
    if scene.independent and len(calls) > 1:
        yield Plan(calls)
    if scene.approvers:
        yield from _gated(scene.approvers, calls)


def _gated(approvers: int, calls: tuple[PlannedCall, ...]) -> Iterator[Plan]:
    first = evolve(calls[0], approvals=approvers, requester_counts=False, within_ms=TOO_LONG_MS)
    rest = calls[1:]
    yield one_after_another((first, *rest))
    if rest:
        yield Plan((first, *(evolve(call, approvals=1) for call in rest)))
