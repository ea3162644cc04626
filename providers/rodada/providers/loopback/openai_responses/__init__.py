"""
The OpenAI Responses wire.
"""

from rodada.providers.loopback.openai_responses.wire import ResponsesWire

__all__ = ["ResponsesWire"]
