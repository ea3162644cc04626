"""
The Anthropic Messages wire.
"""

from rodada.providers.loopback.anthropic.wire import AnthropicWire

__all__ = ["AnthropicWire"]
