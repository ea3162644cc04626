"""
Media as each wire takes them: in place where it can, told as text where it cannot, never dropped.
"""

import json
import struct
import zlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers import anthropic_wire, google_wire, openai_chat_input, openai_responses_input
from rodada.providers.media import LONGEST_TEXT, Taken, Takes, taken
from rodada.providers.openai_chat_dialect import OPENAI, Dialect
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.media_types import type_of_name
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    Media,
    MediaLink,
    ModelTurn,
    Part,
    Piece,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from support import words

PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png", "shot.png")
GIF = Media.of(b"GIF89a", "image/gif")
PDF = Media.of(b"%PDF-1.7", "application/pdf", "log.pdf")
WAV = Media.of(b"RIFF", "audio/wav")
CSV = Media.of(b"kg\n80", "text/csv", "log.csv")
TAKES = Takes({"image/png": 20})
PHOTO_LINK, PDF_LINK = MediaLink("https://host/a.png?v=1;2"), MediaLink("https://host/plan", "application/pdf", "plan")
ANY_LINK = MediaLink("https://host/photo", "image/*")
GOOGLES = [
    MediaLink("gs://bucket/plan.pdf"),
    MediaLink("https://generativelanguage.googleapis.com/v1beta/files/a", "image/png"),
    MediaLink("gs://bucket/lift.wav"),
]
LINKED: list[tuple[MediaLink, Mapping[str, JsonObject]]] = [
    (
        PHOTO_LINK,
        {
            "anthropic": {"type": "image", "source": {"type": "url", "url": PHOTO_LINK.url}},
            "openai": {"type": "input_image", "image_url": PHOTO_LINK.url, "detail": "auto"},
            "google": {"fileData": {"mimeType": "image/png", "fileUri": PHOTO_LINK.url}},
        },
    ),
    (
        PDF_LINK,
        {
            "anthropic": {"type": "document", "source": {"type": "url", "url": PDF_LINK.url}, "title": "plan"},
            "openai": {"type": "input_file", "file_url": PDF_LINK.url},  # refused with a name beside it
            "google": {"fileData": {"mimeType": "application/pdf", "fileUri": PDF_LINK.url}},
        },
    ),
]
NEW, OLD = "gemini-3.6-flash", "gemini-2.5-flash"
SHOT, READ = ToolRequest("a", "shot", "{}"), ToolRequest("b", "read", "{}")
ASKED = ModelTurn(Stop.WHOLE, requests=(SHOT, READ))
BOTH = (Text("seen"), PNG, Text(" \n"), PDF, Text("end"))


def exchange(*parts: Part, status: Status = Status.SUCCEEDED, turn: ModelTurn = ASKED) -> Exchange:
    """
    Two results, the first of which holds the parts.
    """
    read = ToolResult.of(READ, Status.SUCCEEDED, "80 kg")
    return Exchange(turn, (ToolResult.with_parts(SHOT, status, parts), read))


def anthropic(entry: Entry) -> JsonValue:
    return anthropic_wire.messages_of(entry)[-1]["content"]


def openai(entry: Entry) -> list[JsonObject]:
    return openai_responses_input.entry_items(entry)


def google(entry: Entry, model: str = NEW) -> JsonValue:
    return google_wire.entry_contents(entry, model, active=True)[-1]["parts"]


def chat(entry: Entry, dialect: Dialect) -> JsonValue:
    return openai_chat_input.entry_messages(entry, dialect)[-1]["content"]


def results(shown: JsonValue) -> list[JsonObject]:
    return [each for each in shown if isinstance(each, dict)] if isinstance(shown, list) else []


def anthropic_block(media: Media) -> JsonObject:
    source: JsonObject = {"type": "base64", "media_type": media.media_type, "data": media.data}
    if media is PDF:
        return {"type": "document", "source": source, "title": "log.pdf"}
    return {"type": "image", "source": source}


def openai_part(media: Media) -> JsonObject:
    data = f"data:{media.media_type};base64,{media.data}"
    if media is PDF:
        return {"type": "input_file", "filename": "log.pdf", "file_data": data}
    return {"type": "input_image", "image_url": data, "detail": "auto"}


