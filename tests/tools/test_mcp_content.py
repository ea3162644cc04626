import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import CallToolResult

from rodada.statemachine.messages import Media, Text
from rodada.tools import ToolResultParts
from rodada.tools.mcp_content import content

PIXEL = base64.b64encode(b"\x89PNG").decode()


def of(*blocks: dict[str, Any], **fields: Any) -> ToolResultParts:
    return content(CallToolResult.model_validate({"content": list(blocks), **fields}))


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def resource(**fields: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": fields}


def test_texts_stand_on_lines_of_their_own() -> None:
    assert ToolResultParts("one\ntwo") == of(text("one"), text("two"))


def test_media_stand_where_they_stood() -> None:
    image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    audio = {"type": "audio", "data": PIXEL, "mimeType": "audio/wav; rate=1"}

    found = of(text("before"), image, text("between"), text("and"), audio)

    assert (
        ToolResultParts(
            (
                Text("before"),
                Media("image/png", PIXEL),
                Text("between\nand"),
                Media("audio/wav", PIXEL),
            )
        )
        == found
    )


def test_a_resource_is_told_with_its_address() -> None:
    assert ToolResultParts("[resource file:///a.md]\n# A") == of(resource(uri="file:///a.md", text="# A"))
    assert ToolResultParts(Media("application/octet-stream", PIXEL, "file:///b")) == of(
        resource(uri="file:///b", blob=PIXEL)
    )


def test_the_address_of_a_resource_cannot_break_out_of_its_line() -> None:
    assert ToolResultParts("[resource x: y]\nz") == of(resource(uri="x:\n\u2028y", text="z"))


def test_a_link_to_a_resource_is_json() -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain", "size": 3}

    assert ToolResultParts('{"resource_link":{"uri":"file:///a","name":"a","mimeType":"text/plain","size":3}}') == of(
        link
    )


def test_structured_content_is_told_once() -> None:
    told = [
        of(structuredContent={"kg": 80}),
        of(text("It went well."), structuredContent={"kg": 80}),
        of(text('{ "kg": 80 }'), structuredContent={"kg": 80}),
        of(text("80"), structuredContent={"result": 80}),
        of(text("bench"), structuredContent={"result": "bench"}),
        of(text("80"), text("bench"), structuredContent={"result": [80, "bench"]}),
        of(text("# A"), structuredContent={"content": "# A"}),
    ]

    assert [
        ToolResultParts('{"kg":80}'),
        ToolResultParts('It went well.\n{"kg":80}'),
        ToolResultParts('{ "kg": 80 }'),
        ToolResultParts("80"),
        ToolResultParts("bench"),
        ToolResultParts("80\nbench"),
        ToolResultParts("# A"),
    ] == told


def test_f045_only_the_server_says_that_a_call_failed() -> None:
    assert ToolResultParts("Error: the first line of a log") == of(text("Error: the first line of a log"))
    assert ToolResultParts("all is well", failed=True) == of(text("all is well"), isError=True)


@pytest.mark.parametrize("data", ["/+8=\n", "/\r\n+8=", "_-8=", "/+8", "_-8"])
def test_servers_spell_base64_in_many_ways(data: str) -> None:
    assert ToolResultParts(Media.of(b"\xff\xef", "image/png")) == of(
        {"type": "image", "data": data, "mimeType": "image/png"}
    )


@pytest.mark.parametrize(("data", "kind"), [("no base64!", "image/png"), (PIXEL, "picture"), ("", "image/png")])
def test_what_is_no_medium_is_told(data: str, kind: str) -> None:
    found = of({"type": "image", "data": data, "mimeType": kind})

    assert (
        ToolResultParts(f"[{kind} of {len(data)} characters was left out: it is no base64, or that is no media type]")
        == found
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.text(), max_size=3), JSON, st.booleans(), st.text(), st.text())
def test_whatever_a_server_says_can_be_told(
    texts: list[str], structured: object, failed: bool, uri: str, kind: str
) -> None:
    blocks = [*map(text, texts), resource(uri=uri, blob=kind, mimeType=kind), resource(uri=uri, text=kind)]

    found = of(*blocks, structuredContent=structured, isError=failed)

    assert failed == found.failed
    assert all(part.text.encode() is not None for part in found.parts if isinstance(part, Text))
