"""
How far one request to an MCP server got: the difference between a call that failed and one whose outcome is unknown.

The SDK tells only that the connection closed, not whether the request had left. So each call carries a note in its
context, and the transport beneath the SDK writes on it.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from attrs import define


@define
class Delivery:
    """
    The note of one request.

    Attributes:
        sent: whether it was handed to the server's pipe or connection.
        status: the HTTP status that it was answered with; None where there was none.
        broken: class of the error that the connection broke with; "" where it did not.
    """

    sent: bool = False
    status: int | None = None
    broken: str = ""


_NOTE: ContextVar[Delivery] = ContextVar("rodada MCP delivery")


def noted() -> Delivery:
    """
    The note of the request in this context; one that nobody reads where there is none.
    """
    return _NOTE.get(Delivery())


@contextmanager
def noting(delivery: Delivery) -> Generator[None]:
    """
    Requests made inside write on this note.
    """
    token = _NOTE.set(delivery)
    try:
        yield
    finally:
        _NOTE.reset(token)
