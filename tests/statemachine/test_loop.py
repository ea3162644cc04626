"""
The loop that users touch: what it takes, what it refuses, and that it changes nothing that it is given.
"""

import asyncio
import threading
from typing import Any

import pytest
from attrs import fields

from rodada.statemachine import (
    PORTUGUESE,
    Conversation,
    Exchange,
    Limits,
    LoopOptions,
    Media,
    ModelRequest,
    ModelTurn,
    Origin,
    Outcome,
    Part,
    RunStatus,
    Status,
    Stop,
    Text,
    ToolLoop,
    ToolRequest,
    Watch,
)
from rodada.statemachine.drivers.background import background_loop
from rodada.statemachine.errors import InvalidValue, NotSupported, RunningLoop
from rodada.tools import tool
from support.held import HeldTool


class Recorded:
    """
    A model that answers with the number of its call and keeps what it was asked.
    """

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.threads: set[int] = set()
        self.closed = 0

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        self.requests.append(request)
        self.threads.add(threading.get_ident())
        return ModelTurn(Stop.WHOLE, f"answer {len(self.requests)}")

    async def aclose(self) -> None:
        self.closed += 1


def test_a_conversation_goes_on_from_outcome_to_run() -> None:
    async def scene() -> Outcome:
        loop = ToolLoop(Recorded())
        first = await loop.run("one")
        return await loop.run("two", conversation=first.conversation)

    outcome = asyncio.run(scene())
    assert 4 == len(outcome.conversation.entries)
    assert 2 == len(outcome.appended)
    assert "answer 2" == outcome.answer


def test_f083_nothing_that_is_passed_in_is_changed() -> None:
    tool, context = HeldTool("a"), {"user": ["ana"]}
    conversation, tools, message = Conversation("c"), [tool], [Text("one "), Text("two")]

    ToolLoop(Recorded(), tools=tools).run_sync(message, conversation=conversation, tools=tools, context=context)

    assert (Conversation("c"), [tool]) == (conversation, tools)
    assert ([Text("one "), Text("two")], {"user": ["ana"]}) == (message, context)


def test_what_is_given_for_one_run_holds_for_that_run_only() -> None:
    async def scene() -> Recorded:
        model = Recorded()
        loop = ToolLoop(model, tools=[HeldTool("a")], instructions="of the loop")
        await loop.run("one", instructions="of the run", tools=[HeldTool("b")], origin=Origin(tenant="t"))
        await loop.run("two")
        return model

    model = asyncio.run(scene())
    assert ["of the run", "of the loop"] == [request.instructions for request in model.requests]
    assert [["b"], ["a"]] == [[tool.name for tool in request.tools] for request in model.requests]


def test_a_message_is_text_or_parts() -> None:
    outcome = ToolLoop(Recorded()).run_sync([Text("one "), Text("two")])
    assert "one two" == outcome.appended[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ([Text("see "), Media.of(b"a", "image/png")], (Text("see "), Media.of(b"a", "image/png"))),
        ([Media.of(b"a", "image/png")], (Media.of(b"a", "image/png"),)),
        (Media.of(b"a", "image/png"), (Media.of(b"a", "image/png"),)),
        (Text("one"), (Text("one"),)),
    ],
)
def test_a_message_may_hold_media_or_be_one(message: list[Part], told: tuple[Part, ...]) -> None:
    outcome = ToolLoop(Recorded()).run_sync(message)
    assert told == outcome.appended[0].content  # type: ignore[union-attr]


@pytest.mark.parametrize("message", [["text"], [b"a"], None, 7, [Text("a"), None]])
def test_a_message_of_other_things_is_refused(message: list[Part]) -> None:
    with pytest.raises(
        InvalidValue, match=r"^message: takes text, or parts such as Text\('...'\) and Media\.from_path"
    ):
        ToolLoop(Recorded()).start(message)


def test_a_message_without_parts_is_refused() -> None:
    with pytest.raises(InvalidValue, match="a message must say something"):
        ToolLoop(Recorded()).start([])


def test_evolve_gives_a_new_loop() -> None:
    loop = ToolLoop(Recorded(), instructions="old")
    assert ("old", "new") == (loop.instructions, loop.evolve(instructions="new").instructions)


def test_whatever_a_loop_has_may_differ_in_another_one() -> None:
    assert [field.name for field in fields(ToolLoop) if field.init] == [*LoopOptions.__annotations__, "output_type"]


def test_the_selection_is_on_the_outcome() -> None:
    async def scene() -> Outcome:
        loop = ToolLoop(Recorded(), limits=Limits(history_messages=2))
        outcome = await loop.run("one")
        for text in ("two", "three"):
            outcome = await loop.run(text, conversation=outcome.conversation)
        return outcome

    assert (2, 2) == (asyncio.run(scene()).selection.first, asyncio.run(scene()).selection.left_out)


