"""
The Gemini wire: generateContent.
"""

from rodada.providers.loopback.google.wire import GoogleWire

__all__ = ["GoogleWire"]
