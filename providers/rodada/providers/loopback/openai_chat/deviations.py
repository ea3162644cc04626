"""
How servers that speak Chat Completions deviate from OpenAI: in what they answer, and in what they want.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias

from rodada.providers.loopback.json_values import Json, Object, obj, objs, text

Deviation: TypeAlias = Literal[
    "ids_missing",  # llama.cpp, Gemini's endpoint
    "ids_null",
    "ids_empty",  # LM Studio, StepFun
    "ids_same",  # every call has the same id, in every turn
    "types_missing",
    "arguments_as_objects",  # where they are JSON
    "arguments_null",  # where there are none
    "stop_beside_calls",  # Ollama, vLLM
    "usage_missing",
    "usage_in_part",  # without details
    "content_missing",  # where it is null
    "content_in_parts",  # Mistral
    "two_choices",
    "function_call",  # the form of the wire's first years
    "index_on_calls",
    # of a stream
    "indexes_zero",  # every call is number 0: Ollama, Gemini proxies
    "indexes_missing",  # Ollama
    "names_repeated",  # in every fragment of a call: llama.cpp
    "calls_in_one_chunk",  # each whole: Ollama
    "usage_in_every_chunk",  # as far as it is
    "done_missing",
    "reasoning_shown",  # reasoning_content in answers, taken back
    "reasoning_wanted",  # the same, and demanded back: DeepSeek and Kimi, thinking
    "max_tokens_only",  # max_completion_tokens is not known
    "stream_options_unknown",  # Mistral, Databricks
    "json_schema_unknown",  # response_format of this type is refused: DeepSeek
    "short_ids_wanted",  # nine letters and digits: Mistral
]
_Change: TypeAlias = Callable[[Object], None]


def deviated(body: Object, deviations: AbstractSet[Deviation]) -> Object:
    """
    A copy of a body in OpenAI's form, with what these deviations make of it.
    """
    made: Object = json.loads(json.dumps(body))
    for name, change in _CHANGES.items():
        if name in deviations:
            change(made)
    return made


def shows_reasoning(deviations: AbstractSet[Deviation]) -> bool:
    """
    Whether reasoning_content stands in answers, and may stand in requests.
    """
    return not deviations.isdisjoint(("reasoning_shown", "reasoning_wanted"))


def _messages(body: Object) -> Iterator[Object]:
    yield from (obj(choice.get("message")) for choice in objs(body.get("choices")))


def _calls(body: Object) -> Iterator[Object]:
    for message in _messages(body):
        yield from objs(message.get("tool_calls"))


def _each_call(change: _Change) -> _Change:
    def changed(body: Object) -> None:
        for call in _calls(body):
            change(call)

    return changed


def _put(name: str, value: Json) -> _Change:
    return lambda holder: holder.update({name: value})


def _drop(name: str) -> _Change:
    def change(holder: Object) -> None:
        holder.pop(name, None)

    return change


def _arguments_as_objects(call: Object) -> None:
    function = obj(call.get("function"))
    with contextlib.suppress(ValueError):
        value: Json = json.loads(text(function["arguments"]))
        json.dumps(value, allow_nan=False)
        function["arguments"] = value


def _arguments_null(call: Object) -> None:
    function = obj(call.get("function"))
    if function["arguments"] in ("", "{}", {}):
        function["arguments"] = None


def _stop_beside_calls(body: Object) -> None:
    for choice in objs(body.get("choices")):
        if choice["finish_reason"] == "tool_calls" and obj(choice["message"]).get("tool_calls"):
            choice["finish_reason"] = "stop"


def _usage_in_part(body: Object) -> None:
    usage = obj(body.get("usage"))
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        usage.pop(name, None)


def _content_missing(body: Object) -> None:
    for message in _messages(body):
        if message["content"] is None:
            del message["content"]


def _content_in_parts(body: Object) -> None:
    for message in _messages(body):
        if message.get("content"):
            message["content"] = [{"type": "text", "text": message["content"]}]


def _two_choices(body: Object) -> None:
    other: Object = {"index": 1, "message": {"role": "assistant", "content": "Another."}, "finish_reason": "stop"}
    body["choices"] = [*objs(body["choices"]), other]


def _function_call(body: Object) -> None:
    for choice in objs(body.get("choices")):
        message = obj(choice.get("message"))
        calls = objs(message.pop("tool_calls", None))
        if calls:
            message["function_call"] = calls[0]["function"]
            choice["finish_reason"] = "function_call"


def _index_on_calls(body: Object) -> None:
    for message in _messages(body):
        for at, call in enumerate(objs(message.get("tool_calls"))):
            call["index"] = at


# In the order in which they are applied: those of calls before the one that takes the calls away.
_CHANGES: Mapping[Deviation, _Change] = {
    "ids_missing": _each_call(_drop("id")),
    "ids_null": _each_call(_put("id", None)),
    "ids_empty": _each_call(_put("id", "")),
    "ids_same": _each_call(_put("id", "call_0")),
    "types_missing": _each_call(_drop("type")),
    "arguments_as_objects": _each_call(_arguments_as_objects),
    "arguments_null": _each_call(_arguments_null),
    "index_on_calls": _index_on_calls,
    "stop_beside_calls": _stop_beside_calls,
    "usage_missing": _drop("usage"),
    "usage_in_part": _usage_in_part,
    "content_missing": _content_missing,
    "content_in_parts": _content_in_parts,
    "function_call": _function_call,
    "two_choices": _two_choices,
}
