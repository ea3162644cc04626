"""
The codec: every word goes through real JSON text and comes back equal; whatever is malformed is refused with its place.
"""

import copy
import enum
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TypeAlias, cast

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.codec import decode, document, encode, read_document
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import FormatError
from rodada.statemachine.events import EVENTS, AnyEvent, CancelRequested, Event, ToolFinished
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Entry, Exchange
from rodada.statemachine.orders import Abandon, Append, AskApproval, AskModel, Effect, StartTool, StopTool
from rodada.statemachine.plan import Plan
from rodada.statemachine.run import Origin, Run
from rodada.statemachine.states import State
from rodada.statemachine.wording import LANGUAGES, Wording
from support import words
from support.walks import Walk, everything_tried, reached, reached_runs, walks

ANY_EVENT, ANY_EFFECT, ANY_ENTRY = (
    cast("type[AnyEvent]", AnyEvent),
    cast("type[Effect]", Effect),
    cast("type[Entry]", Entry),
)
WRONG: tuple[JsonValue, ...] = (
    None,
    True,
    -1,
    0.5,
    math.nan,
    math.inf,
    10**400,
    "x",
    "",
    [],
    ["x"],
    {},
    {"type": "Run"},
)
Place: TypeAlias = tuple[str | int, ...]


def through_text(value: JsonValue) -> JsonValue:
    return cast(JsonValue, json.loads(json.dumps(value, allow_nan=False)))


def comes_back(kind: type[object], value: object) -> None:
    again = decode(kind, through_text(encode(value)))
    assert again == value
    assert type(again) is type(value)
    assert hash(again) == hash(value)


@given(words.events)
def test_every_event_is_a_plain_value(event: AnyEvent) -> None:
    comes_back(ANY_EVENT, event)


@given(words.effects)
def test_every_order_and_every_effect_is_a_plain_value(effect: Effect) -> None:
    comes_back(ANY_EFFECT, effect)


@given(words.entries)
def test_every_entry_is_a_plain_value(entry: Entry) -> None:
    comes_back(ANY_ENTRY, entry)


@given(words.limits(), words.origins, words.any_plans)
def test_limits_origins_and_plans_are_plain_values(limits: Limits, origin: Origin, plan: Plan) -> None:
    comes_back(Limits, limits)
    comes_back(Origin, origin)
    comes_back(Plan, plan)


@pytest.mark.parametrize("wording", LANGUAGES.values(), ids=LANGUAGES)
def test_every_wording_is_a_plain_value(wording: Wording) -> None:
    comes_back(Wording, wording)


@given(words.conversations())
def test_every_conversation_is_a_plain_value(conversation: Conversation) -> None:
    again = Conversation.from_json(through_text(conversation.to_json(reasoning=True)))
    assert again == conversation
    assert hash(again) == hash(conversation)
    assert again.seen == conversation.seen


@given(walks())
def test_every_run_is_a_plain_value_at_every_step(walk: Walk) -> None:
    for run in (*(run for run, _ in walk.steps), walk.last):
        again = Run.from_json(through_text(run.to_json()))
        assert again == run
        assert hash(again) == hash(run)


def test_every_kind_of_run_and_event_that_the_checker_meets_comes_back() -> None:
    runs = reached_runs()[::10]
    assert {run.state for run in runs} == set(State)
    assert [Run.from_json(through_text(run.to_json())) for run in runs] == list(runs)
    met = tuple(dict.fromkeys(tried.event for tried in everything_tried()))
    assert {type(event) for event in met} == set(EVENTS)
    for event in met:
        comes_back(ANY_EVENT, event)


def test_every_kind_of_order_comes_back() -> None:
    ask, question, entry = AskModel(1, True, 5), AskApproval("a"), reached_runs()[0].entry
    assert entry is not None
    for each in (ask, question, StartTool("a"), StopTool("a"), Append(entry), Abandon(ask), Abandon(question)):
        comes_back(ANY_EFFECT, each)


# Malformed documents


def places(value: JsonValue, at: Place = ()) -> Iterator[Place]:
    """
    Every place in a JSON value, its root left out.
    """
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*at, key)
        yield from places(item, (*at, key))


def fields(document: JsonValue) -> list[Place]:
    """
    The places of fields. What stands in `media` is none: it is found by its digest.
    """
    return [place for place in places(document) if isinstance(place[-1], str) and not is_stored_medium(place)]


def is_stored_medium(place: Place) -> bool:
    return len(place) > 1 and place[0] == "media"


def around(value: JsonValue, place: Place) -> JsonObject | list[JsonValue]:
    for key in place[:-1]:
        value = value[key] if isinstance(value, dict) else cast("list[JsonValue]", value)[cast(int, key)]  # type: ignore[index]
    assert isinstance(value, dict | list)
    return value


