"""
Strategies for every word of the core. What they give is legal by construction; what is content may be any text.
"""

from datetime import UTC, datetime

from hypothesis import strategies as st

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.events import (
    AnyEvent,
    AppendFailed,
    ApprovalDecided,
    CallFailed,
    CancelRequested,
    DeadlinePassed,
    Failure,
    HistoryAppended,
    ToolFinished,
    TurnReceived,
)
from rodada.statemachine.jsontext import JsonValue, canonical_json
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    Media,
    MediaLink,
    ModelTurn,
    Part,
    Piece,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from rodada.statemachine.orders import Abandon, Append, AskApproval, AskModel, Effect, StartTool, StopTool
from rodada.statemachine.plan import Kind, Plan, PlannedCall
from rodada.statemachine.run import Origin
from rodada.statemachine.wording import LANGUAGES

STARTED = (Status.SUCCEEDED, Status.FAILED, Status.OUTCOME_UNKNOWN)

words = st.text(st.characters(), max_size=8)  # lone surrogates included
names = st.sampled_from(("read", "save", "")) | words
ids = st.text(st.characters(), min_size=1, max_size=4).map("p".__add__)
counts = st.integers(0, 10**9)
times = st.datetimes(timezones=st.just(UTC), min_value=datetime(1970, 1, 1))
seconds = st.floats(0, 10**6) | st.integers(0, 10**6)


def _nested(inner: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    return st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3)


_leaves: st.SearchStrategy[JsonValue] = st.none() | st.booleans() | st.integers() | words | st.floats(-1e9, 1e9)
json_values: st.SearchStrategy[JsonValue] = st.recursive(_leaves, _nested, max_leaves=6)
json_objects = st.dictionaries(words, json_values, max_size=3)
raw_arguments = words | json_objects.map(canonical_json) | st.sampled_from(("", "{}", '{"kg":80}', "{"))

texts = st.builds(Text, words)
media_types = st.sampled_from(
    ("image/png", "image/jpeg", "application/pdf", "text/csv", "audio/wav", "video/x-odd+zip")
)
media = st.builds(Media.of, st.binary(min_size=1, max_size=9), media_types, words)
links = st.builds(
    MediaLink,
    st.sampled_from(("https://host/a", "https://host/a.png?b=1;c=2", "gs://bucket/a")),
    media_types | st.just("image/*"),
    words,
)
parts: st.SearchStrategy[Part] = texts | media | links
usages = st.builds(
    Usage, st.none() | counts, st.none() | counts, st.none() | counts, st.none() | counts, st.none() | counts
)
pieces = st.builds(Piece, words, st.none() | words)
failures = st.builds(
    Failure, names, words, st.booleans(), names, st.none() | st.integers(100, 599), st.none() | words, st.none() | words
)
origins = st.builds(Origin, words, words, words, st.lists(st.tuples(words, words), max_size=2).map(tuple))
wordings = st.sampled_from(tuple(LANGUAGES.values()))
saying: st.SearchStrategy[Part] = st.just(Text("said")) | media | links


def _message(id: str, before: list[Part], said: Part, after: list[Part]) -> UserMessage:
    return UserMessage(id, (*before, said, *after))


user_messages = st.builds(_message, ids, st.lists(parts, max_size=2), saying, st.lists(parts, max_size=1))


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    """
    Any limits.
    """
    whole = draw(st.none() | seconds)
    given = {} if whole is None else {"closing_seconds": whole * draw(st.floats(0, 1))}
    return Limits(
        max_rounds=draw(counts),
        max_attempts=draw(st.integers(1, 9)),
        max_pauses=draw(counts),
        max_repeats=draw(st.none() | st.integers(1, 9)),
        max_parallel=draw(st.integers(1, 9)),
        max_tokens_total=draw(st.none() | counts),
        max_cost=draw(st.none() | seconds),
        seconds=whole,
        call_seconds=draw(st.none() | seconds),
        tool_seconds=draw(st.none() | seconds),
        stop_seconds=draw(seconds),
        max_result_chars=draw(st.none() | st.integers(200, 10**9)),
        max_request_bytes=draw(st.none() | st.integers(1, 10**9)),
        history_messages=draw(st.none() | counts),
        **given,
    )


@st.composite
def requests(draw: st.DrawFn, least: int = 1, seen: frozenset[str] = frozenset()) -> tuple[ToolRequest, ...]:
    """
    The requests of one turn, with ids of their own.
    """
    chosen = draw(st.lists(ids.filter(lambda each: each not in seen), unique=True, min_size=least, max_size=3))
    return tuple(ToolRequest(each, draw(names), draw(raw_arguments), draw(st.none() | words)) for each in chosen)


