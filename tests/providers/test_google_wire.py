"""
Conversion of entries, tools and replies on the Gemini wire: no SDK, no server.
"""

import json
import re

import pytest

from rodada.providers.google_history import Fitted, GoogleHistory
from rodada.providers.google_output import FAILURES, STOPS, read_turn
from rodada.providers.google_wire import (
    STAND_IN,
    TOKEN,
    check_pairs,
    entry_contents,
    frame,
    is_another,
    signs_calls,
    wire_name,
)
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import ProviderGarbled, ProviderRejected
from rodada.statemachine.jsontext import JsonObject, JsonValue, parse_json
from rodada.statemachine.messages import (
    Entry,
    Exchange,
    ModelTurn,
    Piece,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
)
from rodada.statemachine.request import ModelRequest, ToolDeclaration

MODEL = "gemini-3.8-flash"
HUGE = 20_000_000


def fitted(request: ModelRequest, model: str, limit: int) -> Fitted:
    return GoogleHistory(model).fitted(request, limit)


def user(text: str = "hi") -> UserMessage:
    return UserMessage(f"u-{text}", (Text(text),))


def asking(*entries: Entry, start: int = 0, selected: int = 0, held: tuple[ModelTurn, ...] = ()) -> ModelRequest:
    return ModelRequest(conversation=Conversation("c", entries), start=start, selected=selected, held=held)


def reply(*parts: JsonObject, word: str = "STOP", **more: JsonValue) -> str:
    candidate: JsonObject = {"content": {"role": "model", "parts": list(parts)}, "finishReason": word, **more}
    return json.dumps({"candidates": [candidate], "modelVersion": MODEL})


def call(name: str = "f", args: JsonValue = None, **more: JsonValue) -> JsonObject:
    return {"functionCall": {"name": name, "args": {} if args is None else args, **more}}


def received(*parts: JsonObject, before: tuple[Entry, ...] = ()) -> ModelTurn:
    return read_turn(reply(*parts), asking(*(before or (user(),))), MODEL)


def answered(turn: ModelTurn, *statuses: Status) -> Exchange:
    every = statuses or (Status.SUCCEEDED,) * len(turn.requests)
    pairs = zip(turn.requests, every, strict=True)
    return Exchange(turn, tuple(ToolResult.of(request, status, f"of {request.name}") for request, status in pairs))


def foreign(*requests: ToolRequest, text: str = "") -> ModelTurn:
    native = (Piece('{"type":"text","text":"x"}', None),)
    return ModelTurn(Stop.WHOLE, text, requests, wire="anthropic", native=native, model="claude-opus-5-5")


# Entries


def test_a_message_is_one_user_content() -> None:
    assert entry_contents(user("olá"), MODEL, active=True) == [{"role": "user", "parts": [{"text": "olá"}]}]


def test_received_parts_go_back_as_they_came_unknown_ones_and_empty_text_included() -> None:
    parts: list[JsonObject] = [
        {"text": "thinking", "thought": True, "thoughtSignature": "c2ln+/8="},
        {"text": "so ", "futureField": {"a": [1, 2.5, None, True]}},
        {**call("f", {"z": 1, "a": None}, id="fc_1"), "thoughtSignature": "c2lnMg=="},
        {"futureKind": {"x": "y"}, "thoughtSignature": "c2lnMw=="},
        {**call("g", id="fc_2"), "partMetadata": {"k": "v"}},
        {"text": "", "thoughtSignature": "c2lnNA=="},
    ]
    sent, _ = entry_contents(answered(received(*parts)), MODEL, active=True)
    assert json.dumps(sent) == json.dumps({"role": "model", "parts": parts})


def test_a_part_without_data_is_not_sent_back() -> None:
    turn = received({"text": "x"}, {}, {"thought": True})
    assert entry_contents(turn, MODEL, active=True) == [{"role": "model", "parts": [{"text": "x"}]}]
    assert len(turn.native) == 3


