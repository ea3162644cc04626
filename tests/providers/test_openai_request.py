"""
What requests to both of OpenAI's wires have in common.
"""

import pytest

from rodada.providers.openai_request import legal_name


@pytest.mark.parametrize("name", ["fs.read", "a b", "é", "", "n" * 65])
def test_illegal_names_get_a_legal_form(name: str) -> None:
    mapped = legal_name(name)
    assert mapped.replace("_", "").replace("-", "").isalnum()
    assert mapped.isascii()
    assert len(mapped) <= 64
    assert mapped == legal_name(name)
    assert mapped != legal_name(name + "x")


def test_legal_names_stay() -> None:
    assert [legal_name(name) for name in ("weather", "n" * 64, "a-b_C9")] == ["weather", "n" * 64, "a-b_C9"]
