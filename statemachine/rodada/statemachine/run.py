"""
A run: the whole state of one user message being answered, as one frozen value.

Nothing else decides: whoever has the run knows what it waits for (`orders`) and how much time it has left.
"""

from attrs import evolve, field, frozen

from rodada.statemachine.ballot import Ballot, Vote, ballot_of
from rodada.statemachine.codec import UNSTORED, decode, document, encode, read_document
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.earlier_runs import as_run_2
from rodada.statemachine.errors import FormatError, InvalidValue
from rodada.statemachine.events import Failure
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    ModelTurn,
    Status,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from rodada.statemachine.plan import Plan
from rodada.statemachine.prices import Price, added, cost_of
from rodada.statemachine.progress import Progress, progress_of
from rodada.statemachine.states import ENDS, Reason, RunStatus, State
from rodada.statemachine.stored_media import SINCE, media_apart, media_inside
from rodada.statemachine.wording import ENGLISH, Wording

FORMAT = "rodada.run"
VERSION = 2


@frozen
class Origin:
    """
    Who a run is for. Never sent to a provider; the log line with which the run starts has it.

    Attributes:
        tenant, actor, channel: names of the host's choosing.
        labels: further pairs of name and value.
    """

    tenant: str = ""
    actor: str = ""
    channel: str = ""
    labels: tuple[tuple[str, str], ...] = ()


@frozen
class Ending:
    """
    How a run ended.

    Attributes:
        status: completed, incomplete, cancelled or failed.
        reason: None only when completed.
        detail: the host's reason or the provider's word.
        answer: completed: the final turn's text; incomplete: the closing reply, else the engine's own words.
        answer_by: "model" or "engine"; "" when there is no answer.
        partial: text that came but is no answer.
        failure: what failed, where something did.
    """

    status: RunStatus
    reason: Reason | None = None
    detail: str = ""
    answer: str = ""
    answer_by: str = ""
    partial: str = ""
    failure: Failure | None = None


@frozen(kw_only=True, cache_hash=True)
class Run:
    """
    The state of one user message being answered.

    Attributes:
        id: of this run.
        origin: who it is for.
        limits: what it may use.
        wording: the engine's texts in it.
        conversation: what is stored; the entry in hand is not in it yet.
        start: how many entries the conversation had before this run's message.
        selected: index of the first entry that is sent; the selection is made once a run.
        state: where it is.
        reason: why it stops short; None while it goes on.
        detail: of the reason: the host's words, or the provider's.
        outcome: set at an end, and only there.
        entry: the entry being appended.
        turn, plan: the turn whose requests are in hand, and how they may run.
        votes: decisions that count, on that turn.
        started: ids of calls that were started, in order.
        results: results so far, in order of arrival.
        held: pieces of a paused turn.
        rounds: rounds so far (promise P3).
        calls: number of the last model call.
        attempt: tries of the call in hand.
        pauses, flaws: resumed pauses; spoilt turns that got a second chance.
        tokens: of all calls so far, as far as told.
        prices: by which the calls are priced.
        cost: of all turns so far; None once one's is not known.
        wait_ms: how long the call in hand waits before it is sent.
        usages: of each call that has ended, in order; one that gave no turn told nothing.
        deterministic: ids of the calls so far whose result code alone decides.
        asked_ms: when the question to people was put, while one is open.
        people_ms: how long the run waited for people; not counted as its time.
        known: the progress of the calls in hand as the last step left it. It says nothing new, and is believed only
            where it is of this very plan, start and results.
        counted: the ballot on them as the last vote left it, likewise.
    """

    id: str
    origin: Origin = Origin()
    limits: Limits = Limits()
    wording: Wording = ENGLISH
    conversation: Conversation
    start: int = 0
    selected: int = 0
    state: State = State.APPEND_HISTORY
    reason: Reason | None = None
    detail: str = ""
    outcome: Ending | None = None
    entry: Entry | None = None
    turn: ModelTurn | None = None
    plan: Plan = Plan()
    votes: tuple[Vote, ...] = ()
    started: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()
    held: tuple[ModelTurn, ...] = ()
    rounds: int = 0
    calls: int = 0
    attempt: int = 0
    pauses: int = 0
    flaws: int = 0
    tokens: int = 0
    prices: tuple[Price, ...] = ()
    cost: float | None = 0.0
    wait_ms: int = 0
    usages: tuple[Usage, ...] = ()
    deterministic: tuple[str, ...] = ()
    asked_ms: int | None = None
    people_ms: int = 0
    known: Progress | None = field(default=None, eq=False, repr=False, alias="_known", metadata=UNSTORED)
    counted: Ballot | None = field(default=None, eq=False, repr=False, alias="_counted", metadata=UNSTORED)

    @property
    def requests(self) -> tuple[ToolRequest, ...]:
        """
        The requests in hand.
        """
        return self.turn.requests if self.turn is not None else ()

    def result_of(self, request_id: str) -> ToolResult | None:
        """
        The result of a request in hand, if it is there.
        """
        return next((result for result in self.results if result.id == request_id), None)

    def request(self, request_id: str) -> ToolRequest:
        """
        A request in hand.

        Raises:
            KeyError: it is not in hand.
        """
        position = self.plan.position(request_id)
        if position is None:
            raise KeyError(request_id)
        return self.requests[position]

    @property
    def progress(self) -> Progress:
        """
        Where the calls in hand stand.
        """
        known = self.known
        if (
            known is not None
            and known.plan is self.plan
            and known.started is self.started
            and known.results is self.results
        ):
            return known
        return progress_of(self.plan, self.started, self.results)

    @property
    def ballot(self) -> Ballot:
        """
        Where the questions on the calls in hand stand.
        """
        counted = self.counted
        if counted is not None and counted.plan is self.plan and counted.votes is self.votes:
            return counted
        return ballot_of(self.plan, self.votes)

    @property
    def running(self) -> tuple[str, ...]:
        """
        Ids of calls that were started and have no result yet, in request order.
        """
        progress = self.progress
        return progress.ids(progress.running)

    @property
    def own(self) -> tuple[Entry, ...]:
        """
        The entries that this run appended.
        """
        return self.conversation.entries[self.start :]

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """
        The exchanges that this run appended.
        """
        return tuple(entry for entry in self.own if isinstance(entry, Exchange))

    def to_json(self) -> JsonObject:
        """
        A JSON object that `from_json` reads, with equal media stored once. Hidden reasoning is in it: keep it where
        secrets may be.
        """
        value = encode(self)
        return document(FORMAT, VERSION, media_apart(value if isinstance(value, dict) else {}))

    @classmethod
    def from_json(cls, value: JsonValue) -> "Run":
        """
        The run that a JSON object holds.

        Raises:
            FormatError: not a run, or a later format.
        """
        version, content = read_document(FORMAT, VERSION, value)
        content = as_run_2(content) if version < SINCE else media_inside(content)
        try:
            return coherent(checked_state(decode(cls, content)))
        except InvalidValue as error:
            raise FormatError("$", str(error)) from error