def test_a_response_that_only_we_may_give_makes_the_turn_malformed() -> None:
    turn = received(call(), {"functionResponse": {"name": "f", "response": {"output": "80"}}}, {"text": "80"})
    assert (turn.stop, turn.requests) == (Stop.MALFORMED, ())


def test_f013_google_results_in_one_content() -> None:
    turn = received(call("a", id="1"), call("b", id="2"), call("c", id="3"))
    statuses = (Status.SUCCEEDED, Status.FAILED, Status.NOT_EXECUTED)
    _, results = entry_contents(answered(turn, *statuses), MODEL, active=True)
    assert results == {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "a", "id": "1", "response": {"output": "of a"}}},
            {"functionResponse": {"name": "b", "id": "2", "response": {"error": "of b"}}},
            {"functionResponse": {"name": "c", "id": "3", "response": {"error": "of c"}}},
        ],
    }


@pytest.mark.parametrize("status", list(Status))
def test_every_status_but_succeeded_is_an_error(status: Status) -> None:
    _, results = entry_contents(answered(received(call("a")), status), MODEL, active=True)
    kind = "output" if status is Status.SUCCEEDED else "error"
    assert results["parts"] == [{"functionResponse": {"name": "a", "response": {kind: "of a"}}}]


def test_a_result_that_looks_like_an_error_or_a_reference_stays_a_text() -> None:
    turn = received(call("a"), call("b"), call("c"))
    texts = ('{"error": "x"}', '{"$ref": "#/x"}', "")
    pairs = zip(turn.requests, texts, strict=True)
    exchange = Exchange(turn, tuple(ToolResult.of(request, Status.SUCCEEDED, text) for request, text in pairs))
    _, results = entry_contents(exchange, MODEL, active=True)
    assert [part["functionResponse"] for part in objects(results["parts"])] == [
        {"name": name, "response": {"output": text}} for name, text in zip("abc", texts, strict=True)
    ]


def objects(value: JsonValue) -> list[JsonObject]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]


def test_f014_google_results_in_request_order() -> None:
    turn = received(call("slow", id="9"), call("fast", id="1"))
    sent, results = entry_contents(answered(turn), MODEL, active=True)
    asked = [part["functionCall"] for part in objects(sent["parts"])]
    told = [part["functionResponse"] for part in objects(results["parts"])]
    names = [[part["name"] for part in found if isinstance(part, dict)] for found in (asked, told)]
    assert names == [["slow", "fast"], ["slow", "fast"]]


def test_without_ids_none_is_sent_on_either_side() -> None:
    turn = received(call("w", {"city": "A"}), call("w", {"city": "B"}))
    assert [(request.id, request.wire_id) for request in turn.requests] == [("call_1_0", None), ("call_1_1", None)]
    assert entry_contents(answered(turn), "gemini-2.5-pro", active=True) == [
        {"role": "model", "parts": [call("w", {"city": "A"}), call("w", {"city": "B"})]},
        {"role": "user", "parts": [{"functionResponse": {"name": "w", "response": {"output": "of w"}}}] * 2},
    ]


def test_repeated_and_empty_ids_are_mended_in_call_and_result_alike_and_good_ones_left() -> None:
    first = answered(received(call("f", id="x")))
    turn = received(call("f", id="x"), call("f", id="y"), call("f", id=""), before=(user(), first))
    sent, results = entry_contents(answered(turn), MODEL, active=False)
    assert [request.wire_id for request in turn.requests] == ["x", "y", None]
    assert sent["parts"] == [call("f", id="call_2_0"), call("f", id="y"), call("f")]
    ids: list[JsonObject] = [{"id": "call_2_0"}, {"id": "y"}, {}]
    assert results["parts"] == [
        {"functionResponse": {"name": "f", **each, "response": {"output": "of f"}}} for each in ids
    ]


@pytest.mark.parametrize("args", [[1], "x", 3, True])
def test_arguments_that_are_no_object_go_back_as_an_empty_one(args: JsonValue) -> None:
    turn = received(call("f", args, id="1"))
    assert (turn.requests[0].raw, turn.requests[0].arguments) == (json.dumps(args), None)
    assert entry_contents(answered(turn), MODEL, active=False)[0]["parts"] == [call("f", {}, id="1")]


