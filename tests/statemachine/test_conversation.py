"""
A conversation cannot be made invalid, whatever is appended in whatever order (promise P1).
"""

import json
from collections.abc import Iterable
from typing import cast

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine import conversation as module
from rodada.statemachine.codec import encode
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import FormatError, InvalidValue
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    ModelTurn,
    Piece,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from support import words
from support.pairing import broken_pairs

PERSON = UserMessage("m", (Text("hello"),))
ANSWER = ModelTurn(Stop.WHOLE, "hello yourself")


def exchange(*ids: str, native: tuple[Piece, ...] = ()) -> Exchange:
    requests = tuple(ToolRequest(each, "tool", "{}") for each in ids)
    results = tuple(ToolResult.of(request, Status.SUCCEEDED, "done") for request in requests)
    return Exchange(ModelTurn(Stop.WHOLE, requests=requests, native=native, wire="w"), results)


def appended(start: Conversation, entries: Iterable[Entry]) -> tuple[Conversation, int]:
    """
    The conversation after all that could be appended, and how many could not.
    """
    refused = 0
    for entry in entries:
        try:
            start = start.append(entry)
        except InvalidValue:
            refused += 1
    return start, refused


few_ids = st.sampled_from("abc")
few_exchanges = st.lists(few_ids, min_size=1, max_size=2, unique=True).map(lambda ids: exchange(*ids))
any_entries = st.lists(words.entries | few_exchanges | st.sampled_from((PERSON, ANSWER)), max_size=8)


@given(words.conversations(), any_entries)
def test_whatever_is_appended_is_refused_or_keeps_every_pair(start: Conversation, entries: list[Entry]) -> None:
    after, refused = appended(start, entries)
    assert broken_pairs(after.to_json()) == []
    assert len(after.entries) == len(start.entries) + len(entries) - refused
    assert after.id == start.id


@given(any_entries)
def test_building_a_conversation_refuses_exactly_what_appending_refuses(entries: list[Entry]) -> None:
    after, refused = appended(Conversation("c"), entries)
    if refused:
        with pytest.raises(InvalidValue):
            Conversation("c", tuple(entries))
    else:
        built = Conversation("c", tuple(entries))
        assert built == after
        assert built.seen == after.seen


@given(any_entries)
def test_the_checker_of_pairs_is_no_friend_of_the_constructor(entries: list[Entry]) -> None:
    document = {"entries": [encode(entry) for entry in entries]}
    _, refused = appended(Conversation("c"), entries)
    if broken_pairs(document):
        assert refused


@pytest.mark.parametrize(
    ("before", "entry", "why"),
    [
        ((), ANSWER, "must start with a user message"),
        ((), exchange("a"), "must start with a user message"),
        ((PERSON, ANSWER), ANSWER, "after an answer only a user message may follow"),
        ((PERSON, ANSWER), exchange("a"), "after an answer only a user message may follow"),
        ((PERSON,), exchange("a").turn, "enters only as an Exchange"),
        ((PERSON,), ModelTurn(Stop.WHOLE, " \n"), "a whole turn or a blank one is no answer"),
        ((PERSON,), ModelTurn(Stop.CUT, "half"), "a cut turn or a blank one is no answer"),
        ((PERSON,), ModelTurn(Stop.PAUSED, "half"), "a paused turn or a blank one is no answer"),
        ((PERSON, exchange("a")), exchange("b", "a"), r"request ids \['a'\] were used before"),
        ((PERSON, exchange("a"), ANSWER, PERSON), exchange("a"), r"request ids \['a'\] were used before"),
    ],
)
def test_an_entry_that_may_not_stand_there_is_refused(before: tuple[Entry, ...], entry: Entry, why: str) -> None:
    start = Conversation("c", before)
    with pytest.raises(InvalidValue, match=f"Conversation: .*{why}"):
        start.append(entry)
    with pytest.raises(InvalidValue, match=f"Conversation: .*{why}"):
        Conversation("c", (*before, entry))
    assert start == Conversation("c", before)


def test_a_person_may_speak_again_after_anything() -> None:
    for before in ((), (PERSON,), (PERSON, ANSWER), (PERSON, exchange("a"))):
        assert Conversation("c", before).append(PERSON) == Conversation("c", (*before, PERSON))


