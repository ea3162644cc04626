"""
Images and files on the three wires: the valid forms are taken, in messages and in results; broken ones are refused.
"""

import base64
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

import pytest
from attrs import evolve

from rodada.providers.loopback import Call, Loopback, Received, Reply, Turn, WireName
from support.loopback_client import HEADERS, Client, Json, Reaction, client

PNG, JPEG, PDF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"%PDF-1.7"
GOOGLES = "https://generativelanguage.googleapis.com/v1beta/files/a"
OLD_GEMINI, NEW_GEMINI = "gemini-2.5-flash", "gemini-3.6-flash"


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


# Anthropic


def image(data: str = b64(PNG), media_type: str = "image/png", **more: object) -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data, **more}}


def document(data: str = b64(PDF), media_type: str = "application/pdf", **more: object) -> Json:
    return {"type": "document", "source": {"type": "base64", "media_type": media_type, "data": data}, **more}


def sourced(kind: str, **source: object) -> Json:
    return {"type": kind, "source": source}


ANTHROPIC_TAKES: list[Json] = [
    image(),
    image(b64(JPEG), "image/jpeg"),
    image(b64(b"GIF89a\x40\x1f\x01\0"), "image/gif"),
    image(b64(b"RIFF\0\0\0\0WEBP"), "image/webp"),
    image(b64(PNG + bytes(7_800_000))),
    document(),
    document(title="log.pdf"),
    sourced("image", type="url", url="https://example.com/a.png"),
    sourced("document", type="url", url="https://example.com/a"),
    sourced("image", type="file", file_id="file_1"),
    sourced("document", type="text", media_type="text/plain", data="kg"),
    sourced("document", type="content", content="kg"),
]
ANTHROPIC_REFUSES: list[tuple[Json, str]] = [
    (image(media_type="image/bmp"), "source.base64.media_type: Input should be 'image/jpeg', 'image/png'"),
    (image(b64(JPEG)), "specified using the image/png media type, but the image appears to be a image/jpeg image"),
    (image(b64(b"no image")), "Could not process image"),
    (image("no base64!"), "source.base64.data: Input should be valid base64"),
    (image(""), "source.base64.data: Input should be valid base64"),
    (image(b64(PNG + bytes(7_900_000))), "image exceeds 10 MB maximum: 10533344 bytes > 10485760 bytes"),
    (image(b64(b"GIF89a\x41\x1f\x01\0")), "image/png media type, but"),
    (image(b64(b"GIF89a\x41\x1f\x01\0"), "image/gif"), "image dimensions exceed max allowed size: 8000 pixels"),
    (image(detail="high"), "source.base64.detail: Extra inputs are not permitted"),
    (document(b64(PNG)), "The PDF specified was not valid."),
    (document(media_type="text/csv"), "source.base64.media_type: Input should be 'application/pdf'"),
    (sourced("image", type="data", data="x"), "Input tag 'data' found using 'type' does not match any"),
    (sourced("image", type="text", media_type="text/plain", data="x"), "Input tag 'text' found using 'type'"),
    (sourced("image", type="url"), "source.url.url: Field required"),
    (sourced("image", type="url", url="http://example.com/a.png"), "source.url.url: Only HTTPS URLs are supported."),
    (sourced("document", type="url", url="file:///etc/passwd"), "source.url.url: Only HTTPS URLs are supported."),
    (sourced("document", type="url", url=GOOGLES), "Unable to download the file."),
    (sourced("document", type="text", media_type="text/csv", data="x"), "media_type: Input should be 'text/plain'"),
]

# OpenAI


