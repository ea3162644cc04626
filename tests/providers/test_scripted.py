"""
The scripted model: what it says, what it refuses to be built from, and what it remembers.
"""

import asyncio
import json
from pathlib import Path

import pytest
from attrs import evolve

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import (
    Conversation,
    Limits,
    ModelRequest,
    ModelTurn,
    Reason,
    RunStatus,
    Status,
    Stop,
    Text,
    ToolLoop,
    ToolRequest,
    Usage,
    UserMessage,
)
from rodada.statemachine.errors import FormatError, InvalidValue, ProviderError, ProviderOverloaded
from rodada.statemachine.jsontext import JsonValue, parse_json
from rodada.tools import tool


@tool
def read_log(exercise: str) -> str:
    """
    Read the training log.
    """
    return f"{exercise}: 80, 85"


FIRST = ModelRequest(conversation=Conversation("c", (UserMessage("m", (Text("Hi"),)),)))
CLOSING = ModelRequest(conversation=FIRST.conversation, call=7, tools_allowed=False, guidance="Close.")


def asked(model: Scripted, *requests: ModelRequest) -> list[ModelTurn]:
    async def ask_all() -> list[ModelTurn]:
        return [await model.ask(request, lambda _: None) for request in requests]

    return asyncio.run(ask_all())


def refusal(value: JsonValue) -> tuple[str, str]:
    with pytest.raises(FormatError) as caught:
        Scripted.from_json(value)
    return caught.value.path, str(caught.value)


def test_turns_are_said_in_the_order_of_the_calls() -> None:
    usage = Usage(input_tokens=12, output_tokens=3)
    model = Scripted([Turn("Look.", [Call("read_log", {"exercise": "squat"}, "toolu_1")], usage=usage), Turn("Done.")])
    request = ToolRequest("toolu_1", "read_log", '{"exercise":"squat"}', "toolu_1")
    assert asked(model, FIRST, FIRST) == [
        ModelTurn(Stop.WHOLE, "Look.", (request,), "whole", usage, model="scripted"),
        ModelTurn(Stop.WHOLE, "Done.", (), "whole", model="scripted"),
    ]


def test_a_call_without_an_id_gets_one_from_turn_and_position() -> None:
    [turn] = asked(Scripted([Turn(calls=[Call("a"), Call("a", id="x"), Call("a", id="x")])]), FIRST)
    assert [(request.id, request.wire_id) for request in turn.requests] == [
        ("call_1_0", None),
        ("x", "x"),
        ("call_1_2", "x"),
    ]


def test_argument_text_is_sent_as_it_is() -> None:
    [turn] = asked(Scripted([Turn(calls=[Call("a", '{"kg": ')], stop=Stop.CUT)]), FIRST)
    assert [(request.raw, request.arguments) for request in turn.requests] == [('{"kg": ', None)]


def test_later_changes_of_the_arguments_change_no_script() -> None:
    arguments: dict[str, object] = {"kg": 80}
    model = Scripted([Turn(calls=[Call("a", arguments)])])
    arguments["kg"] = 100
    assert asked(model, FIRST)[0].requests[0].arguments == {"kg": 80}


def test_a_model_turn_is_given_as_it_is() -> None:
    given = ModelTurn(Stop.REFUSED, "No.", stop_word="SAFETY")
    assert asked(Scripted([given]), FIRST)[0] is given


def test_closing_answers_whenever_tools_are_not_allowed() -> None:
    model = Scripted([Turn("one"), Turn("two")], closing=Turn("closed"))
    assert [turn.text for turn in asked(model, FIRST, CLOSING, FIRST, CLOSING)] == ["one", "closed", "two", "closed"]


def test_without_closing_the_next_turn_may_misbehave_in_the_closing_call() -> None:
    model = Scripted([Turn(calls=[Call("a")]), Turn("")])
    assert [(turn.has_words, len(turn.requests)) for turn in asked(model, CLOSING, CLOSING)] == [(False, 1), (False, 0)]


