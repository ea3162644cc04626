"""
Stored messages of the Anthropic Messages API.
"""

import pytest
from anthropic.types import Message

from rodada.providers.anthropic import from_messages, to_messages
from rodada.statemachine import Exchange, Media, MediaLink, ModelTurn, Part, Piece, Status, Text, UserMessage
from rodada.statemachine.errors import AmbiguousResult, UnreadableMessages
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from support.imports import kinds, told

PNG = Media.of(b"\x89PNG\r\n\x1a\n", "image/png")
PDF = Media.of(b"%PDF-1.7\n", "application/pdf", "log")
HI: JsonObject = {"role": "user", "content": "hi"}
THOUGHT: JsonObject = {"type": "thinking", "thinking": "", "signature": "s"}


def user(*blocks: JsonValue) -> JsonObject:
    return {"role": "user", "content": [*blocks]}


def assistant(*blocks: JsonValue) -> JsonObject:
    return {"role": "assistant", "content": [*blocks]}


def text(words: str, **more: JsonValue) -> JsonObject:
    return {"type": "text", "text": words, **more}


def use(id: str, **more: JsonValue) -> JsonObject:
    return {"type": "tool_use", "id": id, "name": "f", "input": {"n": 1}, **more}


def result(id: str, content: JsonValue = "ok", **more: JsonValue) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def image(**source: JsonValue) -> JsonObject:
    return {"type": "image", "source": {**source}}


def parts_of(*messages: JsonObject) -> tuple[Part, ...]:
    """
    The parts of the first message of the person, or of the first result.
    """
    entries = from_messages(messages).conversation.entries
    last = entries[-1]
    if isinstance(last, Exchange):
        return last.results[0].content
    assert isinstance(last, UserMessage)
    return last.content


def test_a_history_comes_in_and_goes_out_as_it_stands() -> None:
    stored = [
        HI,
        assistant(THOUGHT, text("Let me see."), use("a"), use("b")),
        user(result("a", "1"), result("b", "no", is_error=True)),
        assistant(THOUGHT, text("It is"), text(" one.", citations=[])),
        user(text("And in "), image(type="base64", media_type="image/png", data=PNG.data)),
        assistant(text("Nice.")),
    ]
    found = from_messages(stored)

    lines = ["U hi", "X Let me see. a=1 b=no", "T It is one.", "U And in \n[image/png, 8 bytes]", "T Nice."]
    assert (lines, []) == (told(found.conversation), kinds(found))
    assert stored == to_messages(found.conversation)


def test_a_turn_keeps_its_pieces_and_they_have_a_bare_form() -> None:
    turn = from_messages([HI, assistant(THOUGHT, text("so"))]).conversation.entries[1]

    assert isinstance(turn, ModelTurn)
    said = dump_json(text("so"))
    assert (Piece(dump_json(THOUGHT), None), Piece(said, said)) == turn.native
    assert "anthropic" == turn.wire
    bare = from_messages([HI, assistant(THOUGHT, text("so"))]).conversation.without_reasoning()
    assert [HI, assistant(text("so"))] == to_messages(bare)


def test_objects_of_the_sdk_are_read_among_dicts() -> None:
    reply = Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [{**text("so"), "citations": None}, {**use("a"), "input": {"n": None}}],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    messages: list[object] = [HI, {"role": "assistant", "content": reply.content}, user(result("a"))]
    found = from_messages(messages)

    assert (["U hi", "X so a=ok"], []) == (told(found.conversation), kinds(found))
    assert assistant(text("so"), use("a", input={"n": None})) == to_messages(found.conversation)[1]
    whole = from_messages([HI, reply, user(result("a"))])
    assert ["1 unknown_fields id, model, stop_reason, type, usage"] == kinds(whole)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("so", (Text("so"),)),
        (None, ()),
        ([], ()),
        ([text("so"), image(type="base64", media_type="image/png", data=PNG.data)], (Text("so"), PNG)),
        ([image(type="base64", media_type="image/png", data="iVBORw0K\nGgo")], (PNG,)),
    ],
)
def test_what_a_result_may_hold(content: JsonValue, parts: tuple[Part, ...]) -> None:
    assert parts == parts_of(HI, assistant(use("a")), user(result("a", content)))


def test_documents() -> None:
    pdf: JsonObject = {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": PDF.data},
        "title": "log",
    }
    plain: JsonObject = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}}

    assert (PDF, Media.of(b"a,b", "text/plain")) == parts_of(user(pdf, plain))


@pytest.mark.parametrize(
    ("block", "link"),
    [
        (image(type="url", url="https://host/a.png"), MediaLink("https://host/a.png")),
        (image(type="url", url="https://host/a"), MediaLink("https://host/a", "image/*")),
        (
            {"type": "document", "source": {"type": "url", "url": "https://host/a"}, "title": "log"},
            MediaLink("https://host/a", "application/pdf", "log"),
        ),
    ],
)
def test_what_is_at_an_address_is_a_link_to_it(block: JsonObject, link: MediaLink) -> None:
    for stored in ([user(block)], [HI, assistant(use("a")), user(result("a", [block]))]):
        found = from_messages(stored)
        assert ([], (link,)) == (kinds(found), parts_of(*stored))
        assert stored[-1] == to_messages(found.conversation)[-1]


