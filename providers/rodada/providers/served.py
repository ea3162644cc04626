"""
Who served a turn: what every provider adds to what the reply itself says.
"""

from urllib.parse import urlsplit

from attrs import evolve

from rodada.statemachine.messages import ModelTurn


def host_of(address: object) -> str | None:
    """
    Host and port of an address, and nothing else of it: what stands around them may be secret. None for what has none.
    """
    try:
        parts = urlsplit(str(address))
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    named = f"[{host}]" if ":" in host else host
    return named if port is None else f"{named}:{port}"


def served_by(turn: ModelTurn, address: object, asked: str, request_id: str | None) -> ModelTurn:
    """
    The turn, with the host that was asked, the model that was asked for and the vendor's id of the request.
    """
    served = evolve(turn.served, host=host_of(address), asked=asked, request_id=request_id or None)
    return evolve(turn, served=served)
