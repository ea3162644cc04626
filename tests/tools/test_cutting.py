"""
Cutting: a text that is too long keeps its beginning and says how long it was; media are never cut.
"""

from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.messages import Media, Part, Text, plain_text
from rodada.tools.cutting import cut_parts, cut_text
from rodada.tools.value_text import result_text
from support import words

SHOT = Media.of(b"\x89PNG\r\n\x1a\n", "image/png", "shot.png")


def test_f042_a_long_text_is_cut_with_a_mark_that_tells_its_length() -> None:
    text = result_text(list(range(100_000)))
    cut = cut_text(text, 10_000)
    mark = "\n[cut here: the whole text has 588891 characters]"
    assert (len(text), len(cut)) == (588_891, 10_000)
    assert cut == text[: 10_000 - len(mark)] + mark
    assert cut_text(text, None) == text
    assert cut_text("x" * 200, 200) == "x" * 200


def test_f042_a_cut_leaves_no_half_character() -> None:
    cut = cut_text("😀" * 10_000_000, 200)
    assert cut.encode().decode() == cut
    assert len(cut) == 200


def test_f042_a_cut_applies_to_texts_and_leaves_media_whole() -> None:
    parts = (Text("a" * 150), SHOT, Text("b" * 150), SHOT, Text("c"))
    cut = cut_parts(parts, 200)
    mark = "\n[cut here: the whole text has 301 characters]"
    assert cut == (Text("a" * 150), SHOT, Text("b" * (50 - len(mark)) + mark), SHOT)
    assert cut_parts(parts, 301) == cut_parts(parts, None) == parts


@given(st.lists(words.parts).map(tuple), st.integers(60, 80))
def test_cut_parts_are_cut_as_their_text_is(parts: tuple[Part, ...], most: int) -> None:
    cut = cut_parts((Text("x" * 60), *parts), most)
    assert plain_text(cut) == cut_text("x" * 60 + plain_text(parts), most)
    assert [each for each in cut if isinstance(each, Media)] == [each for each in parts if isinstance(each, Media)]