def google_part(media: Media) -> JsonObject:
    return {"inlineData": {"mimeType": media.media_type, "data": media.data}}


def test_a_message_holds_its_media_in_their_places() -> None:
    message = UserMessage("m", BOTH)
    text = {"anthropic": "text", "openai": "input_text"}
    assert anthropic(message) == [
        {"type": text["anthropic"], "text": "seen"},
        anthropic_block(PNG),
        anthropic_block(PDF),
        {"type": text["anthropic"], "text": "end"},
    ]
    assert openai(message) == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": text["openai"], "text": "seen"},
                openai_part(PNG),
                openai_part(PDF),
                {"type": text["openai"], "text": "end"},
            ],
        }
    ]
    assert google(message) == [{"text": "seen"}, google_part(PNG), google_part(PDF), {"text": "end"}]


@pytest.mark.parametrize(("link", "shown"), LINKED)
def test_a_link_is_sent_as_it_stands_in_messages_and_results(link: MediaLink, shown: Mapping[str, JsonObject]) -> None:
    message, entry = UserMessage("m", (Text("see"), link)), exchange(Text("see"), link)
    assert anthropic(message) == [{"type": "text", "text": "see"}, shown["anthropic"]]
    assert openai(message)[0]["content"] == [{"type": "input_text", "text": "see"}, shown["openai"]]
    assert google(message) == [{"text": "see"}, shown["google"]]
    (result, _) = results(anthropic(entry))
    assert result["content"] == [{"type": "text", "text": "see"}, shown["anthropic"]]
    assert openai(entry)[-2]["output"] == [{"type": "input_text", "text": "see"}, shown["openai"]]
    # Google's takes none inside a result, whatever the model, and Anthropic's none in one that failed.
    (first, _, behind) = results(google(entry))
    told = f"see\n{link.told[:-1]}; shown after the results]\n"
    assert (first["functionResponse"], behind) == ({"name": "shot", "response": {"output": told}}, shown["google"])
    (failed, _, behind) = results(anthropic(exchange(Text("see"), link, status=Status.FAILED)))
    assert (failed["content"], behind) == (told, shown["anthropic"])


def test_chat_completions_takes_links_to_images_alone() -> None:
    message = UserMessage("m", (ANY_LINK, PDF_LINK))
    told = {"type": "text", "text": f"\n{PDF_LINK.told[:-1]}; not shown: this API does not fetch it]\n"}
    sent: JsonObject = {"type": "image_url", "image_url": {"url": ANY_LINK.url}}
    assert chat(message, OPENAI) == [sent, told]
    assert chat(message, Dialect(files=True)) == [sent, told]
    for dialect in (Dialect(links=False), Dialect(images=False)):
        assert (
            chat(message, dialect) == f"\n{ANY_LINK.told[:-1]}; not shown: this API does not fetch it]\n{told['text']}"
        )


@pytest.mark.parametrize("link", GOOGLES)
def test_what_google_alone_finds_is_sent_to_google_alone(link: MediaLink) -> None:
    message, told = UserMessage("m", (link,)), f"\n{link.told[:-1]}; not shown: this API does not fetch it]\n"
    assert google(message) == [{"fileData": {"mimeType": link.media_type, "fileUri": link.url}}]
    assert anthropic(message) == openai(message)[0]["content"] == chat(message, OPENAI) == told


@pytest.mark.parametrize("link", [MediaLink("https://host/log.odd", "text/x-odd"), MediaLink("https://host/a.mp4")])
def test_a_link_of_a_type_that_a_wire_does_not_fetch_is_told(link: MediaLink) -> None:
    message, told = UserMessage("m", (link,)), f"\n{link.told[:-1]}; not shown: this API does not fetch it]\n"
    assert anthropic(message) == openai(message)[0]["content"] == chat(message, OPENAI) == told
    assert google(message) == [{"text": told}]


def test_google_is_told_of_an_image_of_no_known_type() -> None:
    assert google(UserMessage("m", (ANY_LINK,))) == [
        {"text": "\n[image/*, at https://host/photo; not shown: this API does not fetch it]\n"}
    ]


def test_a_message_may_be_media_alone() -> None:
    message = UserMessage("m", (PNG,))
    assert anthropic(message) == [anthropic_block(PNG)]
    assert openai(message)[0]["content"] == [openai_part(PNG)]
    assert google(message) == [google_part(PNG)]


