"""
What a turn was is what is sent back of it, through each real SDK: piece for piece, with its own signatures.
"""

import json
import logging

import pytest

from rodada.providers.loopback import Body, Call, Failure, Turn, WireName
from rodada.providers.loopback.json_values import Json, Object, obj, objs, text
from rodada.statemachine import Conversation, Limits, RunStatus
from support.bodies import Part, candidate_of, message_of, response_of
from support.desk import Desk, both_ways, every_wire
from support.stage import Stage

ASK = Turn("Let me look.", [Call("look")], reasoning=True)


def turns(wire: WireName, body: Object) -> list[Json]:
    """
    What a request tells of each turn of the model: its blocks, items, message or parts.
    """
    if wire == "anthropic":
        return [each["content"] for each in objs(body["messages"]) if each["role"] == "assistant"]
    if wire == "google":
        return [each["parts"] for each in objs(body["contents"]) if each["role"] == "model"]
    if wire == "openai_chat":
        return [each for each in objs(body["messages"]) if each["role"] == "assistant"]
    rows: list[list[Json]] = []
    row: list[Json] = []
    for item in objs(body["input"]):
        if item.get("role") == "user" or item["type"] == "function_call_output":
            rows += [row] * bool(row)
            row = []
        else:
            row.append(item)
    return [*rows, *[row] * bool(row)]


# Block for block

CALL: Part = {"type": "tool_use", "id": "toolu_x", "name": "look", "input": {"path": "a  b", "n": 1.0}}


def mixed_message() -> tuple[Body, list[Part]]:
    blocks: list[Part] = [
        {"type": "thinking", "thinking": "First:\n é", "signature": "c2lnMQ=="},
        {"type": "text", "text": "a "},
        {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
        {"type": "thinking", "thinking": "", "signature": "c2lnMg=="},
        {"type": "a_block_of_tomorrow", "data": "?"},
        {**CALL, "caller": {"type": "direct"}},
        {"type": "text", "text": "b"},
        {**CALL, "id": "toolu_y"},
    ]
    return message_of(*blocks, stop="tool_use"), blocks


def mixed_response() -> tuple[Body, list[Part]]:
    said: Part = {"type": "output_text", "text": "a ", "annotations": [], "logprobs": []}
    items: list[Part] = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0MQ=="},
        {"type": "message", "id": "msg_a", "role": "assistant", "status": "completed", "content": [said]},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "c2VjcmV0Mg=="},
        {"type": "an_item_of_tomorrow", "id": "tom_1", "data": "?"},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_x",
            "name": "look",
            "arguments": '{ "path":"a"}',
            "status": "completed",
        },
        {"type": "reasoning", "id": "rs_3", "summary": [], "encrypted_content": "c2VjcmV0Mw=="},
        {
            "type": "function_call",
            "id": "fc_2",
            "call_id": "call_y",
            "name": "look",
            "arguments": '{"path": "b"}',
            "status": "completed",
        },
    ]
    return response_of(*items), items


def mixed_candidate() -> tuple[Body, list[Part]]:
    parts: list[Part] = [
        {"text": "Hm.", "thought": True, "thoughtSignature": "c2lnMQ=="},
        {"text": "a "},
        {"aPartOfTomorrow": {"data": "?"}},
        {"functionCall": {"id": "x", "name": "look", "args": {"path": "a"}}, "thoughtSignature": "c2lnMg=="},
        {"functionCall": {"id": "y", "name": "look", "args": {"path": "b"}}},
    ]
    return candidate_of(*parts), parts


@both_ways
@pytest.mark.parametrize(
    ("wire", "made"),
    [("anthropic", mixed_message()), ("openai", mixed_response()), ("google", mixed_candidate())],
    ids=["anthropic", "openai", "google"],
)
def test_f057_a_turn_of_many_pieces_goes_back_piece_for_piece_in_each_later_request(
    stage: Stage, wire: WireName, made: tuple[Body, list[Part]], stream: bool
) -> None:
    body, pieces = made
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(body, ASK, Turn("Done."))
    assert outcome.status is RunStatus.COMPLETED
    assert [turns(wire, each.body)[0] for each in desk.received[1:]] == [pieces, pieces]


# Thoughts of every turn


