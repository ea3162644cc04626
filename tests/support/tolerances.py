"""
In what a request of ours may differ from one that a vendor accepted from another client: the whole list. Everything
else must be the same, field by field.
"""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from attrs import frozen

from rodada.providers.loopback import WireName
from rodada.providers.loopback.json_values import Json, Object, objs, text

Side: TypeAlias = Literal["ours", "theirs", "both"]
Field: TypeAlias = tuple[str, Json]

# Stands for a message without words, which no conversation of ours holds.
BLANK = "(nothing)"
NO_PARAMETERS: Object = {"additionalProperties": False, "properties": {}, "type": "object"}


@frozen
class Tolerance:
    """
    One difference that is none.

    Attributes:
        wire: on which.
        side: whose request has such a field.
        path: a pattern for its place.
        why: it means nothing.
        only: the value for which this holds; "any" for all.
        becomes: the field as the other side has it; without it the field is left out.
    """

    wire: WireName
    side: Side
    path: str
    why: str
    only: Json = "any"
    becomes: Callable[[str, Json], Field] | None = None

    def covers(self, path: str, value: Json) -> bool:
        """
        Whether a field is such a one.
        """
        return (self.only == "any" or self.only == value) and bool(re.fullmatch(self.path, path))


def _as(value: Json) -> Callable[[str, Json], Field]:
    return lambda path, _: (path, value)


def _at(name: str, other: str) -> Callable[[str, Json], Field]:
    return lambda path, value: (path.removesuffix(name) + other, value)


def _lone_text(path: str, content: Json) -> Field:
    """
    One text in the place of a list that holds one text alone.
    """
    blocks = objs(content)
    lone = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
    return path, blocks[0]["text"] if lone else content


def _bytes(path: str, signature: Json) -> Field:
    standard = text(signature).replace("-", "+").replace("_", "/")
    return path, base64.b64decode(standard).hex()


DEFAULT, FORCED = "it is what holds without it", "the host forced a call, which a loop of ours never does"
KEPT, SAID = "ours keeps nothing on the vendor's side and lets it cut nothing", "the other client says nothing as ''"
CACHED = "it says what to cache, and nothing to the model"
MADE = "the other client made ids where the vendor gave none"
TOLERANCES = (
    Tolerance("anthropic", "theirs", r"stream", DEFAULT, only=False),
    Tolerance("anthropic", "both", r"tool_choice", DEFAULT, only={"type": "auto"}),
    Tolerance("anthropic", "theirs", r"messages\[\d+\]\.content\[\d+\]\.is_error", DEFAULT, only=False),
    Tolerance("anthropic", "both", r"messages\[\d+\]\.content", "a text is a list of one text", becomes=_lone_text),
    Tolerance("anthropic", "ours", r"cache_control", CACHED, only={"type": "ephemeral"}),
    Tolerance("openai", "theirs", r"stream", DEFAULT, only=False),
    Tolerance("openai", "ours", r"prompt_cache_key", CACHED),
    Tolerance("openai", "ours", r"input\[\d+\]\.type", DEFAULT, only="message"),
    Tolerance("openai", "ours", r"input\[\d+\]\.status", "it is echoed as it came", only="completed"),
    Tolerance("openai", "ours", r"store", KEPT, only=False),
    Tolerance("openai", "ours", r"truncation", KEPT, only="disabled"),
    Tolerance("openai", "theirs", r"tools\[\d+\]\.description", DEFAULT, only=None),
    Tolerance("openai_chat", "ours", r"store", KEPT, only=False),
    Tolerance("openai_chat", "ours", r"messages\[\d+\]\.content", DEFAULT, only=None),
    Tolerance("openai_chat", "ours", r"tools\[\d+\]\.function\.strict", DEFAULT, only=False),
    Tolerance("openai_chat", "theirs", r"tools\[\d+\]\.function\.description", SAID, only=""),
    Tolerance("openai_chat", "theirs", r"tool_choice", FORCED, only="required", becomes=_as("auto")),
    Tolerance("google", "theirs", r"contents\[0\]\.parts\[0\]\.text", "see BLANK", only="", becomes=_as(BLANK)),
    Tolerance("google", "theirs", r"contents\[\d+\]\.parts\[\d+\]\.functionCall\.id", MADE),
    Tolerance("google", "theirs", r"contents\[\d+\]\.parts\[\d+\]\.functionResponse\.id", MADE),
    Tolerance(
        "google",
        "theirs",
        r"contents\[\d+\]\.parts\[\d+\]\.functionResponse\.response\.return_value",
        "the name is free; `output` is the documented one",
        becomes=_at("return_value", "output"),
    ),
    Tolerance(
        "google",
        "both",
        r"contents\[\d+\]\.parts\[\d+\]\.thoughtSignature",
        "base64 has two alphabets; ours sends the text that came",
        becomes=_bytes,
    ),
    Tolerance(
        "google",
        "ours",
        r"contents\[\d+\]\.parts\[[1-9]\]",
        "it is echoed as it came: an empty text",
        only={"text": ""},
    ),
    Tolerance("google", "theirs", r"tools\[\d+\]\.functionDeclarations\[\d+\]\.description", SAID, only=""),
    Tolerance(
        "google",
        "theirs",
        r"tools\[\d+\]\.functionDeclarations\[\d+\]\.parameters_json_schema",
        "no parameters are none",
        only=NO_PARAMETERS,
    ),
    Tolerance(
        "google",
        "theirs",
        r"tools\[\d+\]\.functionDeclarations\[\d+\]\.parameters_json_schema",
        "a field has two spellings",
        becomes=_at("parameters_json_schema", "parametersJsonSchema"),
    ),
    Tolerance("google", "theirs", r"toolConfig\.functionCallingConfig\.mode", FORCED, only="ANY"),
    Tolerance("google", "theirs", r"toolConfig\.functionCallingConfig\.allowedFunctionNames", FORCED),
)


def what_counts(wire: WireName, body: Object, side: Side) -> dict[str, Json]:
    """
    The values of a request by their places, but for what may differ.
    """
    return dict(_fields("", body, [each for each in TOLERANCES if each.wire == wire and each.side in (side, "both")]))


def _fields(path: str, value: Json, rules: list[Tolerance]) -> Iterator[Field]:
    for rule in rules:
        if rule.covers(path, value):
            if rule.becomes is None:
                return
            path, value = rule.becomes(path, value)
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _fields(f"{path}.{key}" if path else key, each, rules)
    elif isinstance(value, list) and value:
        for at, each in enumerate(value):
            yield from _fields(f"{path}[{at}]", each, rules)
    else:
        yield path, value
