"""
What is said on both sides of a tool that the vendor ran is two paragraphs, however it comes in pieces.
"""

import pytest

from rodada.providers.paragraphs import Paragraphs


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["Let me see.", None, None, "80 kg."], "Let me see.\n\n80 kg."),
        (["80 ", "kg, as ", "you said."], "80 kg, as you said."),
        (["Let me see.", "", None, "", "80", " kg."], "Let me see.\n\n80 kg."),
        ([None, "80 kg."], "80 kg."),
        ([" ", None, "80 kg."], " 80 kg."),
        (["Let me see.", None], "Let me see."),
        (["Let me see.", None, "\n\n80 kg."], "Let me see.\n\n80 kg."),
        (["Let me see. ", None, "80 kg."], "Let me see. 80 kg."),
        (["One.", None, "Two.", None, "Three."], "One.\n\nTwo.\n\nThree."),
    ],
)
def test_what_a_tool_of_the_vendor_parts_is_two_paragraphs(pieces: list[str | None], expected: str) -> None:
    assert "".join(map(Paragraphs().heard, pieces)) == expected


@pytest.mark.parametrize("pieces", [['{"title": "St', None, 'rength"}'], ["", '\n{"title": ', None, "", '"Strength"}']])
def test_nothing_is_put_into_json(pieces: list[str | None]) -> None:
    given = "".join(filter(None, pieces))
    assert "".join(map(Paragraphs(is_typed=True).heard, pieces)) == given
    assert Paragraphs(is_typed=True).text_of(pieces) == given


@pytest.mark.parametrize("answer", ['{"title": "Strength"}', '```json\n{"title": "Strength"}\n```'])
def test_words_before_a_tool_are_no_part_of_the_json_behind_it(answer: str) -> None:
    pieces = ["Let me", " see.", None, "Once more.", None, answer[:9], answer[9:]]
    assert Paragraphs(is_typed=True).text_of(pieces) == answer
    assert Paragraphs().text_of(pieces) == f"Let me see.\n\nOnce more.\n\n{answer}"


def test_what_is_said_beside_a_typed_answer_is_paragraphs_too() -> None:
    assert Paragraphs(is_typed=True).text_of(["Let me see.", None, "80 kg."]) == "Let me see.\n\n80 kg."
