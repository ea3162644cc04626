"""
What stands in recorded calls, read without a look at the adapters: what the person and the tools said, and the turn
that the vendor gave.
"""

import json
from collections.abc import Callable, Iterator, Mapping

from attrs import frozen

from rodada.providers.loopback import WireName
from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text
from rodada.statemachine.request import ToolDeclaration
from support.recorded import Recorded


@frozen
class Asked:
    """
    What a host would have to give for a recorded request.

    Attributes:
        opening: the person's first words.
        results: of the last turn, in their order.
        tools: as declared.
        instructions: of the system.
        forbidden: whether the tools may not be used.
        tokens: the most of a turn.
        options: further arguments of the vendor's call.
    """

    opening: str
    results: tuple[str, ...]
    tools: tuple[ToolDeclaration, ...]
    instructions: str = ""
    forbidden: bool = False
    tokens: int | None = None
    options: Mapping[str, object] = {}


@frozen
class Told:
    """
    A turn that a vendor gave: its words, and each call's id, name and arguments.
    """

    text: str
    calls: tuple[tuple[str, str, Json], ...]
    input_tokens: Json
    output_tokens: Json


def asked_in(call: Recorded) -> Asked:
    """
    What a request says.
    """
    return _ASKED[call.wire](call.asked)


def told_in(call: Recorded) -> Told:
    """
    What an answer says.
    """
    events = _events(call.sent) if call.streams else [obj(json.loads(call.sent))]
    return _TOLD[call.wire](events)


def _events(sent: bytes) -> list[Object]:
    lines = sent.decode().splitlines()
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    return [obj(json.loads(each)) for each in data if each != "[DONE]"]


def _tool(name: Json, description: Json, schema: Json) -> ToolDeclaration:
    return ToolDeclaration(text(name), text(description), json.dumps(schema))


def _words(content: Json) -> str:
    return text(content) or "".join(text(part.get("text")) for part in objs(content))


def _call(id: Json, name: Json, arguments: Json) -> tuple[str, str, Json]:
    given: Json = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    return text(id), text(name), given


# Anthropic


def _anthropic_asked(body: Object) -> Asked:
    messages = objs(body["messages"])
    last = [block for block in objs(messages[-1]["content"]) if block.get("type") == "tool_result"]
    return Asked(
        opening=_words(messages[0]["content"]),
        results=tuple(_words(block["content"]) for block in last),
        tools=tuple(_tool(each["name"], each["description"], each["input_schema"]) for each in objs(body["tools"])),
        instructions=_words(body.get("system")),
        forbidden=obj(body.get("tool_choice")).get("type") == "none",
        tokens=int(str(body["max_tokens"])),
        options={"thinking": body["thinking"]} if "thinking" in body else {},
    )