def without(value: JsonValue, place: Place) -> JsonValue:
    changed = copy.deepcopy(value)
    around(changed, place).pop(place[-1])  # type: ignore[arg-type]
    return changed


def replaced(value: JsonValue, place: Place, new: JsonValue) -> JsonValue:
    changed = copy.deepcopy(value)
    around(changed, place)[place[-1]] = new  # type: ignore[index]
    return changed


def shown(place: Place) -> str:
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)


@frozen
class Stored:
    """
    A document and how it is read.
    """

    kind: type[object]
    value: JsonValue

    def read(self, value: JsonValue) -> object:
        if self.kind is Run:
            return Run.from_json(value)
        return Conversation.from_json(value) if self.kind is Conversation else decode(self.kind, value)

    def refusal(self, value: JsonValue) -> FormatError | None:
        """
        How it is refused, or None: nothing else than a FormatError comes out.
        """
        try:
            self.read(value)
        except FormatError as error:
            return error
        return None


stored = st.one_of(
    words.events.map(lambda event: Stored(ANY_EVENT, encode(event))),
    words.effects.map(lambda effect: Stored(ANY_EFFECT, encode(effect))),
    words.conversations().map(lambda each: Stored(Conversation, each.to_json(reasoning=True))),
    reached().map(lambda run: Stored(Run, run.to_json())),
)


@given(stored, st.data())
def test_a_field_that_is_missing_is_refused_with_its_place(doc: Stored, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(fields(doc.value)))
    refusal = doc.refusal(without(doc.value, place))
    assert refusal is not None
    if place[-1] == "format":
        assert refusal.path == "$.format"
    elif place[-1] != "type":
        assert refusal.path == shown(place[:-1])
        assert str(refusal).endswith(f" lacks {place[-1]}")


@given(stored, st.data())
def test_a_field_that_is_unknown_is_refused_with_its_place(doc: Stored, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([place[:-1] for place in fields(doc.value)]))
    refusal = doc.refusal(replaced(doc.value, (*place, "extra"), 1))
    assert refusal is not None
    assert refusal.path == shown(place)
    assert str(refusal).endswith("has no field 'extra'")


@given(stored, st.data(), st.sampled_from(WRONG))
def test_whatever_stands_in_a_place_is_read_or_refused_with_a_place_and_nothing_else_happens(
    doc: Stored, data: st.DataObject, wrong: JsonValue
) -> None:
    place = data.draw(st.sampled_from(list(places(doc.value))))
    refusal = doc.refusal(replaced(doc.value, place, wrong))
    if wrong == {"type": "Run"}:
        assert refusal is not None
    if refusal is not None:
        assert refusal.path.startswith("$")


@given(stored, st.sampled_from(WRONG) | words.json_values)
def test_another_document_is_refused(doc: Stored, wrong: JsonValue) -> None:
    refusal = doc.refusal(wrong)
    assert refusal is not None
    assert refusal.path in ("$", "$.format")


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (Limits, {**cast(JsonObject, encode(Limits())), "seconds": math.nan}, "$"),
        (Limits, {**cast(JsonObject, encode(Limits())), "seconds": 10**400}, "$"),
        (Limits, {**cast(JsonObject, encode(Limits())), "max_rounds": 1.0}, "$.max_rounds"),
        (Limits, {**cast(JsonObject, encode(Limits())), "max_rounds": True}, "$.max_rounds"),
        (
            ANY_EVENT,
            {"type": "CancelRequested", "at": "1970-01-01T00:00:00", "mono_ms": 0, "heard": "", "detail": ""},
            "$",
        ),
        (ANY_EVENT, {"type": "CancelRequested", "at": "soon", "mono_ms": 0, "heard": "", "detail": ""}, "$.at"),
        (ANY_EVENT, {"type": "CancelRequested", "at": 5, "mono_ms": 0, "heard": "", "detail": ""}, "$.at"),
        (
            ANY_EVENT,
            {"type": "CancelRequested", "at": "1970-01-01T00:00:00Z", "mono_ms": 0.5, "heard": "", "detail": ""},
            "$.mono_ms",
        ),
        (ANY_EFFECT, {"type": "Abandon", "order": {"type": "StartTool", "id": "a"}}, "$.order"),
        (tuple[str, ...], ["a", 1], "$[1]"),
        (tuple[str, str], ["a"], "$"),
        (State, "Nowhere", "$"),
        (State, ["CallModel"], "$"),
    ],
)
def test_the_path_says_where(kind: type[object], value: JsonValue, path: str) -> None:
    with pytest.raises(FormatError) as refused:
        decode(kind, value)
    assert refused.value.path == path