@pytest.mark.parametrize("length", [1, 10, 1000])
def test_appending_looks_at_the_new_entry_alone_however_long_the_history(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Conversation("c", (PERSON, *(exchange(f"c{place}") for place in range(length))))
    checked: list[Entry] = []
    check, ids_of = module._check_entry, module._ids  # pyright: ignore[reportPrivateUsage]

    def check_entry(last: Entry | None, seen: frozenset[str], entry: Entry) -> None:
        checked.append(entry)
        check(last, seen, entry)

    def ids(entry: Entry) -> frozenset[str]:
        checked.append(entry)
        return ids_of(entry)

    monkeypatch.setattr(module, "_check_entry", check_entry)
    monkeypatch.setattr(module, "_ids", ids)
    new = exchange("new")
    after = start.append(new)
    assert checked == [new, new]
    assert all(mine is theirs for mine, theirs in zip(after.entries, (*start.entries, new), strict=True))


def test_a_conversation_keeps_its_id_and_a_branch_gets_another_with_the_same_entries() -> None:
    start = Conversation("c", (PERSON, exchange("a")))
    branch = start.branch()
    assert start.append(ANSWER).id == "c"
    assert branch.id != "c"
    assert branch.id.startswith("conversation_")
    assert evolve(branch, id="c") == start
    assert branch.uses("a")
    assert start.branch().id != branch.id
    assert branch.append(ANSWER) != start.append(ANSWER)


def test_two_new_conversations_are_not_the_same_one() -> None:
    assert Conversation().id != Conversation().id
    assert Conversation().entries == ()
    assert Conversation().last is None


@given(words.conversations())
def test_uses_knows_every_request_id_and_no_other(conversation: Conversation) -> None:
    every = {each.id for entry in conversation.entries if isinstance(entry, Exchange) for each in entry.turn.requests}
    assert all(conversation.uses(each) for each in every)
    assert not conversation.uses("nobody")
    assert conversation.last == (conversation.entries[-1] if conversation.entries else None)


hidden_pieces = st.builds(Piece, st.just("HIDDEN reasoning"), st.none() | st.just("shown"))
native = st.lists(hidden_pieces, max_size=3).map(tuple)


def planted(conversation: Conversation, pieces: tuple[Piece, ...]) -> Conversation:
    return Conversation(conversation.id, tuple(_plant(entry, pieces) for entry in conversation.entries))


def _plant(entry: Entry, pieces: tuple[Piece, ...]) -> Entry:
    if isinstance(entry, UserMessage):
        return entry
    if isinstance(entry, ModelTurn):
        return evolve(entry, native=pieces)
    return evolve(entry, turn=evolve(entry.turn, native=pieces))


@given(words.conversations(), native)
def test_hidden_reasoning_is_left_out_unless_asked_for(conversation: Conversation, pieces: tuple[Piece, ...]) -> None:
    whole = planted(conversation, pieces)
    bare = whole.without_reasoning()
    model_turns = sum(not isinstance(entry, UserMessage) for entry in whole.entries)
    kept = json.dumps(whole.to_json(reasoning=True)).count("HIDDEN")
    assert kept == model_turns * len(pieces)
    assert "HIDDEN" not in json.dumps(whole.to_json())
    assert "HIDDEN" not in json.dumps(bare.to_json(reasoning=True))
    assert "HIDDEN" not in repr(whole)
    assert Conversation.from_json(whole.to_json()) == bare
    assert bare.without_reasoning() == bare
    assert planted(bare, pieces) == whole
    assert bare.seen == whole.seen


def test_a_piece_that_is_all_reasoning_goes_and_another_keeps_its_bare_form() -> None:
    pieces = (Piece('{"thought":1}', None), Piece('{"text":1,"signature":2}', '{"text":1}'))
    bare = Conversation("c", (PERSON, exchange("a", native=pieces))).without_reasoning()
    assert bare.entries[1] == exchange("a", native=(Piece('{"text":1}', '{"text":1}'),))


def test_a_stored_conversation_that_breaks_a_pair_is_refused() -> None:
    document = Conversation("c", (PERSON, exchange("a"))).to_json()
    assert document["format"] == "rodada.conversation/2"
    person, asked = cast("list[JsonObject]", document["entries"])
    with pytest.raises(FormatError, match=r"^\$: Conversation: request ids \['a'\] were used before"):
        Conversation.from_json({**document, "entries": [person, asked, asked]})
    with pytest.raises(FormatError, match=r"^\$\.entries\[1\]: Exchange: results must answer \['a'\] in this order"):
        Conversation.from_json({**document, "entries": [person, {**asked, "results": []}]})
