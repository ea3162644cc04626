"""
What is true of a call to an MCP server that gave no result. Imports the SDK: only on first use.
"""

from attrs import frozen
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, PARSE_ERROR
from pydantic import ValidationError

from rodada.statemachine.jsontext import clean_text
from rodada.tools.errors import OutcomeUnknown, ToolError
from rodada.tools.mcp_delivery import Delivery
from rodada.tools.value_text import error_name

LONGEST_NAME_TOLD = 80
LONGEST_REASON = 1000
# What servers answer to a session that they do not know any more: by the protocol 404, but many send 400, with one of
# these codes; the second is the SDK's own, where it cannot read what was sent with the status.
GONE, GONE_BY_SOME, CODES_OF_SOME = 404, 400, (-32000, INTERNAL_ERROR)
SERVER_FAULT = 500


class Unsent(Exception):
    """
    A call never began; the message says why.
    """


class SessionGone(Unsent):
    """
    A call never began, for the server, or its memory of this session, is gone: started again it may take the call.
    """


@frozen
class Sent:
    """
    A call as it was sent.

    Attributes:
        server: its name.
        tool: the tool's own name.
        delivery: how far the request got.
        ended: whether the connection has ended.
        has_session: whether the server keeps a session that it may forget.
        over_http: whether the connection is HTTP.
    """

    server: str
    tool: str
    delivery: Delivery
    ended: bool
    has_session: bool
    over_http: bool


def judged(error: Exception, call: Sent) -> Exception:
    """
    What is to be raised for a call that ended in an error: `Unsent`, `SessionGone`, `OutcomeUnknown` or `ToolError`.
    """
    delivery = call.delivery
    if not delivery.sent:
        if call.ended:
            return SessionGone("it has ended")
        return Unsent(f"it cannot be reached ({delivery.broken or error_name(error)})")
    match error:
        case MCPError() if _is_gone(error, call):
            return SessionGone("it does not know this session any more")
        case MCPError() if not _is_lost(error, call):
            return ToolError(_told(error, call))
        case ValidationError():
            return _unknown(call, "its answer cannot be read")
        case MCPError() if (delivery.status or 0) >= SERVER_FAULT:
            return _unknown(call, f"it was answered with HTTP status {delivery.status}")
        case RuntimeError():
            return ToolError(f"{_name(call)} gave an answer that breaks what its server declares.")
        case _:
            return _unknown(call, "the connection was lost before its answer came")


def _is_gone(error: MCPError, call: Sent) -> bool:
    if not (call.over_http and call.has_session):
        return False
    status = call.delivery.status
    return status == GONE or (status == GONE_BY_SOME and error.code in CODES_OF_SOME)


def _is_lost(error: MCPError, call: Sent) -> bool:
    if not call.over_http:
        return call.ended and error.code == CONNECTION_CLOSED
    status = call.delivery.status
    if status is None or status >= SERVER_FAULT:
        return True
    # Answered with 4xx, the error is the server's own; else the SDK says so of a stream that broke or cannot be read.
    return status < GONE_BY_SOME and error.code in (CONNECTION_CLOSED, PARSE_ERROR)


def _unknown(call: Sent, why: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"{_name(call)} was sent to its MCP server, but {why}: it may have taken effect, and its result is not known."
    )


def _told(error: MCPError, call: Sent) -> str:
    message = clean_text(error.message)[:LONGEST_REASON].strip() or "no reason was given"
    status = f", HTTP status {call.delivery.status}" if (call.delivery.status or 0) >= GONE_BY_SOME else ""
    return f"{_name(call)} failed: its MCP server answered with an error: {message} (code {error.code}{status})."


def _name(call: Sent) -> str:
    return clean_text(call.tool)[:LONGEST_NAME_TOLD]
