"""
Docstrings in the styles of Google, NumPy and Sphinx: what they say of the tool, and of each parameter.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from docstring_parser import Docstring

PARAMETERS = ("Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments", "Other Parameters")
OTHERS = (
    *("Attributes", "Example", "Examples", "Except", "Exceptions", "Note", "Notes", "Raises", "References", "Return"),
    *("Returns", "See Also", "Todo", "Warning", "Warnings", "Warns", "Yield", "Yields"),
)


@frozen
class Told:
    """
    What a docstring says.

    Attributes:
        description: of the whole, without its sections.
        parameters: the description of each parameter that has one.
    """

    description: str
    parameters: Mapping[str, str]


def read_docstring(text: str) -> Told:
    """
    Parse a docstring, as `inspect.getdoc` gives it. In no known style, or without the library (extra `docstrings`),
    its whole text is the description.
    """
    whole = text.strip()
    found = max(_parsed(whole), key=lambda docstring: len(docstring.meta), default=None)
    if found is None or not found.meta:
        return Told(whole, {})
    description = whole if _goes_on(whole) else found.description or ""
    return Told(description.strip(), dict(_parameters(found)))


def _parsed(whole: str) -> "Iterator[Docstring]":
    try:
        from docstring_parser import google, numpydoc, rest
    except ImportError:
        return
    sections = [
        *(google.Section(title, "param", google.SectionType.MULTIPLE) for title in PARAMETERS),
        # Their text is not looked into, so it may have any form.
        *(google.Section(title, title.lower(), google.SectionType.SINGULAR) for title in OTHERS),
    ]
    for parse in (google.GoogleParser(sections).parse, numpydoc.parse, rest.parse):
        try:
            # The library takes the indent away once more, and a first line of text would not count in that.
            yield parse(f"\n{whole}")
        except Exception:  # noqa: BLE001, S112 - a style that does not fit, whatever it stumbles over
            continue


def _parameters(found: "Docstring") -> Iterator[tuple[str, str]]:
    for each in found.params:
        text = (each.description or "").strip()
        if text and each.args[0] not in ("attribute", "attributes"):
            yield from ((name, text) for name in _names(each.arg_name))


def _names(said: str) -> Iterable[str]:
    return (name.strip().lstrip("*") for name in said.split(","))


_TITLE = re.compile(rf"(?:{'|'.join((*PARAMETERS, *OTHERS))}):\s*")


def _goes_on(whole: str) -> bool:
    """
    Whether something of the tool itself stands behind a section of Google's style, where the library drops it.
    """
    lines = whole.splitlines()
    titles = [at for at, line in enumerate(lines) if _TITLE.fullmatch(line)]
    if not titles:
        return False
    return any(line.strip() and not line[0].isspace() and not _TITLE.fullmatch(line) for line in lines[titles[0] :])