@pytest.mark.parametrize(
    "block",
    [
        image(type="url", url="http://example.com/a.png"),
        image(type="file", file_id="f"),
        {"type": "search_result", "source": "s", "title": "t", "content": [text("so")]},
    ],
)
def test_what_is_elsewhere_is_told_in_words(block: JsonObject) -> None:
    found = from_messages([user(block)])

    assert [f"0 told_in_words {block['type']}"] == kinds(found)
    (message,) = found.conversation.entries
    assert isinstance(message, UserMessage)
    assert found.report[0].content == message.told
    assert found.report[0].path == "[0].content[0]"


def test_what_stands_among_instructions_is_named_too() -> None:
    shown = image(type="url", url="u")
    found = from_messages([HI, {"role": "system", "content": [text("Be kind.", cache_control={}), shown]}])

    assert ["1 system_text", "1 unknown_fields cache_control", "1 unknown_part image"] == kinds(found)
    assert ("Be kind.", dump_json(shown)) == (found.instructions, found.report[2].content)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (user(text("so"), {"type": "of_tomorrow"}), "1 unknown_part of_tomorrow"),
        (user(text("so"), {}), "1 unknown_part"),
        (user(text("so"), image(type="base64", media_type="image/png", data="?")), "1 unknown_part broken base64"),
        (user(text("so", cache_control={"type": "ephemeral"})), "1 unknown_fields cache_control"),
        ({**user(text("so")), "id": 7, "at": "noon"}, "1 unknown_fields at, id"),
        (user(image(type="base64", media_type="image/png", data=PNG.data, url="u")), "1 unknown_fields url"),
        (user(text("so \ud83d")), "1 mended_text"),
        ({"role": "system", "content": "Be kind."}, "1 system_text"),
        ({"role": "user", "content": ""}, "1 blank"),
        ({"role": "user", "content": None}, "1 blank"),
        ({"role": "user"}, "1 blank"),
        (assistant(), "1 blank"),
        (assistant(THOUGHT), "1 blank"),
        (assistant(text("so"), {"type": "thinking", "thinking": "unsigned"}), "1 unknown_part thinking"),
        (assistant(text("so"), image(type="url", url="u")), "1 unknown_part image"),
        (assistant(text("so"), {"type": "tool_use", "id": "a", "input": {}}), "1 unknown_part tool_use"),
        (assistant(text("so"), {**THOUGHT, "at": 1}), "1 unknown_fields at"),
        (assistant(text("so", citations="none")), "1 unknown_fields citations"),
    ],
)
def test_what_has_no_place_is_named(message: JsonObject, change: str) -> None:
    assert [change] == kinds(from_messages([HI, message]))


SEARCH: JsonObject = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
SEARCHED: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}


def test_uses_of_the_vendors_own_tools_stay_with_their_results() -> None:
    stored = [HI, assistant(SEARCH, use("a")), user(result("a")), assistant(SEARCHED, text("so"))]
    found = from_messages(stored)

    assert ([], stored) == (kinds(found), to_messages(found.conversation))


@pytest.mark.parametrize(
    ("title", "kind"), [("document_title", "page_location"), ("title", "web_search_result_location")]
)
def test_a_citation_without_a_title_has_it_as_null_which_the_vendor_demands(title: str, kind: str) -> None:
    cited: JsonObject = {"type": kind, "cited_text": "so"}
    other: JsonObject = {"type": "citation_of_tomorrow"}
    stored = [HI, assistant(text("so", citations=[cited, {**cited, title: "A"}, other]))]
    found = from_messages(stored)

    whole: JsonValue = [{**cited, title: None}, {**cited, title: "A"}, other]
    assert [] == kinds(found)
    assert [HI, assistant(text("so", citations=whole))] == to_messages(found.conversation)


@pytest.mark.parametrize("half", [SEARCH, SEARCHED])
def test_half_a_use_of_the_vendors_own_tools_is_left_out(half: JsonObject) -> None:
    found = from_messages([HI, assistant(half, text("so"))])

    assert [f"1 unknown_part {half['type']}"] == kinds(found)
    assert [HI, assistant(text("so"))] == to_messages(found.conversation)


def test_f015_f016_text_around_results() -> None:
    found = from_messages(
        [HI, assistant(use("a"), use("b")), user(result("a"), text("note"), result("b"), text("more"))]
    )

    assert ["U hi", "X a=ok b=ok", "U note", "U more"] == told(found.conversation)
    assert ["2 moved_result b"] == kinds(found)


def test_text_behind_all_results_is_a_message_of_its_own_and_no_change() -> None:
    found = from_messages([HI, assistant(use("a")), user(result("a"), text("more"))])

    assert (["U hi", "X a=ok", "U more"], []) == (told(found.conversation), kinds(found))


