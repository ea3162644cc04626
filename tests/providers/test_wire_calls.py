"""
The calls of a turn as requests: ids that are new, and the names that our tools have.
"""

from rodada.providers.wire_calls import WireCall, requests_of
from rodada.statemachine import Conversation, ModelRequest, Text, ToolDeclaration, ToolRequest, UserMessage

ASKED = ModelRequest(
    conversation=Conversation("c", (UserMessage("m", (Text("hi"),)),)),
    tools=(ToolDeclaration("find it", ""), ToolDeclaration("plain", "")),
)


def mended(name: str) -> str:
    return name.replace(" ", "_")


def test_a_name_that_the_wire_made_us_mend_is_the_tools_own_again_and_any_other_stays() -> None:
    calls = [WireCall(name, name, "{}") for name in ("find_it", "plain", "made up")]
    assert ["find it", "plain", "made up"] == [each.name for each in requests_of(calls, ASKED, mended)]


def test_a_call_has_the_wires_id_where_that_is_usable_and_new_and_the_wires_is_kept_beside_it() -> None:
    calls = [WireCall("a", "plain", "1"), WireCall("a", "plain", "2"), WireCall("", "plain", "3")]
    assert (
        ToolRequest("a", "plain", "1", "a"),
        ToolRequest("call_1_1", "plain", "2", "a"),
        ToolRequest("call_1_2", "plain", "3", None),
    ) == requests_of(calls, ASKED, mended)
