"""
HTTP/1.1 on the loopback interface: connections that can be closed at once, whatever they wait for.
"""

import contextlib
import selectors
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Literal, TypeAlias

from attrs import field, frozen

from rodada.providers.loopback.traffic import Traffic

_GLANCE = 0.02  # seconds between two looks at what a held reply waits for
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: closing resets the connection


@frozen
class Message:
    """
    A request as it came in; header names in lower case.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@frozen
class Answer:
    """
    A response as it goes out; `promised` is a content-length other than the true one.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    promised: int | None = None


@frozen
class Stream:
    """
    A response that goes out frame by frame, chunked, and how it ends: as it should, by a connection that is closed or
    reset, or never.
    """

    status: int
    headers: Mapping[str, str]
    frames: tuple[bytes, ...] = field(repr=False)
    ends: Literal["end", "drop", "reset", "hang"] = "end"


@frozen
class Silence:
    """
    No answer: the connection is closed, or reset, at once.
    """

    reset: bool = False


@frozen
class Wait:
    """
    An answer that waits for an event; without one it never comes.
    """

    until: threading.Event | None = None
    then: "Answer | Stream | Silence" = Silence()


Outcome: TypeAlias = Answer | Stream | Silence | Wait
Respond: TypeAlias = Callable[[Message], Outcome]


class Listener:
    """
    Accepts connections, each served by its own thread, until `close`.
    """

    def __init__(self, port: int, respond: Respond, traffic: Traffic) -> None:
        self.respond = respond
        self.traffic = traffic
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._socket = socket.create_server(("127.0.0.1", port), backlog=128)
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name=f"loopback-{self.port}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """
        Close every socket and wait for the threads (5 seconds each at most; only a callable script can take
        longer).
        """
        self.closing.set()
        socket.create_connection(("127.0.0.1", self.port)).close()  # wakes accept on every platform
        self._thread.join()
        self._socket.close()
        with self._lock:
            connections = dict(self._open)
        for connection in connections:
            _shut(connection)
        for thread in connections.values():
            thread.join(5)

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            if self.closing.is_set():
                connection.close()
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                self._open[connection] = thread
            self.traffic.count("connections")
            self.traffic.count("open")
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with contextlib.suppress(OSError):  # the client went away
                _Connection(connection, self)
        finally:
            with self._lock:
                del self._open[connection]
            connection.close()
            self.traffic.count("open", -1)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the other side may have closed it already
        connection.shutdown(socket.SHUT_RDWR)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    request: socket.socket

    def __init__(self, connection: socket.socket, listener: Listener) -> None:
        self.listener = listener
        self.request = connection
        self.setup()
        try:
            self.handle()
        finally:
            self.finish()

    def do_POST(self) -> None:
        self._exchange()

    def do_GET(self) -> None:
        self._exchange()

    def do_DELETE(self) -> None:
        self._exchange()

    def _exchange(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = self._body(headers)
        except ValueError:
            self.close_connection = True
            return
        self.listener.traffic.count("answering")
        try:
            self._perform(self.listener.respond(Message(self.command, self.path, headers, body)))
        finally:
            self.listener.traffic.count("answering", -1)

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if "transfer-encoding" in headers:
            return self._chunks()
        return self._read(int(headers.get("content-length", "0")))

    def _read(self, length: int) -> bytes:
        body = self.rfile.read(length)
        if len(body) < length:
            raise ValueError("the client hung up within its request")
        return body

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self._read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, format: str, *args: object) -> None:
        """
        Say nothing: stderr belongs to the test.
        """

    def _perform(self, outcome: Outcome) -> None:
        if isinstance(outcome, Wait):
            outcome = outcome.then if self._waited(outcome.until) else Silence()
        match outcome:
            case Answer():
                self._write(outcome)
            case Stream():
                self._stream(outcome)
            case Silence():
                self._leave(outcome.reset)

    def _leave(self, reset: bool = False) -> None:
        self.close_connection = True
        if reset:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        else:
            _shut(self.request)

    def _stream(self, stream: Stream) -> None:
        head = [f"HTTP/1.1 {stream.status} {_phrase(stream.status)}", "transfer-encoding: chunked"]
        head += [f"{name}: {value}" for name, value in stream.headers.items()]
        try:
            self.wfile.write("\r\n".join([*head, "", ""]).encode("latin-1"))
            for frame in stream.frames:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame))
        except OSError:
            self.listener.traffic.count("hung up")
            raise
        if stream.ends == "end":
            self.wfile.write(b"0\r\n\r\n")
            return
        if stream.ends == "hang":
            self._waited(None)
        self._leave(stream.ends == "reset")

    def _write(self, answer: Answer) -> None:
        if answer.promised is not None:
            self.close_connection = True
        length = len(answer.body) if answer.promised is None else answer.promised
        lines = [f"HTTP/1.1 {answer.status} {_phrase(answer.status)}", f"content-length: {length}"]
        lines += [f"{name}: {value}" for name, value in answer.headers.items()]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1") + answer.body)

    def _waited(self, until: threading.Event | None) -> bool:
        """
        Whether the event came before the client hung up and before the server closed.
        """
        self.listener.traffic.count("held back")
        with selectors.DefaultSelector() as watch:
            watch.register(self.request, selectors.EVENT_READ)
            while not self.listener.closing.is_set():
                if until is not None and until.is_set():
                    return True
                if watch.select(_GLANCE if until else None):
                    if self._hung_up():
                        break
                    self.listener.closing.wait(_GLANCE)  # bytes of the next request: they do not end the wait
        if not self.listener.closing.is_set():
            self.listener.traffic.count("hung up")
        return False

    def _hung_up(self) -> bool:
        try:
            return not self.request.recv(1, socket.MSG_PEEK)
        except OSError:
            return True


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded" if status == 529 else "Unknown"