def test_f020_an_image_sits_inside_its_own_result() -> None:
    entry = exchange(*BOTH)
    assert anthropic(entry) == [
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": [
                {"type": "text", "text": "seen"},
                anthropic_block(PNG),
                anthropic_block(PDF),
                {"type": "text", "text": "end"},
            ],
        },
        {"type": "tool_result", "tool_use_id": "b", "content": "80 kg"},
    ]
    assert openai(entry)[-2:] == [
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [
                {"type": "input_text", "text": "seen"},
                openai_part(PNG),
                openai_part(PDF),
                {"type": "input_text", "text": "end"},
            ],
        },
        {"type": "function_call_output", "call_id": "b", "output": "80 kg"},
    ]
    told = "seen\n[shot.png: image/png, 8 bytes]\n[log.pdf: application/pdf, 8 bytes]\nend"
    response: JsonObject = {
        "name": "shot",
        "response": {"output": told},
        "parts": [google_part(PNG), google_part(PDF)],
    }
    assert google(entry) == [
        {"functionResponse": response},
        {"functionResponse": {"name": "read", "response": {"output": "80 kg"}}},
    ]


def test_f020_where_a_result_holds_no_image_it_stands_behind_the_last_result() -> None:
    told = "\n[shot.png: image/png, 8 bytes; shown after the results]\n"
    entry = exchange(Text("seen"), PNG)
    assert google(entry, OLD) == [
        {"functionResponse": {"name": "shot", "response": {"output": f"seen{told}"}}},
        {"functionResponse": {"name": "read", "response": {"output": "80 kg"}}},
        google_part(PNG),
    ]
    failed = exchange(Text("seen"), PNG, status=Status.FAILED)
    assert anthropic(failed) == [
        {"type": "tool_result", "tool_use_id": "a", "content": f"seen{told}", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": "80 kg"},
        anthropic_block(PNG),
    ]


def test_behind_a_turn_that_waits_for_a_server_tool_stand_results_alone() -> None:
    blocks: list[JsonObject] = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "a", "name": "shot", "input": {}},
        {"type": "tool_use", "id": "b", "name": "read", "input": {}},
    ]
    pieces = tuple(Piece(json.dumps(block), json.dumps(block)) for block in blocks)
    turn = ModelTurn(Stop.WHOLE, requests=(SHOT, READ), native=pieces, wire=anthropic_wire.WIRE)
    shown = anthropic(exchange(PNG, status=Status.FAILED, turn=turn))
    assert isinstance(shown, list)
    assert [isinstance(block, dict) and block["type"] for block in shown] == ["tool_result"] * 2
    assert "[shot.png: image/png, 8 bytes; not shown: this API does not take it]" in json.dumps(shown)


def test_f044_a_failure_with_media_is_flagged_on_every_wire() -> None:
    entry = exchange(Text("disk full"), PNG, status=Status.FAILED)
    (first, *_) = openai(entry)[-2:]
    assert first["output"] == [
        {"type": "input_text", "text": '{"error":{"status":"failed","message":"disk full"}}'},
        openai_part(PNG),
    ]
    assert google(entry) == [
        {
            "functionResponse": {
                "name": "shot",
                "response": {"error": "disk full\n[shot.png: image/png, 8 bytes]"},
                "parts": [google_part(PNG)],
            }
        },
        {"functionResponse": {"name": "read", "response": {"output": "80 kg"}}},
    ]


