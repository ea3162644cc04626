"""
Media as each wire takes them: in place where it can, told as text where it cannot, never dropped.
"""

import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.providers import anthropic_wire, google_wire, openai_responses_input
from rodada.providers.media import LONGEST_TEXT, Taken, Takes, taken
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    Media,
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


def test_a_request_is_as_large_as_its_media() -> None:
    message = UserMessage("m", (Media.of(PNG.bytes + bytes(30_000), "image/png"),))
    assert len(json.dumps(anthropic(message))) > 40_000
