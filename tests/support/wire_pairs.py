"""
Promise P1 on a received request, written from the vendors' rules and without a look at the adapters: every request
of the model has exactly one result, straight after its turn, in request order, in one message (OpenAI: one row).
"""

from collections.abc import Callable, Mapping
from itertools import groupby, pairwise, takewhile

from rodada.providers.loopback import WireName
from rodada.providers.loopback.json_values import Json, Object, objs, text

# Of OpenAI's: a history that is imported may hold calls of custom tools among those of functions.
CALLS = ("function_call", "custom_tool_call")
MEDIA = ("inlineData", "fileData")  # Google's, which may stand behind results
OUTPUTS = ("function_call_output", "custom_tool_call_output")


def pair_faults(wire: WireName, body: Object) -> list[str]:
    """
    What breaks the promise in the body of a request; nothing in a good one.
    """
    return _RULES[wire](body)


def _anthropic(body: Object) -> list[str]:
    messages = objs(body["messages"])
    found = [] if messages[0]["role"] == "user" else ["the first message is not the user's"]
    asked: list[str] = []
    for at, (before, message) in enumerate(pairwise([{}, *messages, {}])):
        open_ids = _tool_uses(before)
        asked += open_ids
        if open_ids and (message.get("role") != "user" or _answers(message) != open_ids):
            found.append(f"messages.{at}: {open_ids} are answered by {_answers(message)}")
        if not open_ids and any(map(_is_result, objs(message.get("content")))):
            found.append(f"messages.{at}: results that nobody asked for")
    return found + _id_faults(asked)


def _tool_uses(message: Object) -> list[str]:
    return [text(block["id"]) for block in objs(message.get("content")) if block["type"] == "tool_use"]


def _answers(message: Object) -> list[str]:
    told = [
        text(block["tool_use_id"]) if _is_result(block) else f"({block['type']})"
        for block in objs(message.get("content"))
    ]
    while told and told[-1] in ("(image)", "(document)"):  # behind the results only media may stand
        told.pop()
    return told


def _is_result(block: Object) -> bool:
    return block["type"] == "tool_result"


def _openai(body: Object) -> list[str]:
    rows = [(sort, list(row)) for sort, row in groupby(objs(body["input"]), _sort)]
    found = [] if rows[0][0] == "user" else ["the first item is not the user's"]
    nothing: tuple[str, list[Object]] = ("", [])
    asked: list[str] = []
    for (sort, row), (after, results) in pairwise([nothing, *rows, nothing]):
        open_ids = [text(item["call_id"]) for item in row if item["type"] in CALLS]
        asked += open_ids
        answers = [text(item["call_id"]) for item in results] if after == "output" else []
        if (sort == "model" and answers != open_ids) or (sort != "model" and answers):
            found.append(f"{open_ids} are answered by {answers}")
    return found + _id_faults(asked)


def _sort(item: Object) -> str:
    if item["type"] in OUTPUTS:
        return "output"
    return "user" if item.get("role") == "user" else "model"


def _openai_chat(body: Object) -> list[str]:
    messages = [each for each in objs(body["messages"]) if each["role"] != "system"]
    found = [] if messages[0]["role"] == "user" else ["the first message is not the user's"]
    asked: list[str] = []
    for at, message in enumerate(messages):
        open_ids = [text(call["id"]) for call in objs(message.get("tool_calls"))]
        row = list(takewhile(lambda each: each["role"] == "tool", messages[at + 1 :]))
        asked += open_ids
        answers = [text(each["tool_call_id"]) for each in row]
        if message["role"] != "tool" and answers != open_ids:
            found.append(f"messages.{at}: {open_ids} are answered by {answers}")
    return found + _id_faults(asked)


def _google(body: Object) -> list[str]:
    contents = objs(body["contents"])
    ends = [text(contents[0]["role"]), text(contents[-1]["role"])]
    found = [] if ends == ["user", "user"] else [f"the ends are {ends}"]
    asked: list[str] = []
    for at, (before, content) in enumerate(pairwise([{}, *contents, {}])):
        calls, responses = _named(before, "functionCall"), _named(content, "functionResponse")
        asked += [text(each[0]) for each in calls if each[0] is not None]
        if calls != responses:
            found.append(f"contents[{at}]: {calls} are answered by {responses}")
        behind = objs(content.get("parts"))[len(responses) :]
        if responses and (content["role"] != "user" or any(part.keys().isdisjoint(MEDIA) for part in behind)):
            found.append(f"contents[{at}]: more than responses of the user")
    return found + [f"id {name!r} stands on two calls" for name in _doubled(asked)]


def _named(content: Object, kind: str) -> list[tuple[Json, Json]]:
    parts = [part[kind] for part in objs(content.get("parts")) if kind in part]
    return [(each.get("id"), each["name"]) for each in objs(parts)]


def _id_faults(asked: list[str]) -> list[str]:
    found = [f"id {name!r} stands on two requests" for name in _doubled(asked)]
    return found + [f"id {name!r} is not legal" for name in asked if not name or len(name) > 64]


def _doubled(names: list[str]) -> list[str]:
    return [name for at, name in enumerate(names) if name in names[:at]]


_RULES: Mapping[WireName, Callable[[Object], list[str]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_chat": _openai_chat,
    "google": _google,
}
