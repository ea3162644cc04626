"""
What a round costs: CPU time of ten rounds of two calls, and of one model call behind histories of some lengths, as a
ratio to what is written by hand on the same SDK.

    python tests/benchmarks/rounds.py [--repeats 7] [--rounds 10] [--lengths 3 30 300]

The server runs in a process of its own; contenders take turns in this one. Only ratios of one run mean something.
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import anthropic
import openai
from attrs import evolve
from google import genai
from google.genai import types

from rodada.providers.anthropic import Anthropic
from rodada.providers.anthropic import to_messages as to_messages_of_anthropic
from rodada.providers.google import Google
from rodada.providers.google import to_messages as to_messages_of_google
from rodada.providers.loopback import Call, Loopback, Received, Turn
from rodada.providers.openai_chat import OpenAIChat
from rodada.providers.openai_chat import to_messages as to_messages_of_chat
from rodada.providers.openai_responses import OpenAIResponses
from rodada.providers.openai_responses import to_messages as to_messages_of_responses
from rodada.statemachine import Conversation, Limits, ModelRequest, Provider, RunStatus, ToolLoop
from rodada.tools import tool

MESSAGE = "How much did my bench press improve?"
SCHEMA = {"type": "object", "properties": {"exercise": {"type": "string"}}, "required": ["exercise"]}
Play = Callable[[], Awaitable[object]]


@tool(reads="training log")
async def read_log(exercise: str) -> str:
    """Weights lifted in an exercise."""
    return f"{exercise}: 80, 82.5, 85"


def rounds_so_far(received: Received) -> int:
    """
    Model turns in a request.
    """
    mark = {
        "anthropic": b'"tool_result"',
        "openai": b'"function_call_output"',
        "openai_chat": b'"tool_call_id"',
        "google": b'"functionResponse"',
    }
    return received.raw.count(mark[received.wire]) // 2


def serve(pipe: Connection, rounds: int) -> None:
    """
    Play the model until the parent closes the pipe.
    """

    def reply(received: Received) -> Turn:
        done = rounds_so_far(received)
        if done >= rounds:
            return Turn("You lift 5 kg more.")
        calls = (
            Call("read_log", {"exercise": "bench"}, f"a{done}"),
            Call("read_log", {"exercise": "squat"}, f"b{done}"),
        )
        return Turn(calls=calls)

    with Loopback(reply) as server:
        pipe.send({wire: server.base_url(wire) for wire in ("anthropic", "openai", "openai_chat", "google")})
        with suppress(EOFError):
            pipe.recv()


def hand_written(urls: dict[str, str], rounds: int) -> dict[str, Play]:
    """
    The loop that everybody writes first, on each SDK.
    """
    claude = anthropic.AsyncAnthropic(api_key="k", base_url=urls["anthropic"], max_retries=0, timeout=60)
    gpt = openai.AsyncOpenAI(api_key="k", base_url=urls["openai"], max_retries=0)
    gemini: Any = genai.Client(
        enterprise=False, api_key="k", http_options=types.HttpOptions(base_url=urls["google"], api_version="v1beta")
    )

    async def on_anthropic() -> None:
        tools: Any = [{"name": "read_log", "description": "Weights lifted.", "input_schema": SCHEMA}]
        messages: list[Any] = [{"role": "user", "content": MESSAGE}]
        while True:
            turn = await claude.messages.create(
                model="claude-opus-5-5", max_tokens=1000, messages=messages, tools=tools
            )
            if turn.stop_reason != "tool_use":
                return
            messages.append({"role": "assistant", "content": [block.to_dict() for block in turn.content]})
            results: list[Any] = []
            for block in turn.content:
                if block.type == "tool_use":
                    text = await read_log(exercise=str(block.input["exercise"]))
                    results.append({"type": "tool_result", "tool_use_id": block.id, "content": text})
            messages.append({"role": "user", "content": results})

    async def on_openai() -> None:
        tools: Any = [
            {"type": "function", "name": "read_log", "description": "Weights.", "parameters": SCHEMA, "strict": False}
        ]
        items: list[Any] = [{"role": "user", "content": MESSAGE}]
        while True:
            reply = await gpt.responses.create(
                model="gpt-5", input=items, tools=tools, store=False, include=["reasoning.encrypted_content"]
            )
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                return
            items += [{k: v for k, v in item.to_dict().items() if v is not None} for item in reply.output]
            for call in calls:
                text = await read_log(**json.loads(call.arguments))
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": text})

    async def on_chat() -> None:
        function: Any = {"name": "read_log", "description": "Weights.", "parameters": SCHEMA}
        messages: list[Any] = [{"role": "user", "content": MESSAGE}]
        while True:
            reply = await gpt.chat.completions.create(
                model="gpt-4.1", messages=messages, tools=[{"type": "function", "function": function}]
            )
            calls: list[Any] = reply.choices[0].message.tool_calls or []
            if not calls:
                return
            messages.append({"role": "assistant", "tool_calls": [call.to_dict() for call in calls]})
            for call in calls:
                text = await read_log(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

    async def on_google() -> None:
        declared = types.Tool(
            function_declarations=[
                types.FunctionDeclaration(name="read_log", description="Weights.", parameters_json_schema=SCHEMA)
            ]
        )
        config = types.GenerateContentConfig(
            tools=[declared], automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
        )
        contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=MESSAGE)])]
        while True:
            reply = await gemini.aio.models.generate_content(model="gemini-2.5-flash", contents=contents, config=config)
            content = (reply.candidates or [])[0].content
            calls = [part.function_call for part in (content.parts if content else None) or [] if part.function_call]
            if not calls:
                return
            contents.append(content)
            parts: list[types.Part] = []
            for call in calls:
                text = await read_log(**(call.args or {}))
                response = types.FunctionResponse(id=call.id, name=call.name, response={"output": text})
                parts.append(types.Part(function_response=response))
            contents.append(types.Content(role="user", parts=parts))

    return {"Messages": on_anthropic, "Responses": on_openai, "Chat": on_chat, "Gemini": on_google}


def providers_of(urls: dict[str, str]) -> dict[str, Provider]:
    """
    Ours.
    """
    return {
        "Messages": Anthropic("claude-opus-5-5", api_key="k", base_url=urls["anthropic"]),
        "Responses": OpenAIResponses("gpt-5", api_key="k", base_url=urls["openai"]),
        "Chat": OpenAIChat("gpt-4.1", base_url=urls["openai_chat"]),
        "Gemini": Google("gemini-2.5-flash", api_key="k", base_url=urls["google"]),
    }


def ours(urls: dict[str, str], rounds: int) -> dict[str, Play]:
    """
    The same through a ToolLoop.
    """

    def play(loop: ToolLoop) -> Play:
        async def run() -> None:
            outcome = await loop.run(MESSAGE)
            assert (RunStatus.COMPLETED, rounds) == (outcome.status, outcome.rounds)

        return run

    return {
        wire: play(ToolLoop(provider, tools=[read_log], limits=Limits(max_rounds=rounds)))
        for wire, provider in providers_of(urls).items()
    }


@asynccontextmanager
async def hand_written_calls(urls: dict[str, str]) -> AsyncGenerator[dict[str, Callable[[Conversation], Play]]]:
    """
    One model call for a whole conversation by the method of each SDK.
    """
    claude: Any = anthropic.AsyncAnthropic(api_key="k", base_url=urls["anthropic"], max_retries=0, timeout=60)
    gpt: Any = openai.AsyncOpenAI(api_key="k", base_url=urls["openai"], max_retries=0)
    chat: Any = openai.AsyncOpenAI(api_key="k", base_url=urls["openai_chat"], max_retries=0)
    gemini: Any = genai.Client(
        enterprise=False, api_key="k", http_options=types.HttpOptions(base_url=urls["google"], api_version="v1beta")
    )

    def on_anthropic(said: Conversation) -> Play:
        messages = to_messages_of_anthropic(said)
        return lambda: claude.messages.create(model="claude-opus-5-5", max_tokens=1000, messages=messages)

    def on_openai(said: Conversation) -> Play:
        items = to_messages_of_responses(said)
        return lambda: gpt.responses.create(model="gpt-5", input=items, store=False)

    def on_chat(said: Conversation) -> Play:
        messages = to_messages_of_chat(said)
        return lambda: chat.chat.completions.create(model="gpt-4.1", messages=messages)

    def on_google(said: Conversation) -> Play:
        contents = [types.Content.model_validate(each) for each in to_messages_of_google(said)]
        return lambda: gemini.aio.models.generate_content(model="gemini-2.5-flash", contents=contents)

    yield {"Messages": on_anthropic, "Responses": on_openai, "Chat": on_chat, "Gemini": on_google}
    for client in (claude, gpt, chat):
        await client.close()
    await gemini.aio.aclose()


async def ask(provider: Provider, said: Conversation) -> None:
    """
    One model call through a provider of ours.
    """
    await provider.ask(ModelRequest(conversation=said), lambda delta: None)


async def measure_lengths(
    urls: dict[str, str], lengths: list[int], repeats: int
) -> dict[tuple[str, int], tuple[list[float], list[float]]]:
    """
    Milliseconds of CPU a model call with a new exchange behind a history, for each wire and number of rounds.
    """
    found: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
    for wire, provider in providers_of(urls).items():
        limits = Limits(max_rounds=max(lengths), seconds=None)
        async with hand_written_calls(urls) as calls, ToolLoop(provider, tools=[read_log], limits=limits) as loop:
            entries = (await loop.run(MESSAGE)).conversation.entries
            for length in lengths:
                hand, own = found[wire, length] = ([], [])
                for _ in range(repeats):
                    said = Conversation("c", (*entries[:length], evolve(entries[length])))
                    for play, times in ((calls[wire](said), hand), (partial(ask, provider, said), own)):
                        began = time.process_time()
                        await play()
                        times.append((time.process_time() - began) * 1000)
    return found


async def measure(urls: dict[str, str], rounds: int, repeats: int) -> dict[str, tuple[list[float], list[float]]]:
    """
    Milliseconds of CPU a round, for each wire: hand-written and ours, taking turns.
    """
    theirs, own = hand_written(urls, rounds), ours(urls, rounds)
    found: dict[str, tuple[list[float], list[float]]] = {wire: ([], []) for wire in own}
    for wire in own:
        for play in (theirs[wire], own[wire]):
            await play()
        for _ in range(repeats):
            for play, times in zip((theirs[wire], own[wire]), found[wire], strict=True):
                began = time.process_time()
                await play()
                times.append((time.process_time() - began) * 1000 / rounds)
    return found


@contextmanager
def served(rounds: int) -> Generator[dict[str, str]]:
    """
    The addresses of a server in a process of its own.
    """
    ours_end, theirs_end = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs_end, rounds), daemon=True)
    server.start()
    yield ours_end.recv()
    ours_end.send("done")
    server.join()


def main() -> None:
    """
    Measure and print.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--lengths", type=int, nargs="+", default=[3, 30, 300])
    given = parser.parse_args()
    with served(max(given.lengths)) as urls:
        by_length = asyncio.run(measure_lengths(urls, given.lengths, given.repeats))
    with served(given.rounds) as urls:
        found = asyncio.run(measure(urls, given.rounds, given.repeats))
    print("| wire | hand-written, ms CPU a round (median) | rodada | ratio |\n| --- | --- | --- | --- |")
    for wire, (hand, own) in found.items():
        a, b = statistics.median(hand), statistics.median(own)
        print(f"| {wire} | {a:.2f} | {b:.2f} | {b / a:.2f} |")
    print("\n| wire | rounds before | hand-written, ms CPU a call (median) | rodada | ratio |")
    print("| --- | --- | --- | --- | --- |")
    for (wire, length), (hand, own) in by_length.items():
        a, b = statistics.median(hand), statistics.median(own)
        print(f"| {wire} | {length} | {a:.2f} | {b:.2f} | {b / a:.2f} |")


if __name__ == "__main__":
    main()
