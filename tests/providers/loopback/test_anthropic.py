"""
The Anthropic wire: what it renders, and what it refuses.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import cast

import pytest
from attrs import evolve

from rodada.providers.loopback import Body, Call, Failure, Loopback, Received, Reply, Script, Turn, Usage
from rodada.providers.loopback.json_values import Object, objs
from support.loopback_client import HEADERS, Break, Client, Json, Reaction, broken, client

MODEL = "claude-opus-5-5"
TOOLS = [
    {
        "name": name,
        "description": "Adds.",
        "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
    }
    for name in ("add", "save")
]


def tool_loop(received: Received) -> Reply:
    """
    Two calls after the first user message, one after the second, else an answer.
    """
    messages = objs(received.body.get("messages"))
    if len(messages) == 1:
        return Turn("Let me see.", [Call("add", {"a": 1}), Call("save", {})], reasoning=True)
    return Turn("", [Call("add", {"a": 2})], reasoning=True) if len(messages) == 3 else Turn("Done.")


def results(turn: Object) -> Json:
    """
    The user message that answers a turn.
    """
    calls = [block for block in objs(turn["content"]) if block["type"] == "tool_use"]
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "ok"} for call in calls],
    }


def play(one: Client, first: Json, rounds: int = 2) -> Json:
    """
    A request after so many rounds of tools, each turn sent back as it came.
    """
    body = broken(first, lambda _: None)
    for _ in range(rounds):
        turn = one.post(body).body
        body["messages"] += [{"role": "assistant", "content": turn["content"]}, results(turn)]
    return body


FIRST: Json = {
    "model": MODEL,
    "max_tokens": 2000,
    "system": "You count.",
    "tools": TOOLS,
    "tool_choice": {"type": "auto"},
    "messages": [{"role": "user", "content": "How much?"}],
}


@contextmanager
def serving(script: Script) -> Generator[Client]:
    with Loopback(script) as server, client(server, "/v1/messages", HEADERS["anthropic"]) as one:
        yield one


@pytest.fixture(scope="module")
def wire() -> Generator[Client]:
    with serving(tool_loop) as one:
        yield one


@pytest.fixture(scope="module")
def valid(wire: Client) -> Json:
    """
    A request of two rounds: user, turn of two calls, results, turn of one call, result.
    """
    return play(wire, FIRST)


def message(at: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["messages"][at])


def block(at: int, index: int) -> Callable[[Json], Json]:
    return lambda body: cast(Json, body["messages"][at]["content"][index])


def put(where: Callable[[Json], Json], **fields: object) -> Break:
    return lambda body: where(body).update(fields)


def cut(at: int, index: int | slice) -> Break:
    def change(body: Json) -> None:
        del body["messages"][at]["content"][index]

    return change


def insert(at: int, index: int, made: object) -> Break:
    return lambda body: body["messages"][at]["content"].insert(index, made)


def insert_message(at: int, made: object) -> Break:
    return lambda body: body["messages"].insert(at, made)


def top(**fields: object) -> Break:
    return lambda body: body.update(fields)


def without(*keys: str) -> Break:
    def change(body: Json) -> None:
        for key in keys:
            del body[key]

    return change


def tool(**fields: object) -> Break:
    return lambda body: body["tools"][0].update(fields)


def same_id_twice(body: Json) -> None:
    again = body["messages"][1]["content"][-1]["id"]
    body["messages"][3]["content"][-1]["id"] = again
    body["messages"][4]["content"][0]["tool_use_id"] = again


def split_results(body: Json) -> None:
    first, second = body["messages"][2]["content"]
    body["messages"][2:3] = [{"role": "user", "content": [first]}, {"role": "user", "content": [second]}]


def results_swapped(body: Json) -> None:
    body["messages"][2]["content"].reverse()


def thoughts_swapped(body: Json) -> None:
    first, second = body["messages"][1]["content"][0], body["messages"][3]["content"][0]
    body["messages"][1]["content"][0], body["messages"][3]["content"][0] = second, first


def thought_after_text(body: Json) -> None:
    content = body["messages"][1]["content"]
    content.insert(3, content.pop(0))


def result_twice(body: Json) -> None:
    body["messages"][4]["content"].append(dict(body["messages"][4]["content"][0]))


def old_model(model: str, *changes: Break) -> Break:
    """
    The changes, on a model that binds no thinking.
    """

    def change(body: Json) -> None:
        body["model"] = model
        for each in changes:
            each(body)

    return change


def both(*changes: Break) -> Break:
    def change(body: Json) -> None:
        for each in changes:
            each(body)

    return change


def pending_server_tool(body: Json) -> None:
    search: Json = {"type": "server_tool_use", "id": "srvtoolu_x", "name": "web_search", "input": {}}
    body["messages"][3]["content"].insert(1, search)
    body["messages"][4]["content"].append(TEXT)


TEXT = {"type": "text", "text": "By the way."}
SYSTEM = {"role": "system", "content": "Stop."}
MARK = {"type": "ephemeral"}

CALL: Json = {"type": "tool_use", "id": "toolu_x", "name": "add", "input": {}}
IMAGE: Json = {"type": "image", "source": {}}
CITED: Json = {**TEXT, "citations": []}


def marks(body: Json) -> None:
    body["cache_control"] = MARK
    for each in body["tools"]:
        each["cache_control"] = MARK
    body["system"] = [{**TEXT, "text": "You count.", "cache_control": MARK}]


def own(kind: object, name: str = "web_search") -> Break:
    return lambda body: body["tools"].append({"type": kind, "name": name})


REFUSED: list[tuple[str, Break, str]] = [
    # tools of the vendor's own
    ("a type that no tool has", own("web_searching"), "tools.2: Input tag 'web_searching' found using 'type'"),
    ("another name than its own", own("web_search_20260318", "web"), "name: Input should be 'web_search'"),
    (
        "a result that nothing asked for",
        insert(3, 1, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_x", "content": []}),
        "unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_x",
    ),
    # requests and results
    ("open call", cut(4, 0), "messages.4: all messages must have non-empty content"),
    ("open call of two", cut(2, 1), "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_"),
    (
        "orphan",
        put(block(4, 0), tool_use_id="toolu_alien"),
        "were found without `tool_result` blocks immediately after",
    ),
    ("orphan beside the result", insert(4, 1, {"type": "tool_result", "tool_use_id": "x", "content": "ok"}), "x. Each"),
    ("doubled call", same_id_twice, "`tool_use` ids must be unique"),
    ("doubled result", result_twice, "each tool_use must have a single result"),
    ("results split", split_results, "`tool_use` ids were found without `tool_result` blocks immediately after"),
    ("text before results", insert(2, 0, TEXT), "`tool_result` blocks must come before any other content"),
    ("text among results", insert(2, 1, TEXT), "`tool_result` blocks must come before any other content"),
    ("message between", insert_message(2, {"role": "user", "content": "hm"}), "immediately after: toolu_"),
    ("system message between", insert_message(2, SYSTEM), "immediately after: toolu_"),
    ("turn dropped", lambda body: body["messages"].pop(1), "unexpected `tool_use_id`"),
    ("results dropped", lambda body: body["messages"].pop(2), "`tool_use` ids were found without"),
    # the order of messages
    ("assistant first", insert_message(0, {"role": "assistant", "content": "hm"}), 'must use the "user" role'),
    ("system first", insert_message(0, SYSTEM), 'must use the "user" role'),
    (
        "prefill ending in a blank",
        old_model("claude-opus-4-5", insert_message(5, {"role": "assistant", "content": "So "})),
        "final assistant content cannot end with trailing whitespace",
    ),
    (
        "system after the assistant",
        old_model(
            "claude-opus-5",
            insert_message(5, {"role": "user", "content": "And now?"}),
            insert_message(6, {"role": "assistant", "content": "So"}),
            insert_message(7, SYSTEM),
            insert_message(8, {"role": "assistant", "content": "So"}),
            insert_message(9, {"role": "user", "content": "Go on."}),
        ),
        "messages.7: a system message must follow a user message",
    ),
    ("text beside results of a pending server tool", pending_server_tool, "only `tool_result` blocks may answer"),
    (
        "prefill",
        insert_message(5, {"role": "assistant", "content": "So"}),
        "does not support assistant message prefill",
    ),
    ("system, then user", lambda body: body["messages"].extend([SYSTEM, FIRST["messages"][0]]), "must precede"),
    ("system role unknown", old_model("claude-sonnet-5", insert_message(5, SYSTEM)), "role 'system' is not supported"),
    # thinking
    ("thinking dropped", cut(3, 0), "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
    ("thinking dropped, unbound", old_model("claude-opus-5", cut(1, 0)), "Expected `thinking`"),
    ("thinking altered", put(block(1, 0), thinking="Aha."), "cannot be modified"),
    ("signature altered", put(block(1, 0), signature="c2lnbmF0dXJl"), "Invalid `signature` in `thinking` block"),
    ("thinking swapped", thoughts_swapped, "Expected `thinking`"),
    ("thinking moved", thought_after_text, "cannot be modified"),
    ("system prompt changed", top(system="You count well."), "messages.1.content.0: this `thinking` block is bound to"),
    (
        "tool added",
        lambda body: body["tools"].append({**TOOLS[0], "name": "more"}),
        "bound to a different conversation",
    ),
    ("tools reordered", lambda body: body["tools"].reverse(), "bound to a different conversation"),
    ("earlier message changed", put(message(0), content="How many?"), "bound to a different conversation"),
    ("results reordered", results_swapped, "messages.3.content.0: this `thinking` block is bound to"),
    # the parameter thinking
    (
        "thinking not of this model",
        old_model("claude-opus-5", top(thinking={"type": "between_tools"})),
        '"thinking.type.between_tools" is not supported for this model.',
    ),
    (
        "thinking with a budget of the wrong type",
        top(thinking={"type": "adaptive", "budget_tokens": 1024}),
        "thinking.adaptive.budget_tokens: Extra inputs are not permitted",
    ),
    (
        "budget missing",
        old_model("claude-opus-4-6", top(thinking={"type": "enabled"})),
        "thinking.enabled.budget_tokens: Field required",
    ),
    (
        "budget small",
        old_model("claude-opus-4-6", top(thinking={"type": "enabled", "budget_tokens": 1000})),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    (
        "budget beyond max_tokens",
        old_model("claude-opus-4-6", top(thinking={"type": "enabled", "budget_tokens": 2000})),
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    (
        "thinking with a forced tool",
        old_model(
            "claude-opus-4-5", top(thinking={"type": "enabled", "budget_tokens": 1024}, tool_choice={"type": "any"})
        ),
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    # parameters
    (
        "warming with a format",
        top(max_tokens=0, output_config={"format": {"type": "json_schema", "schema": {}}}),
        "max_tokens: 0 cannot be combined",
    ),
    ("caller null", put(block(3, 1), caller=None), "tool_use.caller: Input should be a valid dictionary"),
    ("model empty", top(model=""), "model: Input should be a valid string"),
    ("max_tokens negative", top(max_tokens=-1), "max_tokens: Input should be greater than or equal to 0"),
    ("system a number", top(system=1), "system: Input should be a valid string or a valid list"),
    ("system block empty", top(system=[{"type": "text", "text": ""}]), "system: text content blocks must be non-empty"),
    ("system of an image", top(system=[IMAGE]), "`image` blocks can only be in"),
    ("marker unknown", top(cache_control={"type": "forever"}), "cache_control.type: Input should be 'ephemeral'"),
    ("marker for an hour and a half", top(cache_control={**MARK, "ttl": "90m"}), "ttl: Input should be '5m' or '1h'"),
    ("max_tokens missing", without("max_tokens"), "max_tokens: Field required"),
    ("model missing", without("model"), "model: Field required"),
    ("messages empty", top(messages=[]), "messages: at least one message is required"),
    ("messages no list", top(messages="hi"), "messages: Input should be a valid list"),
    ("max_tokens a string", top(max_tokens="many"), "max_tokens: Input should be a valid integer"),
    ("unknown parameter", top(rounds=3), "rounds: Extra inputs are not permitted"),
    ("temperature", top(temperature=0.2), "temperature: Extra inputs are not permitted"),
    ("unknown metadata", top(metadata={"run": "1"}), "metadata.run: Extra inputs are not permitted"),
    ("unknown effort", top(output_config={"effort": "huge"}), "output_config.effort: Input should be"),
    ("stream", top(stream="yes"), "stream: Input should be a valid boolean"),
    ("manual thinking", top(thinking={"type": "enabled", "budget_tokens": 1024}), "is not supported for this model"),
    (
        "too many markers",
        both(put(block(4, 0), cache_control=MARK), marks),
        "A maximum of 4 blocks",
    ),
    # content
    ("message no object", insert_message(5, "hi"), "messages.5: Input should be a valid dictionary"),
    ("content missing", lambda body: body["messages"][0].pop("content"), "messages.0.content: Field required"),
    ("block no object", insert(4, 1, "hi"), "messages.4.content.1: Input should be a valid dictionary"),
    ("role unknown", put(message(0), role="tool"), "messages.0.role: Input should be"),
    ("unknown message key", put(message(0), name="ana"), "messages.0.name: Extra inputs are not permitted"),
    (
        "content null",
        put(message(0), content=None),
        "messages.0.content: Input should be a valid string or a valid list",
    ),
    ("content empty", put(message(0), content=[]), "messages.0: all messages must have non-empty content"),
    ("content an empty string", put(message(0), content=""), "messages.0: all messages must have non-empty content"),
    ("text empty", insert(2, 2, {"type": "text", "text": ""}), "text content blocks must be non-empty"),
    ("text blank", put(message(0), content=" \n"), "text content blocks must contain non-whitespace text"),
    ("unknown block key", put(block(4, 0), status="ok"), "messages.4.content.0.tool_result.status: Extra inputs"),
    ("unknown block key in a turn", put(block(3, 1), index=0), "messages.3.content.1.tool_use.index: Extra inputs"),
    ("unknown block type", insert(2, 2, {"type": "note"}), "Input tag 'note' found using 'type' does not match"),
    (
        "block of the wrong role",
        put(message(0), content=[CALL]),
        "`tool_use` blocks can only be in `assistant` messages",
    ),
    ("citations of the user", put(message(0), content=[CITED]), "citations: Extra inputs"),
    ("input a string", put(block(3, 1), input="{}"), "tool_use.input: Input should be a valid dictionary"),
    ("id illegal", put(block(3, 1), id="functions.add:0"), "tool_use.id: String should match pattern"),
    ("name illegal", put(block(3, 1), name="functions.add"), "tool_use.name: String should match pattern"),
    ("result content null", put(block(4, 0), content=None), "tool_result.content: Input should be a valid string"),
    ("result text empty", put(block(4, 0), content=[{"type": "text", "text": ""}]), "must be non-empty"),
    (
        "error without content",
        put(block(4, 0), content="", is_error=True),
        "content cannot be empty if `is_error` is true",
    ),
    ("is_error a string", put(block(4, 0), is_error="yes"), "tool_result.is_error: Input should be a valid boolean"),
    # tools
    ("tools an object", top(tools={}), "tools: Input should be a valid list"),
    ("tool no object", top(tools=["add"]), "tools.0: Input should be a valid dictionary"),
    ("description a number", tool(description=1), "tools.0.custom.description: Input should be a valid string"),
    (
        "schema missing",
        lambda body: body["tools"][0].pop("input_schema"),
        "tools.0.custom.input_schema: Field required",
    ),
    ("schema null", tool(input_schema=None), "tools.0.custom.input_schema: Input should be a valid dictionary"),
    (
        "strict schema with a limit",
        tool(
            strict=True,
            input_schema={
                "type": "object",
                "additionalProperties": False,
                "properties": {"a": {"type": "integer", "minimum": 1}},
            },
        ),
        "For 'integer' type, properties minimum are not supported",
    ),
    ("choice without tools", without("tools"), "tool_choice may only be specified while providing tools"),
    (
        "choice none without tools",
        both(without("tools"), top(tool_choice={"type": "none"})),
        "tool_choice",
    ),
    ("choice with empty tools", top(tools=[]), "tool_choice may only be specified while providing tools"),
    (
        "choice none with keys",
        top(tool_choice={"type": "none", "disable_parallel_tool_use": True}),
        "tool_choice.none.disable",
    ),
    ("choice unknown", top(tool_choice={"type": "required"}), "Input tag 'required' found"),
    ("choice forced", top(tool_choice={"type": "any"}), "tool_choice: type 'any' is not supported by this model"),
    (
        "choice of no tool",
        old_model("claude-opus-5", top(tool_choice={"type": "tool", "name": "x"})),
        "Tool 'x' not found",
    ),
    ("tool names twice", tool(name="save"), "tools: Tool names must be unique"),
    ("tool name illegal", tool(name="add.numbers"), "tools.0.custom.name: String should match pattern"),
    ("tool key unknown", tool(parameters={}), "tools.0.custom.parameters: Extra inputs are not permitted"),
    ("schema without type", tool(input_schema={}), "tools.0.custom.input_schema.type: Field required"),
    ("schema of an array", tool(input_schema={"type": "array"}), "input_schema.type: Input should be 'object'"),
    ("schema a union", tool(input_schema={"type": "object", "anyOf": []}), "does not support oneOf, allOf, or anyOf"),
    ("strict schema open", tool(strict=True), "'additionalProperties' must be explicitly set to false"),
]


@pytest.mark.parametrize(("change", "said"), [pytest.param(*case[1:], id=case[0]) for case in REFUSED])
def test_what_the_vendor_refuses_is_refused(wire: Client, valid: Json, change: Break, said: str) -> None:
    assert wire.post(valid).status == 200
    reaction = wire.post(broken(valid, change))
    assert reaction.status == 400
    assert (reaction.body["type"], reaction.body["error"]["type"]) == ("error", "invalid_request_error")
    assert said in reaction.body["error"]["message"]
    assert reaction.body["request_id"] == reaction.headers["request-id"]


ACCEPTED: list[tuple[str, Break]] = [
    ("guidance as a system message", insert_message(5, SYSTEM)),
    ("tools withheld", top(tool_choice={"type": "none"})),
    ("no room, to warm the cache", top(max_tokens=0)),
    ("more room", top(max_tokens=9000)),
    ("markers", both(marks, lambda body: body["tools"][0].pop("cache_control"))),
    ("text after results", insert(4, 1, TEXT)),
    ("results in blocks", put(block(4, 0), content=[TEXT])),
    ("a result without content", lambda body: body["messages"][4]["content"][0].pop("content")),
    ("a result said to be no error", put(block(2, 0), is_error=False)),
    ("an error", put(block(4, 0), content="no", is_error=True)),
    ("the prompt in blocks", top(system=[{**TEXT, "text": "You count."}])),
    ("a new message, old thinking kept", insert_message(5, {"role": "user", "content": "And now?"})),
    (
        "a new message, old thinking stripped",
        both(cut(1, 0), cut(3, 0), insert_message(5, {"role": "user", "content": "And now?"})),
    ),
    (
        "a new message, the oldest thinking stripped",
        both(cut(1, 0), insert_message(5, {"role": "user", "content": "And now?"})),
    ),
    ("another prompt on a model that binds nothing", old_model("claude-opus-5", top(system="You count well."))),
    (
        "a prefill on an old model",
        old_model("claude-sonnet-4-5", insert_message(5, {"role": "assistant", "content": "So"})),
    ),
]


@pytest.mark.parametrize(
    ("model", "kinds"),
    [
        ("claude-opus-5-5", ["adaptive"]),
        ("claude-fable-5-1", ["adaptive"]),
        ("claude-sonnet-5-5", ["adaptive", "between_tools"]),
        ("claude-haiku-5-5", ["adaptive", "disabled", "between_tools"]),
        ("claude-opus-5", ["adaptive", "disabled"]),
        ("claude-opus-4-6-20260205", ["adaptive", "enabled", "disabled"]),
        ("claude-opus-4-5", ["enabled", "disabled"]),
        ("claude-sonnet-4-20250514", ["enabled", "disabled"]),
        ("claude-3-5-sonnet-latest", ["enabled", "disabled"]),
    ],
)
def test_each_model_has_its_kinds_of_thinking(wire: Client, model: str, kinds: list[str]) -> None:
    asked: list[Json] = [{"type": "adaptive"}, {"type": "enabled", "budget_tokens": 1024}]
    asked += [{"type": "disabled"}, {"type": "between_tools"}]
    answers = {each["type"]: wire.post({**FIRST, "model": model, "thinking": each}).status for each in asked}
    assert [kind for kind, status in answers.items() if status == 200] == kinds


@pytest.mark.parametrize("change", [pytest.param(case[1], id=case[0]) for case in ACCEPTED])
def test_what_the_vendor_accepts_is_accepted(wire: Client, valid: Json, change: Break) -> None:
    reaction = wire.post(broken(valid, change))
    assert (reaction.status, reaction.body.get("error")) == (200, None)


def test_a_gap_in_the_thinking_is_refused() -> None:
    """
    Three thoughtful turns, the middle one stripped; then a new message, so that no active turn is at stake.
    """
    turn = Turn("", [Call("add")], reasoning=True)
    with serving(lambda received: turn) as one:
        body = play(one, FIRST, rounds=3)
        body["messages"].append({"role": "user", "content": "And now?"})
        assert one.post(body).status == 200
        reaction = one.post(broken(body, cut(3, 0)))
        assert (reaction.status, "messages.5.content.0" in reaction.body["error"]["message"]) == (400, True)


def test_a_server_told_so_accepts_a_loop_stripped_of_all_thinking() -> None:
    stripped = both(cut(1, 0), cut(3, 0))
    with (
        Loopback(tool_loop, stripped_thinking=True) as server,
        client(server, "/v1/messages", HEADERS["anthropic"]) as one,
    ):
        own = play(one, FIRST)
        assert one.post(broken(own, stripped)).status == 200
        assert one.post(broken(own, cut(3, 0))).status == 400
    with serving(tool_loop) as one:
        own = play(one, FIRST)
        assert one.post(broken(own, stripped)).status == 400


def test_manual_thinking_must_begin_a_turn_that_asks() -> None:
    first = {**FIRST, "model": "claude-opus-4-5", "thinking": {"type": "enabled", "budget_tokens": 1024}}
    with serving(lambda received: Turn("", [Call("add")])) as one:
        reaction = one.post(play(one, first, rounds=1))
    assert (reaction.status, "must start with a thinking block" in reaction.body["error"]["message"]) == (400, True)


def test_a_paused_turn_may_be_sent_back_last_and_nothing_else() -> None:
    with serving([Turn("Searching.", stop="paused", reasoning=True), Turn("Found.")]) as one:
        piece = one.post(FIRST).body["content"]
        echo = broken(FIRST, insert_message(1, {"role": "assistant", "content": piece}))
        assert one.post(broken(echo, cut(1, -1))).status == 400
        assert one.post(echo).body["content"] == [{"type": "text", "text": "Found."}]


def test_a_paused_turn_may_come_back_without_its_blank_text() -> None:
    with serving([Turn(" \n", stop="paused"), Turn("Found.")]) as one:
        piece = one.post(FIRST).body["content"]
        assert [block["type"] for block in piece] == ["text", "server_tool_use", "web_search_tool_result"]
        echo = broken(FIRST, insert_message(1, {"role": "assistant", "content": piece}))
        assert "non-whitespace" in one.post(echo).body["error"]["message"]
        assert one.post(broken(echo, cut(1, 0))).body["content"] == [{"type": "text", "text": "Found."}]


def test_a_paused_piece_and_its_end_are_one_turn() -> None:
    """
    The echo may hold both in one message: the second thought was made after the first piece.
    """
    script = [Turn("Hm.", stop="paused", reasoning=True), Turn("", [Call("add")], reasoning=True), Turn("Done.")]
    with serving(script) as one:
        piece = one.post(FIRST).body["content"]
        end = one.post(broken(FIRST, insert_message(1, {"role": "assistant", "content": piece}))).body
        whole = {"role": "assistant", "content": [*piece, *end["content"]]}
        body = broken(FIRST, lambda body: body["messages"].extend([whole, results(end)]))
        assert one.post(body).body["content"] == [{"type": "text", "text": "Done."}]


def test_another_server_knows_the_signatures_of_the_first(valid: Json) -> None:
    with serving([Turn("Done.")]) as one:
        assert one.post(broken(valid, top(system="You count well."))).status == 400
        assert one.post(valid).status == 200


@pytest.mark.parametrize("ids", [("", "a b"), ("again", "again"), ("x" * 65, "fine")])
def test_ids_that_the_wire_refuses_come_back_mended(ids: tuple[str, str]) -> None:
    with serving([Turn("", [Call("add", id=name) for name in ids], reasoning=True), Turn("Done."), Turn()]) as one:
        content = one.post(FIRST).body["content"]
        for at, call in enumerate(content[1:]):
            call["id"] = f"mended-{at}" if call["id"] != "fine" else "fine"
        echo = broken(FIRST, lambda body: body["messages"].append({"role": "assistant", "content": content}))
        echo["messages"].append(results({"content": content}))
        assert one.post(echo).status == 200
        dropped = broken(echo, cut(1, 0))
        assert (one.post(dropped).status == 400) == ("fine" in ids)


def test_an_id_of_a_turn_that_the_client_dropped_may_come_again() -> None:
    script = [
        Turn("", [Call("add", id="again")], reasoning=True),
        Turn("", [Call("add", id=name) for name in ("new", "again", "again")], reasoning=True),
        Turn("Done."),
    ]
    with serving(script) as one:
        one.post(FIRST)
        content = one.post(FIRST).body["content"]
        content[-1]["id"] = "mended"
        echo = broken(FIRST, lambda body: body["messages"].append({"role": "assistant", "content": content}))
        echo["messages"].append(results({"content": content}))
        assert one.post(broken(echo, cut(1, 0))).status == 400
        assert one.post(echo).status == 200


def test_a_ready_body_is_remembered_like_a_turn() -> None:
    content: list[Json] = [
        {"type": "redacted_thinking", "data": "r1"},
        {"type": "thinking", "thinking": "Hm.", "signature": "s1"},
        {**CALL, "id": "t1"},
    ]
    ready: Json = {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}
    with serving(lambda received: Body(ready)) as one:
        body = play(one, FIRST, rounds=1)
        assert one.post(body).status == 200
        assert one.post(broken(body, cut(1, 0))).status == 400
        assert one.post(broken(body, put(block(1, 1), thinking="Ho."))).status == 400


def test_no_credentials() -> None:
    with Loopback([]) as server, client(server, "/v1/messages", {"anthropic-version": "2026-10-21"}) as one:
        reaction = one.post(FIRST)
    assert (reaction.status, reaction.body["error"]["type"]) == (401, "authentication_error")


def test_no_version() -> None:
    with Loopback([]) as server, client(server, "/v1/messages", {"x-api-key": "k"}) as one:
        assert one.post(FIRST).body["error"]["message"] == "anthropic-version: header is required"


def test_an_older_version_knows_temperature(wire: Client) -> None:
    older = evolve(wire, headers={**wire.headers, "anthropic-version": "2023-06-01"})
    assert older.post({**FIRST, "temperature": 0.2}).status == 200


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"max_tokens": NaN}', b'{"model": "\\ud800"}', b"[" * 100_000])
def test_a_body_that_is_no_json_object(wire: Client, raw: bytes) -> None:
    reaction = wire.post(raw)
    assert (reaction.status, reaction.body["error"]["type"]) == (400, "invalid_request_error")


def test_another_method(wire: Client) -> None:
    wire.connection.request("DELETE", wire.path, headers=dict(wire.headers))
    assert wire.receive().status == 405


def test_an_error_code_stands_in_the_details() -> None:
    with serving([Failure(429, "Slow down.", code="ramp_limit_exceeded")]) as one:
        error = one.post(FIRST).body["error"]
    assert error == {
        "type": "rate_limit_error",
        "message": "Slow down.",
        "details": {"error_code": "ramp_limit_exceeded"},
    }


def test_an_unknown_path(wire: Client) -> None:
    reaction = evolve(wire, path="/v1/messages/count").post(FIRST)
    assert (reaction.status, reaction.body["error"]["type"]) == (404, "not_found_error")


def answer(turn: Turn, **changes: object) -> Reaction:
    with serving([turn]) as one:
        return one.post({**FIRST, **changes})


@pytest.mark.parametrize(
    ("turn", "word"),
    [
        (Turn("a"), "end_turn"),
        (Turn("a", [Call("add")]), "tool_use"),
        (Turn("a", [Call("add")], stop="cut"), "max_tokens"),
        (Turn("a", stop="paused"), "pause_turn"),
        (Turn("a", stop="refused"), "refusal"),
        (Turn("a", stop="unknown"), "a_stop_reason_of_tomorrow"),
        (Turn("a", stop="cut", word="model_context_window_exceeded"), "model_context_window_exceeded"),
    ],
)
def test_each_stop_has_its_word(turn: Turn, word: str) -> None:
    assert answer(turn).body["stop_reason"] == word


def test_a_stop_sequence_is_named() -> None:
    body = answer(Turn("a", word="stop_sequence"), stop_sequences=["END"]).body
    assert (body["stop_reason"], body["stop_sequence"]) == ("stop_sequence", "END")


def test_a_refusal_is_explained() -> None:
    details = answer(Turn("No.", stop="refused")).body["stop_details"]
    assert details == {"type": "refusal", "category": "general_harms", "explanation": "No."}


def test_the_whole_message() -> None:
    usage = Usage(input=100, output=30, cached=40, cache_write=10, reasoning=5)
    reaction = answer(Turn("Hm.", [Call("add", {"a": 1}, id="toolu_x")], reasoning=True, usage=usage))
    signature = reaction.body["content"][0]["signature"]
    assert reaction.body == {
        "id": "msg_00000002",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [
            {"type": "thinking", "thinking": "", "signature": signature},
            {"type": "text", "text": "Hm."},
            {"type": "tool_use", "id": "toolu_x", "name": "add", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": None,
        "usage": {
            "input_tokens": 50,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 40,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 30,
            "output_tokens_details": {"thinking_tokens": 5},
            "service_tier": "standard",
        },
    }
    assert reaction.headers["request-id"] == "req_00000003"


def test_older_models_show_their_thinking() -> None:
    content = answer(Turn("Hm.", reasoning=True), model="claude-opus-4-5").body["content"]
    assert content[0]["thinking"] == "Let me think about this."


@pytest.mark.parametrize(("text", "value"), [("", {}), ('{"a": 1}', {"a": 1}), ("[1]", [1]), ("null", None)])
def test_argument_text_is_said_as_a_value(text: str, value: object) -> None:
    assert answer(Turn("", [Call("add", text)])).body["content"][0]["input"] == value


@pytest.mark.parametrize("turn", [Turn("", [Call("add", '{"a": ')]), Turn("", stop="malformed")])
def test_what_the_wire_cannot_say_is_a_fault_of_the_script(turn: Turn) -> None:
    reaction = answer(turn)
    assert reaction.status == 500
    assert "the anthropic wire has no form" in reaction.body["error"]["message"]


# Tools of the vendor's own


OWN: Json = {"type": "web_search_20260318", "name": "web_search", "max_uses": 2}


def kinds(reaction: Reaction) -> list[str]:
    return [each["type"] for each in reaction.body["content"]]


def test_what_the_server_left_open_comes_at_the_head_of_the_next_turn() -> None:
    script = [Turn("Let me.", [Call("add")], search="open"), Turn("Found."), Turn("More.", search="done")]
    with serving(script) as one:
        body: Json = {**FIRST, "tools": [*TOOLS, OWN]}
        first = one.post(body)
        messages = [{"role": "assistant", "content": first.body["content"]}, results(first.body)]
        second = one.post({**body, "messages": [*body["messages"], *messages]})
        third = one.post(body)
    assert [kinds(each) for each in (first, second, third)] == [
        ["text", "server_tool_use", "tool_use"],
        ["web_search_tool_result", "text"],
        ["text", "server_tool_use", "web_search_tool_result"],
    ]
    assert second.body["content"][0]["tool_use_id"] == first.body["content"][1]["id"]


def test_a_search_that_was_not_declared_is_a_fault_of_the_script() -> None:
    with serving([Turn("Hi.", search="done")]) as one:
        assert one.post(FIRST).status == 500