def test_f013_results_in_several_messages_are_one_row() -> None:
    found = from_messages([HI, assistant(use("a"), use("b")), user(result("a")), user(result("b"))])

    assert [] == kinds(found)
    assert [HI, assistant(use("a"), use("b")), user(result("a"), result("b"))] == to_messages(found.conversation)


def test_a_result_under_the_wrong_role_is_a_result() -> None:
    found = from_messages([HI, assistant(use("a"), result("a"))])

    assert (["U hi", "X a=ok"], ["1 moved_result a"]) == (told(found.conversation), kinds(found))


def test_what_stands_behind_a_result_under_the_wrong_role_was_said_after_it() -> None:
    stored = assistant(text("Let me see."), use("a"), result("a", "1"), use("b"), result("b", "2"), text("It is one."))
    found = from_messages([HI, stored, user(result("c"))])

    assert ["U hi", "X Let me see. a=1", "X b=2", "T It is one."] == told(found.conversation)
    assert ["1 moved_result a", "1 moved_result b", "2 orphan_result c"] == kinds(found)


def test_an_orphan_under_the_wrong_role_was_moved_nowhere() -> None:
    assert ["1 orphan_result a"] == kinds(from_messages([HI, assistant(text("so"), result("a"))]))


@pytest.mark.parametrize(
    ("given", "raw", "sent", "changes"),
    [
        ('{"n":1}', '{"n":1}', {"n": 1}, []),
        ("", "", {}, []),
        (None, "", {}, []),
        ('{"n":', '{"n":', {}, ["1 unreadable_arguments"]),
        ([1], "[1]", {}, ["1 unreadable_arguments"]),
    ],
)
def test_an_input_that_is_no_object(given: JsonValue, raw: str, sent: JsonObject, changes: list[str]) -> None:
    """
    One that is stored as its text is read; what cannot be an object is named, and stays in the call.
    """
    found = from_messages([HI, assistant(use("a", input=given)), user(result("a"))])

    entry = found.conversation.entries[1]
    assert isinstance(entry, Exchange)
    assert (raw, changes) == (entry.turn.requests[0].raw, kinds(found))
    assert assistant(use("a", input=sent)) == to_messages(found.conversation)[1]
    assert [raw] * len(changes) == [each.content for each in found.report]


def test_a_turn_stored_in_pieces_is_one_turn() -> None:
    found = from_messages([HI, assistant(THOUGHT, text("so")), assistant(use("a")), assistant(use("b"))])

    assert ["U hi", "X so a=outcome_unknown b=outcome_unknown"] == told(found.conversation)
    assert assistant(THOUGHT, text("so"), use("a"), use("b")) == to_messages(found.conversation)[1]


@pytest.mark.parametrize(
    ("is_error", "status"),
    [
        (True, Status.FAILED),
        (1, Status.FAILED),
        ("true", Status.FAILED),
        (0, Status.SUCCEEDED),
        (None, Status.SUCCEEDED),
    ],
)
def test_of_a_results_status_the_wire_knows_whether_it_is_an_error(is_error: JsonValue, status: Status) -> None:
    """
    Databases have words and numbers for it too.
    """
    entry = from_messages([HI, assistant(use("a")), user(result("a", is_error=is_error))]).conversation.entries[1]

    assert isinstance(entry, Exchange)
    assert [status] == [each.status for each in entry.results]


def test_f025_a_result_without_an_id() -> None:
    nameless: JsonObject = {"type": "tool_result", "content": "?"}
    assert ["2 paired_result f"] == kinds(from_messages([HI, assistant(use("a")), user(nameless)]))
    with pytest.raises(AmbiguousResult) as caught:
        from_messages([HI, assistant(use("a"), use("b")), user(nameless)])
    assert (2, "[2].content[0]") == (caught.value.index, caught.value.path)


REFUSED: list[tuple[object, str]] = [
    ("hi", "messages: expected a list of messages, found a string (anthropic)"),
    ([HI, 7], "[1]: expected an object, found a number (anthropic)"),
    ([{"role": "boss"}], "[0].role: expected user, assistant or system, found 'boss' (anthropic)"),
    ([{}], "[0].role: expected user, assistant or system, found null (anthropic)"),
    ([{"role": "user", "content": 7}], "[0].content: expected a list, found a number (anthropic)"),
    ([user("so")], "[0].content[0]: expected an object, found a string (anthropic)"),
    ([user({"type": "text", "text": 7})], "[0].content[0].text: expected a string, found a number (anthropic)"),
    (
        [HI, assistant(use("a")), user(result("a", 7))],
        "[2].content[0].content: expected a list, found a number (anthropic)",
    ),
    (
        [{"role": "user", "content": [{"type": "text", "text": object()}]}],
        "[0].content[0].text: expected values of JSON, or objects of the vendor's SDK, found a object (anthropic)",
    ),
]


@pytest.mark.parametrize(("messages", "told"), REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(messages: list[object], told: str) -> None:
    with pytest.raises(UnreadableMessages) as caught:
        from_messages(messages)
    assert told == str(caught.value)
