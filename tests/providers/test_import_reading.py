"""
Stored messages are a stranger's data: read within bounds, refused by place, never shown.
"""

import math
import subprocess
import sys

import pytest

from rodada.providers.import_reading import Place, read_messages
from rodada.providers.imported import ChangeKind
from rodada.statemachine.errors import FormatError, UnreadableMessages
from rodada.statemachine.jsontext import JsonObject

PLACE = Place("wire", 3, "[3]")


def read(*messages: object) -> list[tuple[JsonObject, list[ChangeKind]]]:
    return [(value, [each.kind for each in changes]) for _, value, changes in read_messages("wire", [*messages])]


def nested(levels: int) -> object:
    value: object = 0
    for _ in range(levels):
        value = [value]
    return {"content": value}


class Dumped:
    """
    An object as the SDKs have them.
    """

    def __init__(self, value: object) -> None:
        self.value = value

    def model_dump(self, **options: object) -> object:
        assert {"mode": "json", "by_alias": True, "exclude_none": True} == options
        return self.value


class Broken:
    """
    An object that only looks like one.
    """

    def model_dump(self) -> object:
        raise RuntimeError("a secret")


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ({"a": (1, 2.5, None, True)}, {"a": [1, 2.5, None, True]}),
        (Dumped({"a": [Dumped({"b": 1})]}), {"a": [{"b": 1}]}),
        ({"a": b"\xff\x00"}, {"a": "/wA="}),
    ],
)
def test_what_can_be_json_becomes_it(message: object, value: JsonObject) -> None:
    assert [(value, [])] == read(message)


def test_lone_surrogates_are_replaced_and_named() -> None:
    assert [({"a": "\ufffd", "\ufffd": 1}, [ChangeKind.MENDED_TEXT])] == read({"a": "\ud83d", "\ude00": 1})


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"a": [1, {"b": math.nan}]}, "[0].a[1].b: expected a number that JSON can hold, found another one"),
        ({"a": 10**5000}, "[0].a: expected a number that JSON can hold, found another one"),
        ({"a": -math.inf}, "[0].a: expected a number that JSON can hold, found another one"),
        ({"\ud83d": 1, chr(0xDE00): 2}, "[0]: expected JSON that can be sent, found keys that are one without their"),
        ({"a": {"b": {1: 2}}}, "[0].a.b: expected keys that are strings, found a number"),
        ({"a": {"b": {1, 2}}}, "[0].a.b: expected values of JSON, or objects of the vendor's SDK, found a set"),
        ({"a": Broken()}, "[0].a: expected objects that their SDK can write as JSON, found a Broken"),
        ({"a": Dumped}, "[0].a: expected values of JSON, or objects of the vendor's SDK, found a type"),
        (nested(300), "[0]: expected at most 200 levels, found more of them"),
    ],
)
def test_what_cannot_is_refused_and_not_shown(message: object, told: str) -> None:
    with pytest.raises(UnreadableMessages) as caught:
        read(message)
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value, FormatError)


def test_an_endless_object_is_refused() -> None:
    endless: dict[str, object] = {}
    endless["a"] = endless
    with pytest.raises(UnreadableMessages, match="at most 200 levels"):
        read(endless)


def test_errors_and_changes_are_bounded() -> None:
    with pytest.raises(UnreadableMessages) as caught:
        read({"k" * 10_000: object()})
    assert len(str(caught.value)) < 300
    assert len(str(PLACE.change(ChangeKind.UNKNOWN_PART, "t\n" * 10_000))) < 300


def test_an_import_needs_no_sdk() -> None:
    code = (
        "import sys\n"
        "from rodada.providers import anthropic, google, openai_chat, openai_responses\n"
        "hi = {'role': 'user', 'content': 'hi'}\n"
        "anthropic.to_messages(anthropic.from_messages([hi]).conversation)\n"
        "openai_chat.from_messages([hi]); openai_responses.from_messages([hi]); google.from_messages([])\n"
        "print(sorted({'anthropic', 'openai', 'google.genai', 'httpx2'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "[]\n" == done.stdout
