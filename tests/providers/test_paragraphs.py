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


def test_nothing_is_put_into_json() -> None:
    pieces = ['{"title": "St', None, 'rength"}']
    assert "".join(map(Paragraphs(is_json=True).heard, pieces)) == '{"title": "Strength"}'