def test_a_script_that_is_used_up_is_a_failed_call_that_no_retry_helps() -> None:
    with pytest.raises(ProviderError) as caught:
        asked(Scripted([Turn("one")]), FIRST, CLOSING)
    assert str(caught.value) == (
        "scripted: the script is used up: it has 1 turns, and call 7 wants another (script_used_up)"
    )
    assert not caught.value.retryable


def test_an_error_is_raised_with_its_fields() -> None:
    model = Scripted.from_json(
        [
            {
                "error": {
                    "class": "ProviderOverloaded",
                    "message": "busy",
                    "status": 529,
                    "code": "overloaded_error",
                    "retry_after": 0.5,
                    "retryable": False,
                }
            }
        ]
    )
    with pytest.raises(ProviderOverloaded) as caught:
        asked(model, FIRST)
    error = caught.value
    assert (error.provider, error.message, error.status, error.code) == ("scripted", "busy", 529, "overloaded_error")
    assert (error.retry_after, error.retryable) == (0.5, False)


@pytest.mark.parametrize(("name", "retryable"), [("ProviderOverloaded", True), ("ProviderQuota", False)])
def test_an_error_is_as_retryable_as_its_class_unless_told(name: str, retryable: bool) -> None:
    with pytest.raises(ProviderError) as caught:
        asked(Scripted.from_json([{"error": {"class": name}}]), FIRST)
    assert caught.value.retryable is retryable


def test_a_wait_ends_when_it_is_cancelled() -> None:
    async def give_up() -> None:
        async with asyncio.timeout(0.01):
            await Scripted([Turn("late", seconds=3600)]).ask(FIRST, lambda _: None)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())


def test_a_wait_longer_than_the_time_of_the_call_is_a_timeout_of_the_loop() -> None:
    loop = ToolLoop(Scripted([Turn("late", seconds=3600)]), limits=Limits(call_seconds=0.01, max_attempts=1))
    outcome = asyncio.run(loop.run("Hi"))
    assert (outcome.status, outcome.reason) == (RunStatus.FAILED, Reason.CALL_FAILED)
    assert outcome.error is not None
    assert outcome.error.error == "ProviderTimeout"


def test_a_reply_answers_concurrent_runs_by_what_they_ask() -> None:
    def echo(request: ModelRequest) -> Turn:
        last = request.entries[-1]
        return Turn(f"You said {last.text}" if isinstance(last, UserMessage) else "?")

    async def both() -> list[str]:
        loop = ToolLoop(Scripted(reply=echo))
        return [outcome.answer for outcome in await asyncio.gather(loop.run("a"), loop.run("b"))]

    assert asyncio.run(both()) == ["You said a", "You said b"]


def test_what_a_reply_raises_is_raised() -> None:
    def broken(request: ModelRequest) -> Turn:
        raise KeyError(request.call)

    with pytest.raises(KeyError):
        asked(Scripted(reply=broken), FIRST)


def test_all_that_was_never_said_is_named() -> None:
    model = Scripted([Turn("one"), Turn("two"), Turn("three")], closing=Turn("closed"))
    asked(model, FIRST)
    with pytest.raises(AssertionError) as caught:
        model.assert_all_used()
    assert str(caught.value) == "never used: turns[1], turns[2], closing, in 1 calls"
    asked(model, FIRST, FIRST, CLOSING)
    model.assert_all_used()


def test_a_reply_cannot_be_used_up() -> None:
    with pytest.raises(InvalidValue, match="a reply has no turns"):
        Scripted(reply=lambda _: Turn("x")).assert_all_used()