def test_a_value_nested_too_deeply_to_be_shown_is_refused_all_the_same() -> None:
    deep: JsonValue = []
    for _ in range(100_000):
        deep = [deep]
    for place in ("id", "entries"):
        with pytest.raises(FormatError, match=rf"\$\.{place}"):
            Conversation.from_json({"format": "rodada.conversation/1", "id": "c", "entries": [], place: deep})
    while isinstance(deep, list) and deep:
        deep = deep.pop()


def test_a_refusal_shows_little_of_what_it_found() -> None:
    for found in ("x" * 10**6, {"type": "x" * 10**6}, ["x"] * 10**6, 10**4000):
        with pytest.raises(FormatError) as refused:
            decode(Limits, cast(JsonValue, found))
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize("field", ["outcome", "entry", "turn"])
def test_a_run_that_does_not_hold_what_its_state_means_is_refused(field: str) -> None:
    run = next(run for run in reached_runs() if getattr(run, field) is not None)
    with pytest.raises(FormatError, match=rf"^\$: Run: a run in {run.state.value} must hold an? {field}"):
        Run.from_json(replaced(run.to_json(), (field,), None))


# What is encoded


class Colour(enum.Enum):
    RED = "red"


@frozen
class Sample:
    """
    One of each kind of field.
    """

    when: datetime
    colour: Colour
    pair: tuple[str, int]
    row: tuple[float, ...] = ()
    maybe: str | None = None


SAMPLE = Sample(datetime(2026, 3, 1, 12, 0, 0, 250, tzinfo=UTC), Colour.RED, ("a", 1), (0.5, 2))


def test_a_value_becomes_an_object_with_its_class_under_type() -> None:
    assert encode(SAMPLE) == {
        "type": "Sample",
        "when": "2026-03-01T12:00:00.000250+00:00",
        "colour": "red",
        "pair": ["a", 1],
        "row": [0.5, 2],
        "maybe": None,
    }
    comes_back(Sample, SAMPLE)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, {"a": 1}, [1], object(), ValueError("x")])
def test_what_is_no_plain_value_is_not_encoded(value: object) -> None:
    with pytest.raises(TypeError, match=f"no plain value: {type(value).__name__}"):
        encode(value)


def test_no_decoder_is_made_for_what_is_no_plain_value() -> None:
    with pytest.raises(TypeError, match="no decoder for "):
        decode(bytes, "x")


# Formats


@pytest.mark.parametrize("wrong", [None, 1, "x", [], {}, {"format": None}, {"format": ["a/1"]}, {"format": "b/1"}])
def test_a_document_of_another_format_is_refused_by_name(wrong: JsonValue) -> None:
    with pytest.raises(FormatError, match="a/2"):
        read_document("a", 2, wrong)


@pytest.mark.parametrize("version", ["", "x", "0", "-1", "1.0", " 1", "01", "٣", "1/1", "²"])
def test_a_version_that_is_no_whole_number_is_refused(version: str) -> None:
    with pytest.raises(FormatError, match=r"\$\.format: expected a/2 or earlier, found str 'a/"):
        read_document("a", 2, {"format": f"a/{version}"})


@pytest.mark.parametrize("version", ["3", "10", "9" * 5000])
def test_a_later_version_is_refused_by_name(version: str) -> None:
    with pytest.raises(
        FormatError, match=rf"\$\.format: a/{version[:60]}.* is later than a/2: read it with a newer rodada"
    ):
        read_document("a", 2, {"format": f"a/{version}"})


def test_the_own_version_and_every_earlier_one_are_read() -> None:
    assert read_document("a", 2, document("a", 2, {"x": 1})) == (2, {"x": 1})
    assert read_document("a", 2, document("a", 1, {"x": 1})) == (1, {"x": 1})


def test_an_error_inside_an_entry_is_told_with_the_whole_way_to_it() -> None:
    exchange = next(entry for run in reached_runs() for entry in run.own if isinstance(entry, Exchange))
    value = Conversation("c", (*reached_runs()[0].conversation.entries[:1], exchange)).to_json()
    place: Place = ("entries", 1, "results", 0, "status")
    with pytest.raises(
        FormatError, match=r"^\$\.entries\[1\]\.results\[0\]\.status: expected one of succeeded, failed"
    ):
        Conversation.from_json(replaced(value, place, "done"))


def test_a_tool_that_never_started_cannot_have_finished() -> None:
    event: Event = next(tried.event for tried in everything_tried() if isinstance(tried.event, ToolFinished))
    value = replaced(encode(event), ("result", "status"), "denied")
    with pytest.raises(FormatError, match=r"^\$: ToolFinished: a started call cannot be denied"):
        decode(ANY_EVENT, value)


def test_nothing_is_read_as_another_class() -> None:
    with pytest.raises(FormatError, match=r"expected CancelRequested, found an object of type 'DeadlinePassed'"):
        decode(CancelRequested, {"type": "DeadlinePassed"})
