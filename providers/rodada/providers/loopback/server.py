"""
The loopback server: the wires of three vendors on 127.0.0.1, played from a script.
"""

import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeAlias, get_args

from attrs import evolve

from rodada.providers.loopback.anthropic import AnthropicWire
from rodada.providers.loopback.google import GoogleWire
from rodada.providers.loopback.http import Answer, Listener, Message, Outcome, Silence, Stream, Wait
from rodada.providers.loopback.json_values import Object, kind_of, read
from rodada.providers.loopback.openai_chat import ChatWire, Deviation
from rodada.providers.loopback.openai_responses import ResponsesWire
from rodada.providers.loopback.received import Received
from rodada.providers.loopback.script import (
    Altered,
    Body,
    Broken,
    Drop,
    Failure,
    Hang,
    Held,
    Raw,
    Reply,
    ScriptFault,
    Turn,
    WireName,
)
from rodada.providers.loopback.traffic import Traffic
from rodada.providers.loopback.wire import Ids, Wire

Script: TypeAlias = Sequence[Reply] | Callable[[Received], Reply]


class Loopback:
    """
    Speaks the wires of Anthropic, OpenAI (Responses, Chat Completions) and Google from a script, and refuses what the
    vendors refuse.

    A sequence is played in order, one reply for each accepted request; a callable decides by the request and may be
    asked by several threads at once. A script that is used up, a callable that raises, and a turn that the wire has
    no form for are answered with a vendor error of status 500 and stand in `received` as refused.

    Args:
        script: what it answers.
        port: to listen on; 0 takes a free one.
        google_ids: False leaves the ids out of Google's function calls, as older routes do.
        stripped_thinking: accept an Anthropic tool loop from which all thinking was removed, as models with adaptive
            thinking do; a live run has no reason to send that, so the server refuses it unless told otherwise.
        chat_deviations: for a model on Chat Completions, in what its server deviates from OpenAI.
        max_request_bytes: instead of the vendors' limits; None leaves those.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        port: int = 0,
        google_ids: bool = True,
        stripped_thinking: bool = False,
        chat_deviations: Mapping[str, Collection[Deviation]] | None = None,
        max_request_bytes: int | None = None,
    ) -> None:
        ids = Ids()
        self._wires: tuple[Wire, ...] = (
            AnthropicWire(ids, stripped_thinking),
            GoogleWire(ids, google_ids),
            ChatWire(ids, chat_deviations or {}),
            ResponsesWire(ids),
        )
        self._max_request_bytes = max_request_bytes
        self._ids = ids
        self._changed = threading.Condition(threading.RLock())
        self._traffic = Traffic(self._changed)
        self._wanted_port = port
        self._listener: Listener | None = None
        self.play(script)

    def play(self, script: Script) -> None:
        """
        Start another script and forget what was received; connections stay open.
        """
        with self._changed:
            self._script = script
            self._played = 0
            self._received: list[Received] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """
        Open the port.

        Raises:
            OSError: it is taken.
        """
        if self._listener is None:
            self._listener = Listener(self._wanted_port, self._respond, self._traffic)

    def close(self) -> None:
        """
        Close every connection, also those that wait, and end the threads.
        """
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    @property
    def url(self) -> str:
        """
        The root, without a slash at the end.

        Raises:
            RuntimeError: it was not started.
        """
        if self._listener is None:
            raise RuntimeError("the loopback server is not running: use it in a with statement, or call start()")
        return f"http://127.0.0.1:{self._listener.port}"

    def base_url(self, wire: WireName) -> str:
        """
        What the vendor's SDK wants as its base_url.
        """
        return self.url + next(each.base_path for each in self._wires if each.name == wire)

    @property
    def received(self) -> tuple[Received, ...]:
        """
        Every request since the script began, accepted or not, in the order in which they were judged.

        A request stands here before the script is asked for its reply.
        """
        with self._changed:
            return tuple(self._received)

    def requests(self, wire: WireName | None = None) -> tuple[Object, ...]:
        """
        The bodies of the accepted requests, of one wire or of all.
        """
        return tuple(each.body for each in self.received if each.accepted and wire in (None, each.wire))

    @property
    def refusals(self) -> tuple[Failure, ...]:
        """
        What was refused: a test that expects good requests compares it with ().
        """
        return tuple(each.refusal for each in self.received if each.refusal is not None)

    @property
    def unplayed(self) -> int:
        """
        Replies of a sequence that nobody has asked for yet; 0 for a callable.
        """
        with self._changed:
            return 0 if callable(self._script) else len(self._script) - self._played

    @property
    def hung_up(self) -> int:
        """
        How many clients went away while their answer was held back.
        """
        return self._traffic.of("hung up")

    @property
    def held_back(self) -> int:
        """
        How many answers were held back, of which some of the bytes may have been sent before.
        """
        return self._traffic.of("held back")

    @property
    def connections(self) -> int:
        """
        How many connections were opened since the start.
        """
        return self._traffic.of("connections")

    @property
    def open_connections(self) -> int:
        """
        How many of them are open.
        """
        return self._traffic.of("open")

    @property
    def answering(self) -> int:
        """
        How many requests are being answered, those whose answer is held back included.
        """
        return self._traffic.of("answering")

    def wait_for(self, condition: Callable[[], bool], seconds: float = 10) -> bool:
        """
        Wait until what the server records (`received`, `unplayed`, and what is counted) makes the condition true; False
        when that did not happen within so many seconds.
        """
        with self._changed:
            return self._changed.wait_for(condition, seconds)

    def _respond(self, message: Message) -> Outcome:
        path, _, query = message.target.partition("?")
        wire = next(each for each in self._wires if each.owns(path, message.headers))
        received = self._record(self._judge(wire, message, path, query))
        if received.refusal is not None:
            return self._failed(wire, received.refusal)
        try:
            return self._outcome(wire, _checked(self._next_reply(received)), received)
        except ScriptFault as fault:
            refusal = Failure(500, str(fault), headers={"x-should-retry": "false"})
            self._record_fault(received, refusal)
            return self._failed(wire, refusal)

    def _record(self, received: Received) -> Received:
        with self._changed:
            numbered = evolve(received, number=len(self._received))
            self._received.append(numbered)
            self._changed.notify_all()
        return numbered

    def _record_fault(self, received: Received, refusal: Failure) -> None:
        with self._changed:
            if self._received[received.number : received.number + 1] == [received]:
                self._received[received.number] = evolve(received, refusal=refusal)

    def _judge(self, wire: Wire, message: Message, path: str, query: str) -> Received:
        body, refusal = _read(message.body) if message.method == "POST" else ({}, None)
        refusal = wire.turn_away(message.method, path, message.headers) or refusal
        received = Received(
            number=0,
            wire=wire.name,
            method=message.method,
            path=path,
            model=wire.model(path, body),
            headers=message.headers,
            body=body,
            raw=message.body,
            query=query,
        )
        return evolve(received, refusal=refusal or self._too_large(wire, message) or wire.refuse(received))

    def _too_large(self, wire: Wire, message: Message) -> Failure | None:
        most = wire.most_bytes if self._max_request_bytes is None else self._max_request_bytes
        return wire.too_large(most) if most is not None and len(message.body) > most else None

    def _next_reply(self, received: Received) -> Reply:
        script = self._script
        if callable(script):
            return _asked(script, received)
        with self._changed:
            if self._played == len(script):
                raise ScriptFault(f"the script is used up: its {len(script)} replies have been played")
            self._played += 1
            return script[self._played - 1]

    def _outcome(self, wire: Wire, reply: Reply, received: Received) -> Outcome:
        match reply:
            case Hang():
                return Wait()
            case Held():
                return Wait(reply.until, self._at_once(wire, reply.reply, received))
            case _:
                return self._at_once(wire, reply, received)

    def _at_once(
        self, wire: Wire, reply: Turn | Body | Failure | Raw | Drop | Broken | Altered, received: Received
    ) -> Answer | Stream | Silence:
        match reply:
            case Drop():
                return Silence(reply.reset)
            case Broken():
                return self._broken(wire, reply, received)
            case Altered():
                return self._altered(wire, reply, received)
            case Raw():
                headers = {"content-type": "application/json", **reply.headers}
                return Answer(reply.status, headers, reply.data, reply.promised)
            case Failure():
                return self._failed(wire, reply)
            case Body():
                return self._said(wire, received, reply.json, reply)
            case Turn():
                return self._said(wire, received, wire.render(reply, received), Body({}))

    def _said(self, wire: Wire, received: Received, body: Object, form: Body) -> Answer | Stream:
        headers = {wire.request_id_header: self._ids.fresh("req_"), **form.headers}
        if form.status == 200:
            wire.remember(received, body)
        if form.status == 200 and wire.streams(received):
            return _stream(wire.frames(body, received), headers)
        return _json(form.status, body, headers)

    def _broken(self, wire: Wire, broken: Broken, received: Received) -> Stream | Silence:
        if not wire.streams(received):
            return Silence()
        reply, request_id = broken.reply, self._ids.fresh("req_")
        body = reply.json if isinstance(reply, Body) else wire.render(reply, received)
        frames, headers = wire.frames(body, received)[: broken.frames], {wire.request_id_header: request_id}
        if isinstance(broken.then, Failure):
            return _stream((*frames, wire.error_frame(broken.then, request_id)), headers)
        return evolve(_stream(frames, headers), ends=broken.then)

    def _altered(self, wire: Wire, altered: Altered, received: Received) -> Stream:
        reply = altered.reply
        form = reply if isinstance(reply, Body) else Body({})
        body = reply.json if isinstance(reply, Body) else wire.render(reply, received)
        said = self._said(wire, received, body, form)
        pieces = said.frames if isinstance(said, Stream) else (said.body,)
        return Stream(said.status, said.headers, _changed(altered, pieces), altered.then)

    def _failed(self, wire: Wire, failure: Failure) -> Answer:
        request_id = self._ids.fresh("req_")
        headers = {wire.request_id_header: request_id, **failure.headers}
        return _json(failure.status, wire.envelope(failure, request_id), headers)


def _changed(altered: Altered, pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    try:
        return tuple(filter(None, altered.change(pieces)))  # an empty one would end the body
    except Exception as error:
        raise ScriptFault(f"the change of a reply raised {type(error).__name__}: {error}") from error


def _json(status: int, body: Object, headers: Mapping[str, str]) -> Answer:
    return Answer(status, {"content-type": "application/json", **headers}, json.dumps(body).encode())


def _stream(frames: tuple[bytes, ...], headers: Mapping[str, str]) -> Stream:
    return Stream(200, {"content-type": "text/event-stream; charset=utf-8", **headers}, frames)


def _asked(script: Callable[[Received], Reply], received: Received) -> Reply:
    try:
        return script(received)
    except Exception as error:
        raise ScriptFault(f"the script raised {type(error).__name__}: {error}") from error


def _checked(reply: Reply) -> Reply:
    # Such as the Failure of an outcome, which has the name of a reply: left alone, the client would wait for ever.
    kind: type = type(reply)
    if kind not in get_args(Reply):
        raise ScriptFault(f"the script holds a {kind.__module__}.{kind.__qualname__}, which is no reply")
    return reply


def _read(raw: bytes) -> tuple[Object, Failure | None]:
    try:
        body = read(raw)
    except ValueError as error:
        return {}, Failure(400, f"The request body is not valid JSON: {error}")
    if not isinstance(body, dict):
        return {}, Failure(400, f"The request body must be a JSON object, not {kind_of(body)}.")
    return body, None
