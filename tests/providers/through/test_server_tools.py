"""
Tools that the vendor runs itself, through each SDK: declared in every call, echoed as they came, never run here.
"""

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from rodada.providers.anthropic import Anthropic
from rodada.providers.google import Google
from rodada.providers.loopback import Body, Call, Failure, Loopback, Reply, Turn, WireName
from rodada.providers.loopback.json_values import objs
from rodada.providers.openai_responses import OpenAIResponses
from rodada.statemachine import Conversation, Limits, Outcome, Reason, RunStatus, TextDelta, ToolLoop
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.ports import AnyTool
from rodada.tools import tool
from support.stage import KEY, AnyProvider, Stage

WIRES: tuple[WireName, ...] = ("anthropic", "openai", "google")
SEARCH: Mapping[WireName, JsonObject] = {
    "anthropic": {"type": "web_search_20260318", "name": "web_search", "max_uses": 3},
    "openai": {"type": "web_search", "filters": {"allowed_domains": ["b.example", "a.example"]}},
    "google": {"googleSearch": {}},
}
CODE: Mapping[WireName, JsonObject] = {
    "anthropic": {"type": "code_execution_20260521", "name": "code_execution"},
    "openai": {"type": "code_interpreter", "container": {"type": "auto"}},
    "google": {"codeExecution": {}},
}
MODELS: Mapping[WireName, str] = {"anthropic": "claude-opus-5-5", "openai": "gpt-5.6", "google": "gemini-3.6-flash"}
LEFT: Mapping[WireName, tuple[str, ...]] = {  # what the vendor's own search leaves in a turn
    "anthropic": ("server_tool_use", "web_search_tool_result"),
    "openai": ("web_search_call",),
    "google": ("toolCall", "toolResponse"),
}

every_wire = pytest.mark.parametrize("wire", WIRES)
both_ways = pytest.mark.parametrize("stream", [False, True])


@tool
def look(day: str) -> str:
    """
    Look a day up.
    """
    return f"{day}: 80 kg"


def with_tools(server: Loopback, wire: WireName, *declared: JsonObject, model: str = "") -> AnyProvider:
    makers = {"anthropic": Anthropic, "openai": OpenAIResponses, "google": Google}
    made = makers[wire](
        model or MODELS[wire], api_key=KEY, base_url=server.base_url(wire), server_tools=declared or [SEARCH[wire]]
    )
    return cast(AnyProvider, made)


def played(
    stage: Stage,
    provider: AnyProvider,
    script: Sequence[Reply],
    tools: Sequence[AnyTool] = (),
    *,
    stream: bool = False,
    rounds: int = 3,
    before: Conversation | None = None,
) -> Outcome:
    """
    A run, of which the server refused nothing.
    """
    stage.server.play(script)

    async def scene() -> Outcome:
        limits = Limits(max_rounds=rounds, max_attempts=1)
        async with ToolLoop(provider, tools=tools, limits=limits, stream=stream) as loop:
            return await loop.run("How much?", conversation=before)

    outcome = stage.run(scene())
    assert (stage.server.refusals, stage.server.unplayed) == ((), 0)
    return outcome


def declared(body: JsonObject) -> list[JsonObject]:
    return objs(body["tools"])


def names_of(wire: WireName, body: JsonObject) -> list[str]:
    """
    The blocks, items or parts of all turns in a request, each by what it is.
    """
    if wire == "openai":
        return [str(item.get("type")) for item in objs(body["input"]) if item.get("role") != "user"]
    field, parts, role = ("messages", "content", "assistant") if wire == "anthropic" else ("contents", "parts", "model")
    blocks = [block for said in objs(body[field]) if said["role"] == role for block in objs(said[parts])]
    return [str(block["type"]) if wire == "anthropic" else next(iter(block)) for block in blocks]


def choice(body: JsonObject) -> object:
    return body.get("tool_choice", body.get("toolConfig"))


CHOICES: Mapping[WireName, tuple[object, object]] = {
    "anthropic": ({"type": "auto"}, {"type": "none"}),
    "openai": ("auto", "none"),
    "google": (
        {"includeServerSideToolInvocations": True},
        {"functionCallingConfig": {"mode": "NONE"}, "includeServerSideToolInvocations": True},
    ),
}