@pytest.mark.parametrize(
    ("media", "told"),
    [
        (WAV, "[audio/wav, 4 bytes; not shown: this API does not take it]"),
        (Media.of(bytes(30), "image/x-odd"), "[image/x-odd, 30 bytes; not shown: this API does not take it]"),
        (Media.of(PNG.bytes * 4, "image/png"), "[image/png, 32 bytes; not shown: it is too large]"),
        (Media.of(b"no image", "image/png"), "[image/png, 8 bytes; not shown: its content is no image/png]"),
        (CSV, "[log.csv: text/csv, 5 bytes]\nkg\n80"),
        (Media.of(b'{"kg":80}', "application/json"), '[application/json, 9 bytes]\n{"kg":80}'),
        (Media.of(b"<a/>", "image/svg+xml"), "[image/svg+xml, 4 bytes]\n<a/>"),
        (Media.of(b"\xff", "text/plain"), "[text/plain, 1 bytes; not shown: it is no UTF-8]"),
        (
            Media.of(b"a" * (LONGEST_TEXT + 1), "text/plain"),
            f"[text/plain, {LONGEST_TEXT + 1} bytes; not shown: it is too long]",
        ),
    ],
)
def test_what_a_wire_does_not_take_is_told_in_its_place(media: Media, told: str) -> None:
    assert taken((media,), TAKES) == Taken((Text(f"\n{told}\n"),))
    assert taken((Text("a"), media, PNG), TAKES).parts == (Text("a"), Text(f"\n{told}\n"), PNG)


def png(width: int, height: int) -> Media:
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return Media.of(
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head)), "image/png"
    )


@pytest.mark.parametrize(("width", "height", "sent"), [(8000, 8000, True), (8001, 1, False), (1, 8001, False)])
def test_an_image_with_a_side_too_long_would_spoil_every_later_call(width: int, height: int, sent: bool) -> None:
    shot = png(width, height)
    assert (shot.data in json.dumps(anthropic(exchange(shot)))) == sent
    assert (shot.data in json.dumps(anthropic(exchange(shot, status=Status.FAILED)))) == sent
    assert sent or "not shown: it is too large" in json.dumps(anthropic(exchange(shot)))
    assert shot.data in json.dumps(openai(exchange(shot)))


def test_an_image_of_another_type_than_it_says_is_sent_as_what_it_is() -> None:
    assert taken((Media.of(PNG.bytes, "image/jpeg"),), TAKES) == Taken((Media.of(PNG.bytes, "image/png"),))


@given(st.lists(words.texts).map(tuple))
def test_texts_alone_are_left_as_they_are(texts: tuple[Text, ...]) -> None:
    found = taken(texts, TAKES)
    assert (found.parts, found.text) == (texts, "".join(part.text for part in texts))


@given(st.lists(words.parts | st.sampled_from((PNG, PDF, GIF)), min_size=1).map(tuple), st.sampled_from(Status))
def test_no_medium_is_dropped_on_any_wire(parts: tuple[Part, ...], status: Status) -> None:
    entry = exchange(*parts, status=status)
    for shown in (anthropic(entry), openai(entry), google(entry), google(entry, OLD)):
        text = json.dumps(shown, ensure_ascii=False)
        for part in parts:
            if isinstance(part, Media):
                assert part.data in text or f", {part.size} bytes" in text
            if isinstance(part, MediaLink):
                assert part.url in text or part.told.rpartition(": ")[2][:-1] in text


GOOGLES_NAMES: Mapping[str, str] = {
    **{"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/heic": "heic", "image/heif": "heif"},
    **{"image/bmp": "bmp", "application/pdf": "pdf", "application/json": "json"},
    **{"audio/wav": "wav", "audio/mpeg": "mp3", "audio/aiff": "aiff", "audio/aac": "aac", "audio/ogg": "ogg"},
    **{"audio/flac": "flac", "video/mp4": "mp4", "video/mpeg": "mpg", "video/mov": "mov", "video/avi": "avi"},
    **{"video/x-flv": "flv", "video/webm": "webm", "video/wmv": "wmv", "video/3gpp": "3gp"},
    **{"text/plain": "txt", "text/html": "html", "text/css": "css", "text/csv": "csv", "text/xml": "xml"},
    **{"text/rtf": "rtf", "text/javascript": "js"},
}


def test_what_google_takes_is_told_by_the_name_of_a_file_in_googles_words() -> None:
    taken_there = {*google_wire.TYPES, *google_wire.LINKS} - {"audio/mp3"}  # another word for audio/mpeg
    assert {type_of_name(f"a.{ending}") for ending in GOOGLES_NAMES.values()} == GOOGLES_NAMES.keys() == taken_there


def test_a_request_is_as_large_as_its_media() -> None:
    message = UserMessage("m", (Media.of(PNG.bytes + bytes(30_000), "image/png"),))
    assert len(json.dumps(anthropic(message))) > 40_000