def test_the_host_language_is_spoken() -> None:
    class AsksOn:
        async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
            if not request.tools_allowed:
                return ModelTurn(Stop.WHOLE, "")
            return ModelTurn(Stop.WHOLE, "", (ToolRequest(request.request_ids((None,))[0], "nosuch", "{}"),))

    outcome = ToolLoop(AsksOn(), limits=Limits(max_rounds=0), wording=PORTUGUESE).run_sync("olá")
    assert "Tive de parar" in outcome.answer
    assert "Não foi feito: nosuch." in outcome.answer


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: ToolLoop(Recorded(), stream=True), NotSupported, "cannot stream; its turns come whole"),
        (lambda: ToolLoop(Recorded()).start("x", stream=True), NotSupported, "cannot stream; its turns come whole"),
        (lambda: ToolLoop("a model"), InvalidValue, "has no `ask`"),  # type: ignore[arg-type]
        (lambda: ToolLoop(Recorded), InvalidValue, "has no `ask` to call"),  # type: ignore[arg-type]
        (lambda: ToolLoop(Recorded(), tools=HeldTool("a")), InvalidValue, "give a list"),  # type: ignore[arg-type]
        (lambda: ToolLoop(Recorded()).start("x", limit=1), InvalidValue, "^option 'limit': no run has it"),  # type: ignore[call-overload]
        (lambda: ToolLoop(Recorded(), tools=[HeldTool("a"), HeldTool("a")]), InvalidValue, "both named 'a'"),
        (lambda: ToolLoop(Recorded(), tools=[print]), InvalidValue, "is no tool"),  # type: ignore[list-item]
        (lambda: ToolLoop(Recorded()).start("   "), InvalidValue, "must say something"),
        (lambda: ToolLoop(Recorded(), tools=5), InvalidValue, "tools: takes a Iterable, got a int"),  # type: ignore[arg-type]
        (lambda: ToolLoop(Recorded(), limits=5), InvalidValue, "takes a Limits, got a int"),  # type: ignore[arg-type]
        (lambda: ToolLoop(Recorded(), wording="en"), InvalidValue, "takes a Wording"),  # type: ignore[arg-type]
        (lambda: ToolLoop(Recorded(), history=5), InvalidValue, "has no `append`"),  # type: ignore[arg-type]
    ],
)
def test_wrong_use_is_refused_by_name(make: object, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make()  # type: ignore[operator]


def test_run_sync_uses_one_loop_for_the_whole_process() -> None:
    model = Recorded()
    loop = ToolLoop(model)
    threads = [threading.Thread(target=lambda: [loop.run_sync("hello") for _ in range(3)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 12 == len(model.requests)
    assert 1 == len(model.threads)
    assert threading.get_ident() not in model.threads


def test_run_sync_inside_a_running_loop_names_the_way_out() -> None:
    async def scene() -> None:
        ToolLoop(Recorded()).run_sync("hello")

    with pytest.raises(RunningLoop, match=r"await loop\.run"):
        asyncio.run(scene())


def test_closing_a_loop_closes_what_its_provider_made() -> None:
    async def scene() -> Recorded:
        model = Recorded()
        async with ToolLoop(model) as loop:
            assert RunStatus.COMPLETED is (await loop.run("hello")).status
        return model

    assert 1 == asyncio.run(scene()).closed


def test_a_sync_host_closes_what_run_sync_made() -> None:
    model = Recorded()
    with ToolLoop(model) as loop:
        loop.run_sync("hello")

    assert 1 == model.closed


def test_parallel_warns_of_tools_that_say_nothing_and_names_them() -> None:
    with pytest.warns(UserWarning, match="parallel=True, but a say neither reads= nor writes="):
        ToolLoop(Recorded(), tools=[HeldTool("a", declared=False), HeldTool("b")], parallel=True)


@pytest.mark.parametrize("leaving", [SystemExit, KeyboardInterrupt, GeneratorExit])
@pytest.mark.parametrize("is_async", [True, False])
def test_f078_a_tool_that_wants_to_leave_fails_its_call_and_harms_no_other_run(
    leaving: type[BaseException], is_async: bool
) -> None:
    def leave() -> None:
        raise leaving

    async def leave_async() -> None:
        raise leaving

    model = Calls("leave")
    loop = ToolLoop(model, tools=[tool(name="leave")(leave_async if is_async else leave)])
    outcomes = [loop.run_sync("hello"), loop.run_sync("again")]

    assert [[Status.FAILED]] * 2 == [[call.status for call in outcome.calls] for outcome in outcomes]


class Calls:
    """
    A model that asks for one tool, and then answers.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        if request.conversation.last is not None and isinstance(request.conversation.last, Exchange):
            return ModelTurn(Stop.WHOLE, "done")
        return ModelTurn(Stop.WHOLE, "", (ToolRequest(request.request_ids((None,))[0], self._name, "{}"),))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"conversation": {}}, "conversation: takes a Conversation, got a dict"),
        ({"limits": 5}, "limits: takes a Limits, got a int"),
        ({"origin": "me"}, "origin: takes a Origin, got a str"),
        ({"instructions": 5}, "instructions: takes a str, got a int"),
    ],
)
def test_an_option_of_the_wrong_kind_is_refused_by_name(options: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        ToolLoop(Recorded()).start("hello", **options)


@pytest.mark.parametrize("message", [None, 5, b"hi", ["hi"]])
def test_a_message_of_the_wrong_kind_is_refused(message: Any) -> None:
    with pytest.raises(InvalidValue, match="takes text, or parts"):
        ToolLoop(Recorded()).start(message)


@pytest.mark.parametrize("leaving", [SystemExit, KeyboardInterrupt])
def test_f078_a_task_that_a_tool_left_behind_cannot_end_the_loop_of_every_run(leaving: type[BaseException]) -> None:
    async def leave() -> None:
        raise leaving

    left: list[asyncio.Task[None]] = []

    @tool
    async def spawn() -> str:
        left.append(asyncio.ensure_future(leave()))
        await asyncio.sleep(0)
        return "fine"

    before = background_loop()
    outcome = ToolLoop(Calls("spawn"), tools=[spawn]).run_sync("hello")
    assert ["fine"] == [call.text for call in outcome.calls]
    assert leaving is type(left[0].exception())
    assert before is background_loop()


def test_a_tool_that_stops_the_loop_of_every_run_stops_nobody() -> None:
    @tool
    async def stop() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return "fine"

    outcome = ToolLoop(Calls("stop"), tools=[stop]).run_sync("hello")
    assert ["fine"] == [call.text for call in outcome.calls]