@pytest.mark.parametrize(("depth", "sent_as"), [(100, "c2ln"), (101, STAND_IN), (400, STAND_IN)])
def test_arguments_deeper_than_any_wire_takes_go_back_as_an_empty_object(depth: int, sent_as: str) -> None:
    deep = parse_json('{"n":' * depth + "1" + "}" * depth)
    turn = received({"text": "so"}, {**call("f", deep, id="1"), "thoughtSignature": "c2ln"})
    asked = {**call("f", deep if depth == 100 else {}, id="1"), "thoughtSignature": sent_as}
    assert entry_contents(answered(turn), MODEL, active=True)[0]["parts"] == [{"text": "so"}, asked]


def test_missing_and_null_arguments_are_the_empty_object() -> None:
    turn = received({"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "args": None}})
    assert [request.raw for request in turn.requests] == ["{}", "{}"]
    sent = entry_contents(answered(turn), MODEL, active=False)[0]
    assert sent["parts"] == [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "args": None}}]


def test_lone_surrogates_are_replaced_everywhere() -> None:
    text = (
        '{"candidates":[{"content":{"parts":[{"text":"a\\ud800b"},{"text":"\\ud83d\\ude00"}]},"finishReason":"STOP"}]}'
    )
    turn = read_turn(text, asking(user()), MODEL)
    assert (turn.text, [piece.received for piece in turn.native]) == (
        "a\ufffdb😀",
        ['{"text":"a\ufffdb"}', '{"text":"😀"}'],
    )


# Signatures


def test_lone_surrogates_in_the_arguments_of_another_wire_are_replaced() -> None:
    spelt = ToolRequest("c1", "f", '{"\\ud83d": ["\\ude00 and \\ud83d\\ude00"]}')
    alike = ToolRequest("c2", "f", '{"\\ud83d": 1, "\\ud83e": 2}')
    asked, _ = entry_contents(answered(foreign(spelt, alike)), MODEL, active=False)
    calls = [part["functionCall"] for part in objects(asked["parts"])]
    assert [call["args"] for call in objects(calls)] == [{"\ufffd": ["\ufffd and \U0001f600"]}, {}]


def test_f061_google_signatures_exactly_as_received() -> None:
    one = received({**call("a", id="1"), "thoughtSignature": "czE="}, call("b", id="2"))
    two = received({**call("c", id="3"), "thoughtSignature": "czI="}, {**call("d", id="4"), "thoughtSignature": "czM="})
    sent = [entry_contents(answered(turn), MODEL, active=True)[0] for turn in (one, two)]
    signatures = [[part.get("thoughtSignature") for part in objects(each["parts"])] for each in sent]
    assert signatures == [["czE=", None], ["czI=", "czM="]]


def test_a_call_of_another_wire_gets_the_stand_in_in_the_active_turn_alone() -> None:
    turn = foreign(ToolRequest("toolu_1", "f", "{}", "toolu_1"), ToolRequest("toolu_2", "g", "[", "toolu_2"), text="so")
    signed: JsonObject = {**call("f"), "thoughtSignature": STAND_IN}
    for model, active, first in (
        (MODEL, True, signed),
        (MODEL, False, call("f")),
        ("gemini-2.5-pro", True, call("f")),
    ):
        sent, results = entry_contents(answered(turn), model, active=active)
        assert sent == {"role": "model", "parts": [{"text": "so"}, first, call("g")]}
        assert [part["functionResponse"] for part in objects(results["parts"])] == [
            {"name": "f", "response": {"output": "of f"}},
            {"name": "g", "response": {"output": "of g"}},
        ]


