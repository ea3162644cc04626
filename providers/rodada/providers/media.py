"""
Media as a wire takes them. What it does not take is told as a text in its place: never dropped, never an error.
"""

import base64
import io
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve, frozen

from rodada.statemachine.media import LONGEST_NAME_TOLD, LONGEST_URL, Media, MediaLink, is_media_type
from rodada.statemachine.media_types import BYTES_THAT_TELL, TOLD_BY_BYTES, is_text_type, type_of_bytes
from rodada.statemachine.messages import Part, Text, plain_text

LONGEST_HEAD = 400_000  # base64 characters in which an image tells its sides
LONGEST_TEXT = 100_000
AFTER = "shown after the results"
# Addresses at which Google alone finds something: its store, and files that were given to its API.
OF_GOOGLE = ("gs://", "https://generativelanguage.googleapis.com/")
OF_RESULTS = "Of the results above, from the tools:"
NAME = rf"(?P<name>[^\n]{{1,{LONGEST_NAME_TOLD}}}?)"
# Bounded, for a tool's result that only begins like a line would be searched again from each of its characters.
TYPE = r"(?P<type>[^\s,;/]{1,127}/[^\s,;/]{1,127})"
TOLD = rf"\[(?:{NAME}: )?{TYPE}, (?P<what>\d{{1,12}} bytes|at [^\s\]]{{1,{LONGEST_URL}}})"
AFTER_LINE = re.compile(rf"\n{TOLD}; {AFTER}\](?:\n|\Z)")  # the line of a medium behind it begins with its end
LINE = re.compile(rf"(?:^|\n|(?<=\n)){TOLD}\](?:\n|\Z)")


@frozen
class Takes:
    """
    What a wire takes in one place.

    Attributes:
        most: the media types, each with the most base64 characters.
        longest_side: of an image, in pixels; None where the wire mends that itself.
        links: the media types that it fetches from an address.
        google_links: those that it fetches from Google's own.
    """

    most: Mapping[str, int]
    longest_side: int | None = None
    links: AbstractSet[str] = frozenset()
    google_links: AbstractSet[str] = frozenset()

    def fits(self, media: Media | MediaLink) -> bool:
        """
        Whether the wire takes it.
        """
        if isinstance(media, MediaLink):
            return media.media_type in (self.google_links if media.url.startswith(OF_GOOGLE) else self.links)
        if len(media.data) > self.most.get(media.media_type, 0):
            return False
        return self.longest_side is None or _longest_side(media) <= self.longest_side


NOTHING = Takes({})


@frozen
class Taken:
    """
    The parts of one message or result in the form that a wire takes.

    Attributes:
        parts: no blank text, and only media that the wire takes there; their types are what their bytes are.
        after: media that stand behind all results instead, each told in its place.
    """

    parts: tuple[Part, ...]
    after: tuple[Media | MediaLink, ...] = ()

    @property
    def text(self) -> str | None:
        """
        The parts as one text, where they are texts alone; None with media among them.
        """
        return plain_text(self.parts) if all(isinstance(part, Text) for part in self.parts) else None


def taken(parts: Iterable[Part], here: Takes, after: Takes = NOTHING) -> Taken:
    """
    Parts in the form that a wire takes.

    Args:
        parts: of a message or a result.
        here: what the wire takes among them.
        after: what it takes behind all results of a turn.
    """
    given = tuple(parts)
    if all(isinstance(part, Text) for part in given):
        return Taken(given)
    kept: list[Part] = []
    later: list[Media | MediaLink] = []
    for part in given:
        found = _as_it_is(part) if isinstance(part, Media) else part
        if isinstance(found, Text):
            kept += [found] if found.text.strip() else []
        elif here.fits(found):
            kept.append(found)
        elif after.fits(found):
            kept.append(_line(found, AFTER))
            later.append(found)
        elif isinstance(found, MediaLink):
            kept.append(_line(found, "not shown: this API does not fetch it"))
        else:
            kept.append(_in_words(found, here.most.keys() | after.most.keys()))
    return Taken(tuple(kept), tuple(later))


