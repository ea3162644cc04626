"""
Docstrings: every description of a parameter is complete, and the tool's own holds no other section.
"""

import inspect
import json
import sys
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from rodada.tools import tool
from rodada.tools.docstrings import Told, read_docstring

GOOGLE = """
Find orders.
Only open ones are found.

The newest stand first.
Args:

    customer (str): Name of the customer,
        as it stands in the contract: whole.

        Not the number.
    since: First day. Defaults to today.
    low, high (int, optional): Bounds of the price.

Returns:
    The orders, as a list.

Raises:
    If nothing is found.
Note:
    Slow.
"""

NUMPY = """
Find orders.
Only open ones are found.

The newest stand first.

Parameters
----------
customer : str
    Name of the customer,
    as it stands in the contract: whole.

    Not the number.
since : str, optional
    First day. Defaults to today.
low, high : int
    Bounds of the price.

Returns
-------
list
    The orders.

Raises
------
ValueError
    If nothing is found.

Notes
-----
Slow.
"""

SPHINX = """
Find orders.
Only open ones are found.

The newest stand first.

:param str customer: Name of the customer,
    as it stands in the contract: whole.

    Not the number.
:param since: First day. Defaults to today.
:type since: str
:param low: Bounds of the price.
:param high: Bounds of the price.
:returns: The orders.
:raises ValueError: If nothing is found.
"""

TOLD = Told(
    "Find orders.\nOnly open ones are found.\n\nThe newest stand first.",
    {
        "customer": "Name of the customer,\nas it stands in the contract: whole.\n\nNot the number.",
        "since": "First day. Defaults to today.",
        "low": "Bounds of the price.",
        "high": "Bounds of the price.",
    },
)


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["Google", "NumPy", "Sphinx"])
def test_f108_descriptions_are_complete_and_other_sections_are_left_out(text: str) -> None:
    assert read_docstring(text) == TOLD
    assert read_docstring(inspect.cleandoc(text.replace("\n", "\n    "))) == TOLD


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Find.\nArgs:\n    a: one", Told("Find.", {"a": "one"})),
        ("Find.\n\nArgs:\n\n    a: one\n\n    b: two", Told("Find.", {"a": "one", "b": "two"})),
        ("Args:\n    a: one", Told("", {"a": "one"})),
        (
            "Find.\n\nArgs:\n    a: one\n      and more\n    b:\n      two",
            Told("Find.", {"a": "one\nand more", "b": "two"}),
        ),
        ("Find.\n\nReturns:\n    what: it found", Told("Find.", {})),
        ("Find.\n\nKeyword Args:\n    a: one\nExample:\n    find()", Told("Find.", {"a": "one"})),
        ("Find.\n:param a: one", Told("Find.", {"a": "one"})),
        ("Find.\n\nParameters\n----------\n*a : int\n    one", Told("Find.", {"a": "one"})),
    ],
)
def test_f108_odd_shapes_lose_nothing(text: str, expected: Told) -> None:
    assert read_docstring(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Find.",
        "Find.\n\nNote: only open ones.\n\n* first: a\n* second: b",
        "Find.\n\nArgs:\n    no colon anywhere",
        "Find.\n\nArguments are checked:\n    a: b",
        "Find.\n\nArgs:",
        "@param a: one",
    ],
)
def test_f108_a_text_in_no_known_style_is_the_description(text: str) -> None:
    assert read_docstring(text) == Told(text, {})


def test_f108_what_stands_behind_a_section_is_not_lost() -> None:
    text = "Find.\n\nArgs:\n    a: one\n\nCall it after login."
    assert read_docstring(text) == Told(text, {"a": "one"})


@given(st.text(st.sampled_from("Args:\n param-x ,*()Raises`") | st.characters(codec="utf-8")))
def test_no_text_makes_the_reading_raise(text: str) -> None:
    assert isinstance(read_docstring(text), Told)


def test_without_the_library_the_whole_text_is_the_description(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    assert read_docstring(GOOGLE) == Told(GOOGLE.strip(), {})


class Query(BaseModel):
    """Words to look for."""

    words: list[str]


def find(customer: Annotated[str, Field(description="its own")], since: str, query: Query, low: int = 1) -> None:
    """
    Find orders.

    Args:
        customer: not this one.
        since: First day.
        query: What to look for.
        other: no parameter.
    """


def described(function: Callable[..., Any], **options: Any) -> tuple[str, dict[str, Any]]:
    declaration = tool(**options)(function).declaration
    return declaration.description, json.loads(declaration.schema)["properties"]


def test_descriptions_stand_in_the_schema_and_a_fields_own_wins() -> None:
    properties = {
        "customer": {"type": "string", "description": "its own"},
        "since": {"type": "string", "description": "First day."},
        "query": {"$ref": "#/$defs/Query", "description": "What to look for."},
        "low": {"type": "integer", "default": 1},
    }
    assert described(find) == ("Find orders.", properties)
    assert described(find, description="Other words.") == ("Other words.", properties)
