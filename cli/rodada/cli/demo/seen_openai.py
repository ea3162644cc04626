"""
A request of the Responses API as it is seen.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from rodada.cli.demo.seen import Answer, Answers, Asked, Item, Said, Seen
from rodada.providers.loopback.json_values import Object, items, objs, text
from rodada.statemachine.jsontext import parse_object

WHO = {"user": "person", "assistant": "model", "system": "engine", "developer": "engine"}


def seen_openai(body: Object) -> Seen:
    """
    The request in a body.
    """
    rows = groupby(objs(body.get("input")), key=lambda item: text(item.get("type")))
    return Seen(
        items=tuple(item for kind, row in rows for item in _items(kind, row)),
        history=tuple(items(body.get("input"))),
        tools=tuple(text(tool.get("name")) for tool in objs(body.get("tools"))),
        may_use_tools=body.get("tool_choice") != "none",
        system=text(body.get("instructions")),
        bound={"tools": body.get("tools")},
    )


def _items(kind: str, row: Iterable[Object]) -> Iterator[Item]:
    match kind:
        case "function_call":
            yield Asked(tuple(text(call.get("call_id")) for call in row))
        case "function_call_output":
            yield Answers(tuple(map(_answer, row)))
        case "message":
            yield from map(_said, row)
        case _:
            pass


def _said(item: Object) -> Said:
    content = item.get("content")
    said = text(content) or "".join(text(part.get("text")) for part in objs(content))
    return Said(WHO.get(text(item.get("role")), ""), said)


def _answer(item: Object) -> Answer:
    told = text(item.get("output"))
    error = (parse_object(told) or {}).get("error")
    if isinstance(error, dict):
        return Answer(text(item.get("call_id")), str(error.get("message")), True)
    return Answer(text(item.get("call_id")), told, False)
