"""
Calls that come in fragments are those that would have come whole, whatever a server says of their numbers.
"""

import contextlib
import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers import openai_chat_fragments
from rodada.providers.loopback import Deviation
from rodada.providers.loopback.openai_chat.stream import frames
from rodada.providers.openai_chat_fragments import Calls
from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from rodada.statemachine.notice import ArgumentsDelta
from support.calls_made import calls_made

texts = st.text(st.characters(codec="utf-8"), max_size=20)
arguments: st.SearchStrategy[JsonObject] = st.dictionaries(texts, st.integers() | texts, max_size=3)
looks: st.SearchStrategy[JsonObject] = arguments.map(lambda each: {"name": "look", "arguments": dump_json(each)})
goals: st.SearchStrategy[JsonObject] = arguments.map(lambda each: {"name": "goal", "arguments": dump_json(each)})
functions = looks | goals
names = st.lists(texts.filter(bool), unique=True, min_size=4, max_size=4)
numbered: st.SearchStrategy[set[Deviation]] = st.sets(st.sampled_from(("calls_in_one_chunk", "names_repeated")))
strange: st.SearchStrategy[Deviation] = st.sampled_from(("indexes_zero", "indexes_missing"))
unnumbered = st.builds(set[Deviation].union, numbered, st.frozensets(strange, min_size=1, max_size=1))


def fragments_of(calls: list[JsonObject], deviations: set[Deviation]) -> list[JsonValue]:
    """
    The fragments in which the loopback server sends calls, one list a chunk.
    """
    message: JsonObject = {"role": "assistant", "content": None, "tool_calls": [*calls]}
    sent = frames({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, deviations, usage=False)
    chunks = [json.loads(each.removeprefix(b"data: ")) for each in sent if b"DONE" not in each]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    return [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]


def put_together(chunks: list[JsonValue]) -> tuple[list[JsonValue], list[ArgumentsDelta]]:
    calls, heard = Calls(), list[ArgumentsDelta]()
    for chunk in chunks:
        heard += calls.add(chunk)
    return calls.whole, heard


def call(function: JsonObject, call_id: str | None = None) -> JsonObject:
    named: JsonObject = {} if call_id is None else {"id": call_id}
    return {**named, "type": "function", "function": function}


@given(st.lists(functions, max_size=4), numbered)
def test_numbered_calls_need_nothing_else(given: list[JsonObject], deviations: set[Deviation]) -> None:
    calls = [call(function) for function in given]
    whole, heard = put_together(fragments_of(calls, deviations))
    assert whole == calls
    for at, function in enumerate(given):
        assert "".join(each.text for each in heard if each.position == at) == function["arguments"]
        assert {each.name for each in heard if each.position == at} == {str(function["name"])}


@given(st.lists(functions, max_size=4), names, numbered | unnumbered)
def test_f095_a_new_id_begins_a_new_call(given: list[JsonObject], ids: list[str], deviations: set[Deviation]) -> None:
    calls = [call(function, call_id) for function, call_id in zip(given, ids, strict=False)]
    assert put_together(fragments_of(calls, deviations))[0] == calls


@given(st.lists(functions, max_size=4), st.sampled_from([None, ""]), unnumbered)
def test_f095_without_ids_a_name_after_whole_arguments_begins_a_new_call(
    given: list[JsonObject], call_id: str | None, deviations: set[Deviation]
) -> None:
    calls = [call(function, call_id) for function in given]
    assert put_together(fragments_of(calls, deviations))[0] == calls


def fragment(index: int | str | None, call_id: str | None, name: str | None, written: JsonValue) -> JsonObject:
    numbers: JsonObject = {} if index is None else {"index": index}
    named: JsonObject = {} if name is None else {"name": name}
    return {**numbers, "id": call_id, "function": {**named, "arguments": written}}


F, G = ("f", '{"x":1}'), ("g", '{"y":2}')
OBJECT: tuple[str, JsonValue] = ("f", {"x": 1})
MET: list[tuple[str, list[list[JsonObject]], list[tuple[str, JsonValue]]]] = [
    ("ids", [[fragment(0, "A", *F)], [fragment(0, "B", *F)]], [F, F]),
    ("ids, no arguments", [[fragment(0, "A", "f", "")], [fragment(0, "B", "g", "")]], [("f", ""), ("g", "")]),
    (
        "names",
        [[fragment(0, None, "f", "")], [fragment(0, None, "g", '{"y":')], [fragment(0, None, None, "2}")]],
        [("f", ""), G],
    ),
    ("beside each other", [[fragment(None, None, "f", ""), fragment(None, None, "f", "")]], [("f", ""), ("f", "")]),
    ("blank ids and names", [[fragment(0, "A", "f", '{"x"')], [fragment(0, "", "", ":1}")]], [F]),
    ("an id late", [[fragment(0, None, "f", '{"x"')], [fragment(0, "A", None, ":1}")]], [F]),
    (
        "woven",
        [
            [fragment(0, "A", "f", '{"x"')],
            [fragment(1, "B", "g", '{"y"')],
            [fragment(0, None, None, ":1}"), fragment(1, None, None, ":2}")],
        ],
        [F, G],
    ),
    (
        "woven by ids",
        [
            [fragment(None, "A", "f", '{"x"')],
            [fragment(None, "B", "g", '{"y"')],
            [fragment(None, "A", None, ":1}"), fragment(None, "B", None, ":2}")],
        ],
        [F, G],
    ),
    ("an id under two names", [[fragment(0, "A", *F)], [fragment(0, "A", *G)]], [F, G]),
    ("said again", [[fragment(0, "A", *F)], [fragment(0, "A", "f", "")]], [F]),
    (
        "said again without an id, and then more",
        [[fragment(0, None, *F)], [fragment(0, None, "f", "")], [fragment(0, None, None, F[1])]],
        [F, F],
    ),
    ("said again without an id", [[fragment(0, None, *F)], [fragment(0, None, "f", " ")]], [("f", '{"x":1} ')]),
    (
        "numbers as text",
        [
            [fragment("0", "A", "f", '{"x"'), fragment("1", "B", "g", '{"y"')],
            [fragment("1", None, None, ":2}"), fragment("0", None, None, ":1}")],
        ],
        [F, G],
    ),
    ("an object and nothing behind it", [[fragment(0, "A", "f", {"x": 1})], [fragment(0, None, None, "")]], [OBJECT]),
    ("nothing and an object behind it", [[fragment(0, "A", "f", "")], [fragment(0, None, None, {"x": 1})]], [OBJECT]),
    ("no object yet", [[fragment(0, "A", "f", {})], [fragment(0, None, None, '{"x":1}')]], [F]),
    ("an object", [[fragment(0, "A", "f", {"x": 1})]], [("f", {"x": 1})]),
    ("null", [[fragment(0, "A", "f", None)]], [("f", None)]),
]


@pytest.mark.parametrize(("chunks", "expected"), [each[1:] for each in MET], ids=[each[0] for each in MET])
def test_fragments_of_servers_as_they_are_met(
    chunks: list[list[JsonObject]], expected: list[tuple[str, JsonValue]]
) -> None:
    whole = put_together([[*each] for each in chunks])[0]
    functions = [each["function"] for each in whole if isinstance(each, dict)]
    assert [(each["name"], each["arguments"]) for each in functions if isinstance(each, dict)] == expected


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "A", "B", "{}", '{"x":']),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(st.sampled_from(["index", "id", "type", "function", "name", "arguments"]), each)
    ),
    max_leaves=12,
)


