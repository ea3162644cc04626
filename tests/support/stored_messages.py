"""
Stored messages as they stand in people's databases: mostly good, often broken, sometimes no messages at all.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from hypothesis import strategies as st

from rodada.providers import anthropic, google, openai_chat, openai_responses
from rodada.providers.imported import Imported
from rodada.providers.loopback import WireName
from rodada.statemachine import Conversation
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json
from support.words import json_objects, json_values

Stored = st.SearchStrategy[JsonValue]
Fields = Mapping[str, Stored]

IMPORT: Mapping[WireName, Callable[[Sequence[object]], Imported]] = {
    "anthropic": anthropic.from_messages,
    "openai": openai_responses.from_messages,
    "openai_chat": openai_chat.from_messages,
    "google": google.from_messages,
}
EXPORT: Mapping[WireName, Callable[[Conversation], list[JsonObject]]] = {
    "anthropic": anthropic.to_messages,
    "openai": openai_responses.to_messages,
    "openai_chat": partial(openai_chat.to_messages, dialect=openai_chat.Dialect(files=True)),
    "google": google.to_messages,
}

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
PDF = base64.b64encode(b"%PDF-1.7\n").decode()

texts: Stored = st.sampled_from(
    ("so", "", " ", "\ud83d", "[image/png, 8 bytes]", '{"error":{"status":"failed","message":"x"}}')
)
ids: Stored = st.sampled_from(("a", "b")) | st.sampled_from(("a", "c", "call_1_0", "", "x" * 70, "fn.write:0", None))
names: Stored = st.just("f") | st.sampled_from(("f", "g", "a b", "", "n" * 90))
arguments: Stored = st.sampled_from(("{}", '{"x":1}', "", "[1]", "{")) | json_objects.map(dump_json)
types: Stored = st.sampled_from(("image/png", "application/pdf", "text/csv", "no type"))
data: Stored = st.sampled_from((PNG, PDF, "?", "", PNG.rstrip("=")))
urls: Stored = st.builds("data:{};base64,{}".format, types, data) | st.sampled_from(
    ("https://example.com/a.png", "https://example.com/a", "http://example.com/a.png", "file:///a.png", "gs://b/a.png")
)
nothing: Stored = st.none()


def fields(given: Fields, further: Fields | None = None) -> Stored:
    """
    An object with some fields, often one of the further ones, and seldom one that no wire knows or one of another type.
    """
    odd: Fields = {"odd": json_values}
    return st.fixed_dictionaries(dict(given), optional={**(further or {})}) | st.fixed_dictionaries(
        dict(given), optional={**(further or {}), **odd}
    )


def kind(name: str, given: Fields, further: Fields | None = None) -> Stored:
    """
    The same with its type.
    """
    return fields({"type": st.just(name), **given}, further)


def several(*options: Stored) -> Stored:
    """
    A list of some of them.
    """
    return st.lists(st.one_of(*options), max_size=3)


# Anthropic

_cache: Fields = {"cache_control": st.just({"type": "ephemeral"})}
_source: Stored = st.one_of(
    kind("base64", {"media_type": types, "data": data}),
    kind("url", {"url": urls}),
    kind("text", {"media_type": st.just("text/plain"), "data": texts}),
)
_text = kind("text", {"text": texts}, _cache)
_image = kind("image", {"source": _source})
_document = kind("document", {"source": _source}, {"title": texts, "context": texts})
_searched = kind("search_result", {"source": texts, "title": texts, "content": several(_text)})
_odd = kind("of_tomorrow", {"text": texts})
_result = kind(
    "tool_result",
    {"tool_use_id": ids},
    {"content": texts | several(_text, _image, _document, _odd), "is_error": st.booleans()},
)
_use = kind("tool_use", {"id": ids, "name": names, "input": json_objects | arguments}, {"caller": json_values})
_server = (
    kind("server_tool_use", {"id": ids, "name": names, "input": json_objects}),
    kind("web_search_tool_result", {"tool_use_id": ids, "content": several(_odd)}),
)
_redacted = kind("redacted_thinking", {"data": st.just("") | nothing})
_anthropic = st.one_of(
    fields({"role": st.just("user"), "content": texts | several(_text, _image, _document, _searched, _odd)}),
    fields({"role": st.just("user"), "content": several(_result)}),
    fields({"role": st.just("user"), "content": several(_result, _text, _image)}),
    fields({"role": st.just("assistant"), "content": several(_use)}),
    fields({"role": st.just("assistant"), "content": texts | several(_text, _use, _redacted, _odd, *_server)}),
    fields({"role": st.just("assistant"), "content": several(_text, _use, _result, *_server)}),
    fields({"role": st.just("system"), "content": texts | several(_text)}),
)

# OpenAI

_chat_text = kind("text", {"text": texts})
_chat_image = kind("image_url", {"image_url": fields({"url": urls}, {"detail": st.just("low")})})
_chat_file = kind("file", {"file": fields({"file_data": urls}, {"filename": texts, "file_id": ids})})
_chat_call = fields(
    {"function": fields({"name": names, "arguments": arguments})}, {"id": ids, "type": st.just("function")}
)
_custom_call = kind("custom", {"id": ids, "custom": fields({"name": names, "input": texts})})
_chat = st.one_of(
    fields({"role": st.sampled_from(("system", "developer")), "content": texts | several(_chat_text)}),
    fields({"role": st.just("user"), "content": texts | several(_chat_text, _chat_image, _chat_file)}),
    fields(
        {"role": st.just("assistant"), "content": texts | nothing | several(_chat_text)},
        {
            "tool_calls": several(_chat_call, _custom_call),
            "reasoning_content": texts,
            "refusal": texts,
            "audio": fields({"transcript": texts}) | nothing,
        },
    ),
    fields({"role": st.just("assistant"), "tool_calls": several(_chat_call)}),
    fields({"role": st.just("assistant"), "function_call": fields({"name": names, "arguments": arguments})}),
    fields({"role": st.just("tool"), "content": texts | several(_chat_text)}, {"tool_call_id": ids, "name": names}),
    fields({"role": st.just("tool"), "content": texts, "tool_call_id": ids}),
    fields({"role": st.just("function"), "content": texts, "name": names}),
)

_input_text = kind("input_text", {"text": texts})
_input_image = kind("input_image", {"image_url": urls}, {"detail": st.just("auto")})
_input_file = kind("input_file", {}, {"file_data": urls, "file_url": urls, "filename": texts})
_output_text = kind("output_text", {"text": texts}, {"annotations": st.just([]), "parsed": json_values})
_refusal = kind("refusal", {"refusal": texts})
_item_ids: Fields = {"id": ids | st.sampled_from(("fc_1", "msg_1", "rs_1")), "status": st.just("completed") | nothing}
_responses = st.one_of(
    fields({"role": st.just("user"), "content": texts | several(_input_text, _input_image, _input_file)}),
    kind("message", {"role": st.just("assistant"), "content": texts | several(_output_text, _refusal)}, _item_ids),
    fields({"role": st.sampled_from(("assistant", "system", "developer")), "content": texts}),
    kind("function_call", {"call_id": ids, "name": names, "arguments": arguments}, _item_ids),
    kind("function_call_output", {"call_id": ids, "output": texts | several(_input_text, _input_image)}, _item_ids),
    kind("custom_tool_call", {"call_id": ids, "name": names, "input": texts}, _item_ids),
    kind("custom_tool_call_output", {"call_id": ids, "output": texts}),
    kind("reasoning", {"summary": st.just([])}, {**_item_ids, "encrypted_content": texts}),
    kind("item_reference", {"id": ids}),
    kind("web_search_call", {"id": ids}),
    kind("computer_call", {"call_id": ids}),
)

# Google

_blob = fields({"mimeType": types, "data": data}) | fields({"mime_type": types, "data": data})
_answer = fields({"name": names}, {"id": ids, "response": json_objects | fields({"output": texts})})
_asked = fields({"name": names}, {"id": ids, "args": json_objects | arguments})
_user_part = st.one_of(
    fields({"text": texts}),
    fields({"inlineData": _blob}),
    fields({"file_data": fields({"file_uri": urls}, {"mime_type": types})}),
    fields({"functionResponse": _answer}),
)
_model_part = st.one_of(
    fields({"text": texts}, {"thought": st.booleans()}),
    fields({"functionCall": _asked}),
    fields({"function_call": _asked}),
    fields({"inline_data": _blob}),
    fields({"executableCode": fields({"code": texts})}),
    fields({"partMetadata": json_values}),
    fields({"functionResponse": _answer}),
)
_google = st.one_of(
    fields({"role": st.sampled_from(("user", "function", "tool")), "parts": several(_user_part)}),
    fields({"role": st.just("user"), "parts": several(fields({"functionResponse": _answer}))}),
    fields({"role": st.just("model"), "parts": several(_model_part)}),
    fields({"role": st.just("model"), "parts": several(fields({"functionCall": _asked}))}),
    fields({"parts": several(_user_part, _model_part)}),
)

_MESSAGES: Mapping[WireName, Stored] = {
    "anthropic": _anthropic,
    "openai": _responses,
    "openai_chat": _chat,
    "google": _google,
}


_FIRST: Mapping[WireName, JsonValue] = {
    "anthropic": {"role": "user", "content": "hello"},
    "openai": {"role": "user", "content": "hello"},
    "openai_chat": {"role": "user", "content": "hello"},
    "google": {"role": "user", "parts": [{"text": "hello"}]},
}


def messages(wire: WireName) -> st.SearchStrategy[list[JsonValue]]:
    """
    What may stand in a database of a wire's messages.
    """
    return st.builds(_opened, st.booleans(), st.just(_FIRST[wire]), st.lists(_MESSAGES[wire], max_size=9))


def _opened(by_person: bool, first: JsonValue, rest: list[JsonValue]) -> list[JsonValue]:
    return [first, *rest] if by_person else rest


def junk(wire: WireName) -> st.SearchStrategy[object]:
    """
    The same with values of any kind in any place.
    """
    beside = st.lists(_MESSAGES[wire] | json_values, max_size=4)
    roles = st.sampled_from(("user", "assistant", "model", "tool", "function_call", "system", "boss"))
    odd = st.fixed_dictionaries(
        {"role": roles},
        optional=dict.fromkeys(("content", "parts", "type", "tool_calls", "call_id", "function_call"), json_values),
    )
    return beside | json_values | st.lists(odd, max_size=2)