@st.composite
def turns(
    draw: st.DrawFn, stops: tuple[Stop, ...] = tuple(Stop), asked: tuple[ToolRequest, ...] | None = None
) -> ModelTurn:
    """
    A turn of the model, with the requests given, or with any.
    """
    stop = draw(st.sampled_from(stops))
    any_requests = requests(least=0) if stop in (Stop.WHOLE, Stop.CUT) else st.just(())
    return ModelTurn(
        stop,
        draw(words),
        draw(any_requests) if asked is None else asked,
        draw(words),
        draw(usages),
        draw(st.lists(pieces, max_size=2).map(tuple)),
        draw(names),
        draw(names),
        draw(names),
    )


answers = turns(stops=(Stop.WHOLE,), asked=()).filter(lambda turn: turn.has_words)


def results(request: ToolRequest, statuses: tuple[Status, ...] = tuple(Status)) -> st.SearchStrategy[ToolResult]:
    """
    A result of a request.
    """
    content = st.lists(parts, max_size=2).map(tuple)
    return st.builds(ToolResult, st.just(request.id), st.sampled_from(statuses), content)


@st.composite
def exchanges(draw: st.DrawFn, seen: frozenset[str] = frozenset()) -> Exchange:
    """
    A turn that asks for tools, with all its results.
    """
    turn = draw(turns(stops=(Stop.WHOLE, Stop.CUT), asked=draw(requests(seen=seen))))
    return Exchange(turn, tuple(draw(results(request)) for request in turn.requests))


entries: st.SearchStrategy[Entry] = user_messages | exchanges() | turns()


@st.composite
def conversations(draw: st.DrawFn, most: int = 6) -> Conversation:
    """
    A conversation that is valid by construction.
    """
    told: list[Entry] = []
    seen: frozenset[str] = frozenset()
    for _ in range(draw(st.integers(0, most))):
        open_end = bool(told) and not isinstance(told[-1], ModelTurn)
        kinds = (user_messages, exchanges(seen), answers) if open_end else (user_messages,)
        entry: Entry = draw(st.one_of(*kinds))
        told.append(entry)
        seen |= {request.id for request in entry.turn.requests} if isinstance(entry, Exchange) else set[str]()
    return Conversation(draw(ids), tuple(told))


@st.composite
def plans(draw: st.DrawFn, request_ids: tuple[str, ...]) -> Plan:
    """
    A plan of requests: each may wait for some of those before it.
    """
    calls: list[PlannedCall] = []
    for place, each in enumerate(request_ids):
        before = request_ids[:place]
        after = tuple(earlier for earlier in before if draw(st.booleans()))
        kind, approvals, counts, pure = draw(
            st.tuples(st.sampled_from(Kind), st.integers(0, 3), st.booleans(), st.booleans())
        )
        calls.append(PlannedCall(each, kind, approvals, counts, after, pure))
    return Plan(tuple(calls))


any_plans = st.lists(ids, unique=True, max_size=3).map(tuple).flatmap(plans)


@st.composite
def turns_received(draw: st.DrawFn) -> TurnReceived:
    """
    A turn with its plan.
    """
    turn = draw(turns())
    plan = draw(plans(tuple(request.id for request in turn.requests)))
    return TurnReceived(draw(counts), turn, plan, at=draw(times), mono_ms=draw(counts))


@st.composite
def tools_finished(draw: st.DrawFn) -> ToolFinished:
    """
    The result of a started call.
    """
    (request,) = (ToolRequest(draw(ids), "tool", "{}"),)
    return ToolFinished(draw(results(request, STARTED)), at=draw(times), mono_ms=draw(counts))


events: st.SearchStrategy[AnyEvent] = st.one_of(
    turns_received(),
    st.builds(CallFailed, counts, failures, counts, at=times, mono_ms=counts),
    tools_finished(),
    st.builds(ApprovalDecided, ids, st.booleans(), words, words, words, at=times, mono_ms=counts),
    st.builds(HistoryAppended, at=times, mono_ms=counts),
    st.builds(AppendFailed, failures, at=times, mono_ms=counts),
    st.builds(DeadlinePassed, at=times, mono_ms=counts),
    st.builds(CancelRequested, words, at=times, mono_ms=counts),
)

_model_calls = st.builds(AskModel, counts, st.booleans(), counts)
_questions = st.builds(AskApproval, ids)
effects: st.SearchStrategy[Effect] = st.one_of(
    _model_calls,
    st.builds(StartTool, ids),
    st.builds(StopTool, ids),
    _questions,
    st.builds(Append, entries),
    st.builds(Abandon, _model_calls | _questions),
)
