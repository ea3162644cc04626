"""
Servers of models that nobody here wrote, as processes on this machine; `.ci/run` installs them.
"""

import json
import os
import re
import socket
import stat
import subprocess
import threading
import urllib.request
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import frozen

from rodada.providers.loopback import WireName
from rodada.providers.loopback.json_values import Json, Object

ROOT = Path(__file__).parents[2]
FOLDER = ".model-servers"
_PLAIN = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@frozen
class ThirdParty:
    """
    A server that listens.

    Attributes:
        url: its own.
        paths: what follows in the base_url that each wire's SDK wants.
    """

    url: str
    paths: Mapping[WireName, str]

    def base_url(self, wire: WireName) -> str:
        """
        What the vendor's SDK wants as its base_url.
        """
        return self.url + self.paths[wire]

    def control(self, method: str, path: str, body: Object | None = None) -> Json:
        """
        The answer of the server's own interface for tests.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"}, method=method)
        with _PLAIN.open(request, timeout=30) as answer:
            told: Json = json.loads(answer.read())
        return told

    @property
    def connections(self) -> int:
        """
        Sockets of this process that are connected to the server.
        """
        port = int(self.url.rpartition(":")[2])
        return sum(_peer(int(name)) == port for name in os.listdir("/dev/fd"))


def _peer(descriptor: int) -> int | None:
    """
    The port that a socket is connected to; None of anything else.
    """
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None
        with socket.socket(fileno=os.dup(descriptor)) as looked_at:
            return int(looked_at.getpeername()[1]) if looked_at.family == socket.AF_INET else None
    except OSError:  # closed meanwhile, or not connected
        return None


@contextmanager
def serving(path: str, *arguments: str, paths: Mapping[WireName, str]) -> Generator[ThirdParty]:
    """
    A server at a free port, which it names itself. Skips the test where it is not installed.

    Args:
        path: of its command, in the folder of these servers.
        arguments: of the command.
        paths: as in `ThirdParty`.
    """
    command = ROOT / FOLDER / path
    if not command.exists():
        pytest.skip(f"{path} is not installed: .ci/run does it, into {FOLDER}/")
    with subprocess.Popen(
        [command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        try:
            said: deque[str] = deque(maxlen=20)
            found = None
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"(?:running|listening) on (http://127\.0\.0\.1:\d+)", line):
                    break
            assert found, f"{path} ended: {''.join(said)}"
            rest = threading.Thread(target=said.extend, args=(process.stdout,))  # else it waits for a reader
            rest.start()
            try:
                yield ThirdParty(found[1], paths)
            finally:
                process.kill()
                rest.join()
        finally:
            process.kill()