def advanced(run: Run, progress: Progress) -> Run:
    """
    The run whose calls in hand stand as `progress` says.
    """
    return evolve(run, started=progress.started, results=progress.results, _known=progress)


def checked_state(run: Run) -> Run:
    """
    The same run, if it holds what its state means; checked between two steps and when read, not inside an action.

    Raises:
        InvalidValue: it does not.
    """
    holds = {
        "an outcome": (run.outcome is not None, run.state in ENDS),
        "an entry": (run.entry is not None, run.state is State.APPEND_HISTORY),
        "a turn": (run.turn is not None, run.state in (State.AWAIT_APPROVAL, State.EXECUTE_TOOLS)),
    }
    for what, (has, must) in holds.items():
        if has != must:
            raise InvalidValue("Run", f"a run in {run.state.value} {'must hold' if must else 'cannot hold'} {what}")
    return run


def coherent(run: Run) -> Run:
    """
    The same run, if its parts fit one another; actions keep them so, a document may not.

    Raises:
        InvalidValue: they do not.
    """
    if not 0 <= run.selected <= run.start <= len(run.conversation.entries):
        raise InvalidValue("Run", f"selected={run.selected} and start={run.start} do not fit its conversation")
    asked = tuple(request.id for request in run.requests)
    if run.plan.ids != asked:
        raise InvalidValue("Run", f"the plan is for {run.plan.ids}, the turn asks for {asked}")
    known = {*run.started, *(result.id for result in run.results), *(vote.id for vote in run.votes)}
    if not known.issubset(asked):
        raise InvalidValue("Run", f"{sorted(known - set(asked))} were started, answered or voted on but not asked for")
    return run


def new_run(
    run_id: str,
    message: UserMessage,
    conversation: Conversation,
    *,
    limits: Limits = Limits(),
    origin: Origin = Origin(),
    wording: Wording = ENGLISH,
    prices: tuple[Price, ...] = (),
) -> Run:
    """
    A run at its start: the person's message waits to be appended.

    Raises:
        InvalidValue: its cost is limited and there are no prices.
    """
    check_priced(limits, prices)
    return Run(
        id=run_id,
        origin=origin,
        limits=limits,
        wording=wording,
        prices=prices,
        conversation=conversation,
        start=len(conversation.entries),
        selected=select_from(conversation, limits.history_messages),
        entry=message,
    )


def check_priced(limits: Limits, prices: tuple[Price, ...]) -> None:
    """
    Raises:
        InvalidValue: the cost of a run is limited and there are no prices to judge it by.
    """
    if limits.max_cost is not None and not prices:
        raise InvalidValue("Limits.max_cost", "is judged by prices: give ToolLoop(prices=[Price(...)])")


def select_from(conversation: Conversation, history_messages: int | None) -> int:
    """
    Index of the first entry to send: the earliest user message from which what stands before the new message
    counts at most `history_messages` wire messages. An exchange counts two and is never cut apart, so fewer may be
    left, even none (faults F007-F011).
    """
    entries = conversation.entries
    if history_messages is None:
        return 0
    chosen, count = len(entries), 0
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        count += 2 if isinstance(entry, Exchange) else 1
        if count > history_messages:
            break
        if isinstance(entry, UserMessage):
            chosen = index
    return chosen


def unfinished(run: Run) -> tuple[ToolRequest, ...]:
    """
    The run's requests that were never executed, or whose outcome is not known.
    """
    open_statuses = (Status.NOT_EXECUTED, Status.OUTCOME_UNKNOWN)
    return tuple(
        request
        for exchange in run.exchanges
        for request, result in zip(exchange.turn.requests, exchange.results, strict=True)
        if result.status in open_statuses
    )


def cost_with(run: Run, turn: ModelTurn) -> float | None:
    """
    What all turns so far cost, this one included; None where that is not known.
    """
    cost = cost_of(turn, run.prices)
    return None if run.cost is None or cost is None else added(run.cost, cost)
