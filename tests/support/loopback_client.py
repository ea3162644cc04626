"""
A plain HTTP client for the loopback server: no SDK between a test and the wire.
"""

import copy
import http.client
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from attrs import frozen

from rodada.providers.loopback import Loopback

# Requests are built and broken by hand here: what they hold is the point of the tests, not their types.
Json: TypeAlias = dict[str, Any]
Break: TypeAlias = Callable[[Json], object]

HEADERS: Mapping[str, Mapping[str, str]] = {
    "anthropic": {"authorization": "Bearer sk-secret", "anthropic-version": "2026-10-21"},
    "openai": {"authorization": "Bearer sk-secret"},
    "openai_chat": {"authorization": "Bearer sk-secret"},
    "google": {"x-goog-api-key": "sk-secret"},
}


@frozen
class Reaction:
    """
    What came back.
    """

    status: int
    body: Json
    headers: Mapping[str, str]


@frozen
class Client:
    """
    Posts to one path over one connection.
    """

    connection: http.client.HTTPConnection
    path: str
    headers: Mapping[str, str]

    def send(self, body: Json | bytes) -> None:
        """
        Sends a request without waiting for the answer.
        """
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.connection.request("POST", self.path, raw, dict(self.headers))

    def receive(self) -> Reaction:
        """
        The answer to what was sent.
        """
        response = self.connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reaction(response.status, json.loads(response.read()), headers)

    def post(self, body: Json | bytes) -> Reaction:
        """
        A request and its answer.
        """
        self.send(body)
        return self.receive()

    def stream(self, body: Json) -> list[str]:
        """
        A request for a stream, and the data of the events that came.
        """
        self.send({**body, "stream": True})
        response = self.connection.getresponse()
        sent = response.read().decode()
        assert response.headers["content-type"].startswith("text/event-stream"), sent
        return [line.removeprefix("data: ") for line in sent.splitlines() if line.startswith("data: ")]


@contextmanager
def client(server: Loopback, path: str, headers: Mapping[str, str]) -> Generator[Client]:
    """
    A connection that is closed at the end.
    """
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)
    try:
        yield Client(connection, path, headers)
    finally:
        connection.close()


def broken(body: Json, change: Break) -> Json:
    """
    A copy of a request with one change.
    """
    made = copy.deepcopy(body)
    change(made)
    return made
