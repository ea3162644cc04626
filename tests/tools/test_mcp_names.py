import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.errors import InvalidValue
from rodada.tools.mcp_names import check_server, tool_name


def test_a_legal_name_stands_behind_its_server() -> None:
    assert "git_log" == tool_name("git", "log")


@given(st.text(max_size=200))
def test_every_name_is_legal(name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool_name("s" * 32, name))


@given(st.lists(st.text(max_size=80), unique=True, max_size=20))
def test_names_stay_apart(names: list[str]) -> None:
    assert len(names) == len({tool_name("s", name) for name in names})


def test_f037_names_that_are_equal_when_mended_or_cut_stay_apart() -> None:
    long = "x" * 70

    names = [tool_name("s", name) for name in ("catalog.query", "catalog_query", f"{long}1", f"{long}2")]

    assert "s_catalog_query" == names[1]
    assert 4 == len(set(names))


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 33, "a\n", None])
def test_a_server_needs_a_legal_name(name: object) -> None:
    with pytest.raises(InvalidValue, match="letters, digits"):
        check_server(name)