def _longest_side(media: Media) -> int:
    """
    Pixels of an image's longer side, or less than none where its head does not tell.
    """
    if not media.media_type.startswith("image/"):
        return -1
    try:
        import imagesize  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

        head = io.BytesIO(base64.b64decode(media.data[:LONGEST_HEAD]))
        sides: tuple[int, int] = imagesize.get(head)  # pyright: ignore[reportUnknownMemberType]
    except Exception:  # noqa: BLE001 - whatever strange bytes do to a reader, the vendor may still take them
        return -1
    return max(sides)


def _as_it_is(media: Media) -> Media | Text:
    # A wrong type, or what only claims to be an image, is refused by the vendors, in every later call too.
    actual = type_of_bytes(base64.b64decode(media.data[: 4 * BYTES_THAT_TELL]))
    if actual is not None:
        return media if actual == media.media_type else evolve(media, media_type=actual)
    if media.media_type in TOLD_BY_BYTES:
        return _line(media, f"not shown: its content is no {media.media_type}")
    return media


def _in_words(media: Media, known: AbstractSet[str]) -> Text:
    """
    A text file as its text; of everything else, what it is and why it is not shown.
    """
    kind = media.media_type
    if not is_text_type(kind):
        return _line(media, f"not shown: {'it is too large' if kind in known else 'this API does not take it'}")
    if media.size > LONGEST_TEXT:
        return _line(media, "not shown: it is too long")
    try:
        return Text(f"\n{media.told}\n{media.bytes.decode('utf-8')}\n")
    except UnicodeDecodeError:
        return _line(media, "not shown: it is no UTF-8")


def _line(media: Media | MediaLink, what: str) -> Text:
    return Text(f"\n{media.told[:-1]}; {what}]\n")


# Back from the wire


def put_back(results: Sequence[tuple[Part, ...]], behind: Sequence[Part]) -> list[tuple[Part, ...]] | None:
    """
    Results with the media that were shown behind them, each in the place of the line that tells of it; None where what
    stands behind is something else.
    """
    shown = behind[1:] if behind and behind[0] == Text(OF_RESULTS) else behind
    media = [part for part in shown if not isinstance(part, Text)]
    if not media or len(media) != len(shown):
        return None
    found: list[tuple[Part, ...]] = []
    for parts in results:
        whole: list[Part] = []
        for part in parts:
            placed, media = _placed(part.text, media, AFTER_LINE) if isinstance(part, Text) else ((), media)
            whole += placed or (part,)
        found.append(tuple(whole))
    return None if media else found


def retold(text: str, media: Sequence[Media | MediaLink]) -> tuple[Part, ...]:
    """
    Parts of which a wire told the text (`told_text`) and gave the media beside it: each in the place of its line, and
    those without one at the end.
    """
    placed, rest = _placed(text, media, LINE)
    return (*(placed or ((Text(text),) if text else ())), *rest)


def _type_of_line(found: "re.Match[str]", media: Media | MediaLink) -> str | None:
    """
    The media type in the line of a medium, None where it tells of another one. Not every wire tells of which type an
    image is to which it links.
    """
    told = found["type"]
    images = told.startswith("image/") and media.media_type.startswith("image/")
    alike = told == media.media_type or (isinstance(media, MediaLink) and images and is_media_type(told))
    return told if alike and media.told.endswith(f", {found['what']}]") else None


def _placed(
    text: str, media: Sequence[Media | MediaLink], line: "re.Pattern[str]"
) -> tuple[tuple[Part, ...], list[Media | MediaLink]]:
    """
    The text with the first media in the place of their lines, as far as there are such lines, and the other media.
    """
    parts: list[Part] = []
    rest = deque(media)
    end = 0
    for found in line.finditer(text):
        media_type = _type_of_line(found, rest[0]) if rest else None
        if media_type is None:
            continue
        if found.start() > end:
            parts.append(Text(text[end : found.start()]))
        parts.append(evolve(rest.popleft(), name=found["name"] or "", media_type=media_type))
        end = found.end()
    if not parts:
        return (), [*rest]
    return (*parts, *((Text(text[end:]),) if end < len(text) else ())), [*rest]
