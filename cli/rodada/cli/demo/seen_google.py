"""
A request of generateContent as it is seen.
"""

from collections.abc import Iterator

from rodada.cli.demo.seen import Answer, Answers, Asked, Item, Said, Seen
from rodada.providers.loopback.json_values import Object, items, obj, objs, text

WHO = {"user": "person", "model": "model"}


def seen_google(body: Object) -> Seen:
    """
    The request in a body.
    """
    declared = [each for tool in objs(body.get("tools")) for each in objs(tool.get("functionDeclarations"))]
    choice = obj(obj(body.get("toolConfig")).get("functionCallingConfig"))
    return Seen(
        items=tuple(item for content in objs(body.get("contents")) for item in _items(content)),
        history=tuple(items(body.get("contents"))),
        tools=tuple(text(each.get("name")) for each in declared),
        may_use_tools=choice.get("mode") != "NONE",
        system=_text(obj(body.get("systemInstruction"))),
        bound={"tools": body.get("tools")},
    )


def _items(content: Object) -> Iterator[Item]:
    calls, responses = _of("functionCall", content), _of("functionResponse", content)
    if responses:
        yield Answers(tuple(map(_answer, responses)))
    if calls:
        yield Asked(tuple(text(call.get("id")) for call in calls))
    said = _text(content)
    if said and not calls:
        yield Said(WHO.get(text(content.get("role")), ""), said)


def _of(kind: str, content: Object) -> list[Object]:
    return [obj(part[kind]) for part in objs(content.get("parts")) if kind in part]


def _text(content: Object) -> str:
    return "".join(text(part.get("text")) for part in objs(content.get("parts")))


def _answer(response: Object) -> Answer:
    told = obj(response.get("response"))
    failed = "error" in told
    return Answer(text(response.get("id")), text(told.get("error" if failed else "output")), failed)