def test_a_turn_stored_without_reasoning_gets_the_stand_in_in_the_active_turn_alone() -> None:
    thought: JsonObject = {"text": "hm", "thought": True}
    turn = received(
        thought, {**call("f", id="1"), "thoughtSignature": "czE="}, {"text": "", "thoughtSignature": "czI="}
    )
    stored = Conversation("c", (user(), answered(turn)))
    _, exchange = Conversation.from_json(stored.to_json()).entries
    assert "thought" not in json.dumps(stored.to_json()).replace("thoughtSignature", "thought")
    active, old = (entry_contents(exchange, MODEL, active=active)[0] for active in (True, False))
    assert active["parts"] == [{**call("f", id="1"), "thoughtSignature": STAND_IN}]
    assert old["parts"] == [call("f", id="1")]


def test_a_signature_on_a_later_part_keeps_the_stand_in_away() -> None:
    parts: list[JsonObject] = [call("f", id="1"), {"text": "", "thoughtSignature": "czE="}]
    assert entry_contents(answered(received(*parts)), MODEL, active=True)[0]["parts"] == parts


def test_a_signature_before_the_call_speaks_for_what_a_pause_ended_and_not_for_the_call() -> None:
    said: JsonObject = {"text": "Let me see.", "thoughtSignature": "czE="}
    turn = received(said, {**call("f", {"a": "\ud800"}, id="1"), "thoughtSignature": "czI="})
    sent = entry_contents(answered(turn), MODEL, active=True)[0]
    assert sent["parts"] == [said, {**call("f", {"a": "\ufffd"}, id="1"), "thoughtSignature": STAND_IN}]


def test_a_signature_behind_further_words_speaks_for_what_followed_a_pause_and_not_for_the_call() -> None:
    said: tuple[JsonObject, ...] = ({"text": "All done."}, {"text": "", "thoughtSignature": "czE="})
    asked: JsonObject = {**call("f", {"a": "\ud800"}, id="1"), "thoughtSignature": "czI="}
    mended: JsonObject = {**call("f", {"a": "\ufffd"}, id="1"), "thoughtSignature": STAND_IN}
    signed: JsonObject = {"text": "All done.", "thoughtSignature": "czE="}
    for behind in (said, (signed,)):
        sent = entry_contents(answered(received(asked, *behind)), MODEL, active=True)[0]
        assert sent["parts"] == [mended, *behind]


def test_signatures_of_another_model_are_left_out_of_old_turns() -> None:
    turn = received({**call("f", id="1"), "thoughtSignature": "czE="})
    old, active = (entry_contents(answered(turn), "gemini-3.1-pro", active=active)[0] for active in (False, True))
    assert old["parts"] == [call("f", id="1")]
    assert active["parts"] == [{**call("f", id="1"), "thoughtSignature": "czE="}]


@pytest.mark.parametrize(
    ("served", "asked", "another"),
    [
        ("gemini-3.8-flash", "gemini-3.8-flash", False),
        ("gemini-3.8-flash-001", "models/gemini-3.8-flash", False),
        ("gemini-3.8-flash", "gemini-flash-latest", False),
        ("", "gemini-3.8-flash", False),
        ("gemini-3.8-flash", "gemini-3.1-pro", True),
    ],
)
def test_is_another(served: str, asked: str, another: bool) -> None:
    assert is_another(served, asked) is another


@pytest.mark.parametrize(
    ("model", "signs"),
    [("gemini-2.5-pro", False), ("models/gemini-3-flash", True), ("gemini-10-x", True), ("gemini-flash-latest", True)],
)
def test_signs_calls(model: str, signs: bool) -> None:
    assert signs_calls(model) is signs


def test_a_turn_that_had_to_be_mended_gets_the_stand_in_in_the_place_of_its_signature() -> None:
    first: JsonObject = {**call("f", [1], id="1"), "thoughtSignature": "czE="}
    turn = received(first, call("g", id="2"))
    active, old = (entry_contents(answered(turn), MODEL, active=active)[0] for active in (True, False))
    assert active["parts"] == [{**call("f", {}, id="1"), "thoughtSignature": STAND_IN}, call("g", id="2")]
    assert old["parts"] == [call("f", {}, id="1"), call("g", id="2")]