@every_wire
@both_ways
def test_server_tools_stand_behind_the_loops_own_in_every_call(stage: Stage, wire: WireName, stream: bool) -> None:
    given = (SEARCH[wire], CODE[wire])
    rounds = [Turn("", [Call("look", {"day": day})], reasoning=True) for day in ("Monday", "Tuesday")]
    provider = with_tools(stage.server, wire, *given)
    outcome = played(stage, provider, [*rounds, Turn("80 kg.")], [look], stream=stream, rounds=1)
    bodies = stage.server.requests()
    assert (outcome.status, outcome.answer, outcome.reason) == (RunStatus.INCOMPLETE, "80 kg.", Reason.MAX_ROUNDS)
    assert [declared(body)[1:] for body in bodies] == [[*given]] * 3
    assert len({str(body["tools"]) for body in bodies}) == 1
    usual, closing = CHOICES[wire]
    assert [choice(body) for body in bodies] == [usual, usual, closing]


@every_wire
@both_ways
def test_what_they_give_is_echoed_and_costs_no_round(stage: Stage, wire: WireName, stream: bool) -> None:
    script = [
        Turn("Let me see.", [Call("look", {"day": "Monday"})], search="done", reasoning=True),
        Turn("80 kg.", search="done", reasoning=True),
    ]
    outcome = played(stage, with_tools(stage.server, wire), script, [look], stream=stream, rounds=1)
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "80 kg.")
    assert [call.name for call in outcome.calls] == ["look"]
    echoed = names_of(wire, stage.server.requests()[1])
    assert tuple(name for name in echoed if name in LEFT[wire]) == LEFT[wire]
    again = played(stage, with_tools(stage.server, wire), [Turn("Yes.")], [look], before=outcome.conversation)
    assert again.answer == "Yes."
    echoed = names_of(wire, stage.server.requests()[0])
    assert tuple(name for name in echoed if name in LEFT[wire]) == 2 * LEFT[wire]


@every_wire
@both_ways
def test_a_history_without_reasoning_is_taken_all_the_same(stage: Stage, wire: WireName, stream: bool) -> None:
    script = [
        Turn("Let me see.", [Call("look", {"day": "Monday"})], search="done", reasoning=True),
        Turn("80 kg.", search="done", reasoning=True),
    ]
    outcome = played(stage, with_tools(stage.server, wire), script, [look], stream=stream)
    bare = outcome.conversation.without_reasoning()
    assert played(stage, with_tools(stage.server, wire), [Turn("Yes.")], [look], before=bare).answer == "Yes."


@every_wire
@both_ways
def test_a_loop_may_have_server_tools_alone(stage: Stage, wire: WireName, stream: bool) -> None:
    script = [Turn("80 kg.", search="done")]
    outcome = played(stage, with_tools(stage.server, wire, CODE[wire], SEARCH[wire]), script, stream=stream)
    [body] = stage.server.requests()
    assert (outcome.status, outcome.answer, outcome.calls) == (RunStatus.COMPLETED, "80 kg.", ())
    assert body["tools"] == [CODE[wire], SEARCH[wire]]
    assert choice(body) == {"anthropic": {"type": "auto"}, "openai": "auto", "google": None}[wire]


@both_ways
def test_code_that_gemini_ran_itself_is_echoed_and_is_no_request(stage: Stage, stream: bool) -> None:
    provider = with_tools(stage.server, "google", CODE["google"])
    script = [Turn("Let me.", [Call("look", {"day": "Monday"})], search="done"), Turn("80.")]
    outcome = played(stage, provider, script, [look], stream=stream)
    assert outcome.answer == "80."
    assert names_of("google", stage.server.requests()[1]) == [
        *("executableCode", "codeExecutionResult", "text", "functionCall")
    ]


