"""
A stored document holds the bytes of each content once, and what was damaged in it is refused by name.
"""

import json
from time import process_time
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import FormatError
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.messages import (
    Exchange,
    Media,
    ModelTurn,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    UserMessage,
)
from rodada.statemachine.run import Run, new_run
from support import words

BYTES = bytes(range(256)) * 100
PHOTO, SAME, OTHER = Media.of(BYTES, "image/png", "a"), Media.of(BYTES, "image/jpeg", "b"), Media.of(b"x", "text/csv")


def looked(n: int) -> Exchange:
    """
    An exchange in which a tool shows the photo.
    """
    request = ToolRequest(f"call_{n}", "look", "{}")
    result = ToolResult.with_parts(request, Status.SUCCEEDED, (Text("seen"), SAME))
    return Exchange(ModelTurn(Stop.WHOLE, requests=(request,)), (result,))


TEN = Conversation("c", (UserMessage("m", (PHOTO, OTHER)), *(looked(n) for n in range(9))))


def medium(document: JsonObject) -> JsonObject:
    """
    The first medium in a document of the conversation above.
    """
    entry = cast("list[JsonObject]", document["entries"])[0]
    return cast("list[JsonObject]", entry["content"])[0]


def test_the_same_bytes_are_stored_once_however_often_they_stand_there() -> None:
    document = TEN.to_json()
    assert document["media"] == {PHOTO.digest: PHOTO.data, OTHER.digest: OTHER.data}
    assert json.dumps(document).count(PHOTO.data) == 1
    assert medium(document) == {"type": "Media", "media_type": "image/png", "name": "a", "digest": PHOTO.digest}


def test_media_read_from_one_document_share_equal_bytes() -> None:
    read = Conversation.from_json(json.loads(json.dumps(TEN.to_json())))
    assert (read, hash(read)) == (TEN, hash(TEN))
    person, *exchanges = read.entries
    shown = {id(part.data) for part in cast(UserMessage, person).content if part == PHOTO and isinstance(part, Media)}
    for entry in exchanges:
        shown |= {id(each.data) for each in cast(Exchange, entry).results[0].content if isinstance(each, Media)}
    assert len(shown) == 1


def test_a_run_holds_them_once_too() -> None:
    run = new_run(
        "r", UserMessage("m2", (PHOTO,)), Conversation("c", (*TEN.entries, ModelTurn(Stop.WHOLE, "A squat.")))
    )
    document = run.to_json()
    assert json.dumps(document).count(PHOTO.data) == 1
    assert Run.from_json(json.loads(json.dumps(document))) == run


@given(st.lists(words.parts | st.sampled_from((PHOTO, SAME, OTHER)), min_size=1, max_size=9))
def test_every_message_comes_back_as_it_was(parts: list[Text | Media]) -> None:
    conversation = Conversation("c", (UserMessage("m", (Text("see"), *parts)),))
    document = conversation.to_json()
    text = json.dumps(document)
    read = Conversation.from_json(json.loads(text))
    assert (read, hash(read)) == (conversation, hash(conversation))
    assert json.dumps(document) == text  # reading changes nothing
    assert document["media"] == {part.digest: part.data for part in parts if isinstance(part, Media)}


def test_reading_leaves_the_document_as_it_is() -> None:
    document = TEN.to_json()
    before = json.dumps(document)
    Conversation.from_json(document)
    assert json.dumps(document) == before


@pytest.mark.parametrize("data", [OTHER.data, PHOTO.data[:-4], "no base64!", "é", "", None, 1])
def test_bytes_that_are_not_those_of_their_digest_are_refused(data: JsonValue) -> None:
    document: JsonObject = {**TEN.to_json(), "media": {PHOTO.digest: data, OTHER.digest: OTHER.data}}
    with pytest.raises(FormatError, match=rf"^\$\.media\.{PHOTO.digest}: what is stored there has another digest"):
        Conversation.from_json(document)


def test_a_medium_whose_bytes_are_not_there_is_refused() -> None:
    document: JsonObject = {**TEN.to_json(), "media": {OTHER.digest: OTHER.data}}
    with pytest.raises(FormatError, match=r"^\$\.entries\[0\]\.content\[0\]\.digest: expected the digest of one of"):
        Conversation.from_json(document)


@pytest.mark.parametrize("digest", [None, 1, [], "x"])
def test_a_medium_that_names_nothing_is_refused(digest: JsonValue) -> None:
    document = TEN.to_json()
    medium(document)["digest"] = digest
    with pytest.raises(FormatError, match=r"^\$\.entries\[0\]\.content\[0\]\.digest"):
        Conversation.from_json(document)


@pytest.mark.parametrize("media", [None, [], "x"])
def test_a_document_without_its_media_is_refused(media: JsonValue) -> None:
    with pytest.raises(FormatError, match=r"^\$\.media: expected the media of the document by their digests"):
        Conversation.from_json({**TEN.to_json(), "media": media})
    with pytest.raises(FormatError, match=r"^\$: lacks media"):
        Conversation.from_json({key: value for key, value in TEN.to_json().items() if key != "media"})


def test_a_document_nested_too_deeply_is_refused_by_name() -> None:
    deep: JsonValue = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(FormatError, match=r"^\$\.entries"):
        Conversation.from_json({**TEN.to_json(), "entries": deep})
    while isinstance(deep, list) and deep:
        deep = deep.pop()


def test_a_long_name_in_a_document_costs_no_more_than_its_length() -> None:
    began = process_time()
    with pytest.raises(FormatError, match=r"^\$: Conversation has no field 'xxx"):
        Conversation.from_json({**TEN.to_json(), "x" * 1_000_000: cast(JsonValue, [0] * 200_000)})
    assert process_time() - began < 10  # half a minute, where the place of each item is told with all of it
