"""
What a request decides of a body, its history included, as OpenAI's wires send it.
"""

from rodada.providers import openai_chat_input, openai_responses_input
from rodada.providers.openai_chat_dialect import OPENAI, Dialect
from rodada.providers.openai_chat_history import ChatHistory
from rodada.providers.openai_responses_history import ResponsesHistory
from rodada.statemachine.jsontext import JsonObject
from rodada.statemachine.request import ModelRequest


def responses_fields(request: ModelRequest, *, bare: bool = False) -> JsonObject:
    history = ResponsesHistory().of(request, bare=bare)
    return {history.name: history.value, **openai_responses_input.request_fields(request)}


def chat_fields(request: ModelRequest, dialect: Dialect = OPENAI) -> JsonObject:
    asked = openai_chat_input.as_understood(request, dialect)
    history = ChatHistory(dialect).of(asked)
    return {history.name: history.value, **openai_chat_input.request_fields(asked)}
