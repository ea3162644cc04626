"""
Typed answers through each real SDK: how the type is asked for beside tools, what the server takes, and what comes of
the answer. The loopback server refuses what the vendors refuse.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Body, Call, Deviation, Loopback, Received, Reply, Turn, WireName
from rodada.providers.loopback.json_values import Json, Object, obj, text
from rodada.providers.openai_chat import Dialect, OpenAIChat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.providers.told_type import TOLD
from rodada.statemachine import Limits, Outcome, Provider, Reason, RunStatus, ToolLoop
from rodada.statemachine.jsontext import JsonObject
from rodada.tools import tool
from support.heard import heard
from support.stage import DEVIATIONS, KEY, MODELS, WIRES, AnyProvider, Stage, set_stage
from support.virtual_clock import VirtualClock


class Plan(BaseModel):
    title: str
    days: int = 3


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(default=9, ge=0, le=9, description="those left")


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]
    tricks: list[str] = Field(default_factory=list[str], max_length=5)


class Kennel(BaseModel):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = Field(min_length=1)
    loudest: Dog | None = Field(default=None, description="if there is one")
    code: Annotated[str, Field(pattern="^[A-Z]{2}$", min_length=2)]


PARTS: dict[str, Any] = {f"p{at}": {"anyOf": [{"type": "integer"}, {"type": "null"}]} for at in range(30)}


class Anything(BaseModel):
    it: Any


class Many(BaseModel):
    """Made of as many optional parts as one pleases."""

    model_config = ConfigDict(json_schema_extra={"properties": PARTS})


class Choice(BaseModel):
    it: Annotated[int, Field(json_schema_extra={"enum": [*range(1001)]})]


class Tree(BaseModel):
    kg: float
    next: "list[Tree]" = []


@tool(reads="log")
async def look(n: int) -> str:
    """Look an entry up."""
    return f"entry {n}"


GOOD, BAD = '{"title": "Strength", "days": 4}', '{"name": "Strength"}'
PLAN = Plan(title="Strength", days=4)
ASK = Turn("", [Call("look", {"n": 1})], reasoning=True)
OLD: tuple[Deviation, ...] = ("json_schema_unknown",)
NATIVE = [(wire, model) for wire in WIRES for model in MODELS[wire] if model not in ("deepseek", "gemini-2.5-flash")]


def _anthropic(body: Object) -> Json:
    return obj(obj(body.get("output_config")).get("format")).get("schema")


def _openai(body: Object) -> Json:
    return obj(obj(body.get("text")).get("format")).get("schema")


def _openai_chat(body: Object) -> Json:
    return obj(obj(body.get("response_format")).get("json_schema")).get("schema")


def _google(body: Object) -> Json:
    return obj(body.get("generationConfig")).get("responseJsonSchema")


SCHEMAS: Mapping[WireName, Callable[[Object], Json]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "openai_chat": _openai_chat,
    "google": _google,
}


def asked(each: Received) -> str:
    """
    The title of the type that a request asks for; "" for none, "told" where it stands in the instructions.
    """
    schema = SCHEMAS[each.wire](each.body)
    if schema is not None:
        return text(obj(schema).get("title"))
    return "told" if TOLD in heard(each).system else ""


@pytest.fixture(scope="module")
def stage() -> Generator[Stage]:
    """
    With one more server: it knows no `response_format`.
    """
    with set_stage(Loopback(chat_deviations={**DEVIATIONS, "old": OLD})) as made:
        yield made


def loop_of(provider: Provider) -> ToolLoop[Plan]:
    return ToolLoop(provider, tools=[look], clock=VirtualClock(), output_type=Plan)


def answered(stage: Stage, loop: ToolLoop[Plan], *script: Reply) -> Outcome[Plan]:
    """
    One message, all of whose replies are wanted and none of whose requests is refused.
    """
    stage.server.play(script)
    outcome = stage.run(loop.run("Plan my week."))
    assert (stage.server.refusals, stage.server.unplayed) == ((), 0)
    return outcome


def asked_of(stage: Stage) -> list[tuple[str, tuple[str, ...]]]:
    """
    Which type, and which tools, each request of the last message told of.
    """
    return [(asked(each), heard(each).tools) for each in stage.server.received]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("wire", "model"), NATIVE)
def test_the_type_is_asked_for_beside_tools_and_the_answer_is_a_value(
    stage: Stage, wire: WireName, model: str, stream: bool
) -> None:
    loop = loop_of(stage.providers[model]).evolve(stream=stream)
    outcome = answered(stage, loop, ASK, Turn(GOOD))
    assert asked_of(stage) == [("Plan", ("look",))] * 2
    assert (outcome.status, outcome.answer, outcome.output) == (RunStatus.COMPLETED, GOOD, PLAN)


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "deepseek"])
def test_a_model_that_cannot_be_asked_beside_tools_is_told_in_its_instructions(stage: Stage, model: str) -> None:
    outcome = answered(stage, loop_of(stage.providers[model]), ASK, Turn(f"```json\n{GOOD}\n```"))
    assert asked_of(stage) == [("told", ("look",))] * 2
    assert (outcome.status, outcome.output) == (RunStatus.COMPLETED, PLAN)


def test_without_tools_an_older_gemini_is_asked_in_its_own_way(stage: Stage) -> None:
    outcome = answered(stage, loop_of(stage.providers["gemini-2.5-flash"]).evolve(tools=()), Turn(GOOD))
    assert (asked_of(stage), outcome.output) == ([("Plan", ())], PLAN)


@pytest.mark.parametrize("tools", [(), (look,)])
def test_a_server_that_calls_no_tool_while_a_type_is_asked_for_is_asked_without_tools_alone(
    stage: Stage, tools: tuple[()]
) -> None:
    provider = OpenAIChat(
        "vllm", base_url=stage.server.base_url("openai_chat"), dialect=Dialect(json_schema="without_tools")
    )
    answered(stage, loop_of(provider).evolve(tools=tools), Turn(GOOD))
    assert asked_of(stage) == [("told", ("look",)) if tools else ("Plan", ())]
    stage.run(provider.aclose())


def test_a_server_that_knows_no_types_refuses_to_be_asked_for_one(stage: Stage) -> None:
    provider = OpenAIChat("old", base_url=stage.server.base_url("openai_chat"))
    stage.server.play([Turn(GOOD)])
    outcome = stage.run(loop_of(provider).run("Plan my week."))
    assert (outcome.status, outcome.reason) == (RunStatus.FAILED, Reason.CALL_FAILED)
    assert "This response_format type is unavailable now" in outcome.detail
    stage.run(provider.aclose())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_that_has_not_the_type_is_asked_for_once_more(stage: Stage, wire: WireName, stream: bool) -> None:
    loop = loop_of(stage.provider(wire)).evolve(stream=stream)
    outcome = answered(stage, loop, ASK, Turn(BAD), Turn(GOOD))
    assert asked_of(stage) == [("Plan", ("look",))] * 3
    assert stage.server.received[1].body == stage.server.received[2].body
    assert (outcome.status, outcome.output, outcome.partial) == (RunStatus.COMPLETED, PLAN, "")


@pytest.mark.parametrize("wire", WIRES)
def test_two_such_answers_end_the_run_with_what_was_said_as_partial(stage: Stage, wire: WireName) -> None:
    outcome = answered(stage, loop_of(stage.provider(wire)), Turn("Let me think."), Turn(BAD))
    assert (outcome.status, outcome.reason) == (RunStatus.INCOMPLETE, Reason.MALFORMED)
    assert (outcome.answer_by, outcome.partial, outcome.output) == ("engine", BAD, None)
    assert outcome.detail == "no Plan: title: missing"


@pytest.mark.parametrize("wire", WIRES)
def test_the_next_message_goes_on_behind_a_typed_answer_and_behind_none(stage: Stage, wire: WireName) -> None:
    loop = loop_of(stage.provider(wire))
    stage.server.play([ASK, Turn(GOOD), Turn(BAD), Turn(BAD), Turn("Hello.")])
    first = stage.run(loop.run("Plan my week."))
    second = stage.run(loop.run("And the next?", conversation=first.conversation))
    third = stage.run(loop.evolve(output_type=None).run("Hello?", conversation=second.conversation))
    assert (stage.server.refusals, stage.server.unplayed) == ((), 0)
    assert [first.output, second.output, third.output] == [PLAN, None, None]
    assert (third.status, third.answer) == (RunStatus.COMPLETED, "Hello.")
    assert [asked(each) for each in stage.server.received] == ["Plan", "Plan", "Plan", "Plan", ""]


@pytest.mark.parametrize("wire", WIRES)
def test_the_closing_call_asks_for_no_type(stage: Stage, wire: WireName) -> None:
    loop = loop_of(stage.provider(wire)).evolve(limits=Limits(max_rounds=1))
    outcome = answered(stage, loop, ASK, ASK, Turn("I looked once. Shall I go on?"))
    assert asked_of(stage) == [("Plan", ("look",)), ("Plan", ("look",)), ("", ("look",))]
    assert (outcome.status, outcome.reason) == (RunStatus.INCOMPLETE, Reason.MAX_ROUNDS)
    assert (outcome.answer, outcome.output) == ("I looked once. Shall I go on?", None)


@pytest.mark.parametrize("wire", ["anthropic", "google"])
def test_the_pieces_of_a_paused_turn_are_one_typed_answer(stage: Stage, wire: WireName) -> None:
    outcome = answered(stage, loop_of(stage.provider(wire)), Turn(GOOD[:12], stop="paused"), Turn(GOOD[12:]))
    assert (outcome.status, outcome.answer, outcome.output) == (RunStatus.COMPLETED, GOOD, PLAN)


@pytest.mark.parametrize("wire", WIRES)
def test_a_rich_type_is_taken_by_every_vendor(stage: Stage, wire: WireName) -> None:
    kennel = Kennel(pets=[Cat(kind="cat", lives=7)], loudest=Dog(kind="dog"), code="AB")
    stage.server.play([Turn(kennel.model_dump_json())])
    outcome = stage.run(loop_of(stage.provider(wire)).run("Who barks?", output_type=Kennel))
    assert stage.server.refusals == ()
    assert (outcome.status, outcome.output) == (RunStatus.COMPLETED, kennel)


def test_openai_is_asked_strictly(stage: Stage) -> None:
    stage.server.play([Turn("{}"), Turn("{}")])
    stage.run(loop_of(stage.provider("openai")).run("Who barks?", output_type=Kennel))
    stage.run(loop_of(stage.provider("openai_chat")).run("Who barks?", output_type=Kennel))
    responses, chat = (stage.server.received[at].body for at in (0, -1))
    told = obj(obj(responses["text"])["format"])
    assert (told["type"], told["name"], told["strict"]) == ("json_schema", "Kennel", True)
    nested = obj(obj(chat["response_format"])["json_schema"])
    assert nested == {key: value for key, value in told.items() if key != "type"}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Tree, '{"kg": 1}', Tree(kg=1)),
        (Anything, '{"it": [1]}', Anything(it=[1])),
    ],
)
def test_a_mapping_what_may_be_anything_and_a_type_that_holds_itself_are_taken_by_every_vendor(
    stage: Stage, wire: WireName, kind: type[object], reply: str, value: object
) -> None:
    stage.server.play([Turn(reply)])
    outcome = stage.run(loop_of(stage.provider(wire)).run("Count.", output_type=kind))
    assert (stage.server.refusals, outcome.output) == ((), value)


@pytest.mark.parametrize("kind", [dict[str, int], Tree, Anything])
def test_to_claude_they_are_told_in_words(stage: Stage, kind: type[object]) -> None:
    stage.server.play([Turn("{}")])
    stage.run(loop_of(stage.provider("anthropic")).run("Count.", output_type=kind))
    (first, *_) = stage.server.received
    assert "output_config" not in first.body
    assert TOLD in str(first.body["system"])


@pytest.mark.parametrize("model", MODELS["anthropic"])
def test_a_type_told_in_words_changes_nothing_to_which_thoughts_are_bound(stage: Stage, model: str) -> None:
    loop = loop_of(stage.providers[model]).evolve(limits=Limits(max_rounds=1))
    stage.server.play([ASK, ASK, Turn("I looked once. Shall I go on?", reasoning=True)])
    outcome = stage.run(loop.run("Count.", output_type=Anything))
    assert stage.server.refusals == ()
    assert (outcome.answer_by, outcome.answer) == ("model", "I looked once. Shall I go on?")
    systems = [each.body["system"] for each in stage.server.received]
    assert (systems[2] == systems[1]) is (model != "claude-haiku-4-5")  # which has no other place for the guidance


def test_beside_a_tool_of_claudes_that_cites_a_type_is_told_in_words(stage: Stage) -> None:
    fetch: JsonObject = {"type": "web_fetch_20260318", "name": "web_fetch", "citations": {"enabled": True}}
    provider = Anthropic(
        "claude-opus-5-5", api_key=KEY, base_url=stage.server.base_url("anthropic"), server_tools=[fetch]
    )
    outcome = answered(stage, loop_of(provider), Turn(GOOD))
    assert (asked(stage.server.received[0]), outcome.output) == ("told", PLAN)
    stage.run(provider.aclose())


@pytest.mark.parametrize("stream", [False, True])
def test_a_typed_answer_behind_a_search_of_claudes_is_one_whatever_was_said_before(stage: Stage, stream: bool) -> None:
    search: JsonObject = {"type": "web_search_20260318", "name": "web_search"}
    provider = Anthropic(
        "claude-opus-5-5", api_key=KEY, base_url=stage.server.base_url("anthropic"), server_tools=[search]
    )
    use: Object = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "kg"}}
    found: Object = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    said: list[Json] = [{"type": "text", "text": each} for each in ("Let me search.", '{"a": ', "1}")]
    blocks: list[Json] = [said[0], use, found, *said[1:]]
    message: Object = {"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-opus-5-5"}
    whole: Object = {**message, "content": blocks, "stop_reason": "end_turn", "usage": {}}
    stage.server.play([Body(whole)])
    loop = ToolLoop(provider, output_type=dict[str, int], stream=stream)
    outcome = stage.run(loop.run("Count."))
    assert (outcome.status, outcome.answer, outcome.output) == (RunStatus.COMPLETED, '{"a": 1}', {"a": 1})
    stage.run(provider.aclose())


@pytest.mark.parametrize("wire", WIRES)
def test_a_type_with_many_optional_parts_unions_or_choices_is_taken_by_every_vendor(
    stage: Stage, wire: WireName
) -> None:
    for kind, reply in ((Many, '{"p1": 1}'), (Choice, '{"it": 7}')):
        stage.server.play([Turn(reply)])
        outcome = stage.run(loop_of(stage.provider(wire)).run("Count.", output_type=kind))
        assert (stage.server.refusals, outcome.status) == ((), RunStatus.COMPLETED)


def _with_options(server: Loopback, wire: WireName, in_body: bool) -> AnyProvider:
    """
    A provider whose host has set what the type is asked for in, as an argument or in the body itself.
    """

    def placed(options: Mapping[str, object]) -> Mapping[str, object]:
        return {"extra_body": options} if in_body else options

    url = server.base_url(wire)
    match wire:
        case "anthropic":
            return Anthropic(
                "claude-opus-5-5", api_key=KEY, base_url=url, options=placed({"output_config": {"effort": "low"}})
            )
        case "openai":
            return OpenAIResponses("gpt-5.6", api_key=KEY, base_url=url, options=placed({"text": {"verbosity": "low"}}))
        case "openai_chat":
            return OpenAIChat("gpt-4.1", base_url=url, options=placed({"response_format": {"type": "text"}}))
        case "google":
            schema = {"type": "object", "properties": {"other": {"type": "string"}}}
            own = {"response_mime_type": "application/json", "response_json_schema": schema, "seed": 7}
            return Google("gemini-3.6-flash", api_key=KEY, base_url=url, options=own)


KEPT: Mapping[WireName, Callable[[Object], Json]] = {
    "anthropic": lambda body: obj(body["output_config"])["effort"],
    "openai": lambda body: obj(body["text"])["verbosity"],
    "openai_chat": lambda body: obj(body["response_format"])["type"],
    "google": lambda body: [obj(body["generationConfig"])[key] for key in ("seed", "responseMimeType")],
}


@pytest.mark.parametrize("in_body", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_options_of_the_host_stand_beside_the_type_and_in_the_closing_call(
    stage: Stage, wire: WireName, in_body: bool
) -> None:
    provider = _with_options(stage.server, wire, in_body)
    loop = loop_of(provider).evolve(limits=Limits(max_rounds=0))
    outcome = answered(stage, loop, ASK, Turn("So far."))
    first, closing = (KEPT[wire](each.body) for each in stage.server.received)
    expected: Mapping[WireName, Json] = {
        "anthropic": "low",
        "openai": "low",
        "openai_chat": "json_schema",
        "google": [7, "application/json"],
    }
    assert (asked(stage.server.received[0]), first) == ("Plan", expected[wire])
    assert closing == ("text" if wire == "openai_chat" else expected[wire])
    assert outcome.answer == "So far."
    stage.run(provider.aclose())
