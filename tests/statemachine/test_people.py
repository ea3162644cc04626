"""
Whose name a name is: two ways to write it are not two people.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.people import person


@pytest.mark.parametrize("other", ["ANA LIMA", " ana lima", "Ana  Lima\n", "Ana\u00a0Lima", "\uff21na Lima"], ids=ascii)
def test_case_spaces_and_the_form_of_letters_make_no_other_person(other: str) -> None:
    assert person("Ana Lima") == person(other)


def test_nor_do_the_ways_to_put_an_accent() -> None:
    assert person("Jos\u00e9") == person("Jose\u0301")
    assert person("a\ud800") == person("a\udfff")


@pytest.mark.parametrize("other", ["Ana", "AnaLima", "Ana Lim\u00e1", "Ana Lima 2"])
def test_other_letters_do(other: str) -> None:
    assert person("Ana Lima") != person(other)


@given(st.text())
def test_what_tells_a_person_is_that_persons_name(name: str) -> None:
    assert person(person(name)) == person(name)
    assert person(f" {name}\t") == person(name)
