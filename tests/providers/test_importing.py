"""
What is repaired in stored histories, whatever their wire, and that every repair is named.
"""

from functools import partial
from time import process_time

import pytest
from attrs import evolve

from rodada.providers.import_reading import Place
from rodada.providers.import_steps import Call, Result, Said, Step, Turn
from rodada.providers.imported import Change, ChangeKind, Imported
from rodada.providers.importing import UNANSWERED, Source, repaired
from rodada.providers.media import put_back, retold
from rodada.statemachine import (
    Exchange,
    Media,
    MediaLink,
    ModelTurn,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from rodada.statemachine.errors import AmbiguousResult
from support.calls_made import calls_made
from support.imports import kinds, told

NOWHERE = Place("wire", 0, "")
WITH_IDS, WITHOUT_IDS = Source("wire"), Source("wire", has_ids=False)
PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png")
BEHIND = "\n[image/png, 8 bytes; shown after the results]\n"


def said(text: str = "hi") -> Step:
    return Said(NOWHERE, (Text(text),))


def asks(*ids: str | None, text: str = "", name: str = "f", raw: str = "{}") -> Turn:
    return Turn(NOWHERE, text, tuple(Call(NOWHERE, each, name, raw) for each in ids))


def says(text: str) -> Step:
    return Turn(NOWHERE, text)


def gives(id: str | None, text: str = "ok", name: str | None = None) -> Step:
    return Result(NOWHERE, id, (Text(text),), name=name)


def imported(*steps: Step, source: Source = WITH_IDS) -> Imported:
    """
    The import of steps that stand in messages of their own.
    """
    return repaired(source, [_placed(at, step) for at, step in enumerate(steps)])


def _placed(at: int, step: Step) -> Step:
    place = Place("wire", at, f"[{at}]")
    if isinstance(step, Turn):
        return evolve(step, place=place, calls=tuple(evolve(call, place=place) for call in step.calls))
    return evolve(step, place=place)


def test_a_whole_history_is_what_it_says_and_has_no_report() -> None:
    found = imported(
        said(), asks("a", "b", text="let me"), gives("a", "1"), gives("b", "2"), says("done"), said("more")
    )

    assert [] == kinds(found)
    requests = (ToolRequest("a", "f", "{}", "a"), ToolRequest("b", "f", "{}", "b"))
    expected = (
        UserMessage("message_0", (Text("hi"),)),
        Exchange(
            ModelTurn(Stop.WHOLE, "let me", requests),
            (ToolResult.of(requests[0], Status.SUCCEEDED, "1"), ToolResult.of(requests[1], Status.SUCCEEDED, "2")),
        ),
        ModelTurn(Stop.WHOLE, "done"),
        UserMessage("message_3", (Text("more"),)),
    )
    assert expected == found.conversation.entries


def test_an_empty_history_is_an_empty_conversation() -> None:
    assert ((), ()) == (imported().conversation.entries, imported().report)


def test_f001_an_open_call_is_closed_as_unknown() -> None:
    found = imported(said(), asks("a", "b"), gives("b"), said("again"))

    assert ["U hi", "X a=outcome_unknown b=ok", "U again"] == told(found.conversation)
    assert ["1 open_call a"] == kinds(found)
    exchange = found.conversation.entries[1]
    assert isinstance(exchange, Exchange)
    assert UNANSWERED == exchange.results[0].told


def test_the_host_chooses_what_is_told_of_an_open_call() -> None:
    found = imported(said(), asks("a"), source=Source("wire", unanswered="Nobody knows."))

    exchange = found.conversation.entries[1]
    assert isinstance(exchange, Exchange)
    assert "Nobody knows." == exchange.results[0].told


def test_f007_results_without_their_turn_are_left_out() -> None:
    found = imported(gives("a"), said(), says("done"))

    assert ["U hi", "T done"] == told(found.conversation)
    assert ["0 orphan_result a"] == kinds(found)


def test_what_is_left_out_is_in_the_report_and_not_shown() -> None:
    (change,) = imported(said(), gives("a", "a secret")).report

    assert '[{"type":"Text","text":"a secret"}]' == change.content
    assert "secret" not in repr(change) + str(change)
    assert "[1] (a): this result answers no call: left out" == str(change)


def test_f011_a_turn_before_any_person_spoke_is_left_out_with_its_results() -> None:
    found = imported(asks("a"), gives("a"), says("Welcome!"), said(), says("done"))

    assert ["U hi", "T done"] == told(found.conversation)
    assert ["0 unasked_turn", "1 orphan_result a", "2 unasked_turn"] == kinds(found)


@pytest.mark.parametrize(
    "stored",
    [
        (asks("a", "b"), gives("b", "B"), gives("a", "A"), said("more")),
        (asks("a", "b"), gives("b", "B"), said("more"), gives("a", "A")),
        (gives("a", "A"), asks("a", "b"), gives("b", "B"), said("more")),
    ],
)
def test_f014_f016_results_out_of_place_are_moved(stored: tuple[Step, ...]) -> None:
    found = imported(said(), *stored)

    assert ["U hi", "X a=A b=B", "U more"] == told(found.conversation)
    assert {"moved_result"} == {each.kind.value for each in found.report}


def test_f015_words_before_the_results_come_after_them() -> None:
    found = imported(said(), asks("a"), said("a reminder"), gives("a"), says("done"))

    assert ["U hi", "X a=ok", "U a reminder", "T done"] == told(found.conversation)
    assert ["3 moved_result a"] == kinds(found)


def test_f017_the_first_of_two_results_stands() -> None:
    found = imported(said(), asks("a"), gives("a", "1"), gives("a", "2"), says("done"))

    assert ["U hi", "X a=1", "T done"] == told(found.conversation)
    assert ["3 doubled_result a"] == kinds(found)


def test_f022_f023_an_id_that_was_used_before_becomes_another_with_its_own_result() -> None:
    found = imported(said(), asks("x"), gives("x", "1"), asks("x"), gives("x", "2"), asks("x", "x", raw="[1]"))

    lines = ["U hi", "X x=1", "X call_2_0=2", "X call_3_0=outcome_unknown call_3_1=outcome_unknown"]
    assert lines == told(found.conversation)
    assert ["3 new_id x", "5 new_id x", "5 new_id x", "5 open_call x", "5 open_call x"] == kinds(found)


def test_f023_two_calls_of_one_turn_that_share_an_id_have_their_results_in_order() -> None:
    turn = Turn(NOWHERE, "", (Call(NOWHERE, "x", "f", "1"), Call(NOWHERE, "x", "g", "2"), Call(NOWHERE, None, "h", "")))
    found = imported(said(), turn, gives("x", "F"), gives("x", "G"), gives(None, "H"))

    assert ["U hi", "X x=F call_1_1=G call_1_2=H"] == told(found.conversation)
    assert ["1 new_id x", "1 new_id h", "4 paired_result h"] == kinds(found)


def test_one_result_for_two_equal_calls_of_one_id_answers_the_first() -> None:
    found = imported(said(), asks("x", "x"), gives("x"))

    assert ["U hi", "X x=ok call_1_1=outcome_unknown"] == told(found.conversation)


def test_f024_an_id_that_no_wire_takes_is_kept_as_it_is_or_made_new() -> None:
    found = imported(said(), asks("functions.write:0", "x" * 300, " "), gives("functions.write:0"))

    assert "X functions.write:0=ok call_1_1=outcome_unknown call_1_2=outcome_unknown" == told(found.conversation)[1]
    assert {"new_id", "open_call"} == {each.kind.value for each in found.report}


def test_f025_a_result_without_an_id_answers_the_only_open_call() -> None:
    found = imported(said(), asks("a", "b"), gives("a", "A"), gives(None, "B"))

    assert ["U hi", "X a=A b=B"] == told(found.conversation)
    assert ["3 paired_result f"] == kinds(found)


def test_f025_a_result_without_an_id_is_never_guessed() -> None:
    with pytest.raises(AmbiguousResult) as caught:
        imported(said(), asks("a", "b"), gives(None, "?"))

    error = caught.value
    assert ("wire", 2, "[2]") == (error.wire, error.index, error.path)
    assert (
        "[2]: expected a result that names its call, since several are open, found one that may answer 2 of them (wire)"
        == str(error)
    )


def test_f025_results_without_ids_are_not_paired_in_order() -> None:
    with pytest.raises(AmbiguousResult):
        imported(said(), asks("a", "b"), gives(None, "1"), gives(None, "2"))


def test_f025_a_result_without_an_id_is_not_the_oldest_open_call_s() -> None:
    found = imported(said(), asks("old"), said("again"), asks("new"), gives(None))

    assert ["U hi", "X old=outcome_unknown", "U again", "X new=ok"] == told(found.conversation)


def test_f025_of_unlike_calls_with_one_id_none_is_guessed() -> None:
    unlike = Turn(NOWHERE, "", (Call(NOWHERE, "x", "f", "1"), Call(NOWHERE, "x", "f", "2")))

    with pytest.raises(AmbiguousResult):
        imported(said(), unlike, gives("x"))
    with pytest.raises(AmbiguousResult):
        imported(said(), unlike, gives("x"), says("so"), said(), asks("x"), gives("x"))


def test_a_name_is_enough_where_one_call_has_it() -> None:
    turn = Turn(NOWHERE, "", (Call(NOWHERE, "a", "f", ""), Call(NOWHERE, "b", "g", "")))
    found = imported(said(), turn, gives(None, "G", "g"), gives(None, "F", "f"), gives(None, "?", "h"))

    assert ["U hi", "X a=F b=G"] == told(found.conversation)
    assert ["2 paired_result g", "2 moved_result g", "3 paired_result f", "4 orphan_result h"] == kinds(found)


def test_a_wire_without_ids_pairs_by_name_and_position() -> None:
    turn = Turn(NOWHERE, "", (Call(NOWHERE, None, "w", "1"), Call(NOWHERE, None, "w", "2")))
    found = imported(said(), turn, gives(None, "A", "w"), gives(None, "B", "w"), source=WITHOUT_IDS)

    assert ["U hi", "X call_1_0=A call_1_1=B"] == told(found.conversation)
    assert [] == kinds(found)


def test_f025_there_too_fewer_results_than_calls_are_not_guessed() -> None:
    with pytest.raises(AmbiguousResult):
        imported(said(), asks(None, None), gives(None, "A", "f"), source=WITHOUT_IDS)


def test_turns_in_a_row_are_one() -> None:
    found = imported(
        said(), says("First"), asks("a", text="then"), asks("b"), gives("a"), gives("b"), says("x"), says("y")
    )

    assert ["U hi", "X First\n\nthen a=ok b=ok", "T x\n\ny"] == told(found.conversation)
    assert ["2 joined_turns", "3 joined_turns", "7 joined_turns"] == kinds(found)


def test_words_behind_calls_stay_a_turn_of_their_own() -> None:
    found = imported(said(), asks("a"), says("done"), gives("a"))

    assert ["U hi", "X a=ok", "T done"] == told(found.conversation)
    assert ["3 moved_result a"] == kinds(found)


def test_answers_between_which_only_something_left_out_stands_are_one() -> None:
    found = imported(said(), says("x"), gives("orphan"), says("y"), said(" "), says("z"))

    assert ["U hi", "T x\n\ny\n\nz"] == told(found.conversation)
    assert ["2 orphan_result orphan", "3 joined_turns", "4 blank", "5 joined_turns"] == kinds(found)


def test_what_says_nothing_is_left_out() -> None:
    found = imported(said(""), said(), says(" \n"), asks("a"), gives("a", ""))

    assert ["U hi", "X a="] == told(found.conversation)
    assert ["0 blank", "2 blank"] == kinds(found)


def test_media_behind_the_results_go_back_into_them() -> None:
    shown = Said(NOWHERE, (PNG,))
    found = imported(said(), asks("a", "b"), gives("a", f"look{BEHIND}so"), gives("b", "no"), shown, says("nice"))

    exchange = found.conversation.entries[1]
    assert isinstance(exchange, Exchange)
    assert (Text("look"), PNG, Text("so")) == exchange.results[0].content
    assert ([], 3) == (kinds(found), len(found.conversation.entries))


@pytest.mark.parametrize("media_type", ["image/png", "image/*", "image/webp"])
def test_links_behind_the_results_go_back_into_them_with_the_type_of_their_line(media_type: str) -> None:
    link = MediaLink("https://host/a.png?v=1", media_type, "plot")
    line = f"\n{link.told[:-1]}; shown after the results]\n"
    found = imported(said(), asks("a"), gives("a", f"look{line}"), Said(NOWHERE, (MediaLink(link.url),)))

    exchange = found.conversation.entries[1]
    assert isinstance(exchange, Exchange)
    assert (Text("look"), link) == exchange.results[0].content
    assert ([], 2) == (kinds(found), len(found.conversation.entries))


@pytest.mark.parametrize(
    "told",
    [
        "application/pdf, at https://host/a.png",
        "image/png, at https://host/b.png",
        "image/\u00e9, at https://host/a.png",
        "image/png, 8 bytes",
    ],
)
def test_a_line_that_tells_of_something_else_is_a_text(told: str) -> None:
    link = MediaLink("https://host/a.png")
    found = imported(said(), asks("a"), gives("a", f"\n[{told}; shown after the results]\n"), Said(NOWHERE, (link,)))

    assert UserMessage("message_2", (link,)) == found.conversation.entries[2]


@pytest.mark.parametrize("like", ["/", "a/", "a/b", ": /"])
def test_a_result_that_only_begins_like_a_line_is_read_in_one_go(like: str) -> None:
    began = process_time()
    parts = (Text("\n[" + like * 50_000),)

    assert retold(parts[0].text, [PNG]) == (*parts, PNG)
    assert put_back([parts], [PNG]) is None
    assert process_time() - began < 10  # minutes, where the end is sought from each character


@pytest.mark.parametrize("behind", [(PNG, PNG), (PNG, Text("see")), (Media.of(b"GIF89a", "image/gif"),)])
def test_other_media_behind_the_results_are_the_persons(behind: tuple[Text | Media, ...]) -> None:
    found = imported(said(), asks("a"), gives("a", f"look{BEHIND}"), Said(NOWHERE, behind))

    assert UserMessage("message_2", behind) == found.conversation.entries[2]


def test_changes_of_reading_stand_in_the_report_in_the_order_of_the_messages() -> None:
    read = Change(ChangeKind.SYSTEM_TEXT, 1, "[1]", content="Be kind.")
    found = repaired(WITH_IDS, [_placed(0, gives("a")), read, _placed(2, said())])

    assert ["0 orphan_result a", "1 system_text"] == kinds(found)
    assert "Be kind." == found.instructions


def long(size: int) -> list[Step]:
    """
    A history in which everything stands in long rows: exchanges, turns, calls, results, and results of nothing.
    """
    steps = [step for at in range(size) for step in (said(), asks(f"{at}"), gives(f"{at}"), says("done"))]
    many = [f"many{at}" for at in range(size)]
    return [*steps, *map(says, many), asks(*many), *map(gives, many), *map(gives, many)]


class Name(str):
    """
    A name whose comparisons are calls that can be counted.
    """

    def __eq__(self, other: object) -> bool:
        return str(self) == other

    def __hash__(self) -> int:
        return str.__hash__(self)


def by_name(size: int) -> list[Step]:
    """
    A turn of so many calls, each of a name of its own, whose results name their tools and no call.
    """
    calls = tuple(Call(NOWHERE, None, Name(f"f{at}"), "{}") for at in range(size))
    return [said(), Turn(NOWHERE, "", calls), *(gives(None, name=call.name) for call in calls)]


def test_a_result_that_names_its_tool_costs_no_more_among_many() -> None:
    imported(*by_name(10))
    few, many = (calls_made(partial(imported, *by_name(size), source=WITHOUT_IDS)) / size for size in (100, 500))
    assert many < few * 1.2


def test_a_message_costs_no_more_for_standing_among_many() -> None:
    imported(*long(10))
    few, many = (calls_made(partial(imported, *long(size))) / size for size in (100, 500))
    assert many < few * 1.2