def test_it_remembers_what_it_was_shown() -> None:
    model = Scripted(
        [Turn("Look.", [Call("read_log", {"exercise": "squat"})]), Turn(stop=Stop.PAUSED, text="Hm"), Turn("+5 kg")]
    )
    outcome = asyncio.run(ToolLoop(model, tools=[read_log], instructions="Be\nbrief.").run("How much?"))
    assert outcome.status is RunStatus.COMPLETED
    assert [(request.call, request.tools_allowed) for request in model.requests] == [(1, True), (2, True), (3, True)]
    assert model.shown[0] == ('call 1, tools allowed: read_log\ninstructions: "Be\\nbrief."\nuser: "How much?"')
    assert model.shown[2].splitlines()[2:] == [
        'user: "How much?"',
        'model: "Look."',
        'asks call_1_0: read_log {"exercise":"squat"}',
        'result call_1_0, succeeded: "squat: 80, 85"',
        'model, paused: "Hm"',
    ]


def test_the_closing_call_shows_its_guidance_and_that_tools_are_not_allowed() -> None:
    model = Scripted([Turn("closed")])
    asked(model, CLOSING)
    assert model.shown == ('call 7, tools not allowed: none\nguidance: "Close."\nuser: "Hi"',)


def test_it_shows_the_type_that_was_asked_for() -> None:
    model = Scripted([Turn("{}")])
    asked(model, evolve(CLOSING, guidance="", tools_allowed=True, output_schema='{"type":"object"}'))
    assert model.shown == ('call 7, tools allowed: none\noutput: {"type":"object"}\nuser: "Hi"',)


def test_a_tool_is_run_by_a_script_from_json() -> None:
    model = Scripted.from_json(
        {
            "turns": [
                {"calls": [{"name": "read_log", "arguments": {"exercise": "squat"}}]},
                {"text": "+5 kg", "usage": {"input_tokens": 9, "reasoning_tokens": 1}},
            ],
            "closing": None,
        }
    )
    outcome = ToolLoop(model, tools=[read_log]).run_sync("How much?")
    assert (outcome.answer, [call.status for call in outcome.calls]) == ("+5 kg", [Status.SUCCEEDED])
    assert outcome.usage == Usage(input_tokens=9, reasoning_tokens=1)
    model.assert_all_used()


def test_the_example_of_the_docstring_is_a_script() -> None:
    told = Scripted.__doc__ or ""
    example = told[told.index("{\n") : told.index("- `arguments`")]
    model = Scripted.from_json(parse_json(example))
    assert repr(model) == "Scripted(4 turns left)"
    assert asked(model, CLOSING)[0].text == "I looked, but saved nothing yet. Shall I go on?"


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps([{"text": "olá"}]), encoding="utf-8-sig")
    assert asked(Scripted.from_file(file), FIRST)[0].text == "olá"


MALFORMED: list[tuple[JsonValue, str, str]] = [
    ("x", "script", 'expected a list of turns, or an object with turns; found "x"'),
    (None, "script", "expected a list of turns, or an object with turns; found null"),
    ({}, "turns", "missing: expected a list of turns"),
    ({"turns": {}}, "turns", "expected a list of turns, found an object"),
    ({"turns": [], "close": {}}, "script.close", "unknown: expected one of turns, closing"),
    ({"turns": [], "closing": []}, "closing", "expected an object with text, calls or error; found a list"),
    ([{"text": "a"}, 5], "turns[1]", "expected an object with text, calls or error; found 5"),
    ([{}], "turns[0]", "says nothing: expected text, calls, stop or error"),
    ([{"txt": "a"}], "turns[0].txt", "unknown: expected one of text, calls, stop, usage, seconds, error"),
    ([{"text": 1}], "turns[0].text", "expected text, found 1"),
    ([{"calls": {}}], "turns[0].calls", "expected a list of calls, found an object"),
    ([{"calls": ["a"]}], "turns[0].calls[0]", 'expected an object with name and arguments; found "a"'),
    ([{"calls": [{}]}], "turns[0].calls[0].name", "missing: expected the name of a tool"),
    ([{"calls": [{"name": True}]}], "turns[0].calls[0].name", "expected text, found true"),
    ([{"calls": [{"name": "a", "id": 1}]}], "turns[0].calls[0].id", "expected text, found 1"),
    (
        [{"text": "a"}, {"text": "b"}, {"calls": [{"name": "a", "arguments": [1]}]}],
        "turns[2].calls[0].arguments",
        "expected an object, or text to be sent as it is; found a list",
    ),
    (
        [{"stop": "end_turn"}],
        "turns[0].stop",
        'expected one of whole, cut, paused, malformed, refused, unknown; found "end_turn"',
    ),
    (
        [{"stop": "refused", "calls": [{"name": "a"}]}],
        "turns[0].stop",
        "a refused turn asks for no calls: use whole or cut",
    ),
    ([{"text": "a", "seconds": -1}], "turns[0].seconds", "expected a number of seconds >= 0, found -1"),
    ([{"text": "a", "seconds": True}], "turns[0].seconds", "expected a number of seconds >= 0, found true"),
    ([{"text": "a", "usage": []}], "turns[0].usage", "expected an object of token counts; found a list"),
    (
        [{"text": "a", "usage": {"output_tokens": 1.5}}],
        "turns[0].usage.output_tokens",
        "expected a whole number >= 0, found 1.5",
    ),
    ([{"calls": [{"name": "a"}], "error": {}}], "turns[0].error", "a call that fails asks for no calls"),
    ([{"error": "busy"}], "turns[0].error", 'expected an object with class and message; found "busy"'),
    ([{"error": {"message": 1}}], "turns[0].error.message", "expected text, found 1"),
    ([{"error": {"status": "529"}}], "turns[0].error.status", 'expected a whole number >= 0, found "529"'),
    ([{"error": {"retryable": 1}}], "turns[0].error.retryable", "expected true or false, found 1"),
    (
        [{"error": {"retry_after": "1"}}],
        "turns[0].error.retry_after",
        'expected a number of seconds >= 0, found "1"',
    ),
]


