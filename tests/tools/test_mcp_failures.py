import pytest
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from pydantic import TypeAdapter, ValidationError

from rodada.tools import OutcomeUnknown, ToolError
from rodada.tools.mcp_delivery import Delivery
from rodada.tools.mcp_failures import Sent, SessionGone, Unsent, judged

UNSENT = Delivery()


def http(status: int | None = 200, broken: str = "") -> Delivery:
    return Delivery(sent=True, status=status, broken=broken)


def unreadable() -> Exception:
    try:
        TypeAdapter(int).validate_python("x")
    except ValidationError as error:
        return error
    raise AssertionError


def error(code: int, message: str = "no") -> MCPError:
    return MCPError(code, message)


def over_pipe(delivery: Delivery, ended: bool) -> Sent:
    return Sent("s", "act", delivery, ended=ended, has_session=True, over_http=False)


def over_http(delivery: Delivery, ended: bool = False, has_session: bool = True) -> Sent:
    return Sent("s", "act", delivery, ended=ended, has_session=has_session, over_http=True)


CASES: list[tuple[Exception, Sent, type[Exception]]] = [
    # Never sent: whatever the error says, nothing was run.
    (error(CONNECTION_CLOSED), over_pipe(UNSENT, ended=True), SessionGone),
    (error(CONNECTION_CLOSED), over_http(UNSENT, ended=True), SessionGone),
    (error(INTERNAL_ERROR), over_http(Delivery(broken="ConnectError")), Unsent),
    (ValueError("x"), over_pipe(UNSENT, ended=False), Unsent),
    # A server may use the code by which the SDK tells of a closed connection.
    (error(CONNECTION_CLOSED), over_pipe(Delivery(sent=True), ended=True), OutcomeUnknown),
    (error(CONNECTION_CLOSED), over_pipe(Delivery(sent=True), ended=False), ToolError),
    (error(PARSE_ERROR), over_pipe(Delivery(sent=True), ended=False), ToolError),
    (error(INVALID_PARAMS), over_pipe(Delivery(sent=True), ended=True), ToolError),
    # Over HTTP the status tells whose error it is.
    (error(CONNECTION_CLOSED), over_http(http()), OutcomeUnknown),
    (error(PARSE_ERROR), over_http(http()), OutcomeUnknown),
    (error(INVALID_PARAMS), over_http(http()), ToolError),
    (error(INVALID_PARAMS), over_http(http(400)), ToolError),
    (error(INTERNAL_ERROR), over_http(http(403)), ToolError),
    (error(INTERNAL_ERROR), over_http(http(502)), OutcomeUnknown),
    (error(INTERNAL_ERROR), over_http(http(None, "ReadError")), OutcomeUnknown),
    # A forgotten session took no call.
    (error(INVALID_REQUEST), over_http(http(404)), SessionGone),
    (error(CONNECTION_CLOSED), over_http(http(400)), SessionGone),
    (error(INTERNAL_ERROR), over_http(http(400)), SessionGone),
    (error(INVALID_REQUEST), over_http(http(404), has_session=False), ToolError),
    # An answer came, but is none.
    (unreadable(), over_pipe(Delivery(sent=True), ended=False), OutcomeUnknown),
    (RuntimeError("breaks its output schema"), over_http(http()), ToolError),
    (OSError("?"), over_http(http()), OutcomeUnknown),
]


@pytest.mark.parametrize(("given", "call", "expected"), CASES)
def test_a_call_that_gave_no_result_is_told_as_it_is(given: Exception, call: Sent, expected: type[Exception]) -> None:
    assert expected is type(judged(given, call))


def test_the_words_of_a_server_have_an_end() -> None:
    told = judged(error(INVALID_PARAMS, "x" * 10_000 + "\ud800"), over_http(http(400)))

    assert (
        str(told) == f"act failed: its MCP server answered with an error: {'x' * 1000} (code -32602, HTTP status 400)."
    )
