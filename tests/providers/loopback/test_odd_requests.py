"""
However odd a request is, it gets an answer in the vendor's form: no rule stumbles over a value it did not expect.
"""

import copy
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rodada.providers.loopback import Body, Loopback, Received, Reply
from support.loopback_client import HEADERS, Client, Json, client

ANTHROPIC_TURN: Json = {
    "type": "message",
    "stop_reason": "tool_use",
    "content": [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "text", "text": "Hm."},
        {"type": "tool_use", "id": "a", "name": "add", "input": {"a": 1}},
    ],
}
ANTHROPIC: Json = {
    "model": "claude-opus-5-5",
    "max_tokens": 2000,
    "system": [{"type": "text", "text": "You count.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "add", "strict": True, "input_schema": {"type": "object", "additionalProperties": False}}],
    "tool_choice": {"type": "auto"},
    "thinking": {"type": "adaptive"},
    "messages": [
        {"role": "user", "content": "How much?"},
        {"role": "assistant", "content": ANTHROPIC_TURN["content"]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "1"}]}],
        },
        {"role": "system", "content": "Stop."},
    ],
}
OPENAI_TURN: Json = {
    "output": [
        {"type": "reasoning", "id": "rs_a", "summary": [], "encrypted_content": "e"},
        {"type": "message", "id": "msg_a", "role": "assistant", "content": [{"type": "output_text", "text": "Hm."}]},
        {"type": "function_call", "id": "fc_a", "call_id": "a", "name": "add", "arguments": "{}"},
    ]
}
OPENAI: Json = {
    "model": "gpt-5.6",
    "store": False,
    "reasoning": {"effort": "low"},
    "metadata": {"a": "b"},
    "tools": [
        {
            "type": "function",
            "name": "add",
            "strict": True,
            "parameters": {
                "type": "object",
                "additionalProperties": False,
                "required": ["a"],
                "properties": {"a": {"anyOf": [{"type": "array", "items": {"type": "string"}}]}},
            },
        }
    ],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "add"}]},
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "How much?"}]},
        *OPENAI_TURN["output"],
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ],
}
CHAT_TURN: Json = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": "Hm.",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{}"}}],
            }
        }
    ]
}
CHAT: Json = {
    "model": "gpt-4.1",
    "metadata": {"a": "b"},
    "max_completion_tokens": 99,
    "reasoning_effort": "low",
    "tools": [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}],
    "tool_choice": {"type": "function", "function": {"name": "add"}},
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "How much?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}},
            ],
        },
        CHAT_TURN["choices"][0]["message"],
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ],
}
GOOGLE_TURN: Json = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Hm."},
                    {"functionCall": {"id": "a", "name": "add", "args": {}}, "thoughtSignature": "AAAA"},
                ],
            }
        }
    ]
}
GOOGLE: Json = {
    "systemInstruction": {"parts": [{"text": "You count."}]},
    "generationConfig": {"maxOutputTokens": 500, "thinkingConfig": {"includeThoughts": True}},
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "add",
                    "parameters_json_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}},
                },
                {"name": "save", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}},
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add"]}},
    "contents": [
        {"role": "user", "parts": [{"text": "How much?"}]},
        GOOGLE_TURN["candidates"][0]["content"],
        {"role": "user", "parts": [{"functionResponse": {"id": "a", "name": "add", "response": {"output": [1]}}}]},
    ],
}
CASES = {
    "anthropic": ("/v1/messages", ANTHROPIC_TURN, ANTHROPIC),
    "openai": ("/v1/responses", OPENAI_TURN, OPENAI),
    "openai_chat": ("/v1/chat/completions", CHAT_TURN, CHAT),
    "google": ("/v1beta/models/gemini-3.6-flash:generateContent", GOOGLE_TURN, GOOGLE),
}
GONE = object()
ODD: list[object] = [
    GONE,
    None,
    True,
    0,
    -1,
    1.5,
    "",
    " ",
    "x",
    "a",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"type": "text"},
    {"type": []},
    ["a"],
]


def always(reply: Reply) -> Callable[[Received], Reply]:
    return lambda received: reply


@pytest.fixture(scope="module")
def clients() -> Generator[dict[str, Client]]:
    """
    A client for each wire, whose server has sent the turn that stands in the request.
    """
    with ExitStack() as stack:
        made: dict[str, Client] = {}
        for wire, (path, turn, _) in CASES.items():
            server = stack.enter_context(Loopback(always(Body(turn))))
            made[wire] = stack.enter_context(client(server, path, HEADERS[wire]))
        yield made


@pytest.mark.parametrize("wire", CASES)
def test_the_request_itself_is_accepted(clients: dict[str, Client], wire: str) -> None:
    first = clients[wire].post(start(CASES[wire][2]))
    assert (first.status, first.body.get("error")) == (200, None)
    assert clients[wire].post(CASES[wire][2]).body == CASES[wire][1]


@settings(
    max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
@pytest.mark.parametrize("wire", CASES)
def test_an_odd_value_anywhere_is_judged(clients: dict[str, Client], wire: str, data: st.DataObject) -> None:
    body = copy.deepcopy(CASES[wire][2])
    for _ in range(data.draw(st.integers(1, 2))):
        spots = list(places(body))
        if spots:
            holder, key = spots[data.draw(st.integers(0, len(spots) - 1))]
            change(holder, key, data.draw(st.sampled_from(ODD)))
    reaction = clients[wire].post(body)
    assert reaction.status in (200, 400, 404)
    assert reaction.status == 200 or reaction.body["error"]["message"]


def start(body: Json) -> Json:
    """
    The request before the turn.
    """
    key = next(key for key in ("messages", "input", "contents") if key in body)
    return {**body, key: body[key][:1]}


def places(value: object) -> Iterator[tuple[Any, Any]]:
    """
    Every member of every object and list in the value.
    """
    if isinstance(value, dict):
        pairs: list[tuple[object, object]] = list(cast(dict[object, object], value).items())
    elif isinstance(value, list):
        pairs = list(enumerate(cast(list[object], value)))
    else:
        return
    for key, inner in pairs:
        yield value, key
        yield from places(inner)


def change(holder: Any, key: Any, odd: object) -> None:
    if odd is GONE:
        del holder[key]
    else:
        holder[key] = copy.deepcopy(odd)
