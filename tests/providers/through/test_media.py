"""
A conversation with images and files goes on over every wire, whichever it began on, through the real SDKs.
"""

import json

import pytest

from rodada.providers.loopback import Call, Turn, WireName
from rodada.statemachine import (
    Conversation,
    Exchange,
    Limits,
    Media,
    MediaLink,
    Outcome,
    Part,
    RunStatus,
    Text,
    ToolLoop,
)
from rodada.tools import ToolResultParts, tool
from support.heard import heard
from support.stage import MODELS, WIRES, Stage
from support.wire_pairs import pair_faults

PHOTO, SHOT = Media.of(b"\xff\xd8\xff\xe0photo", "image/jpeg"), Media.of(b"\x89PNG\r\n\x1a\nshot", "image/png")
LOST = Media.of(b"\x89PNG\r\n\x1a\nlost", "image/png")
SOUND = Media.of(b"RIFF....WAVE", "audio/wav", "lift.wav")
FILE = Media.of(b"%PDF-1.7", "application/pdf", "plan.pdf")
NO_FILES = ("qwen3", "deepseek")  # compatible servers, which seldom take them
MESSAGE: list[Part] = [Text("What is this?"), PHOTO]

every_model = pytest.mark.parametrize("model", [name for wire in WIRES for name in MODELS[wire]])


@tool(reads="camera")
def shot() -> list[object]:
    return ["seen", SHOT, SOUND]


@tool(reads="files")
def lost() -> ToolResultParts:
    return ToolResultParts(["disk full", LOST, FILE], failed=True)


PHOTO_LINK, PLAN_LINK = MediaLink("https://host/photo.jpg?v=1"), MediaLink("https://host/plan.pdf", name="plan.pdf")
STORED = MediaLink("gs://bucket/photo.png")


@tool(reads="camera")
def linked() -> list[object]:
    return ["seen", PHOTO_LINK, PLAN_LINK, STORED]


@tool(reads="files")
def half() -> ToolResultParts:
    return ToolResultParts(["half", PHOTO_LINK], failed=True)


@pytest.mark.parametrize("first", WIRES)
@every_model
def test_a_conversation_with_links_goes_on_over_any_wire(stage: Stage, model: str, first: WireName) -> None:
    before = Conversation()
    for each in (MODELS[first][0], model):
        stage.server.play([Turn("", [Call("linked"), Call("half")], reasoning=True), Turn("A squat.")])
        loop = ToolLoop(stage.providers[each], tools=[linked, half], limits=Limits(max_attempts=1))
        outcome = stage.run(loop.run([Text("What is this?"), PHOTO_LINK, STORED], conversation=before))
        assert (outcome.status, stage.server.refusals) == (RunStatus.COMPLETED, ())
        before = Conversation.from_json(json.loads(json.dumps(outcome.conversation.to_json())))
    last = stage.server.received[-1]
    assert pair_faults(last.wire, last.body) == []
    sent = json.dumps(last.body)
    assert sent.count(PHOTO_LINK.url) == 6
    assert sent.count(f'"{PLAN_LINK.url}"') == (0 if last.wire == "openai_chat" else 2)
    assert sent.count(f'"{STORED.url}"') == (4 if last.wire == "google" else 0)
    assert sent.count("at gs://bucket/photo.png; not shown") == (0 if last.wire == "google" else 4)


def answered(
    stage: Stage, model: str, message: list[Part], before: Conversation | None = None, limits: Limits | None = None
) -> Outcome:
    """
    A message on which the model asks for both tools and then answers.
    """
    stage.server.play([Turn("", [Call("shot"), Call("lost")], reasoning=True), Turn("A squat.")])
    loop = ToolLoop(stage.providers[model], tools=[shot, lost], limits=limits or Limits(max_attempts=1))
    return stage.run(loop.run(message, conversation=before))


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("first", WIRES)
@every_model
def test_a_conversation_with_media_goes_on_over_any_wire(
    stage: Stage, model: str, first: WireName, stored: bool
) -> None:
    began = answered(stage, MODELS[first][0], MESSAGE).conversation
    before = Conversation.from_json(json.loads(json.dumps(began.to_json()))) if stored else began
    outcome = answered(stage, model, [FILE], before)
    assert (outcome.status, stage.server.refusals) == (RunStatus.COMPLETED, ())
    last = stage.server.received[-1]
    assert pair_faults(last.wire, last.body) == []
    sent = json.dumps(last.body)
    assert {each.media_type: sent.count(each.data) for each in (PHOTO, SHOT)} == {"image/jpeg": 1, "image/png": 2}
    assert sent.count(LOST.data) == 2
    assert sent.count(FILE.data) == 3 or sent.count("plan.pdf: application/pdf, 8 bytes; not shown") == 3
    assert (sent.count(FILE.data) == 0) is (model in NO_FILES)
    assert sent.count(SOUND.data) or sent.count("lift.wav: audio/wav, 12 bytes; not shown") == 2


@every_model
def test_f044_a_failure_that_shows_something_stays_one_in_the_record(stage: Stage, model: str) -> None:
    outcome = answered(stage, model, MESSAGE)
    (exchange,) = [entry for entry in outcome.appended if isinstance(entry, Exchange)]
    assert [result.content for result in exchange.results] == [
        (Text("seen"), SHOT, SOUND),
        (Text("disk full"), LOST, FILE),
    ]
    assert [(call.status.value, call.text) for call in outcome.calls] == [
        ("succeeded", "seen\n[image/png, 12 bytes]\n[lift.wav: audio/wav, 12 bytes]"),
        ("failed", "disk full\n[image/png, 12 bytes]\n[plan.pdf: application/pdf, 8 bytes]"),
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_the_bytes_of_media_count_as_bytes_of_the_request(stage: Stage, wire: WireName) -> None:
    large = Media.of(SHOT.bytes + bytes(30_000), "image/png")
    limits = Limits(max_attempts=1, max_request_bytes=20_000)
    refused = answered(stage, MODELS[wire][0], [large], limits=limits)
    assert (refused.status, refused.error.error if refused.error else "") == (RunStatus.FAILED, "ProviderTooLarge")
    taken = answered(stage, MODELS[wire][0], [PHOTO], limits=limits)
    assert taken.status is RunStatus.COMPLETED


@pytest.mark.parametrize("wire", WIRES)
def test_a_message_of_media_alone_reaches_the_model(stage: Stage, wire: WireName) -> None:
    outcome = answered(stage, MODELS[wire][0], [SHOT])
    first = heard(stage.server.received[0]).turns[0]
    assert (outcome.status, SHOT.data in json.dumps(first)) == (RunStatus.COMPLETED, True)
