"""
What a request is made of on either of OpenAI's wires: tools, names, instructions, media, and how a result says that it
is no success.
"""

import re
from collections.abc import Callable, Mapping

from rodada.providers.openai_strict import may_be_strict
from rodada.providers.server_tools import ServerTools
from rodada.statemachine.jsontext import JsonObject, digest_text, dump_json, parse_json, parse_object
from rodada.statemachine.media import ANY_IMAGE
from rodada.statemachine.messages import Media, MediaLink, Part, Status, Text, ToolResult
from rodada.statemachine.request import ModelRequest, ToolDeclaration

LONGEST_NAME = 64
LEGAL = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}")
DIGEST_LENGTH = 12
PDF = "application/pdf"
UNSUCCESSFUL = frozenset(status.value for status in Status if status is not Status.SUCCEEDED)
BLANK = re.compile(r'"(?:\s|\\[tnrf])*"')  # a blank text as JSON
# The most base64 characters of each.
IMAGES: Mapping[str, int] = dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), 20_000_000)
FILES: Mapping[str, int] = {PDF: 30_000_000}
IMAGE_LINKS = frozenset({*IMAGES, ANY_IMAGE})


def legal_name(name: str) -> str:
    """
    The name itself where the wire takes it, else a legal one that ends in its digest.
    """
    if LEGAL.fullmatch(name):
        return name
    stem = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[: LONGEST_NAME - DIGEST_LENGTH - 1]
    return f"{stem}_{digest_text(name)[:DIGEST_LENGTH]}"


def tool_fields(
    request: ModelRequest, declared: Callable[[ToolDeclaration], JsonObject], server_tools: ServerTools = ()
) -> JsonObject:
    """
    The fields that say which tools there are, each as `declared` and behind them the vendor's own, and whether they may
    be used; none without tools.
    """
    if not request.tools and not server_tools:
        return {}
    choice = "auto" if request.tools_allowed else "none"
    return {"tools": [*map(declared, request.tools), *server_tools], "tool_choice": choice}


def function_of(tool: ToolDeclaration) -> JsonObject:
    """
    What a tool is told as. The wires refuse an object whose schema names no properties, not even none.
    """
    parameters = tool.schema_object
    parameters.setdefault("properties", {})
    described: JsonObject = {"description": tool.description} if tool.description else {}
    return {
        "name": legal_name(tool.name),
        **described,
        "parameters": parameters,
        "strict": may_be_strict(tool.schema),
    }


def instructions_of(request: ModelRequest) -> str:
    """
    The system instructions, and behind them the guidance of this one call.
    """
    return "\n\n".join(text for text in (request.instructions, request.guidance) if text.strip())


def told_of(result: ToolResult, text: str) -> str:
    """
    The text of a result. The wires have no error flag, so every status but success says so in the text.
    """
    if result.status is Status.SUCCEEDED:
        return text
    return dump_json({"error": {"status": result.status.value, "message": text}})


def heard(text: str) -> tuple[Status, str]:
    """
    What a stored result says: its status and its text, back from the form of `told_of` and `sayable`.
    """
    value = parse_object(text) or {}
    error = value.get("error")
    if value.keys() == {"error"} and isinstance(error, dict) and error.keys() == {"status", "message"}:
        status, message = error["status"], error["message"]
        if status in UNSUCCESSFUL and isinstance(message, str):
            return Status(status), message
    if BLANK.fullmatch(text):
        return Status.SUCCEEDED, str(parse_json(text))
    return Status.SUCCEEDED, text


def heard_parts(parts: tuple[Part, ...]) -> tuple[Status, tuple[Part, ...]]:
    """
    The same of a result's parts, which may have media behind the text.
    """
    first = parts[0] if parts else None
    if not isinstance(first, Text):
        return Status.SUCCEEDED, parts
    status, told = heard(first.text)
    return status, (Text(told), *parts[1:])


def sayable(text: str) -> str:
    """
    The text, or where it is blank, which some servers refuse, its JSON.
    """
    return text if text.strip() else dump_json(text)


def url_of(media: Media | MediaLink) -> str:
    """
    A medium as an address: its own, or one that holds it.
    """
    if isinstance(media, MediaLink):
        return media.url
    return f"data:{media.media_type};base64,{media.data}"


def file_name(media: Media | MediaLink) -> str:
    """
    The name of a file, which must have one.
    """
    return media.name.strip() or "file.pdf"