@given(st.lists(anything, max_size=4))
def test_fragments_of_any_form_are_taken_or_garbled(chunks: list[JsonValue]) -> None:
    with contextlib.suppress(ProviderGarbled):
        whole, heard = put_together(chunks)
        assert all(each.position < len(whole) for each in heard)


def test_of_a_server_that_says_the_name_in_every_fragment_what_came_is_not_read_again_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    monkeypatch.setattr(openai_chat_fragments, "parse_object", looked.append)
    text = dump_json({"content": "x" * 100_000})
    pieces = [text[at : at + 20] for at in range(0, len(text), 20)]
    whole, _ = put_together([[fragment(0, None, "f", piece)] for piece in pieces])
    assert whole == [{"id": None, "function": {"name": "f", "arguments": text}}]
    assert looked == []


@pytest.mark.parametrize("numbers", ["counted", "zero", "none"])
@pytest.mark.parametrize("ids", [True, False])
def test_a_call_costs_no_more_among_many(numbers: str, ids: bool) -> None:
    def one(at: int) -> JsonObject:
        number = {"counted": at, "zero": 0}.get(numbers)
        return fragment(number, f"call-{at}" if ids else None, "f", "{}")

    def taken(size: int) -> None:
        whole, heard = put_together([[one(at)] for at in range(size)])
        assert (len(whole), [each.position for each in heard]) == (size, list(range(size)))

    taken(10)
    few, many = (calls_made(partial(taken, size)) / size for size in (200, 1_000))
    assert many < few * 1.2