def test_a_part_whose_lone_surrogates_were_replaced_loses_its_signature() -> None:
    turn = received({**call("f", {"a": "\ud800"}, id="1"), "thoughtSignature": "czE="})
    assert [json.loads(piece.received) for piece in turn.native] == [call("f", {"a": "\ufffd"}, id="1")]


# Names and schemas


@pytest.mark.parametrize("name", ["f", "_a.b:c-d", "A" * 128])
def test_a_legal_name_stays(name: str) -> None:
    assert wire_name(name) == name


def test_illegal_names_become_legal_and_stay_different() -> None:
    names = ["", "1f", "a b", "a/b", "búsqueda", "A" * 129, "A" * 130, "\ud800"]
    made = [wire_name(name) for name in names]
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}", each) for each in made)
    assert len(set(made)) == len(names)
    assert made == [wire_name(name) for name in names]


def test_a_call_of_a_renamed_tool_gets_the_tool_s_own_name_and_goes_back_as_it_came() -> None:
    tool = ToolDeclaration("2fa check", "Checks.")
    request = ModelRequest(conversation=Conversation("c", (user(),)), tools=(tool,))
    turn = read_turn(reply(call(wire_name("2fa check"), id="1")), request, MODEL)
    assert turn.requests[0].name == "2fa check"
    sent, results = entry_contents(answered(turn), MODEL, active=False)
    assert sent["parts"] == [call(wire_name("2fa check"), id="1")]
    assert objects(results["parts"])[0]["functionResponse"] == {
        "name": wire_name("2fa check"),
        "id": "1",
        "response": {"output": "of 2fa check"},
    }


def test_a_tool_without_parameters_has_no_schema_and_one_without_words_no_description() -> None:
    request = ModelRequest(conversation=Conversation("c", (user(),)), tools=(ToolDeclaration("now", " "),))
    assert frame(request) == {"tools": [{"functionDeclarations": [{"name": "now"}]}]}


# Around the contents


def test_f062_google_the_closing_call_declares_tools_allows_none_and_guides_in_the_instructions() -> None:
    tools = (ToolDeclaration("f", "F."),)
    request = ModelRequest(
        conversation=Conversation("c", (user(),)),
        instructions="Be kind.",
        guidance="Stop now.",
        tools=tools,
        tools_allowed=False,
    )
    assert frame(request) == {
        "systemInstruction": {"role": "user", "parts": [{"text": "Be kind.\n\nStop now."}]},
        "tools": [{"functionDeclarations": [{"name": "f", "description": "F."}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
    }


def test_without_tools_there_is_no_tool_config_either() -> None:
    request = ModelRequest(conversation=Conversation("c", (user(),)), tools_allowed=False)
    assert frame(request) == {}


# Size


def conversation(*lengths: int) -> tuple[Entry, ...]:
    """
    Message, exchange and answer for each length; the message is that long.
    """
    found: list[Entry] = []
    for at, length in enumerate(lengths):
        asked = ToolRequest(f"id{at}", "f", "{}", f"id{at}")
        turn = ModelTurn(Stop.WHOLE, requests=(asked,), wire="google")
        found += [user(str(at) * length), answered(turn), ModelTurn(Stop.WHOLE, f"a{at}")]
    return tuple(found)


def roles(body: JsonObject) -> list[JsonValue]:
    return [content["role"] for content in objects(body["contents"])]


def test_f010_google_size_reduction_drops_whole_old_exchanges_and_never_the_active_turn() -> None:
    active = received(call("a", id="a"), call("b", id="b"))
    entries = (*conversation(4000, 10, 10), user("now"), answered(active))
    request = asking(*entries, start=9)
    whole = fitted(request, MODEL, HUGE)
    cut = fitted(request, MODEL, whole.size - 1)
    assert (whole.dropped, cut.dropped, cut.size < 4000) == (0, 1, True)
    assert objects(cut.body["contents"]) == objects(whole.body["contents"])[4:]
    least = fitted(request, MODEL, 1)
    assert (least.dropped, least.size > 1, roles(least.body)) == (3, True, ["user", "model", "user"])
    check_pairs(objects(least.body["contents"]))


def test_f011_google_the_first_content_is_always_the_user_s() -> None:
    entries = (*conversation(100, 100, 100, 100), user("now"))
    request = asking(*entries, start=12, selected=3)
    sizes = {fitted(request, MODEL, limit).size for limit in range(1, 2000, 50)}
    assert len(sizes) == 4
    for limit in range(1, 2000, 50):
        made = fitted(request, MODEL, limit)
        assert roles(made.body)[0] == "user"
        check_pairs(objects(made.body["contents"]))


def test_a_message_that_was_answered_by_nothing_is_dropped_with_the_old_ones() -> None:
    request = asking(user("a" * 500), user("b" * 500), user("now"), start=2)
    made = fitted(request, MODEL, 700)
    assert (made.dropped, roles(made.body)) == (1, ["user", "user"])


# Pairing


GOOD: tuple[JsonObject, ...] = (
    {"role": "user", "parts": [{"text": "hi"}]},
    {"role": "model", "parts": [call("f", id="1"), call("g", id="2")]},
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "1", "name": "f", "response": {}}},
            {"functionResponse": {"id": "2", "name": "g", "response": {}}},
        ],
    },
)


