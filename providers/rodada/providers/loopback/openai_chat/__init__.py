"""
The OpenAI Chat Completions wire.
"""

from rodada.providers.loopback.openai_chat.deviations import Deviation
from rodada.providers.loopback.openai_chat.wire import ChatWire

__all__ = ["ChatWire", "Deviation"]
