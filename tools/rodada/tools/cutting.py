"""
What is longer than its limit is cut, with a mark that tells the whole length.
"""

from rodada.statemachine.messages import Part, Text, plain_text


def cut_parts(parts: tuple[Part, ...], most: int | None) -> tuple[Part, ...]:
    """
    The parts with their texts cut, where all texts together have more than `most` characters; media are kept whole.
    """
    whole = plain_text(parts)
    if most is None or len(whole) <= most:
        return parts
    left = cut_text(whole, most)
    kept: list[Part] = []
    for part in parts:
        if not isinstance(part, Text):
            kept.append(part)
        elif left and left.startswith(part.text):
            kept.append(part)
            left = left[len(part.text) :]
        elif left:
            kept.append(Text(left))
            left = ""
    return tuple(kept)


def cut_text(text: str, most: int | None) -> str:
    """
    The text, or its beginning with a mark that tells the whole length; at most `most` characters in all.
    """
    if most is None or len(text) <= most:
        return text
    mark = f"\n[cut here: the whole text has {len(text)} characters]"
    return text[: max(0, most - len(mark))] + mark
