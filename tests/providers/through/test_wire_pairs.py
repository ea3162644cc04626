"""
The checker of pairs refuses what breaks promise P1, and nothing else.
"""

from collections.abc import Callable, Mapping, Sequence

import pytest

from rodada.providers.loopback import WireName
from rodada.providers.loopback.json_values import Json, Object
from support.stage import WIRES
from support.wire_pairs import pair_faults

# U: the person; A, B, AB: a turn with such calls; r and what follows: results in this order; x: a text of the person
# in the same message; T: a turn with text alone.
GOOD = ("U", "U A ra", "U AB rab", "U A ra B rb", "U A ra T U", "U T U AB rab", "U U A ra")
BAD = ("A ra", "U A", "U AB ra", "U AB rba", "U AB raa", "U A U ra", "U ra", "U A ra A ra", "U A rb", "U AB ra rb")
MIXED = ("U A xra", "U A rax")


def body(wire: WireName, story: str) -> Object:
    steps = [step for word in story.split() for step in _steps(wire, word)]
    return {{"openai": "input", "google": "contents"}.get(wire, "messages"): steps}


def _steps(wire: WireName, word: str) -> Sequence[Json]:
    return _SAID[wire](word)


def _anthropic(word: str) -> list[Json]:
    if word in ("U", "T"):
        return [{"role": "user" if word == "U" else "assistant", "content": "so"}]
    made: dict[str, Object] = {"x": {"type": "text", "text": "and"}}
    made |= {id.lower(): {"type": "tool_result", "tool_use_id": id} for id in "AB"}
    made |= {id: {"type": "tool_use", "id": id, "name": "f", "input": {}} for id in "AB"}
    return [
        {"role": "assistant" if word.isupper() else "user", "content": [made[each] for each in word if each != "r"]}
    ]


def _openai(word: str) -> list[Json]:
    made: dict[str, Object] = {
        "U": {"type": "message", "role": "user", "content": "so"},
        "T": {"type": "message", "role": "assistant", "content": "so"},
    }
    made |= {id.lower(): {"type": "function_call_output", "call_id": id, "output": "ok"} for id in "AB"}
    made |= {id: {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"} for id in "AB"}
    return [made[each] for each in word if each != "r"]


def _google(word: str) -> list[Json]:
    made: dict[str, Object] = {each: {"text": "so"} for each in "UTx"}
    made |= {id.lower(): {"functionResponse": {"id": id, "name": "f", "response": {}}} for id in "AB"}
    made |= {id: {"functionCall": {"id": id, "name": "f", "args": {}}} for id in "AB"}
    role = "model" if word in ("T", "A", "B", "AB") else "user"
    return [{"role": role, "parts": [made[each] for each in word if each != "r"]}]


def _openai_chat(word: str) -> list[Json]:
    if word in ("U", "T"):
        return [{"role": "user" if word == "U" else "assistant", "content": "so"}]
    if word.isupper():
        calls: list[Json] = [
            {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in word
        ]
        return [{"role": "assistant", "content": None, "tool_calls": calls}]
    return [{"role": "tool", "tool_call_id": each.upper(), "content": "ok"} for each in word if each != "r"]


_SAID: Mapping[WireName, Callable[[str], Sequence[Json]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_chat": _openai_chat,
    "google": _google,
}
ROWS = ("openai", "openai_chat")  # results are a row of items or messages, not parts of one


@pytest.mark.parametrize("wire", WIRES)
def test_good_histories_have_no_fault(wire: WireName) -> None:
    assert [story for story in GOOD if pair_faults(wire, body(wire, story))] == []


def test_calls_of_custom_tools_count_among_those_of_functions() -> None:
    """
    The generated cases of imported histories may place one between two calls of functions.
    """
    calls: list[Object] = [
        {"type": kind, "call_id": id} for kind, id in (("function_call", "A"), ("custom_tool_call", "B"))
    ]
    results: list[Object] = [{"type": f"{call['type']}_output", "call_id": call["call_id"]} for call in calls]
    said: Object = {"type": "message", "role": "user", "content": "so"}
    found = [pair_faults("openai", {"input": [said, *calls, *row]}) for row in (results, results[:1], results[::-1])]
    assert found == [[], ["['A', 'B'] are answered by ['A']"], ["['A', 'B'] are answered by ['B', 'A']"]]


@pytest.mark.parametrize("wire", WIRES)
def test_broken_histories_have_one(wire: WireName) -> None:
    stories = BAD if wire in ROWS else (*BAD, *MIXED)
    passed = {"U AB ra rb"} if wire in ROWS else set[str]()  # one row is one row
    assert {story for story in stories if not pair_faults(wire, body(wire, story))} == passed