def sealed(value: Json) -> list[str]:
    """
    Every signature and every encrypted thought, in order.
    """
    if isinstance(value, list):
        return [each for item in value for each in sealed(item)]
    if not isinstance(value, dict):
        return []
    own = [text(value[name]) for name in ("signature", "encrypted_content", "thoughtSignature") if name in value]
    return own + [each for item in value.values() for each in sealed(item)]


THINKING: tuple[WireName, ...] = ("anthropic", "openai", "google")
thinking_wires = pytest.mark.parametrize("wire", THINKING)
ASK_AGAIN = Turn("", [Call("look"), Call("write")], reasoning=True)


@both_ways
@thinking_wires
def test_f058_each_turn_of_the_active_sequence_has_its_own_thoughts_in_every_later_request(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    desk = Desk(stage, wire, stream)
    outcome = desk.ask(ASK, ASK_AGAIN, ASK, Turn("Done.", reasoning=True))
    echoed = [[sealed(turn) for turn in turns(wire, each.body)] for each in desk.received]
    assert [len(each) for each in echoed] == [0, 1, 2, 3]
    assert all(len(seals) == 1 for seals in echoed[3])
    assert len({seal for [seal] in echoed[3]}) == 3
    assert [each == echoed[3][: len(each)] for each in echoed] == [True] * 4
    assert desk.ask(Turn("Yes."), before=outcome.conversation).answer == "Yes."


@both_ways
def test_f058_a_server_that_wants_its_thoughts_back_gets_those_of_every_turn(stage: Stage, stream: bool) -> None:
    desk = Desk(stage, "openai_chat", stream, provider=stage.providers["deepseek"])
    outcome = desk.ask(ASK, ASK_AGAIN, Turn("Done.", reasoning=True))
    assert outcome.status is RunStatus.COMPLETED
    thoughts = [text(obj(turn)["reasoning_content"]) for turn in turns("openai_chat", desk.received[2].body)]
    assert len({*thoughts}) == 2
    assert all(thought.startswith("Thought no.") for thought in thoughts)


# After a store


def stored(conversation: Conversation, reasoning: bool) -> Conversation:
    return Conversation.from_json(json.loads(json.dumps(conversation.to_json(reasoning=reasoning))))


@both_ways
@every_wire
@pytest.mark.parametrize("reasoning", [True, False], ids=["with reasoning", "bare"])
def test_f059_rounds_stay_apart_behind_a_store(stage: Stage, wire: WireName, stream: bool, reasoning: bool) -> None:
    desk = Desk(stage, wire, stream, limits=Limits(max_attempts=1))
    first = desk.ask(ASK, ASK_AGAIN, Failure(400))
    before = turns(wire, desk.received[2].body)
    again = desk.ask(ASK, Turn("Done."), says="Go on.", before=stored(first.conversation, reasoning))
    assert again.status is RunStatus.COMPLETED
    after = turns(wire, desk.received[1].body)
    assert (len(before), len(after)) == (2, 3)
    assert [calls_of(turn) for turn in after[:2]] == [calls_of(turn) for turn in before]
    assert [sealed(turn) for turn in after[:2]] in ([sealed(turn) for turn in before], [[], []])


def calls_of(turn: Json) -> list[Json]:
    """
    The ids of the calls in a turn.
    """
    if isinstance(turn, dict):
        return [call["id"] for call in objs(turn.get("tool_calls"))]
    found = [obj(piece.get("functionCall", piece)) for piece in objs(turn)]
    return [piece.get("call_id", piece.get("id")) for piece in found if "name" in piece]


# Encrypted reasoning of OpenAI


@both_ways
def test_f060_every_request_asks_for_encrypted_reasoning_and_stores_nothing(stage: Stage, stream: bool) -> None:
    desk = Desk(stage, "openai", stream, limits=Limits(max_rounds=1))
    desk.ask(ASK, ASK, Turn("So far."))
    bodies = [each.body for each in desk.received]
    assert [(body["store"], body["include"]) for body in bodies] == [(False, ["reasoning.encrypted_content"])] * 3
    assert [len(sealed(body["input"])) for body in bodies] == [0, 1, 2]


@both_ways
@pytest.mark.parametrize("lost", ["not stored", "not sent", "null"])
def test_f060_reasoning_that_lost_its_content_is_left_out_and_its_turn_stays(
    stage: Stage, stream: bool, lost: str
) -> None:
    desk = Desk(stage, "openai", stream)
    body, items = mixed_response()
    if lost != "not stored":
        kept = [{key: value for key, value in item.items() if key != "encrypted_content"} for item in items]
        more = {"encrypted_content": None} if lost == "null" else {}
        kept = [{**item, **(more if item["type"] == "reasoning" else {})} for item in kept]
        body = response_of(*kept)
    outcome = desk.ask(body, Turn("Done."))
    again = desk.ask(Turn("Yes."), before=stored(outcome.conversation, reasoning=False))
    assert (outcome.answer, again.answer) == ("Done.", "Yes.")
    kinds = [obj(item).get("type") for item in objs(turns("openai", desk.received[0].body)[0])]
    assert kinds == ["message", "function_call", "function_call"]  # an unknown one cannot stand without its reasoning


@both_ways
def test_f060_encrypted_reasoning_is_in_no_stored_form_no_log_and_no_event(
    stage: Stage, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "rodada")
    desk = Desk(stage, "openai", stream)
    outcome = desk.ask(mixed_response()[0], Turn("Done.", reasoning=True))
    secrets = ["c2VjcmV0MQ==", "c2VjcmV0Mg==", "c2VjcmV0Mw=="]
    told = [
        json.dumps(outcome.conversation.to_json()),
        json.dumps(outcome.to_json()),
        *(json.dumps(notice.to_json()) for notice in desk.notices),
        *(record.getMessage() for record in caplog.records),
        repr(outcome),
    ]
    assert caplog.records
    assert [secret for secret in secrets if any(secret in each for each in told)] == []
    assert all(secret in json.dumps(outcome.conversation.to_json(reasoning=True)) for secret in secrets)


# Signatures of Gemini

SIGNED: tuple[list[Part], list[Part]] = (
    [
        {"functionCall": {"id": "a", "name": "look", "args": {}}, "thoughtSignature": "c2lnMQ=="},
        {"functionCall": {"id": "b", "name": "look", "args": {}}},
    ],
    [
        {"functionCall": {"id": "c", "name": "look", "args": {}}, "thoughtSignature": "c2lnMg=="},
        {"functionCall": {"id": "d", "name": "look", "args": {}}, "thoughtSignature": "c2lnMw=="},
    ],
)


@both_ways
@pytest.mark.parametrize("ids", [True, False], ids=["with ids", "without"])
def test_f061_signatures_stand_on_the_parts_on_which_they_came_and_nowhere_else(
    stage: Stage, stream: bool, ids: bool
) -> None:
    desk = Desk(stage, "google", stream)
    sent = [parts if ids else [*map(without_id, parts)] for parts in SIGNED]
    desk.ask(*(candidate_of(*parts) for parts in sent), Turn("Done."))
    assert turns("google", desk.received[2].body) == sent


def without_id(part: Part) -> Part:
    call = part["functionCall"]
    assert isinstance(call, dict)
    return {**part, "functionCall": {"name": call["name"], "args": call["args"]}}


STAND_IN = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="


@both_ways
@every_wire
def test_f061_behind_the_next_message_no_call_gets_a_signature_that_it_never_had(
    stage: Stage, wire: WireName, stream: bool
) -> None:
    earlier = Desk(stage, wire, stream).ask(ASK, Turn("Done.", reasoning=True))
    desk = Desk(stage, "google", stream)
    desk.ask(ASK, Turn("Done."), before=stored(earlier.conversation, reasoning=False))
    seals = [seal for turn in turns("google", desk.received[1].body) for seal in sealed(turn)]
    assert (len(seals), STAND_IN in seals) == (1, False)


@both_ways
def test_f061_a_call_that_was_mended_in_the_active_turn_gets_the_stand_in_which_is_logged(
    stage: Stage, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "rodada")
    repeated: Part = {"functionCall": {"id": "a", "name": "look", "args": {}}, "thoughtSignature": "c2lnMg=="}
    desk = Desk(stage, "google", stream)
    desk.ask(candidate_of(*SIGNED[0]), candidate_of(repeated), Turn("Done."))
    assert [sealed(turn) for turn in turns("google", desk.received[2].body)] == [["c2lnMQ=="], [STAND_IN]]
    logged = [record.getMessage() for record in caplog.records]
    assert [line for line in logged if "stand_ins" in line] == ["event=request.stand_ins wire=google calls=1"]
