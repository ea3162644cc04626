"""
The server itself: connections, scripts, what it keeps of requests.
"""

import http.client
import json
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from math import nan
from typing import Literal, cast

import pytest

from rodada.providers.loopback import (
    Altered,
    Body,
    Call,
    Drop,
    Failure,
    Hang,
    Held,
    Loopback,
    Raw,
    Received,
    Reply,
    Turn,
    WireName,
)
from support.loopback_client import HEADERS, Client, Json, Reaction, client

ASK: Json = {"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}


@contextmanager
def connection(server: Loopback) -> Generator[Client]:
    with client(server, "/v1/messages", HEADERS["anthropic"]) as made:
        yield made


def ask_once(server: Loopback, body: Json = ASK) -> Reaction:
    with connection(server) as made:
        return made.post(body)


def text_of(reaction: Reaction) -> object:
    return reaction.body["content"][0]["text"]


def test_a_sequence_is_played_in_order_over_one_connection() -> None:
    with Loopback([Turn("one"), Turn("two")]) as server, connection(server) as one:
        first = text_of(one.post(ASK))
        socket_of_first = one.connection.sock
        assert (first, text_of(one.post(ASK))) == ("one", "two")
        assert one.connection.sock is socket_of_first
        assert server.unplayed == 0


def test_a_refused_request_does_not_use_up_a_reply() -> None:
    with Loopback([Turn("one")]) as server:
        refused = ask_once(server, {**ASK, "messages": [{"role": "assistant", "content": "hi"}]})
        assert refused.status == 400
        assert text_of(ask_once(server)) == "one"
        assert [each.accepted for each in server.received] == [False, True]
        assert server.requests() == (ASK,)


def test_a_script_that_is_used_up_says_so_and_the_record_too() -> None:
    with Loopback([Turn("one")]) as server:
        ask_once(server)
        reaction = ask_once(server)
        assert reaction.status == 500
        assert reaction.body["error"] == {
            "type": "api_error",
            "message": "the script is used up: its 1 replies have been played",
        }
        assert [each.accepted for each in server.received] == [True, False]
        assert [each.status for each in server.refusals] == [500]


def test_what_is_no_reply_is_answered_as_such() -> None:
    with Loopback(["one"]) as server:  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
        reaction = ask_once(server)
    message = "the script holds a builtins.str, which is no reply"
    assert (500, {"type": "api_error", "message": message}) == (reaction.status, reaction.body["error"])


def test_a_script_that_raises_is_answered_with_what_it_raised() -> None:
    def broken(received: Received) -> Reply:
        raise KeyError("answer")

    with Loopback(broken) as server:
        reaction = ask_once(server)
        assert (reaction.status, server.refusals[0].message) == (500, "the script raised KeyError: 'answer'")


def test_what_is_no_json_cannot_be_written_into_a_script() -> None:
    for make in (lambda: Body({"x": object()}), lambda: Call("save", {"x": {1}}), lambda: Call("save", {"x": nan})):
        with pytest.raises((TypeError, ValueError), match="JSON"):
            make()


def test_a_request_is_on_record_when_the_script_is_asked() -> None:
    def look(received: Received) -> Reply:
        return Turn(f"{server.received[-1] == received} {received.number}")

    with Loopback(look) as server:
        assert (text_of(ask_once(server)), text_of(ask_once(server))) == ("True 0", "True 1")


@pytest.mark.parametrize(
    ("wire", "path", "status"),
    [
        ("anthropic", "/v1/messages", 413),
        ("openai", "/v1/responses", 413),
        ("google", "/v1beta/models/gemini-3.6-flash:generateContent", 400),
    ],
)
def test_a_body_beyond_the_limit_is_refused(wire: WireName, path: str, status: int) -> None:
    with Loopback([], max_request_bytes=100) as server, client(server, path, HEADERS[wire]) as one:
        reaction = one.post({"padding": "x" * 100})
        assert (reaction.status, "100 bytes" in reaction.body["error"]["message"]) == (status, True)


def test_a_body_may_come_in_chunks() -> None:
    raw = json.dumps(ASK).encode()
    with Loopback([Turn("one"), Turn("two")]) as server, connection(server) as one:
        one.connection.request("POST", one.path, iter([raw[:9], raw[9:]]), dict(one.headers), encode_chunked=True)
        assert (text_of(one.receive()), text_of(one.post(ASK))) == ("one", "two")


@pytest.mark.parametrize("length", [b"9", b"many"])
def test_a_request_that_breaks_off_is_none(length: bytes) -> None:
    with Loopback([Turn("one")]) as server:
        with connection(server) as one:
            one.connection.connect()
            one.connection.sock.sendall(b"POST /v1/messages HTTP/1.1\r\ncontent-length: " + length + b"\r\n\r\n{")
            one.connection.sock.shutdown(socket.SHUT_WR)
            assert one.connection.sock.recv(1) == b""
        assert server.received == ()


def test_other_methods_are_refused_in_the_vendors_form() -> None:
    with Loopback([]) as server, client(server, "/v1/responses/resp_1", HEADERS["openai"]) as one:
        one.connection.request("GET", one.path, headers=dict(one.headers))
        reaction = one.receive()
        assert (reaction.status, reaction.body["error"]["message"]) == (404, "Response with id 'resp_1' not found.")


def test_play_starts_another_script_on_the_same_connections() -> None:
    with Loopback([Turn("one")]) as server, connection(server) as one:
        one.post(ASK)
        server.play([Turn("two")])
        assert server.received == ()
        assert text_of(one.post(ASK)) == "two"


def test_a_callable_answers_concurrent_runs_each_by_its_own_request() -> None:
    def echo(received: Received) -> Reply:
        (message,) = cast(list[dict[str, str]], received.body["messages"])
        return Turn(f"heard {message['content']}")

    heard: dict[int, object] = {}

    def client(number: int) -> None:
        messages = [{"role": "user", "content": str(number)}]
        heard[number] = text_of(ask_once(server, {**ASK, "messages": messages}))

    with Loopback(echo) as server:
        threads = [threading.Thread(target=client, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert heard == {number: f"heard {number}" for number in range(16)}
        assert len({each.number for each in server.received}) == 16


def test_a_body_is_sent_as_it_is() -> None:
    with Loopback([Body({"type": "message"}, headers={"x-more": "1"})]) as server:
        reaction = ask_once(server)
        assert (reaction.body, reaction.headers["x-more"]) == ({"type": "message"}, "1")


def test_a_failure_is_in_the_vendors_envelope() -> None:
    with Loopback([Failure(529, "Overloaded", headers={"retry-after": "3"})]) as server:
        reaction = ask_once(server)
        assert (reaction.status, reaction.headers["retry-after"]) == (529, "3")
        assert reaction.body == {
            "type": "error",
            "error": {"type": "overloaded_error", "message": "Overloaded"},
            "request_id": reaction.headers["request-id"],
        }


def test_raw_bytes_can_be_broken_json() -> None:
    with Loopback([Raw(b'{"type": "mess')]) as server, connection(server) as one:
        one.send(ASK)
        assert one.connection.getresponse().read() == b'{"type": "mess'


def test_raw_bytes_can_promise_more_than_they_are() -> None:
    with Loopback([Raw(b"{", promised=100)]) as server, connection(server) as one:
        one.send(ASK)
        with pytest.raises(http.client.IncompleteRead):
            one.connection.getresponse().read()


def test_drop_closes_the_connection_without_an_answer() -> None:
    with Loopback([Drop()]) as server, connection(server) as one:
        one.send(ASK)
        with pytest.raises(http.client.RemoteDisconnected):
            one.connection.getresponse()


def test_a_drop_may_be_a_reset() -> None:
    with Loopback([Drop(reset=True)]) as server, connection(server) as one:
        one.send(ASK)
        with pytest.raises(ConnectionResetError):
            one.connection.getresponse()


def test_a_reply_may_be_altered_on_the_way() -> None:
    def shouted(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
        return tuple(bytes([each]) for each in pieces[0].replace(b"one", b"ONE"))

    with Loopback([Altered(Turn("one"), shouted)]) as server:
        assert text_of(ask_once(server)) == "ONE"


def test_of_a_stream_its_events_are_altered() -> None:
    turned = Altered(Turn("one"), lambda pieces: (*pieces[1:2], b"", *pieces[:1]))
    with Loopback([turned]) as server, connection(server) as one:
        told = [json.loads(each)["type"] for each in one.stream(ASK)]
    assert told == ["ping", "message_start"]


def test_a_change_that_raises_is_a_fault_of_the_script() -> None:
    with Loopback([Altered(Turn("one"), lambda pieces: (pieces[7],))]) as server:
        reaction = ask_once(server)
    assert (reaction.status, reaction.body["error"]["message"]) == (
        500,
        "the change of a reply raised IndexError: tuple index out of range",
    )


@pytest.mark.parametrize(
    ("then", "error"),
    [("drop", http.client.IncompleteRead), ("reset", (ConnectionResetError, http.client.IncompleteRead))],
)
def test_an_altered_reply_may_break_off(then: Literal["drop", "reset"], error: type[Exception]) -> None:
    with Loopback([Altered(Turn("one"), lambda pieces: (pieces[0][:9],), then)]) as server, connection(server) as one:
        one.send(ASK)
        with pytest.raises(error):
            one.connection.getresponse().read()


def test_what_goes_on_at_the_door_is_counted() -> None:
    with Loopback([Turn("one"), Altered(Turn("two"), lambda pieces: pieces, "hang")]) as server:
        with connection(server) as one:
            one.post(ASK)
            assert server.wait_for(lambda: server.answering == 0)
            assert (server.connections, server.open_connections, server.held_back) == (1, 1, 0)
            one.send(ASK)
            assert server.wait_for(lambda: server.held_back == 1)
            assert (server.connections, server.open_connections, server.answering) == (1, 1, 1)
        assert server.wait_for(lambda: server.open_connections == 0)
        assert (server.answering, server.hung_up) == (0, 1)


def test_leaving_the_server_ends_a_hanging_reply_and_idle_connections() -> None:
    seen = threading.Event()

    def hang(received: Received) -> Reply:
        seen.set()
        return Hang()

    before = threading.active_count()
    with Loopback(hang) as server, connection(server) as one, connection(server) as idle:
        idle.connection.connect()
        one.send(ASK)
        assert seen.wait(10)
        server.close()
        with pytest.raises(http.client.RemoteDisconnected):
            one.connection.getresponse()
        assert server.hung_up == 0
    assert threading.active_count() == before


def test_a_client_that_hangs_up_is_counted() -> None:
    with Loopback([Hang(), Turn("after")]) as server:
        with connection(server) as one:
            one.send(ASK)
            assert server.wait_for(lambda: len(server.received) == 1)
        assert server.wait_for(lambda: server.hung_up == 1)
        assert text_of(ask_once(server)) == "after"


def test_a_held_reply_comes_when_its_event_is_set() -> None:
    event = threading.Event()
    with Loopback([Held(event, Turn("at last"))]) as server, connection(server) as one:
        one.send(ASK)
        assert server.wait_for(lambda: len(server.received) == 1)
        event.set()
        assert one.receive().body["content"] == [{"type": "text", "text": "at last"}]


def test_a_client_that_leaves_a_held_reply_is_counted() -> None:
    with Loopback([Held(threading.Event(), Turn("never"))]) as server:
        with connection(server) as one:
            one.send(ASK)
            assert server.wait_for(lambda: len(server.received) == 1)
        assert server.wait_for(lambda: server.hung_up == 1)


def test_keys_and_bodies_stay_out_of_the_repr() -> None:
    with Loopback([Turn("one", [Call("save")], reasoning=True)]) as server:
        ask_once(server, {**ASK, "system": "the secret plan"})
        shown = repr(server.received)
        assert server.received[0].headers["authorization"] == "Bearer sk-secret"
        assert "sk-secret" not in shown
        assert "secret plan" not in shown


def test_the_port_can_be_chosen_and_is_free_again_afterwards() -> None:
    with Loopback() as server:
        port = int(server.url.rpartition(":")[2])
    with Loopback(port=port) as again:
        assert again.url == f"http://127.0.0.1:{port}"


def test_a_server_that_does_not_run_has_no_url() -> None:
    with pytest.raises(RuntimeError, match="start"):
        _ = Loopback().url


def test_the_same_script_gives_the_same_bytes() -> None:
    def bodies() -> list[dict[str, object]]:
        with Loopback([Turn("a", [Call("f", {"x": 1})], reasoning=True), Turn("b")]) as server:
            return [ask_once(server).body, ask_once(server).body]

    assert bodies() == bodies()