def _anthropic_told(events: list[Object]) -> Told:
    message = events[0] if len(events) == 1 else _anthropic_joined(events)
    blocks, usage = objs(message["content"]), obj(message["usage"])
    cached = [usage.get(name) or 0 for name in ("cache_creation_input_tokens", "cache_read_input_tokens")]
    return Told(
        text="".join(text(block["text"]) for block in blocks if block["type"] == "text"),
        calls=tuple(
            _call(block["id"], block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"
        ),
        input_tokens=sum(int(str(count)) for count in (usage["input_tokens"], *cached)),
        output_tokens=usage["output_tokens"],
    )


def _anthropic_joined(events: list[Object]) -> Object:
    started = [obj(event["content_block"]) for event in events if event["type"] == "content_block_start"]
    usage = obj(obj(events[0]["message"])["usage"])
    for event in events:
        delta, at = obj(event.get("delta")), int(str(event.get("index", 0)))
        usage |= obj(event.get("usage"))
        if "text" in delta:
            started[at]["text"] = text(started[at]["text"]) + text(delta["text"])
        if "partial_json" in delta:
            started[at]["input"] = (text(started[at]["input"]) or "") + text(delta["partial_json"])
    return {"content": [*started], "usage": usage}


# OpenAI


def _openai_asked(body: Object) -> Asked:
    given = objs(body["input"])
    further: dict[str, object] = {"reasoning": body["reasoning"]} if "reasoning" in body else {}
    return Asked(
        opening=_words(given[0]["content"]),
        results=tuple(_trailing(given, "output", lambda item: item.get("type") == "function_call_output")),
        tools=tuple(_tool(each["name"], each["description"], each["parameters"]) for each in objs(body["tools"])),
        instructions=text(body.get("instructions")),
        forbidden=body["tool_choice"] == "none",
        options=further,
    )


def _trailing(row: list[Object], field: str, belongs: Callable[[Object], bool]) -> Iterator[str]:
    first = next((at for at in range(len(row), 0, -1) if not belongs(row[at - 1])), 0)
    yield from (text(each[field]) for each in row[first:])


def _openai_told(events: list[Object]) -> Told:
    body = obj(events[-1]["response"]) if "response" in events[-1] else events[-1]
    output, usage = objs(body["output"]), obj(body["usage"])
    calls = [item for item in output if item["type"] == "function_call"]
    return Told(
        text="".join(_words(item["content"]) for item in output if item["type"] == "message"),
        calls=tuple(_call(item["call_id"], item["name"], item["arguments"]) for item in calls),
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
    )


# Chat Completions


def _chat_asked(body: Object) -> Asked:
    messages = objs(body["messages"])
    functions = [obj(each["function"]) for each in objs(body["tools"])]
    return Asked(
        opening=next(_words(each["content"]) for each in messages if each["role"] == "user"),
        results=tuple(_trailing(messages, "content", lambda message: message["role"] == "tool")),
        tools=tuple(_tool(each["name"], each["description"], each["parameters"]) for each in functions),
        instructions="".join(_words(each["content"]) for each in messages if each["role"] == "system"),
        forbidden=body.get("tool_choice") == "none",
    )


def _chat_told(events: list[Object]) -> Told:
    choices = [choice for event in events for choice in objs(event["choices"])]
    said = [obj(choice.get("delta", choice.get("message"))) for choice in choices]
    calls: dict[Json, Object] = {}
    for place, fragment in enumerate(each for delta in said for each in objs(delta.get("tool_calls"))):
        call = calls.setdefault(fragment.get("index", place), {"arguments": ""})
        function = obj(fragment["function"])
        call |= {"id": fragment["id"], "name": function["name"]} if "id" in fragment else {}
        call["arguments"] = text(call["arguments"]) + text(function["arguments"])
    usage = next(obj(event["usage"]) for event in reversed(events) if event.get("usage"))
    return Told(
        text="".join(text(delta.get("content")) for delta in said),
        calls=tuple(_call(call["id"], call["name"], call["arguments"]) for call in calls.values()),
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
    )


# Google


def _google_asked(body: Object) -> Asked:
    contents = objs(body["contents"])
    responses = [part["functionResponse"] for part in objs(contents[-1]["parts"]) if "functionResponse" in part]
    declared = [each for tool in objs(body["tools"]) for each in objs(tool["functionDeclarations"])]
    modalities = obj(body.get("generationConfig")).get("responseModalities")
    return Asked(
        opening=_words(contents[0]["parts"]),
        results=tuple(text(obj(each["response"])["return_value"]) for each in objs(responses)),
        tools=tuple(_tool(each["name"], each["description"], each["parameters_json_schema"]) for each in declared),
        instructions=_words(obj(body.get("systemInstruction")).get("parts")),
        forbidden=obj(obj(body.get("toolConfig")).get("functionCallingConfig")).get("mode") == "NONE",
        options={"response_modalities": items(modalities)} if modalities else {},
    )


def _google_told(events: list[Object]) -> Told:
    candidates = [candidate for event in events for candidate in objs(event["candidates"])]
    parts = [part for candidate in candidates for part in objs(obj(candidate["content"])["parts"])]
    calls = [obj(part["functionCall"]) for part in parts if "functionCall" in part]
    usage = obj(events[-1]["usageMetadata"])
    return Told(
        text="".join(text(part.get("text")) for part in parts if not part.get("thought")),
        calls=tuple(_call(call.get("id"), call["name"], call["args"]) for call in calls),
        input_tokens=usage["promptTokenCount"],
        output_tokens=int(str(usage["candidatesTokenCount"])) + int(str(usage.get("thoughtsTokenCount", 0))),
    )


_ASKED: Mapping[WireName, Callable[[Object], Asked]] = {
    "anthropic": _anthropic_asked,
    "openai": _openai_asked,
    "openai_chat": _chat_asked,
    "google": _google_asked,
}
_TOLD: Mapping[WireName, Callable[[list[Object]], Told]] = {
    "anthropic": _anthropic_told,
    "openai": _openai_told,
    "openai_chat": _chat_told,
    "google": _google_told,
}
