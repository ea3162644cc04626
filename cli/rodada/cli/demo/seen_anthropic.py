"""
A request of the Messages API as it is seen.
"""

from collections.abc import Iterator

from rodada.cli.demo.seen import Answer, Answers, Asked, Item, Said, Seen
from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text

WHO = {"user": "person", "assistant": "model", "system": "engine"}


def seen_anthropic(body: Object) -> Seen:
    """
    The request in a body.
    """
    return Seen(
        items=tuple(item for message in objs(body.get("messages")) for item in _items(message)),
        history=tuple(items(body.get("messages"))),
        tools=tuple(text(tool.get("name")) for tool in objs(body.get("tools"))),
        may_use_tools=obj(body.get("tool_choice")).get("type") != "none",
        system=text(body.get("system")),
        # Thinking is bound to the system text too: a guidance there would spoil it.
        bound={"tools": body.get("tools"), "system": body.get("system")},
    )


def _items(message: Object) -> Iterator[Item]:
    content = message.get("content")
    calls, results = _of("tool_use", content), _of("tool_result", content)
    if results:
        yield Answers(tuple(map(_answer, results)))
    if calls:
        yield Asked(tuple(text(call.get("id")) for call in calls))
    said = text(content) or "".join(text(block.get("text")) for block in _of("text", content))
    if said and not calls:
        yield Said(WHO.get(text(message.get("role")), ""), said)


def _of(kind: str, content: Json) -> list[Object]:
    return [block for block in objs(content) if block.get("type") == kind]


def _answer(block: Object) -> Answer:
    return Answer(text(block.get("tool_use_id")), text(block.get("content")), block.get("is_error") is True)
