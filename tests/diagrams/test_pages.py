"""
The committed pictures are those of the table.
"""

from pathlib import Path

import pytest

from rodada.diagrams.pages import BEGIN, END, pages, with_picture

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_committed_page_is_what_the_table_gives(name: str) -> None:
    assert pages()[name] == (ROOT / "diagrams" / name).read_text(encoding="utf-8"), "run `make diagrams`"


def test_the_readme_shows_the_picture_of_the_table() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert with_picture(readme) == readme, "run `make diagrams`"


def test_a_readme_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="README needs the lines"):
        with_picture("# no marks")


def test_only_what_stands_between_the_marks_is_replaced() -> None:
    text = with_picture(f"before\n{BEGIN}old\n{END}after\n")

    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
