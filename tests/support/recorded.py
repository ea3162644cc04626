"""
Recorded conversations with the real vendors, from files in the form of VCR.py that stand outside the project.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from attrs import field, frozen

from rodada.providers.loopback import WireName
from rodada.providers.loopback.json_values import Object, text

FOLDER = "RODADA_CASSETTES"
_WIRES: Mapping[str, WireName] = {
    "/v1/messages": "anthropic",
    "/v1/responses": "openai",
    "/v1/chat/completions": "openai_chat",
}


@frozen
class Recorded:
    """
    One call: what the vendor accepted, and what it answered.
    """

    wire: WireName
    model: str
    streams: bool
    asked: Object = field(repr=False)
    kind: str
    sent: bytes = field(repr=False)


def recordings() -> list[Path]:
    """
    The files in the folder that the environment names; none without it.
    """
    folder = os.environ.get(FOLDER)
    return sorted(Path(folder).glob("*.yaml")) if folder else []


def calls_in(path: Path) -> list[Recorded]:
    """
    The calls of one file, in order.
    """
    document: Any = yaml.safe_load(path.read_text("utf-8"))
    return [_call(each) for each in document["interactions"] if each["request"]["method"] == "POST"]


def _call(interaction: Any) -> Recorded:
    request, response = interaction["request"], interaction["response"]
    path = urlsplit(str(request["uri"])).path
    asked: Object = json.loads(_body(request))
    sent = _body(response)
    streamed = asked.get("stream") is True or "streamGenerateContent" in path
    kind = "text/event-stream" if streamed else "application/json"
    model = path.rpartition("/")[2].partition(":")[0] if ":" in path else text(asked["model"])
    return Recorded(_WIRES.get(path, "google"), model, streamed, asked, kind, sent)


def _body(part: Any) -> bytes:
    """
    The body of a request or a response, which the recorder may have parsed.
    """
    if part.get("parsed_body") is not None:
        return json.dumps(part["parsed_body"]).encode()
    told: Any = part["body"]
    if not isinstance(told, str | bytes):
        told = told["string"]
    return told if isinstance(told, bytes) else str(told).encode()
