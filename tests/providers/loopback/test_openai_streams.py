"""
The streams of OpenAI's two wires: what the vendor's own SDK makes of them, and their form where it does not look.
"""

import asyncio
import json
from typing import cast

import openai
import pytest

from rodada.providers.loopback import Body, Broken, Call, Deviation, Failure, Loopback, Reply, Turn
from support.loopback_client import HEADERS, Json, client

KEY = "sk-secret"
SPOKEN = Turn("Let me look it up.", [Call("look", {"ação": "é"}), Call("goal")], reasoning=True)
RESPONSE: Json = {"model": "gpt-5.6", "input": "How much?", "store": False, "reasoning": {"summary": "auto"}}
COMPLETION: Json = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "How much?"}]}


def events(reply: Reply) -> list[Json]:
    with Loopback([reply]) as server, client(server, "/v1/responses", HEADERS["openai"]) as one:
        return [json.loads(each) for each in one.stream(RESPONSE)]


def chunks(reply: Reply, *deviations: Deviation, usage: bool = True) -> list[Json]:
    """
    The chunks that come from a server that deviates so, without the word at the end.
    """
    wanted = {"stream_options": {"include_usage": True}} if usage else {}
    with (
        Loopback([reply], chat_deviations={"gpt-4.1": deviations}) as server,
        client(server, "/v1/chat/completions", HEADERS["openai"]) as one,
    ):
        *sent, last = one.stream({**COMPLETION, **wanted})
    assert last == "[DONE]"
    return [json.loads(each) for each in sent]


def test_the_sdk_reads_a_streamed_response_as_the_one_that_comes_whole() -> None:
    async def both(url: str) -> tuple[object, object]:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
            whole = await client.responses.create(
                model="gpt-5.6", input="How much?", store=False, reasoning={"summary": "auto"}
            )
            async with client.responses.stream(
                model="gpt-5.6", input="How much?", store=False, reasoning={"summary": "auto"}
            ) as stream:
                streamed = await stream.get_final_response()
        return whole.to_dict(), streamed.to_dict()

    with Loopback([SPOKEN, SPOKEN]) as server:
        whole, streamed = asyncio.run(both(server.base_url("openai")))
    assert without_ids(streamed) == without_ids(whole)


def without_ids(value: object) -> object:
    """
    A body without what is another one in each reply, and without what the SDK adds.
    """
    if isinstance(value, dict):
        kept = cast("dict[str, object]", value).items()
        dropped = ("id", "call_id", "encrypted_content", "parsed_arguments", "parsed", "index", "annotations")
        return {key: without_ids(each) for key, each in kept if each is not None and key not in dropped}
    return [without_ids(each) for each in cast("list[object]", value)] if isinstance(value, list) else value


def test_a_response_in_events() -> None:
    sent = events(Turn("", [Call("look", {"a": 1})], reasoning=True))
    assert [each["sequence_number"] for each in sent] == list(range(len(sent)))
    assert [str(each["type"]).removeprefix("response.") for each in sent] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    added, done = sent[2]["item"], sent[9]["item"]
    assert str(done["encrypted_content"]).startswith(str(added["encrypted_content"]))
    assert added["encrypted_content"] != done["encrypted_content"]


@pytest.mark.parametrize("status", ["incomplete", "failed"])
def test_a_response_that_is_not_completed_ends_with_an_event_of_its_own(status: str) -> None:
    body: Json = {"id": "resp_1", "status": status, "output": []}
    assert events(Body(body))[-1] == {
        "type": f"response.{status}",
        "response": body,
        "sequence_number": 2,
    }


def test_an_error_within_a_stream_of_responses_stands_in_the_event_itself() -> None:
    sent = events(Broken(SPOKEN, 3, Failure(429, "Slow.", code="rate_limit_exceeded")))
    assert len(sent) == 4
    assert sent[-1] == {"type": "error", "code": "rate_limit_exceeded", "message": "Slow.", "param": None}


def test_the_sdk_reads_a_streamed_completion_as_the_one_that_comes_whole() -> None:
    async def both(url: str) -> tuple[object, object]:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
            whole = await client.chat.completions.create(
                model="gpt-4.1", messages=[{"role": "user", "content": "How much?"}]
            )
            async with client.chat.completions.stream(
                model="gpt-4.1",
                messages=[{"role": "user", "content": "How much?"}],
                stream_options={"include_usage": True},
            ) as stream:
                streamed = await stream.get_final_completion()
        return whole.to_dict(), streamed.to_dict()

    with Loopback([SPOKEN, SPOKEN]) as server:
        whole, streamed = asyncio.run(both(server.base_url("openai_chat")))
    assert without_ids(streamed) == without_ids(whole)


def test_a_completion_in_chunks() -> None:
    sent = chunks(Turn("So, now.", [Call("look", {"a": 1}, "x")]))
    head = {key: value for key, value in sent[0].items() if key != "choices"}
    assert (head["object"], head["usage"]) == ("chat.completion.chunk", None)
    assert all({**each, "choices": [], "usage": None} == {**head, "choices": []} for each in sent)
    assert [each["choices"][0]["delta"] for each in sent[:-1]] == [
        {"role": "assistant", "content": "", "refusal": None},
        {"content": "So, now"},
        {"content": "."},
        {"tool_calls": [{"index": 0, "id": "x", "type": "function", "function": {"name": "look", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":1}'}}]},
        {},
    ]
    assert [each["choices"][0]["finish_reason"] for each in sent[:-1]] == [None] * 5 + ["tool_calls"]
    assert (sent[-1]["choices"], sent[-1]["usage"]["total_tokens"]) == ([], 120)


def test_usage_is_told_to_those_who_ask_alone() -> None:
    sent = chunks(Turn("So."), usage=False)
    assert not [each for each in sent if "usage" in each or not each["choices"]]


def test_an_error_within_a_stream_of_chunks_is_a_chunk_of_its_own() -> None:
    broken = Broken(SPOKEN, 3, Failure(500, "Broken."))
    with Loopback([broken]) as server, client(server, "/v1/chat/completions", HEADERS["openai"]) as one:
        sent = one.stream(COMPLETION)
    assert json.loads(sent[3]) == {"error": {"message": "Broken.", "type": "server_error", "param": None, "code": None}}
    assert len(sent) == 4
