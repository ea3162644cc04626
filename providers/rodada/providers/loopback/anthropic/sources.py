"""
Rules about the images and documents of a request.
"""

from collections.abc import Callable, Iterator, Mapping

from rodada.providers.loopback.anthropic.blocks import unknown
from rodada.providers.loopback.anthropic.view import View, bad
from rodada.providers.loopback.json_values import Object, obj, objs, text
from rodada.providers.loopback.media import content, is_fetched, longest_side, seen_type
from rodada.providers.loopback.script import Failure

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_LONGEST_IMAGE = 10 * 1024 * 1024
_LONGEST_SIDE = 8000
_KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "image": {"base64": ("media_type", "data"), "url": ("url",), "file": ("file_id",)},
    "document": {
        "base64": ("media_type", "data"),
        "text": ("media_type", "data"),
        "content": ("content",),
        "url": ("url",),
        "file": ("file_id",),
    },
}


def sources_are_whole(view: View) -> Failure | None:
    """
    An image or a document has a source of a known type; what is in base64 is what it says it is, and not too large.
    """
    found = (fault for path, block in _shown(view) for fault in _faults(f"{path}.{text(block['type'])}.source", block))
    fault = next(found, None)
    return None if fault is None else bad(fault)


def error_results_are_text(view: View) -> Failure | None:
    """
    A result that is an error holds text alone.
    """
    for path, _, block in view.blocks():
        kinds = {text(part.get("type")) for part in objs(block.get("content"))}
        if block.get("type") == "tool_result" and block.get("is_error") is True and kinds - {"text"}:
            return bad(f"{path}.tool_result: all content must be type `text` if `is_error` is true")
    return None


def _shown(view: View) -> Iterator[tuple[str, Object]]:
    for path, _, block in view.blocks():
        inner = objs(block.get("content")) if block.get("type") == "tool_result" else []
        for where, each in [
            (path, block),
            *((f"{path}.tool_result.content.{at}", part) for at, part in enumerate(inner)),
        ]:
            if each.get("type") in _KINDS:
                yield where, each


def _faults(path: str, block: Object) -> Iterator[str]:
    source, kinds = obj(block["source"]), _KINDS[text(block["type"])]
    kind = text(source.get("type"))
    if kind not in kinds:
        known = ", ".join(kinds)
        yield f"{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {known}"
        return
    yield from unknown(f"{path}.{kind}", source, ("type", *kinds[kind]))
    yield from (f"{path}.{kind}.{name}: Field required" for name in kinds[kind] if name not in source)
    if kind == "base64":
        yield from (_image_faults if block["type"] == "image" else _pdf_faults)(f"{path}.base64", source)
    if kind == "url" and not text(source.get("url")).startswith("https://"):
        yield f"{path}.url.url: Only HTTPS URLs are supported."
    elif kind == "url" and not is_fetched(source.get("url")):
        yield "Unable to download the file. Please verify the URL and try again."
    if kind == "text" and source.get("media_type") != "text/plain":
        yield f"{path}.text.media_type: Input should be 'text/plain'"


def _image_faults(path: str, source: Object) -> Iterator[str]:
    told, data = source.get("media_type"), content(source.get("data"))
    if told not in _IMAGES:
        yield f"{path}.media_type: Input should be {', '.join(map(repr, _IMAGES))}"
    elif len(text(source.get("data"))) > _LONGEST_IMAGE:
        most = f"{len(text(source['data']))} bytes > {_LONGEST_IMAGE} bytes"
        yield f"{path}: image exceeds 10 MB maximum: {most}"
    elif data is None:
        yield f"{path}.data: Input should be valid base64"
    elif seen_type(data) not in _IMAGES:
        yield f"{path}: Could not process image"
    elif seen_type(data) != told:
        yield (
            f"{path}: The image was specified using the {told} media type, but the image appears to be a "
            f"{seen_type(data)} image"
        )
    elif longest_side(data) > _LONGEST_SIDE:
        yield f"{path}.data: At least one of the image dimensions exceed max allowed size: {_LONGEST_SIDE} pixels"


def _pdf_faults(path: str, source: Object) -> Iterator[str]:
    data = content(source.get("data"))
    if source.get("media_type") != "application/pdf":
        yield f"{path}.media_type: Input should be 'application/pdf'"
    elif data is None:
        yield f"{path}.data: Input should be valid base64"
    elif seen_type(data) != "application/pdf":
        yield f"{path}.data: The PDF specified was not valid."


RULES: tuple[Callable[[View], Failure | None], ...] = (sources_are_whole, error_results_are_text)