def url(data: bytes = PNG, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{b64(data)}"


def shown(**fields: object) -> Json:
    return {"type": "input_image", **fields}


def file(**fields: object) -> Json:
    return {"type": "input_file", **fields}


OPENAI_TAKES: list[Json] = [
    shown(image_url=url(), detail="auto"),
    shown(image_url=url(JPEG, "image/jpeg")),
    shown(image_url="https://example.com/a.png"),
    shown(file_id="file_1", detail="high"),
    file(file_data=url(PDF, "application/pdf"), filename="a.pdf"),
    file(file_id="file_1"),
    file(file_url="https://example.com/a.pdf"),
]
OPENAI_REFUSES: list[tuple[Json, str]] = [
    (shown(), ".image_url'"),
    (shown(image_url=b64(PNG)), "Expected a valid URL or a base64-encoded data URL"),
    (shown(image_url="data:image/png;base64,!!"), "Expected a valid URL or a base64-encoded data URL"),
    (
        shown(image_url=url(b"no image")),
        "valid image. Supported formats: 'image/png', 'image/jpeg'",
    ),
    (shown(image_url=url(PNG, "image/bmp")), "does not represent a valid image."),
    (shown(image_url=url(), detail="fine"), "Invalid value: 'fine'."),
    (shown(image_url={"url": url()}), "Expected a valid URL or a base64-encoded data URL"),
    (file(), ".file_id'"),
    (file(file_data=url(PDF, "application/pdf")), ".filename'"),
    (shown(image_url="file:///etc/passwd"), "Expected a valid URL or a base64-encoded data URL"),
    (shown(image_url=GOOGLES), "Error while downloading"),
    (file(file_url="file:///etc/passwd"), "Error while downloading"),
    (file(file_url="https://example.com/a.pdf", filename="a.pdf"), "one of: 'file_url' or 'filename'."),
    (file(file_data=b64(PDF), filename="a.pdf"), "Expected a base64-encoded data URL"),
    (file(file_data=url(PNG, "application/pdf"), filename="a.pdf"), "could not be read as a PDF"),
]

# Google


def inline(data: bytes = PNG, mime_type: str = "image/png", **more: object) -> Json:
    return {"inlineData": {"mimeType": mime_type, "data": b64(data), **more}}


GOOGLE_TAKES: list[Json] = [
    inline(),
    inline(JPEG, "image/jpeg"),
    inline(PDF, "application/pdf", displayName="a.pdf"),
    {"inline_data": {"mime_type": "image/png", "data": b64(PNG)}},
]
GOOGLE_TAKES_IN_MESSAGES = [inline(b"RIFF", "audio/wav"), inline(b"....ftyp", "video/mp4"), inline(b"a,b", "text/csv")]


def linked(uri: str = "https://example.com/a.png", mime_type: str = "image/png", **more: object) -> Json:
    return {"fileData": {"mimeType": mime_type, "fileUri": uri, **more}}


GOOGLE_FETCHES = [
    linked(),
    linked("https://example.com/log", "text/csv", displayName="log"),
    linked(GOOGLES, "audio/wav"),
    linked("gs://bucket/lift.mp4", "video/mp4"),
    {"file_data": {"mime_type": "image/png", "file_uri": "https://example.com/a.png"}},
]
GOOGLE_DOES_NOT_FETCH: list[tuple[Json, str]] = [
    (linked("http://example.com/a.png"), "Unsupported file uri: http://example.com/a.png"),
    (linked("file:///etc/passwd"), "Unsupported file uri"),
    (linked(""), "Unsupported file uri"),
    (linked(mime_type=""), "Unsupported MIME type"),
    (linked(mime_type="image/*"), "Unsupported MIME type: image/*"),
    (linked("https://example.com/lift.mp4", "video/mp4"), "Unsupported MIME type: video/mp4"),
    (linked(title="x"), 'Unknown name "title"'),
]
GOOGLE_REFUSES: list[tuple[Json, str]] = [
    (inline(b"GIF89a", "image/gif"), "Unsupported MIME type: image/gif"),
    (inline(mime_type=""), "inline_data.mime_type: a mime type must be set"),
    (inline(b""), "inline_data.data: the data must not be empty"),
    (inline(JPEG), "Unable to process input image."),
    (inline(PNG, "application/pdf"), "The document has no pages."),
    ({"inlineData": {"mimeType": "image/png", "data": "A"}}, "Base64 decoding failed"),
    (inline(title="x"), 'Unknown name "title"'),
]

# Playing


def once(received: Received) -> Reply:
    """
    A call after the first message, an answer after its result.
    """
    told = received.body.get("messages") or received.body.get("input") or received.body.get("contents")
    return Turn("", [Call("look", {})]) if isinstance(told, list) and len(told) == 1 else Turn("Seen.")


PATHS: dict[WireName, str] = {"anthropic": "/v1/messages", "openai": "/v1/responses", "google": "/v1beta/models"}
Wires = dict[WireName, Client]


@pytest.fixture(scope="module")
def wires() -> Generator[Wires]:
    with ExitStack() as stack:
        yield {wire: stack.enter_context(_client(wire)) for wire in PATHS}


@contextmanager
def _client(wire: WireName) -> Generator[Client]:
    with Loopback(once) as server, client(server, PATHS[wire], HEADERS[wire]) as one:
        yield one


def said(wire: WireName, parts: Sequence[Json]) -> Json:
    """
    A request that holds a message of the person.
    """
    match wire:
        case "anthropic":
            body: Json = {
                "model": "claude-opus-5-5",
                "max_tokens": 99,
                "messages": [{"role": "user", "content": parts}],
            }
            return {**body, "tools": [{"name": "look", "input_schema": {"type": "object"}}]}
        case "openai":
            tool = {"type": "function", "name": "look", "parameters": None, "strict": False}
            return {"model": "gpt-5.6", "input": [{"role": "user", "content": parts}], "tools": [tool], "store": False}
        case _:
            declared = [{"functionDeclarations": [{"name": "look"}]}]
            return {"contents": [{"role": "user", "parts": parts}], "tools": declared}


def post(wires: Wires, wire: WireName, body: Json, model: str = NEW_GEMINI) -> Reaction:
    one = wires[wire]
    return (evolve(one, path=f"{one.path}/{model}:generateContent") if wire == "google" else one).post(body)


TEXTS: dict[WireName, Json] = {
    "anthropic": {"type": "text", "text": "Look."},
    "openai": {"type": "input_text", "text": "Look."},
    "google": {"text": "Look."},
}


def answered(wires: Wires, wire: WireName, parts: list[Json], model: str = NEW_GEMINI, **result: object) -> Reaction:
    """
    What comes of a result that holds these parts.
    """
    body = said(wire, [TEXTS[wire]])
    turn = post(wires, wire, body, model).body
    match wire:
        case "anthropic":
            call = next(block for block in turn["content"] if block["type"] == "tool_use")
            block = {"type": "tool_result", "tool_use_id": call["id"], "content": parts, **result}
            body["messages"] += [
                {"role": "assistant", "content": turn["content"]},
                {"role": "user", "content": [block]},
            ]
        case "openai":
            call = next(item for item in turn["output"] if item["type"] == "function_call")
            body["input"] += [
                *turn["output"],
                {"type": "function_call_output", "call_id": call["call_id"], "output": parts},
            ]
        case _:
            said_by_model = turn["candidates"][0]["content"]
            call = next(part["functionCall"] for part in said_by_model["parts"] if "functionCall" in part)
            named = {key: call[key] for key in ("id", "name") if key in call}
            response = {"functionResponse": {**named, "response": {"output": "ok"}, "parts": parts}}
            body["contents"] += [said_by_model, {"role": "user", "parts": [response, *result.get("behind", [])]}]  # type: ignore[misc]
    return post(wires, wire, body, model)


TAKEN: list[tuple[WireName, Json]] = [
    *(("anthropic", part) for part in ANTHROPIC_TAKES),
    *(("openai", part) for part in OPENAI_TAKES),
    *(("google", part) for part in GOOGLE_TAKES),
]
REFUSED: list[tuple[WireName, Json, str]] = [
    *(("anthropic", part, why) for part, why in ANTHROPIC_REFUSES),
    *(("openai", part, why) for part, why in OPENAI_REFUSES),
    *(("google", part, why) for part, why in GOOGLE_REFUSES),
]


def error_of(reaction: Reaction) -> str:
    return "" if reaction.status == 200 else str(reaction.body["error"]["message"])


@pytest.mark.parametrize(("wire", "part"), TAKEN)
def test_valid_media_are_taken_alone_beside_text_and_in_a_result(wires: Wires, wire: WireName, part: Json) -> None:
    assert error_of(post(wires, wire, said(wire, [part]))) == ""
    assert error_of(post(wires, wire, said(wire, [TEXTS[wire], part]))) == ""
    assert error_of(answered(wires, wire, [part])) == ""


@pytest.mark.parametrize(("wire", "part", "why"), REFUSED)
def test_broken_media_are_refused_in_a_message_and_in_a_result(
    wires: Wires, wire: WireName, part: Json, why: str
) -> None:
    for reaction in (post(wires, wire, said(wire, [part])), answered(wires, wire, [part])):
        assert (reaction.status, why in error_of(reaction)) == (400, True)


def test_an_error_result_of_anthropics_holds_text_alone(wires: Wires) -> None:
    text = TEXTS["anthropic"]
    assert error_of(answered(wires, "anthropic", [text], is_error=True)) == ""
    for part in (image(), document()):
        reaction = answered(wires, "anthropic", [text, part], is_error=True)
        assert "all content must be type `text` if `is_error` is true" in error_of(reaction)


@pytest.mark.parametrize("part", GOOGLE_TAKES_IN_MESSAGES)
def test_sound_and_film_stand_in_messages_of_googles_and_in_no_response(wires: Wires, part: Json) -> None:
    assert error_of(post(wires, "google", said("google", [part]))) == ""
    assert "Unsupported MIME type" in error_of(answered(wires, "google", [part]))


@pytest.mark.parametrize("part", GOOGLE_FETCHES)
def test_files_are_fetched_for_messages_of_googles_and_behind_responses_only(wires: Wires, part: Json) -> None:
    assert error_of(post(wires, "google", said("google", [TEXTS["google"], part]))) == ""
    assert error_of(answered(wires, "google", [], behind=[part])) == ""
    assert "URI based data is not supported" in error_of(answered(wires, "google", [part]))


@pytest.mark.parametrize(("part", "why"), GOOGLE_DOES_NOT_FETCH)
def test_what_google_does_not_fetch_is_refused(wires: Wires, part: Json, why: str) -> None:
    assert why in error_of(post(wires, "google", said("google", [part])))


def test_older_models_of_googles_take_media_behind_their_responses_only(wires: Wires) -> None:
    assert "not supported by gemini-2.5-flash" in error_of(answered(wires, "google", [inline()], OLD_GEMINI))
    assert error_of(answered(wires, "google", [], OLD_GEMINI, behind=[inline()])) == ""
    assert "Please ensure that the number of function response parts" in error_of(
        answered(wires, "google", [], OLD_GEMINI, behind=[inline(), {"text": "and"}])
    )


def test_a_part_of_a_response_holds_something(wires: Wires) -> None:
    assert "required oneof field 'data'" in error_of(answered(wires, "google", [{}]))