def test_an_older_gemini_refuses_both_kinds_and_its_words_are_told(stage: Stage) -> None:
    provider = with_tools(stage.server, "google", model="gemini-2.5-flash")
    stage.server.play([Turn("80.")])

    async def scene() -> Outcome:
        async with ToolLoop(provider, tools=[look]) as loop:
            return await loop.run("How much?")

    outcome = stage.run(scene())
    assert outcome.status is RunStatus.FAILED
    assert "Tool call context circulation is not enabled" in str(outcome.error)


# A tool of Anthropic's that has not ended


@both_ways
def test_a_pause_with_an_open_server_tool_is_resumed_and_kept_as_one_turn(stage: Stage, stream: bool) -> None:
    script = [
        Turn("Searching.", stop="paused", search="open", reasoning=True),
        Turn("Looking.", [Call("look", {"day": "Monday"})], reasoning=True),
        Turn("80 kg."),
    ]
    outcome = played(stage, with_tools(stage.server, "anthropic"), script, [look], stream=stream, rounds=1)
    assert (outcome.status, outcome.answer) == (RunStatus.COMPLETED, "80 kg.")
    _, resumed, last = stage.server.requests()
    assert names_of("anthropic", resumed) == ["thinking", "text", "server_tool_use"]
    assert names_of("anthropic", last) == [
        *("thinking", "text", "server_tool_use"),
        *("web_search_tool_result", "thinking", "text", "tool_use"),
    ]


def gemini_said(*parts: JsonObject) -> Body:
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return Body({"candidates": [candidate], "modelVersion": MODELS["google"], "responseId": "r"})


RAN: tuple[JsonObject, JsonObject] = (
    {"executableCode": {"language": "PYTHON", "code": "print(80)"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "80"}},
)


@both_ways
@pytest.mark.parametrize(
    ("wire", "script"),
    [
        ("anthropic", [Turn("Let me see.", stop="paused", search="open"), Turn("80 kg.")]),
        ("google", [gemini_said({"text": "Let me "}, {"text": "see."}, *RAN, {"text": "80 "}, {"text": "kg."})]),
    ],
)
def test_what_is_said_before_a_server_tool_and_behind_it_is_two_paragraphs(
    stage: Stage, wire: WireName, script: Sequence[Reply], stream: bool
) -> None:
    provider = with_tools(stage.server, wire, SEARCH[wire], CODE[wire])
    stage.server.play(script)

    async def scene() -> tuple[str, Outcome]:
        async with ToolLoop(provider, stream=stream) as loop, loop.start("How much?") as live:
            heard = [each.text async for each in live.events(after=0) if isinstance(each, TextDelta)]
            return "".join(heard), await live.outcome()

    heard, outcome = stage.run(scene())
    assert outcome.answer == "Let me see.\n\n80 kg."
    assert heard == (outcome.answer if stream else "")


@both_ways
def test_an_open_server_tool_beside_a_call_is_answered_by_its_result_alone(stage: Stage, stream: bool) -> None:
    script = [Turn("Both.", [Call("look", {"day": "Monday"})], search="open", reasoning=True), Turn("80 kg.")]
    outcome = played(stage, with_tools(stage.server, "anthropic"), script, [look], stream=stream)
    assert outcome.answer == "80 kg."
    again = played(stage, with_tools(stage.server, "anthropic"), [Turn("Yes.")], [look], before=outcome.conversation)
    assert again.answer == "Yes."
    kinds = names_of("anthropic", stage.server.requests()[0])
    assert kinds == ["text", "server_tool_use", "tool_use", "web_search_tool_result", "text"]


def test_what_stayed_open_when_a_run_stopped_spoils_no_later_message(stage: Stage) -> None:
    script: list[Reply] = [Turn("Both.", [Call("look", {"day": "Monday"})], search="open"), Failure(400, "No.")]
    outcome = played(stage, with_tools(stage.server, "anthropic"), script, [look])
    assert outcome.status is RunStatus.INCOMPLETE
    again = played(stage, with_tools(stage.server, "anthropic"), [Turn("Yes.")], [look], before=outcome.conversation)
    assert again.answer == "Yes."
    assert names_of("anthropic", stage.server.requests()[0]) == ["text", "tool_use"]
