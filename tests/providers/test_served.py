"""
Who served a turn: what every provider adds to what the reply itself says.
"""

import pytest

from rodada.providers.served import host_of, served_by
from rodada.statemachine.messages import ModelTurn, Served, Stop


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://api.anthropic.com/v1/?key=sk-secret", "api.anthropic.com"),
        ("http://user:sk-secret@Localhost:8080/v1", "localhost:8080"),
        ("http://[::1]:8080/sk-secret", "[::1]:8080"),
        ("localhost:8080", None),
        ("http://localhost:sk-secret/", None),
        ("", None),
        (None, None),
    ],
)
def test_of_an_address_the_host_and_the_port_are_told_alone(address: object, host: str | None) -> None:
    assert host_of(address) == host


def test_what_the_reply_said_stays_and_what_was_not_told_is_none() -> None:
    turn = ModelTurn(Stop.WHOLE, "Hi.", served=Served(service_tier="flex"))
    assert served_by(turn, "https://a.example", "m", "").served == Served("a.example", "m", None, "flex")
    assert served_by(turn, None, "m", "req_1").served == Served(None, "m", "req_1", "flex")
