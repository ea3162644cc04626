"""
Rules about the images and files of a request.
"""

from collections.abc import Callable, Iterator

from rodada.providers.loopback.google.models import shows_in_responses
from rodada.providers.loopback.google.view import View, bad
from rodada.providers.loopback.json_values import Object, obj, objs, text
from rodada.providers.loopback.media import content, is_fetched, seen_type
from rodada.providers.loopback.script import Failure

_SIGNED = ("image/png", "image/jpeg", "image/webp", "application/pdf")
_OWN = ("gs://", "https://generativelanguage.googleapis.com/v1beta/files/")
_FETCHED = (
    *("image/png", "image/jpeg", "image/webp", "image/bmp", "application/pdf", "application/json"),
    *("text/plain", "text/html", "text/css", "text/csv", "text/xml", "text/rtf", "text/javascript"),
)
_IN_RESPONSES = (*_SIGNED, "text/plain")
_KNOWN = (
    *(*_IN_RESPONSES, "image/heic", "image/heif", "text/csv", "text/html", "text/markdown", "text/xml", "text/css"),
    *("audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"),
    *("video/mp4", "video/mpeg", "video/mov", "video/avi", "video/x-flv", "video/mpg", "video/webm", "video/wmv"),
    "video/3gpp",
)


def blobs_can_be_read(view: View) -> Failure | None:
    """
    Inline data is there, of a type that the models take, and is what it says it is.
    """
    found = (
        _blob_fault(f"contents[{said.at}].parts[{index}]", obj(part["inlineData"]), _KNOWN)
        for said in view.contents
        for index, part in enumerate(said.parts)
        if "inlineData" in part
    )
    fault = next((each for each in found if each is not None), None)
    return None if fault is None else bad(fault)


def files_can_be_fetched(view: View) -> Failure | None:
    """
    A file is at an address from which the API fetches, and of a type that it fetches from there.
    """
    for said in view.contents:
        for part in said.parts:
            fault = _file_fault(obj(part["fileData"])) if "fileData" in part else None
            if fault is not None:
                return bad(fault)
    return None


def _file_fault(file: Object) -> str | None:
    uri, told = text(file.get("fileUri")), text(file.get("mimeType"))
    own = uri.startswith(_OWN)
    if not own and not is_fetched(uri):
        return f"Unsupported file uri: {uri}"
    return None if told in _FETCHED or (own and told in _KNOWN) else f"Unsupported MIME type: {told}"


def responses_show_what_they_may(view: View) -> Failure | None:
    """
    A function response holds media only on models that take them there, and only images and documents.
    """
    for path, part in _inner(view):
        if not shows_in_responses(view.model):
            return bad(f"{path}: multimodal function responses are not supported by {view.model}.")
        if "fileData" in part:
            return bad(f"{path}.file_data: URI based data is not supported in function responses.")
        if "inlineData" not in part:
            return bad(f"{path}: required oneof field 'data' must have one initialized field")
        fault = _blob_fault(path, obj(part["inlineData"]), _IN_RESPONSES)
        if fault is not None:
            return bad(fault)
    return None


def _inner(view: View) -> Iterator[tuple[str, Object]]:
    for said in view.contents:
        for index, response in enumerate(said.responses):
            for at, part in enumerate(objs(response.get("parts"))):
                yield f"contents[{said.at}].parts[{index}].function_response.parts[{at}]", part


def _blob_fault(path: str, blob: Object, known: tuple[str, ...]) -> str | None:
    told, data = text(blob.get("mimeType")), content(blob.get("data"))
    if not told:
        return f"{path}.inline_data.mime_type: a mime type must be set"
    if told not in known:
        return f"Unsupported MIME type: {told}"
    if data is None:
        return f"{path}.inline_data.data: the data must not be empty"
    if told in _SIGNED and seen_type(data) != told:
        return "The document has no pages." if told == "application/pdf" else "Unable to process input image."
    return None


RULES: tuple[Callable[[View], Failure | None], ...] = (
    blobs_can_be_read,
    files_can_be_fetched,
    responses_show_what_they_may,
)
