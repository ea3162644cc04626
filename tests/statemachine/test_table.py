"""
The table as a text: names, use, docstrings and types. What it does is the checker's business.
"""

import ast
import inspect
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import cast, get_type_hints

import pytest

import rodada.statemachine
from rodada.statemachine import actions, guards
from rodada.statemachine.events import EVENTS, CancelRequested, Event
from rodada.statemachine.run import Run
from rodada.statemachine.states import ENDS, State
from rodada.statemachine.table import TABLE
from support.walks import everything_tried, reached_runs

CORE = Path(rodada.statemachine.__file__).parent


def functions(module: object) -> dict[str, Callable[..., object]]:
    found = cast("dict[str, object]", vars(module))
    return {
        name: each
        for name, each in found.items()
        if inspect.isfunction(each) and each.__module__ == getattr(module, "__name__", "") and not name.startswith("_")
    }


def said(function: Callable[..., object]) -> str:
    return " ".join((function.__doc__ or "").split())


GUARDS, ACTIONS = functions(guards), functions(actions)
USED_GUARDS = {guard.__name__ for row in TABLE for guard in (*row.when, *row.unless)}


def test_row_names_are_unique_and_plain() -> None:
    counts = Counter(row.name for row in TABLE)
    assert [name for name, count in counts.items() if count > 1] == []
    assert all(name.isidentifier() and name == name.lower() for name in counts)


def test_every_guard_and_every_action_is_used_and_every_one_used_is_a_public_function_of_its_module() -> None:
    assert set(GUARDS) == USED_GUARDS
    assert set(ACTIONS) == {row.action.__name__ for row in TABLE}


def test_every_row_is_taken_somewhere() -> None:
    taken = {tried.row.name for tried in everything_tried() if tried.row is not None}
    assert taken == {row.name for row in TABLE}


def test_every_state_is_reached_and_every_event_moves_a_run() -> None:
    assert {run.state for run in reached_runs()} == set(State)
    assert {row.event for row in TABLE} == set(EVENTS)
    assert not {row.source for row in TABLE} & ENDS


def test_a_row_names_no_guard_twice() -> None:
    assert [row.name for row in TABLE if len(set(row.guard_names)) != len(row.guard_names)] == []


@pytest.mark.parametrize("name", sorted(GUARDS))
def test_a_guard_asks_one_question_and_answers_with_a_bool(name: str) -> None:
    text, hints = said(GUARDS[name]), get_type_hints(GUARDS[name])
    assert text.endswith("?")
    assert not set(text[:-1]) & set(".?!;")
    assert hints.pop("return") is bool
    assert hints.pop("run") is Run
    assert issubclass(hints.pop("event"), Event)
    assert hints == {}


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_an_action_says_in_one_sentence_what_it_does(name: str) -> None:
    text, hints = said(ACTIONS[name]), get_type_hints(ACTIONS[name])
    assert text.endswith(".")
    assert not set(text[:-1]) & set(".?!")
    assert hints.pop("return") is Run
    assert list(hints) == ["run", "event"]


@pytest.mark.parametrize("name", ["table.py", "guards.py", "actions.py", "step.py"])
def test_no_any_in_what_decides(name: str) -> None:
    tree = ast.parse((CORE / name).read_text("utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    dotted = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "Any" not in imported | named | dotted
    assert "# type: ignore" not in (CORE / name).read_text("utf-8")


def test_a_row_refuses_an_event_of_another_kind() -> None:
    row = next(row for row in TABLE if row.name == "answer_stored")
    with pytest.raises(TypeError, match="row answer_stored is for HistoryAppended, not CancelRequested"):
        row.act(reached_runs()[0], CancelRequested())