def broken(at: int, *parts: JsonObject) -> tuple[JsonObject, ...]:
    return (*GOOD[:at], {**GOOD[at], "parts": list(parts)}, *GOOD[at + 1 :])


@pytest.mark.parametrize(
    "contents",
    [
        (),
        GOOD[1:],
        GOOD[:2],
        (GOOD[0], GOOD[2]),
        (GOOD[2],),
        (*GOOD, GOOD[2]),
        (GOOD[0], GOOD[1], GOOD[0], GOOD[2]),
        broken(2, *objects(GOOD[2]["parts"])[:1]),
        broken(2, *objects(GOOD[2]["parts"])[::-1]),
        broken(2, *objects(GOOD[2]["parts"]), *objects(GOOD[2]["parts"])[:1]),
        broken(1, *objects(GOOD[1]["parts"])[:1]),
    ],
)
def test_f018_google_a_history_with_broken_pairs_is_never_sent(contents: tuple[JsonObject, ...]) -> None:
    check_pairs(GOOD)
    with pytest.raises(ProviderRejected) as caught:
        check_pairs(contents)
    assert (caught.value.code, caught.value.retryable) == ("broken_pairs", False)


def test_a_stored_turn_whose_pieces_ask_for_other_calls_is_built_from_its_words() -> None:
    asked = ToolRequest("1", "f", "{}", "1")
    turn = ModelTurn(Stop.WHOLE, "so", (asked,), native=(Piece('{"text":"so"}', None),), wire="google", model=MODEL)
    sent = entry_contents(answered(turn), MODEL, active=False)[0]
    assert sent["parts"] == [{"text": "so"}, {"functionCall": {"id": "1", "name": "f", "args": {}}}]


def test_f015_f019_google_the_content_of_results_holds_nothing_else() -> None:
    turn = received({"text": "so"}, call("a", id="1"))
    made = fitted(asking(user(), answered(turn), user("and?"), start=2), MODEL, HUGE)
    contents = objects(made.body["contents"])
    assert roles(made.body) == ["user", "model", "user", "user"]
    assert [list(part) for part in objects(contents[2]["parts"])] == [["functionResponse"]]
    assert contents[3]["parts"] == [{"text": "and?"}]


# Replies


def test_every_stop_word_of_the_sdk_is_known() -> None:
    from google.genai.types import FinishReason

    assert {*STOPS, *FAILURES} == {reason.value for reason in FinishReason}
    assert not STOPS.keys() & FAILURES.keys()


@pytest.mark.parametrize("word", [*STOPS, "BRAND_NEW"])
def test_only_a_whole_turn_carries_requests(word: str) -> None:
    text = reply({"text": "so"}, call("f", id="1"), word=word, continuationToken="dG9r")
    turn = read_turn(text, asking(user()), MODEL)
    expected = STOPS.get(word, Stop.UNKNOWN)
    assert (turn.stop, turn.stop_word, turn.text) == (expected, word, "so")
    assert bool(turn.requests) is (expected is Stop.WHOLE)


