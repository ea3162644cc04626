"""
The vendors' own SDKs read what the server renders, and their requests are accepted.
"""

import asyncio
from typing import cast

import anthropic
import openai
from google import genai
from google.genai import types
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.responses import Response, ResponseInputItemParam, ToolParam

from rodada.providers.loopback import Call, Loopback, Turn, Usage

SCRIPT = [
    Turn("Let me see.", [Call("add", {"a": 1}), Call("save", {})], reasoning=True, usage=Usage(100, 30, 40, 10, 5)),
    Turn("Done."),
]


def test_anthropic_reads_a_turn_and_sends_it_back() -> None:
    async def talk(server: Loopback) -> tuple[anthropic.types.Message, anthropic.types.Message]:
        url = server.base_url("anthropic")
        async with anthropic.AsyncAnthropic(api_key="sk-x", base_url=url, max_retries=0) as client:
            tools: list[anthropic.types.ToolParam] = [
                {"name": name, "input_schema": {"type": "object"}} for name in ("add", "save")
            ]
            messages: list[anthropic.types.MessageParam] = [{"role": "user", "content": "How much?"}]
            first = await client.messages.create(
                model="claude-opus-5-5", max_tokens=500, tools=tools, messages=messages
            )
            results: list[anthropic.types.ToolResultBlockParam] = [
                {"type": "tool_result", "tool_use_id": block.id, "content": "ok"}
                for block in first.content
                if block.type == "tool_use"
            ]
            messages.append({"role": "assistant", "content": first.content})
            messages.append({"role": "user", "content": results})
            second = await client.messages.create(
                model="claude-opus-5-5", max_tokens=500, tools=tools, messages=messages
            )
            return first, second

    with Loopback(SCRIPT) as server:
        first, second = asyncio.run(talk(server))
        assert server.refusals == ()
    assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert [(each.name, each.input) for each in first.content if each.type == "tool_use"] == [
        ("add", {"a": 1}),
        ("save", {}),
    ]
    assert (first.stop_reason, second.stop_reason) == ("tool_use", "end_turn")
    assert (first.usage.input_tokens, first.usage.cache_read_input_tokens) == (50, 40)


def test_openai_reads_a_turn_and_sends_it_back() -> None:
    async def talk(server: Loopback) -> tuple[Response, Response]:
        url = server.base_url("openai")
        async with openai.AsyncOpenAI(api_key="sk-x", base_url=url, max_retries=0) as client:
            tools: list[ToolParam] = [
                {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}, "strict": False}
                for name in ("add", "save")
            ]
            said: list[ResponseInputItemParam] = [{"role": "user", "content": "How much?"}]
            first = await client.responses.create(model="gpt-5.6", store=False, tools=tools, input=said)
            said += [cast(ResponseInputItemParam, item.to_dict()) for item in first.output]
            for item in first.output:
                if item.type == "function_call":
                    said.append({"type": "function_call_output", "call_id": item.call_id, "output": "ok"})
            second = await client.responses.create(model="gpt-5.6", store=False, tools=tools, input=said)
            return first, second

    with Loopback(SCRIPT) as server:
        first, second = asyncio.run(talk(server))
        assert server.refusals == ()
    assert [item.type for item in first.output] == ["reasoning", "message", "function_call", "function_call"]
    assert [(each.name, each.arguments) for each in first.output if each.type == "function_call"] == [
        ("add", '{"a":1}'),
        ("save", "{}"),
    ]
    assert (first.output_text, second.output_text) == ("Let me see.", "Done.")
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.output_tokens_details.reasoning_tokens) == (100, 5)


