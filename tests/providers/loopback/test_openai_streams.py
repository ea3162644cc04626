"""
The streams of OpenAI's two wires: what the vendor's own SDK makes of them, and their form where it does not look.
"""

import asyncio
import http.client
import json
from typing import cast

import openai
import pytest

from rodada.providers.loopback import Body, Broken, Call, Failure, Loopback, Reply, Turn, WireName
from rodada.providers.loopback.json_values import Object
from support.loopback_client import HEADERS

KEY = "sk-secret"
PATHS: dict[WireName, str] = {"openai": "/v1/responses"}
SPOKEN = Turn("Let me look it up.", [Call("look", {"ação": "é"}), Call("goal")], reasoning=True)
RESPONSE: Object = {"model": "gpt-5.6", "input": "How much?", "store": False, "reasoning": {"summary": "auto"}}


def events(wire: WireName, reply: Reply, body: Object) -> list[Object]:
    """
    The data of the events that come, as they came; DONE for the word that ends a stream of Chat Completions.
    """
    with Loopback([reply]) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
        connection.request("POST", PATHS[wire], json.dumps({**body, "stream": True}).encode(), dict(HEADERS[wire]))
        response = connection.getresponse()
        assert response.headers["content-type"].startswith("text/event-stream")
        sent = response.read().decode()
        connection.close()
    data = [line.removeprefix("data: ") for line in sent.splitlines() if line.startswith("data: ")]
    return [DONE if each == "[DONE]" else cast(Object, json.loads(each)) for each in data]


DONE: Object = {"done": True}


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
        dropped = ("id", "call_id", "encrypted_content", "parsed_arguments", "parsed", "index")
        return {key: without_ids(each) for key, each in kept if key not in dropped}
    return [without_ids(each) for each in cast("list[object]", value)] if isinstance(value, list) else value


def test_a_response_in_events() -> None:
    sent = events("openai", Turn("", [Call("look", {"a": 1})], reasoning=True), RESPONSE)
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
    added, done = cast(Object, sent[2]["item"]), cast(Object, sent[9]["item"])
    assert str(done["encrypted_content"]).startswith(str(added["encrypted_content"]))
    assert added["encrypted_content"] != done["encrypted_content"]


@pytest.mark.parametrize("status", ["incomplete", "failed"])
def test_a_response_that_is_not_completed_ends_with_an_event_of_its_own(status: str) -> None:
    body: Object = {"id": "resp_1", "status": status, "output": []}
    assert events("openai", Body(body), RESPONSE)[-1] == {
        "type": f"response.{status}",
        "response": body,
        "sequence_number": 2,
    }


def test_an_error_within_a_stream_of_responses_stands_in_the_event_itself() -> None:
    sent = events("openai", Broken(SPOKEN, 3, Failure(429, "Slow.", code="rate_limit_exceeded")), RESPONSE)
    assert len(sent) == 4
    assert sent[-1] == {"type": "error", "code": "rate_limit_exceeded", "message": "Slow.", "param": None}
