"""
Messages as sequences of blocks, and the form in which two blocks are compared.
"""

from attrs import frozen

from rodada.providers.loopback.json_values import Json, Object, obj, objs, text


@frozen
class Said:
    """
    One message; content given as a string is one text block.
    """

    at: int
    role: str
    blocks: tuple[Object, ...]

    def of_type(self, kind: str) -> list[Object]:
        """
        The blocks of one type.
        """
        return [block for block in self.blocks if block.get("type") == kind]


def messages_of(body: Object) -> tuple[Said, ...]:
    """
    The messages of a request, read leniently.
    """
    messages = enumerate(objs(body.get("messages")))
    return tuple(Said(at, text(each.get("role")), blocks_of(each.get("content"))) for at, each in messages)


def blocks_of(content: Json) -> tuple[Object, ...]:
    """
    Content as blocks.
    """
    return ({"type": "text", "text": content},) if isinstance(content, str) else tuple(objs(content))


def plain(block: Object) -> Object:
    """
    A block in the form in which two of them are compared: cache markers, nulls and spellings do not count.
    """
    kept: Object = {key: value for key, value in block.items() if key != "cache_control" and value is not None}
    if kept.get("is_error") is False:
        del kept["is_error"]
    if block.get("type") == "tool_result":
        kept["content"] = [plain(obj(part)) for part in blocks_of(kept.get("content"))]
    return kept