@pytest.mark.parametrize("word", list(FAILURES))
def test_a_stop_that_blames_the_request_is_a_failed_call(word: str) -> None:
    with pytest.raises(ProviderRejected) as caught:
        read_turn(reply(word=word), asking(user()), MODEL)
    assert (caught.value.code, caught.value.retryable) == (word, False)


def test_a_reply_without_a_stop_word_is_unknown() -> None:
    text = json.dumps({"candidates": [{"content": {"parts": [{"text": "x"}]}}]})
    turn = read_turn(text, asking(user()), MODEL)
    assert (turn.stop, turn.stop_word, turn.text, turn.model) == (Stop.UNKNOWN, "", "x", MODEL)


def test_a_blocked_prompt_is_refused_with_the_wire_s_word_and_its_tokens_counted() -> None:
    text = json.dumps({"promptFeedback": {"blockReason": "JAILBREAK"}, "usageMetadata": {"promptTokenCount": 7}})
    turn = read_turn(text, asking(user()), MODEL)
    assert turn == ModelTurn(Stop.REFUSED, stop_word="JAILBREAK", usage=Usage(input_tokens=7), model=MODEL)


# Each says that the vendor did not read the prompt on. One that the SDK learns is to be looked at here first.
BLOCKS = (
    *("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK"),
    *("OTHER", "BLOCKED_REASON_UNSPECIFIED"),
)


def test_every_block_reason_of_the_sdk_is_known() -> None:
    from google.genai.types import BlockedReason

    assert {*BLOCKS} == {reason.value for reason in BlockedReason}


@pytest.mark.parametrize("word", [*BLOCKS, "BRAND_NEW"])
def test_whatever_blocks_a_prompt_is_a_refusal(word: str) -> None:
    turn = read_turn(json.dumps({"promptFeedback": {"blockReason": word}}), asking(user()), MODEL)
    assert turn == ModelTurn(Stop.REFUSED, stop_word=word, model=MODEL)


def test_a_whole_turn_with_everything() -> None:
    text = json.dumps(
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "hm", "thought": True},
                            {"text": "So: ", "thoughtSignature": "czE="},
                            call("f", {"a": "é"}, id="fc"),
                            {"text": "now"},
                        ]
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 40,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 7,
                "toolUsePromptTokenCount": 3,
                "totalTokenCount": 115,
            },
            "modelVersion": "gemini-3.8-flash-001",
            "responseId": "r1",
        }
    )
    assert read_turn(text, asking(user()), MODEL) == ModelTurn(
        stop=Stop.WHOLE,
        text="So: now",
        requests=(ToolRequest("fc", "f", '{"a":"é"}', "fc"),),
        stop_word="STOP",
        usage=Usage(
            input_tokens=103, cached_input_tokens=40, cache_write_tokens=None, output_tokens=12, reasoning_tokens=7
        ),
        native=(
            Piece('{"text":"hm","thought":true}', None),
            Piece('{"text":"So: ","thoughtSignature":"czE="}', '{"text":"So: "}'),
            Piece(*['{"functionCall":{"name":"f","args":{"a":"é"},"id":"fc"}}'] * 2),
            Piece(*['{"text":"now"}'] * 2),
        ),
        wire="google",
        model="gemini-3.8-flash-001",
        response_id="r1",
    )


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (None, Usage()),
        ({}, Usage()),
        ({"promptTokenCount": None, "candidatesTokenCount": True}, Usage()),
        ({"promptTokenCount": 0, "thoughtsTokenCount": 4}, Usage(0, None, None, 4, 4)),
        ({"candidatesTokenCount": 4}, Usage(None, None, None, 4, None)),
        ({"promptTokenCount": 10**400, "candidatesTokenCount": 4}, Usage(None, None, None, 4, None)),
        ({"promptTokenCount": 2**53 - 1, "toolUsePromptTokenCount": 1}, Usage()),
    ],
)
def test_what_is_not_told_is_none_and_never_zero(told: JsonValue, usage: Usage) -> None:
    text = json.dumps({"candidates": [{"finishReason": "STOP"}], "usageMetadata": told})
    assert read_turn(text, asking(user()), MODEL).usage == usage


