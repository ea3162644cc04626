"""
A model request: built in one place from one selection, with ids that are unique, always the same, and the wire's
own where usable.
"""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.messages import Exchange, ModelTurn, Status, Stop, Text, ToolRequest, ToolResult, UserMessage
from rodada.statemachine.request import LONGEST_ID, ModelRequest, ToolDeclaration, model_request
from rodada.statemachine.run import Run
from rodada.statemachine.states import State
from support import words
from support.pairing import broken_pairs
from support.walks import Walk, reached, walks

ROOT = Path(__file__).parents[2]
PERSON = UserMessage("m", (Text("hello"),))
TOOLS = (ToolDeclaration("read", "Reads."),)


def exchange(*ids: str) -> Exchange:
    requests = tuple(ToolRequest(each, "tool", "{}") for each in ids)
    return Exchange(
        ModelTurn(Stop.WHOLE, requests=requests),
        tuple(ToolResult.of(request, Status.SUCCEEDED, "done") for request in requests),
    )


def asking(*entries: Exchange) -> ModelRequest:
    return ModelRequest(conversation=Conversation("c", (PERSON, *entries)))


def test_f039_lone_surrogates_are_mended_in_all_that_the_host_tells_the_model() -> None:
    half, mended = "a\ud800", "a\ufffd"
    told = ModelRequest(conversation=Conversation("c"), instructions=half, guidance=half)
    assert (mended, mended) == (told.instructions, told.guidance)

    schema = '{"type":"object","properties":{"a":{"description":"%s"}}}'
    expected = ToolDeclaration("read", mended, schema % mended)
    assert [expected, expected] == [ToolDeclaration("read", half, schema % said) for said in (half, "a\\ud800")]
    as_it_stands = '{ "type": "object", "title": "\\u00e9" }'
    assert as_it_stands == ToolDeclaration("read", "", as_it_stands).schema


# F005: one builder, one selection


@given(walks())
def test_f005_no_request_holds_an_open_call_wherever_the_run_is(walk: Walk) -> None:
    for run in (*(run for run, _ in walk.steps), walk.last):
        request = model_request(run, "", TOOLS, None)
        assert broken_pairs(Conversation("c", request.entries).to_json()) == []
        assert not request.entries or isinstance(request.entries[0], UserMessage)
        if run.state is State.CALL_MODEL:
            assert isinstance(request.entries[-1], UserMessage | Exchange)


