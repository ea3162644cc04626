"""
The engine's own texts: whole in every language, placeholders checked when built.
"""

import pytest
from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.states import Reason
from rodada.statemachine.wording import ENGLISH, LANGUAGES, PLACEHOLDERS, Wording
from support import words

TEXTS = [field.name for field in fields(Wording) if field.name != "language"]
every_language = pytest.mark.parametrize("wording", LANGUAGES.values(), ids=LANGUAGES)


def test_there_are_three_languages_under_their_tags() -> None:
    assert {tag: wording.language for tag, wording in LANGUAGES.items()} == {"en": "en", "pt": "pt", "es": "es"}


@every_language
def test_every_language_has_a_text_and_a_clause_for_everything(wording: Wording) -> None:
    assert all(getattr(wording, name).strip() for name in TEXTS)
    clauses = [wording.because(reason) for reason in Reason]
    assert len(set(clauses)) == len(Reason)
    assert {f"because_{reason.value}" for reason in Reason} == {name for name in TEXTS if name.startswith("because_")}


def test_no_text_was_left_in_another_language() -> None:
    for name in TEXTS:
        assert len({getattr(wording, name) for wording in LANGUAGES.values()}) == len(LANGUAGES), name


@every_language
@pytest.mark.parametrize("reason", Reason)
def test_the_engines_texts_name_the_reason_and_what_was_not_done(wording: Wording, reason: Reason) -> None:
    clause = wording.because(reason)
    assert clause in wording.not_executed_because(reason)
    assert clause in wording.closing_because(reason)
    answer = wording.own_answer(reason, ("save_goal", "read"))
    assert clause in answer
    assert "save_goal, read" in answer
    assert answer.endswith(wording.go_on)


@every_language
def test_an_answer_without_anything_undone_names_nothing(wording: Wording) -> None:
    stopped = wording.stopped.format(because=wording.because(Reason.DEADLINE))
    assert wording.own_answer(Reason.DEADLINE, ()) == f"{stopped} {wording.go_on}"


def test_the_english_sentences() -> None:
    assert ENGLISH.own_answer(Reason.MAX_ROUNDS, ("save",)) == (
        "I had to stop before the work was done, because the limit of tool rounds for one message was reached. "
        "Not done: save. Shall I go on?"
    )
    assert ENGLISH.not_executed_because(Reason.CUT) == (
        "Not executed: the model's output was cut at its length limit. It never started and had no effect."
    )
    assert ENGLISH.denied_by("ana", "Too heavy.") == "Not executed: denied by ana. Too heavy."
    assert ENGLISH.denied_by("{by}", "") == "Not executed: denied by {by}."


@every_language
def test_what_the_engine_denies_itself_is_told_in_the_language_of_the_run_and_names_nobody(wording: Wording) -> None:
    not_executed = wording.not_executed.partition(":")[0]
    for text in (wording.expired, wording.nobody_asked):
        assert wording.denied_by("", text) == text
        assert text.startswith(f"{not_executed}: ")
    assert ENGLISH.timed_out_after(2.50) == (
        "Timed out after 2.5 s: it may have taken effect, and its result is not known."
    )


@given(st.lists(words.words, max_size=3).map(tuple))
def test_whatever_the_names_are_the_answer_holds_them(names: tuple[str, ...]) -> None:
    answer = ENGLISH.own_answer(Reason.CUT, names)
    assert all(name in answer for name in names)


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_a_placeholder_that_is_missing_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match=rf"^Wording\.{name}: needs the placeholders \['{min(PLACEHOLDERS[name])}'"):
        evolve(ENGLISH, **{name: "nothing to fill in"})


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("extra", ["{other}", "{}", "{0}"])
def test_a_placeholder_that_nobody_fills_is_refused(name: str, extra: str) -> None:
    with pytest.raises(InvalidValue, match=rf"^Wording\.{name}: needs the placeholders "):
        evolve(ENGLISH, **{name: f"{getattr(ENGLISH, name)} {extra}"})


@pytest.mark.parametrize(
    "form", ["{because:d}", "{because!r}", "{because:{because}}", "{because.real}", "{because[0]}"]
)
def test_a_placeholder_is_a_plain_name(form: str) -> None:
    with pytest.raises(InvalidValue, match=r"^Wording\.stopped: "):
        evolve(ENGLISH, stopped=f"I stopped: {form}.")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("broken", ["{", "}", "a {because"])
def test_a_text_that_cannot_be_filled_in_is_refused(name: str, broken: str) -> None:
    with pytest.raises(InvalidValue, match=rf"^Wording\.{name}: not a format text"):
        evolve(ENGLISH, **{name: broken})


@pytest.mark.parametrize("name", ["language", *(name for name in TEXTS if name not in PLACEHOLDERS)])
def test_a_blank_text_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match=rf"^Wording\.{name}: must not be blank"):
        evolve(ENGLISH, **{name: " \n"})