def test_gemini_leaves_out_a_count_that_is_zero_and_its_total_tells_it() -> None:
    told = {"promptTokenCount": 3130, "totalTokenCount": 3130}
    text = json.dumps({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}], "usageMetadata": told})
    assert read_turn(text, asking(user()), MODEL).usage == Usage(input_tokens=3130, output_tokens=0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>",
        "[]",
        "{}",
        '{"candidates": []}',
        '{"candidates": [3]}',
        '{"candidates": {"a": 1}}',
        '{"candidates": [{"finishReason": "STOP", "finishReason": "STOP"}]}',
        reply({"text": 3}),
        reply({"functionCall": {"args": {}}}),
        reply({"functionCall": []}),
        '{"candidates": [{"content": {"parts": ["x"]}, "finishReason": "STOP"}]}',
        '{"candidates": [{"content": {"parts": [{"text": "x", "n": NaN}]}, "finishReason": "STOP"}]}',
        '{"candidates": [{"content": {"parts": [{"text": "x", "n": 1e999}]}, "finishReason": "STOP"}]}',
        '{"candidates": [{"content": {"parts": ' + "[" * 100_000 + "}",
    ],
)
def test_a_reply_that_is_not_what_the_wire_promises_is_garbled(text: str) -> None:
    with pytest.raises(ProviderGarbled) as caught:
        read_turn(text, asking(user()), MODEL)
    assert caught.value.retryable


def test_f064_google_text_that_looks_like_a_call_is_text() -> None:
    turn = received({"text": '```tool_call\n{"name": "f", "args": {}}\n```'})
    assert (turn.requests, turn.has_words) == ((), True)


def test_f065_google_an_empty_reply_says_nothing() -> None:
    turn = read_turn(json.dumps({"candidates": [{"finishReason": "STOP"}]}), asking(user()), MODEL)
    assert (turn.stop, turn.has_words, turn.native) == (Stop.WHOLE, False, ())


# Pauses


def test_a_paused_turn_is_resumed_by_its_token_and_its_calls_are_asked_for_at_the_end() -> None:
    first = read_turn(
        reply({"text": "Hel"}, call("f", id="1"), word="CONTINUATION", continuationToken="dG9r"), asking(user()), MODEL
    )
    request = asking(user(), held=(first,))
    made = fitted(request, MODEL, HUGE)
    assert (first.stop, first.requests, first.native[-1]) == (Stop.PAUSED, (), Piece(*[f'{{"{TOKEN}":"dG9r"}}'] * 2))
    assert made.body == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], TOKEN: "dG9r"}
    last = read_turn(reply({"text": "lo"}, call("g", id="2")), request, MODEL)
    assert [asked.name for asked in last.requests] == ["f", "g"]


def test_a_turn_that_was_paused_goes_back_without_the_token() -> None:
    native = tuple(Piece(*[text] * 2) for text in ('{"text":"Hel"}', f'{{"{TOKEN}":"dG9r"}}', '{"text":"lo"}'))
    turn = ModelTurn(Stop.WHOLE, "Hello", native=native, wire="google", model=MODEL)
    assert entry_contents(turn, MODEL, active=False) == [{"role": "model", "parts": [{"text": "Hel"}, {"text": "lo"}]}]


def test_a_pause_that_nothing_can_resume_is_a_cut() -> None:
    turn = read_turn(reply({"text": "Hel"}, word="CONTINUATION"), asking(user()), MODEL)
    assert (turn.stop, turn.stop_word) == (Stop.CUT, "CONTINUATION")


def test_a_held_piece_that_lost_its_token_is_rejected() -> None:
    with pytest.raises(ProviderRejected, match="continuation token"):
        frame(asking(user(), held=(ModelTurn(Stop.PAUSED, "Hel", wire="google"),)))