def test_openai_reads_a_chat_turn_and_sends_it_back() -> None:
    async def talk(server: Loopback) -> tuple[ChatCompletion, ChatCompletion]:
        url = server.base_url("openai_chat")
        async with openai.AsyncOpenAI(api_key="sk-x", base_url=url, max_retries=0) as client:
            tools: list[ChatCompletionToolUnionParam] = [
                {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
                for name in ("add", "save")
            ]
            said: list[ChatCompletionMessageParam] = [{"role": "user", "content": "How much?"}]
            first = await client.chat.completions.create(model="gpt-4.1", tools=tools, messages=said)
            message = first.choices[0].message
            calls = message.tool_calls or []
            echo = {"role": "assistant", "content": message.content, "tool_calls": [each.to_dict() for each in calls]}
            said.append(cast(ChatCompletionMessageParam, echo))
            results: list[ChatCompletionMessageParam] = [
                {"role": "tool", "tool_call_id": call.id, "content": "ok"} for call in calls
            ]
            said += results
            second = await client.chat.completions.create(model="gpt-4.1", tools=tools, messages=said)
            return first, second

    with Loopback(SCRIPT) as server:
        first, second = asyncio.run(talk(server))
        assert server.refusals == ()
    calls = first.choices[0].message.tool_calls or []
    assert [(each.function.name, each.function.arguments) for each in calls if each.type == "function"] == [
        ("add", '{"a":1}'),
        ("save", "{}"),
    ]
    assert [first.choices[0].finish_reason, second.choices[0].finish_reason] == ["tool_calls", "stop"]
    assert [first.choices[0].message.content, second.choices[0].message.content] == ["Let me see.", "Done."]
    assert first.usage is not None
    assert first.usage.completion_tokens_details is not None
    assert (first.usage.prompt_tokens, first.usage.completion_tokens_details.reasoning_tokens) == (100, 5)


def test_google_reads_a_turn_and_sends_it_back() -> None:
    async def talk(server: Loopback) -> tuple[types.GenerateContentResponse, types.GenerateContentResponse]:
        options = types.HttpOptions(base_url=server.base_url("google"), api_version="v1beta")
        client = genai.Client(enterprise=False, api_key="k", http_options=options)
        declarations = [
            types.FunctionDeclaration(name=name, parameters_json_schema={"type": "object"}) for name in ("add", "save")
        ]
        config = types.GenerateContentConfig(
            tools=[types.Tool(function_declarations=declarations)],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        said: list[types.Content] = [types.Content(role="user", parts=[types.Part(text="How much?")])]
        try:
            first = await client.aio.models.generate_content(model="gemini-3.6-flash", contents=said, config=config)  # pyright: ignore[reportUnknownMemberType]
            responses = [
                types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"output": 1}))
                for call in first.function_calls or []
            ]
            assert first.candidates
            assert first.candidates[0].content
            said += [first.candidates[0].content, types.Content(role="user", parts=responses)]
            second = await client.aio.models.generate_content(model="gemini-3.6-flash", contents=said, config=config)  # pyright: ignore[reportUnknownMemberType]
        finally:
            await client.aio.aclose()
            client.close()
        return first, second

    with Loopback(SCRIPT) as server:
        first, second = asyncio.run(talk(server))
        assert server.refusals == ()
    calls = first.function_calls or []
    assert [(call.name, call.args) for call in calls] == [("add", {"a": 1}), ("save", {})]
    assert (first.text, second.text) == ("Let me see.", "Done.")
    assert first.candidates
    assert first.candidates[0].finish_reason is types.FinishReason.STOP
    assert first.usage_metadata
    assert (first.usage_metadata.prompt_token_count, first.usage_metadata.thoughts_token_count) == (100, 5)


def test_each_sdk_raises_its_own_class_for_a_refusal() -> None:
    with Loopback() as server:
        anthropic_client = anthropic.Anthropic(api_key="k", base_url=server.base_url("anthropic"), max_retries=0)
        openai_client = openai.OpenAI(api_key="k", base_url=server.base_url("openai"), max_retries=0)
        with anthropic_client, openai_client:
            kinds: list[tuple[str | None, str | None]] = []
            try:
                anthropic_client.messages.create(model="claude-opus-5-5", max_tokens=1, messages=[])
            except anthropic.BadRequestError as error:
                kinds.append((error.type, error.request_id))
            try:
                openai_client.responses.create(model="gpt-5.6", input=[])
            except openai.BadRequestError as error:
                kinds.append((error.code, error.request_id))
    assert kinds == [
        ("invalid_request_error", "req_00000001"),
        ("missing_required_parameter", "req_00000002"),
    ]