@pytest.mark.parametrize(("value", "path", "told"), MALFORMED)
def test_a_malformed_script_is_refused_at_its_place(value: JsonValue, path: str, told: str) -> None:
    assert refusal(value) == (path, f"{path}: {told}")


def test_an_unknown_error_class_is_refused_with_the_known_ones() -> None:
    path, told = refusal([{"error": {"class": "KeyError"}}])
    assert path == "turns[0].error.class"
    assert "expected one of ProviderError, ProviderUnreachable, ProviderTimeout" in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[{", "script: expected JSON: Expecting property name"),
        (b'[{"text": "a", "text": "b"}]', "script: expected JSON: key 'text' stands twice in one object"),
        (b"\xff", "expected JSON in UTF-8"),
        (b'{"turns": [{"text": 1}]}', "turns[0].text: expected text, found 1"),
    ],
)
def test_a_malformed_file_is_refused_by_its_name(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "script.json"
    file.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        Scripted.from_file(file)
    assert str(caught.value).startswith(f"{file}: {told}")


def test_a_missing_file_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        Scripted.from_file(tmp_path / "none.json")
    assert str(caught.value) == f"{tmp_path / 'none.json'}: cannot be read: No such file or directory"


def test_a_reply_beside_turns_is_refused() -> None:
    with pytest.raises(InvalidValue, match="give no turns and no closing beside it"):
        Scripted([Turn("a")], reply=lambda _: Turn("b"))


def test_what_is_no_turn_is_refused_by_its_place() -> None:
    wrong: list[Turn] = [Turn("a"), "b"]  # type: ignore[list-item]  # pyright: ignore[reportAssignmentType]
    with pytest.raises(InvalidValue) as caught:
        Scripted(wrong)
    assert str(caught.value) == "Scripted.turns[1]: expected a Turn or a ModelTurn, got 'b'"


def test_a_turn_checks_itself() -> None:
    with pytest.raises(InvalidValue, match=r"Turn\.stop: a paused turn asks for no calls"):
        Turn(calls=[Call("a")], stop=Stop.PAUSED)
    with pytest.raises(InvalidValue, match=r"Turn\.seconds: needs a number of seconds >= 0, got nan"):
        Turn("a", seconds=float("nan"))
    with pytest.raises(InvalidValue, match=r"Call\.arguments: need a JSON object"):
        Call("a", {"when": object()})