def test_f005_every_request_is_built_by_model_request() -> None:
    builders: set[str] = set()
    for room in ("statemachine", "providers", "tools", "diagrams", "cli"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and "ModelRequest" in (
                    getattr(node.func, name, "") for name in ("id", "attr")
                ):
                    builders.add(path.name)
    assert builders == {"request.py"}


@given(reached(State.CALL_MODEL), words.words, st.none() | words.seconds)
def test_a_request_says_what_the_run_says(run: Run, instructions: str, seconds: float | None) -> None:
    closing = run.reason is not None
    assert model_request(run, instructions, TOOLS, seconds) == ModelRequest(
        conversation=run.conversation,
        start=run.start,
        selected=run.selected,
        call=run.calls,
        held=run.held,
        instructions=instructions,
        guidance=run.wording.closing_because(run.reason) if run.reason is not None else "",
        tools=TOOLS,
        tools_allowed=not closing,
        max_request_bytes=run.limits.max_request_bytes,
        seconds=seconds,
    )


def test_entries_begin_at_the_selection_and_the_active_turn_at_its_message() -> None:
    told = Conversation("c", (PERSON, ModelTurn(Stop.WHOLE, "yes"), PERSON, exchange("a")))
    request = ModelRequest(conversation=told, start=2, selected=2)
    assert (request.entries, request.active) == (told.entries[2:], 0)
    assert ModelRequest(conversation=told, start=2).active == 2
    whole = ModelRequest(conversation=told)
    assert (whole.entries, whole.active, whole.tools_allowed) == (told.entries, 0, True)


# F021-F023: ids

MADE = ("call_1_0", "call_1_1", "call_1_1x", "call_2_0")
usable = st.sampled_from(("a", "b", "toolu_1", *MADE))
unusable = st.none() | st.sampled_from(("", " a", "a ", "\n", "a\x00b", "\ud800", "x" * (LONGEST_ID + 1)))
wire_ids = st.lists(usable | unusable | words.words, max_size=6).map(tuple)
earlier = st.lists(st.lists(usable, min_size=1, max_size=3, unique=True), max_size=2).filter(
    lambda turns: len({each for turn in turns for each in turn}) == sum(map(len, turns))
)


@given(wire_ids, earlier)
def test_f021_each_call_of_a_turn_gets_an_id_of_its_own(ids: tuple[str | None, ...], before: list[list[str]]) -> None:
    chosen = asking(*(exchange(*turn) for turn in before)).request_ids(ids)
    assert len(chosen) == len(ids)
    assert len(set(chosen)) == len(chosen)
    assert all(chosen)
    assert all(each.isprintable() and each == each.strip() and len(each) <= LONGEST_ID for each in chosen)


def test_f021_two_calls_of_one_tool_without_ids_do_not_collide() -> None:
    assert asking().request_ids((None, None)) == ("call_1_0", "call_1_1")


@given(wire_ids, earlier)
def test_f022_ids_are_new_in_the_conversation_and_the_same_at_every_replay(
    ids: tuple[str | None, ...], before: list[list[str]]
) -> None:
    request = asking(*(exchange(*turn) for turn in before))
    chosen = request.request_ids(ids)
    assert not any(request.conversation.uses(each) for each in chosen)
    assert Conversation.from_json(request.conversation.to_json()) == request.conversation
    again = ModelRequest(conversation=Conversation.from_json(request.conversation.to_json()))
    assert again.request_ids(ids) == chosen
    if chosen:
        request.conversation.append(exchange(*chosen))


def test_f022_the_next_turn_without_ids_gets_others() -> None:
    first = asking()
    ids = first.request_ids((None,))
    second = ModelRequest(conversation=first.conversation.append(exchange(*ids)))
    assert (ids, second.request_ids((None, None))) == (("call_1_0",), ("call_2_0", "call_2_1"))


@given(wire_ids, earlier)
def test_f023_a_good_id_is_kept_and_only_a_colliding_or_empty_one_is_made_anew(
    ids: tuple[str | None, ...], before: list[list[str]]
) -> None:
    request = asking(*(exchange(*turn) for turn in before))
    for place, (wire, ours) in enumerate(zip(ids, request.request_ids(ids), strict=True)):
        good = (
            wire is not None and wire != "" and wire.isprintable() and wire == wire.strip() and len(wire) <= LONGEST_ID
        )
        new = wire not in ids[:place] and not request.conversation.uses(wire or "")
        assert (ours == wire) == (good and new)


def test_f023_three_calls_of_which_two_share_an_id_and_one_has_none() -> None:
    assert asking().request_ids(("x", "x", "")) == ("x", "call_1_1", "call_1_2")


@pytest.mark.parametrize(
    ("ids", "chosen"),
    [
        ((None, "call_1_0"), ("call_1_0x", "call_1_0")),
        (("call_1_1", None), ("call_1_1", "call_1_1x")),
        (("call_1_1", "call_1_1", "call_1_1x"), ("call_1_1", "call_1_1xx", "call_1_1x")),
    ],
)
def test_f023_a_made_id_never_takes_the_one_that_the_wire_gave_to_another(
    ids: tuple[str | None, ...], chosen: tuple[str, ...]
) -> None:
    assert asking().request_ids(ids) == chosen


# Tools as the model is told of them


@pytest.mark.parametrize("schema", ["", "{", "[]", "{}", '{"type":"string"}', '{"type":["object"]}', "null"])
def test_a_schema_that_is_no_object_at_its_root_is_refused(schema: str) -> None:
    with pytest.raises(InvalidValue, match="ToolDeclaration read: its schema must be a JSON object of type object"):
        ToolDeclaration("read", "", schema)


def test_a_schema_is_a_fresh_object_each_time() -> None:
    declared = ToolDeclaration("read", "")
    declared.schema_object.clear()
    assert declared.schema_object == {"type": "object", "properties": {}}
