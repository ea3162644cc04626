"""
A loopback server that speaks the vendors' wires from a script and refuses what the vendors refuse.

Point any client of Anthropic, OpenAI (Responses, Chat Completions) or Google at it, with any key:

>>> script = [Turn("Let me look.", [Call("read_log", {"exercise": "bench press"})]), Turn("Five kilos more.")]
>>> with Loopback(script) as server:
...     url = server.base_url("openai")
...     # client = AsyncOpenAI(base_url=url, api_key="any"); run the loop; then look at server.requests()
>>> url.endswith("/v1"), server.requests(), server.refusals
(True, (), ())
"""

from rodada.providers.loopback.openai_chat import Deviation
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import (
    Altered,
    Body,
    Broken,
    Call,
    Drop,
    Failure,
    Hang,
    Held,
    Raw,
    Reply,
    Stop,
    Turn,
    Usage,
    WireName,
)
from rodada.providers.loopback.server import Loopback, Script

__all__ = [
    "Altered",
    "Body",
    "Broken",
    "Call",
    "Deviation",
    "Drop",
    "Failure",
    "Hang",
    "Held",
    "Loopback",
    "Raw",
    "Received",
    "Reply",
    "Script",
    "Stop",
    "Turn",
    "Usage",
    "WireName",
]
