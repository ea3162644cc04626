"""
What an MCP server answered, for the model. Imports the SDK: only on first use.

The forms: texts, images and audio stand in their order, texts next to one another on lines of their own; a resource is
told by a line with its address before its text, or as a file of that name; a link to a resource is JSON; structured
content is JSON at the end, unless the texts say the same already.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias, cast

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from pydantic_core import PydanticSerializationError, to_jsonable_python

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonError, JsonObject, JsonValue, clean_text, dump_json, parse_json
from rodada.statemachine.media import bytes_in
from rodada.statemachine.messages import Media, Part, Text
from rodada.tools.result_parts import ToolResultParts

Block: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

ANY_TYPE = "application/octet-stream"
LONGEST_ADDRESS = 2000
LONGEST_TYPE_TOLD = 80


def content(result: CallToolResult) -> ToolResultParts:
    """
    A result for the model. Whether it failed is what the server says by `isError`, never what a text says.
    """
    return ToolResultParts(tuple(_joined(_parts(result))), failed=result.is_error)


def _joined(parts: Iterable[Part]) -> Iterator[Part]:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
            continue
        if texts:
            yield Text("\n".join(texts))
            texts.clear()
        yield part
    if texts:
        yield Text("\n".join(texts))


def _parts(result: CallToolResult) -> Iterator[Part]:
    for block in result.content:
        yield from _block(block)
    if result.structured_content is not None and not _is_said(result):
        yield Text(_json(result.structured_content))


def _block(block: Block) -> Iterator[Part]:
    match block:
        case TextContent():
            yield Text(block.text)
        case ImageContent() | AudioContent():
            yield _media(block.mime_type, block.data, "")
        case ResourceLink():
            yield Text(_json({"resource_link": _link(block)}))
        case EmbeddedResource():
            yield from _resource(block)


def _resource(block: EmbeddedResource) -> Iterator[Part]:
    resource = block.resource
    if isinstance(resource, BlobResourceContents):
        yield _media(resource.mime_type or ANY_TYPE, resource.blob, resource.uri)
    else:
        yield Text(f"[resource {_one_line(resource.uri)}]")
        yield Text(resource.text)


def _link(block: ResourceLink) -> JsonObject:
    told: JsonObject = {"uri": block.uri, "name": block.name}
    for key, value in (("description", block.description), ("mimeType", block.mime_type), ("size", block.size)):
        if value is not None:
            told[key] = value
    return told


def _media(media_type: str, data: str, name: str) -> Part:
    try:
        return Media.of(bytes_in(data), media_type.partition(";")[0], _one_line(name))
    except InvalidValue:
        kind = _one_line(media_type)[:LONGEST_TYPE_TOLD]
        return Text(f"[{kind} of {len(data)} characters was left out: it is no base64, or that is no media type]")


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())[:LONGEST_ADDRESS]


def _json(value: object) -> str:
    try:
        return clean_text(dump_json(to_jsonable_python(value)))
    except (PydanticSerializationError, ValueError, RecursionError):
        return "[structured content that is no JSON was left out]"


def _is_said(result: CallToolResult) -> bool:
    """
    Whether the texts say what the structured content says. Servers put a value that is no object under a key such as
    "result" or "content", and tell a list as one text for each item.
    """
    structured = cast(JsonValue, result.structured_content)
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    said = [_value(text) for text in texts]
    wanted = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        wanted.extend(structured.values())
    return any(each in (*said, *texts, said, texts) for each in wanted)


def _value(text: str) -> JsonValue:
    try:
        return parse_json(text)
    except JsonError:
        return text
