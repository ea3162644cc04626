"""
What a received request tells the model, read the same way on every wire.
"""

from collections.abc import Callable, Mapping

from attrs import frozen

from rodada.providers.loopback import Received, WireName
from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text


@frozen
class Heard:
    """
    One request.

    Attributes:
        tools: names as declared.
        choice: "auto", "none", or "" when nothing is said.
        system: the top-level system instructions.
        aside: a system message at the end of the messages, where the wire has such.
        turns: messages, items or contents that stay in every later request of the run.
        declares: whether tools or a choice are mentioned at all.
    """

    tools: tuple[str, ...]
    choice: str
    system: str
    aside: str
    turns: tuple[Object, ...]
    declares: bool


def heard(received: Received) -> Heard:
    """
    What stands in a request.
    """
    return _READ[received.wire](received.body)


def _anthropic(body: Object) -> Heard:
    messages = objs(body["messages"])
    aside = text(messages.pop()["content"]) if messages[-1]["role"] == "system" else ""
    if messages[-1]["role"] == "assistant":
        messages.pop()  # pieces of a paused turn, which may still be dropped
    return Heard(
        tools=_names(body.get("tools")),
        choice=text(obj(body.get("tool_choice")).get("type")),
        system=text(body.get("system")),
        aside=aside,
        turns=tuple(messages),
        declares="tools" in body or "tool_choice" in body,
    )


def _openai(body: Object) -> Heard:
    return Heard(
        tools=_names(body.get("tools")),
        choice=text(body.get("tool_choice")),
        system=text(body.get("instructions")),
        aside="",
        turns=tuple(objs(body["input"])),
        declares="tools" in body or "tool_choice" in body,
    )


def _openai_chat(body: Object) -> Heard:
    messages = objs(body["messages"])
    system = text(messages.pop(0)["content"]) if messages[0]["role"] == "system" else ""
    return Heard(
        tools=_names([each["function"] for each in objs(body.get("tools"))]),
        choice=text(body.get("tool_choice")),
        system=system,
        aside="",
        turns=tuple(messages),
        declares="tools" in body or "tool_choice" in body,
    )


def _google(body: Object) -> Heard:
    declared = [each for tool in objs(body.get("tools")) for each in items(tool["functionDeclarations"])]
    mode = text(obj(obj(body.get("toolConfig")).get("functionCallingConfig")).get("mode"))
    parts = objs(obj(body.get("systemInstruction")).get("parts"))
    return Heard(
        tools=_names(declared),
        choice={"NONE": "none"}.get(mode, mode or ("auto" if declared else "")),
        system="".join(text(part["text"]) for part in parts),
        aside="",
        turns=tuple(objs(body["contents"])),
        declares="tools" in body or "toolConfig" in body,
    )


def _names(tools: Json) -> tuple[str, ...]:
    return tuple(text(tool["name"]) for tool in objs(tools))


_READ: Mapping[WireName, Callable[[Object], Heard]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_chat": _openai_chat,
    "google": _google,
}
