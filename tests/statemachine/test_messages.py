"""
Entries check themselves when they are built: one that exists is legal.
"""

import base64
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rodada.statemachine.codec import decode, encode
from rodada.statemachine.errors import InvalidValue, UnusableFile
from rodada.statemachine.jsontext import digest_text
from rodada.statemachine.media import LARGEST_FILE
from rodada.statemachine.messages import (
    Exchange,
    Media,
    MediaLink,
    ModelTurn,
    Part,
    Piece,
    Status,
    Stop,
    Text,
    ToolRequest,
    ToolResult,
    Usage,
    UserMessage,
    merged,
    plain_text,
    told_text,
)
from support import words

A, B = ToolRequest("a", "tool", "{}"), ToolRequest("b", "tool", "{}")
DONE_A, DONE_B = (ToolResult.of(each, Status.SUCCEEDED, "done") for each in (A, B))
ASKED = ModelTurn(Stop.WHOLE, requests=(A, B))


@given(words.exchanges())
def test_an_exchange_has_one_result_for_each_request_in_order(exchange: Exchange) -> None:
    assert [result.id for result in exchange.results] == [request.id for request in exchange.turn.requests]


@given(words.turns(stops=(Stop.WHOLE, Stop.CUT), asked=(A, B)), st.lists(st.sampled_from((DONE_A, DONE_B)), max_size=4))
def test_results_that_do_not_answer_the_requests_in_order_are_refused(turn: ModelTurn, given: list[ToolResult]) -> None:
    if given == [DONE_A, DONE_B]:
        assert Exchange(turn, tuple(given)).results == (DONE_A, DONE_B)
    else:
        with pytest.raises(InvalidValue, match=r"Exchange: results must answer \['a', 'b'\] in this order, got "):
            Exchange(turn, tuple(given))


def test_a_turn_that_asks_for_nothing_is_no_exchange() -> None:
    with pytest.raises(InvalidValue, match="it is an answer, not an exchange"):
        Exchange(ModelTurn(Stop.WHOLE, "hello"), ())


@pytest.mark.parametrize("stop", [stop for stop in Stop if stop not in (Stop.WHOLE, Stop.CUT)])
def test_only_whole_and_cut_turns_carry_requests(stop: Stop) -> None:
    assert ModelTurn(Stop.CUT, requests=(A,)).requests == (A,)
    with pytest.raises(InvalidValue, match=f"a {stop.value} turn must not carry requests"):
        ModelTurn(stop, requests=(A,))


def test_two_requests_of_a_turn_have_two_ids_and_none_is_empty() -> None:
    with pytest.raises(InvalidValue, match="two requests share an id"):
        ModelTurn(Stop.WHOLE, requests=(A, A))
    with pytest.raises(InvalidValue, match="an id must not be empty"):
        ToolRequest("", "tool", "{}")


@pytest.mark.parametrize("content", [(), (Text(""),), (Text(" \n"), Text("\t"))])
def test_a_person_who_says_nothing_sends_no_message(content: tuple[Text, ...]) -> None:
    with pytest.raises(InvalidValue, match="UserMessage: a message must say something"):
        UserMessage("m", content)


@given(words.turns())
def test_the_facts_of_a_turn_follow_from_its_content(turn: ModelTurn) -> None:
    assert turn.has_words == bool(turn.text.strip())
    turn.text.encode("utf-8")


def test_the_facts_of_a_request_and_a_result_follow_from_their_content() -> None:
    one, other = ToolRequest("a", "t", '{"x":1,"y":2}'), ToolRequest("a", "t", '{ "y": 2, "x": 1 }')
    assert one.digest == other.digest != ToolRequest("a", "t", '{"x":2}').digest
    assert one != other
    result = ToolResult("a", Status.FAILED, (Text("ab"), Text("c")))
    assert (result.text, result.size) == ("abc", 3)
    assert result.digest == ToolResult.of(one, Status.SUCCEEDED, "abc").digest


def test_arguments_are_a_fresh_object_or_none() -> None:
    request = ToolRequest("a", "t", '{"x":[1]}')
    first = request.arguments or {}
    assert first == {"x": [1]}
    first.clear()
    assert request.arguments == {"x": [1]}
    assert ToolRequest("a", "t", "[1]").arguments is None
    assert ToolRequest("a", "t", "").arguments == {}


def test_lone_surrogates_are_mended_in_all_that_is_sent_again() -> None:
    bad, mended = "a\ud800", "a\ufffd"
    assert Text(bad).text == mended
    assert (ToolRequest("i", bad, bad).name, ToolRequest("i", bad, bad).raw) == (mended, mended)
    assert ModelTurn(Stop.WHOLE, bad).text == mended


def test_what_a_wire_sent_is_not_shown() -> None:
    assert repr(Piece("secret", "secret")) == "Piece()"


@pytest.mark.parametrize("value", [-1, True, 1.0, "1", 2**53, 10**400])
def test_what_cannot_be_a_count_of_tokens_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidValue, match=r"^Usage\.output_tokens: takes a number of tokens or None, got "):
        Usage(output_tokens=value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert Usage(output_tokens=2**53 - 1).total == 2**53 - 1


@given(st.none() | words.counts, st.none() | words.counts)
def test_a_total_is_input_and_output_as_far_as_told(sent: int | None, said: int | None) -> None:
    usage = Usage(input_tokens=sent, output_tokens=said, cached_input_tokens=5, reasoning_tokens=7)
    assert usage.total == (sent or 0) + (said or 0)


@given(st.lists(words.turns(stops=(Stop.PAUSED,)), max_size=3), words.turns())
def test_a_paused_turn_is_one_turn_with_its_end(held: list[ModelTurn], last: ModelTurn) -> None:
    whole = merged(tuple(held), last)
    every = (*held, last)
    assert whole.text == "".join(turn.text for turn in every)
    assert whole.native == tuple(piece for turn in every for piece in turn.native)
    assert whole.has_words == any(turn.has_words for turn in every)
    assert (whole.stop, whole.stop_word, whole.requests, whole.usage) == (
        last.stop,
        last.stop_word,
        last.requests,
        last.usage,
    )
    assert (whole.wire, whole.model, whole.response_id) == (last.wire, last.model, last.response_id)


def test_the_text_of_parts_is_joined() -> None:
    assert plain_text(()) == ""
    assert plain_text((Text("a"), Text("b"))) == UserMessage("m", (Text("a"), Text("b"))).text == "ab"


# Media

PNG = b"\x89PNG\r\n\x1a\n"
SHOT = Media.of(PNG, "image/png")
LINK = MediaLink("https://host/a.png?v=1")


@given(st.binary(min_size=1, max_size=99), words.media_types, words.words)
def test_media_hold_the_bytes_that_they_were_made_of(data: bytes, media_type: str, name: str) -> None:
    made = Media.of(data, media_type, name)
    assert (made.bytes, made.size, made.media_type) == (data, len(data), media_type)
    assert made == Media(media_type, base64.b64encode(data).decode(), name)
    made.name.encode("utf-8")


@pytest.mark.parametrize(
    "data", ["", "=", "YQ", "YQ=", "YR==", "YQ==\n", " YQ==", "YQ==YQ==", "Y-_=", "é", "data:image/png;base64,YQ=="]
)
def test_what_is_no_base64_of_something_is_no_medium(data: str) -> None:
    with pytest.raises(InvalidValue, match=r"^Media\.data: takes base64 of at least one byte"):
        Media("image/png", data)


@given(
    st.binary(min_size=1, max_size=40).map(lambda data: base64.b64encode(data).decode()),
    st.integers(0, 60),
    st.sampled_from(("", "=", "==", "A", "B", "-", "\n", "\0", "é", "\ud800", "====", "AAA")),
    st.booleans(),
)
def test_base64_of_a_medium_has_one_spelling(data: str, at: int, put: str, instead: bool) -> None:
    """Whatever is put into it, it is taken if it is what its own bytes are encoded as, and only then."""
    given = data[:at] + put + data[at + (len(put) if instead else 0) :]
    try:
        is_spelling = bool(given) and base64.b64encode(base64.b64decode(given, validate=True)) == given.encode("ascii")
    except ValueError:
        is_spelling = False
    if is_spelling:
        assert Media("image/png", given).bytes == base64.b64decode(given)
    else:
        with pytest.raises(InvalidValue, match=r"^Media\.data: takes base64 of at least one byte"):
            Media("image/png", given)


@pytest.mark.parametrize("media_type", ["", "png", "image/", "/png", "image/png; a=b", "image/png\n", "a/b/c", "*/*"])
def test_a_media_type_is_a_type_and_a_subtype(media_type: str) -> None:
    if media_type.strip() == "image/png":
        assert Media.of(b"a", media_type).media_type == "image/png"
        return
    with pytest.raises(InvalidValue, match=r"^Media\.media_type: takes a type/subtype such as image/png, got"):
        Media.of(b"a", media_type)


def test_a_media_type_has_one_spelling() -> None:
    assert Media.of(b"a", " Image/PNG") == Media.of(b"a", "image/png")


def test_media_of_other_kinds_of_values_are_refused() -> None:
    with pytest.raises(InvalidValue, match=r"Media\.media_type: takes a str, got a NoneType"):
        Media(None, "YQ==")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidValue, match=r"Media\.data: takes a str, got a bytes"):
        Media("image/png", b"a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidValue, match=r"Media\.name: takes a str, got a int"):
        Media("image/png", "YQ==", 1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("media_type", ["image/png", None])
def test_media_are_made_of_bytes_of_any_kind_and_of_nothing_else(media_type: str | None) -> None:
    for data in (bytearray(PNG), memoryview(PNG)):
        assert Media.of(data, media_type) == Media.of(PNG, "image/png")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    for wrong in ("photo.png", Path("photo.png"), 5, None):
        told = rf"^Media\.of: takes bytes, got a {type(wrong).__name__}; for a file there is Media\.from_path"
        with pytest.raises(InvalidValue, match=told):
            Media.of(wrong, media_type)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_bytes_without_a_media_type_are_of_the_one_that_they_or_their_name_tell() -> None:
    assert Media.of(PNG) == Media.of(PNG, "image/png")
    assert Media.of(b"kg\n80", name="log.csv") == Media.of(b"kg\n80", "text/csv", "log.csv")
    with pytest.raises(
        InvalidValue, match=r"^Media\.of: neither the bytes nor the name tell the type: give media_type"
    ):
        Media.of(b"\0\xff", name="photo.png")


def test_a_file_becomes_a_medium_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(PNG)
    assert Media.from_path(path) == Media.of(PNG, "image/png", "photo.jpg")
    assert Media.from_path(str(path), "image/x-odd") == Media.of(PNG, "image/x-odd", "photo.jpg")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none.png", "cannot be read (No such file or directory)"),
        (".", "cannot be read (Is a directory)"),
        ("a\0b", "cannot be read (embedded null byte)"),
        ("empty.png", "holds nothing"),
        ("pipe.png", "is a pipe or a device, and may never end"),
        ("endless.png", "is a pipe or a device, and may never end"),
        ("large.csv", f"is larger than {LARGEST_FILE} bytes"),
        ("odd.png", "is of a type that neither its bytes nor its name tell"),
    ],
)
def test_a_file_that_can_be_no_medium_is_named_with_what_is_wrong(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "empty.png").touch()
    (tmp_path / "odd.png").write_bytes(b"\0\xff")
    (tmp_path / "endless.png").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.png")
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    path = f"{tmp_path}/{name}"
    with pytest.raises(UnusableFile) as caught:
        Media.from_path(path)
    assert (caught.value.path, caught.value.why) == (path, why)
    assert str(caught.value).startswith(f"Media.from_path: {path!r} {why}")


def test_a_file_of_no_known_type_may_be_given_one(tmp_path: Path) -> None:
    (tmp_path / "odd").write_bytes(b"\0")
    with pytest.raises(UnusableFile, match=r'nor its name tell: give media_type="\.\.\."$'):
        Media.from_path(tmp_path / "odd")
    assert Media.from_path(tmp_path / "odd", "audio/wav") == Media.of(b"\0", "audio/wav", "odd")


def test_the_content_of_media_is_not_shown() -> None:
    assert repr(SHOT) == "Media(media_type='image/png', name='')"


# Links


@pytest.mark.parametrize(
    ("url", "media_type"),
    [
        ("https://host/a.PNG?signature=x.jpg#y", "image/png"),
        ("https://sub.host.example:8443/a/b%20c/lift.wav", "audio/wav"),
        ("https://host/log.csv", "text/csv"),
        ("gs://bucket_1/plan.pdf", "application/pdf"),
    ],
)
def test_a_link_is_of_the_type_that_its_address_ends_in(url: str, media_type: str) -> None:
    assert MediaLink(url) == MediaLink(url, media_type, "")


def test_a_link_without_a_type_is_given_one() -> None:
    for url in ("https://host/photo", "https://host", "https://host/photo?of=a.png"):
        with pytest.raises(InvalidValue, match=r"^MediaLink\.media_type: takes a type/subtype such as image/png, or"):
            MediaLink(url)
        assert MediaLink(url, "image/*").media_type == "image/*"
    with pytest.raises(InvalidValue, match=r"^MediaLink\.media_type"):
        MediaLink("https://host/photo", "audio/*")


@pytest.mark.parametrize(
    "url",
    [
        *("", "https://", "https:///a.png", "http://host/a.png", "HTTPS://host/a.png", "//host/a.png", "host/a.png"),
        *("file:///etc/passwd.png", "/etc/passwd.png", "data:image/png;base64,YQ==", "javascript:a.png", "gs://a.png"),
        *("https://user:password@host/a.png", "https://user@host/a.png", "https://host:/a.png", "https://[::1]/a.png"),
        *("https://host/a b.png", "https://host/a.png\n", " https://host/a.png", "https://host/p\u00e3o.png"),
        *(
            'https://host/"a".png',
            "https://host/<a>.png",
            "https://host/[a].png",
            "https://host/\\a.png",
            "https://-/a.png",
        ),
        "https://host/" + "a" * 8192 + ".png",
    ],
)
def test_what_is_no_address_that_a_vendor_fetches_from_is_no_link(url: str) -> None:
    with pytest.raises(InvalidValue, match=r"^MediaLink\.url: takes https://host/\.\.\. as RFC 3986 spells it"):
        MediaLink(url, "image/png")


def test_no_text_shows_what_may_be_secret_in_an_address() -> None:
    link = MediaLink("https://host/a.png?signature=SECRET#SECRET", name="a\nplot")
    assert link.told == "[a plot: image/png, at https://host/a.png]"
    assert repr(link) == "MediaLink(url='https://host/a.png', media_type='image/png', name='a\\nplot')"
    for url in ("https://user:SECRET@host/a.png?SECRET", b"https://host/a.png?SECRET"):
        with pytest.raises(InvalidValue) as refused:
            MediaLink(url)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        assert "SECRET" not in str(refused.value)


def test_a_link_says_something_and_comes_back_as_it_was() -> None:
    message = UserMessage("m", (LINK,))
    assert (message.text, message.told) == ("", "[image/png, at https://host/a.png]")
    assert decode(UserMessage, encode(message)) == message


def test_where_only_text_can_stand_media_are_told_by_type_and_size() -> None:
    plot = Media.of(b"12", "application/pdf", "a plot\n[x].pdf")
    assert SHOT.told == "[image/png, 8 bytes]"
    assert told_text((SHOT,)) == SHOT.told
    assert told_text((Text("before"), SHOT, plot, Text("after"))) == (
        "before\n[image/png, 8 bytes]\n[a plot [x].pdf: application/pdf, 2 bytes]\nafter"
    )
    assert plain_text((Text("before "), SHOT, Text("after"))) == "before after"
    result = ToolResult.with_parts(A, Status.SUCCEEDED, [Text("seen"), SHOT])
    assert (result.text, result.told) == ("seen", "seen\n[image/png, 8 bytes]")
    message = UserMessage("m", (SHOT,))
    assert (message.text, message.told) == ("", "[image/png, 8 bytes]")


@given(st.lists(words.texts).map(tuple))
def test_text_alone_is_told_and_digested_as_it_is(texts: tuple[Text, ...]) -> None:
    result, text = ToolResult("a", Status.SUCCEEDED, texts), plain_text(texts)
    assert (result.told, result.size, result.digest) == (text, len(text), digest_text(text))


def size_of(part: Part) -> int:
    match part:
        case Text():
            return len(part.text)
        case Media():
            return len(part.bytes)
        case _:
            return len(part.url)


@given(st.lists(words.parts).map(tuple), st.lists(words.parts).map(tuple))
@example((SHOT,), (Text(SHOT.told),))
@example((SHOT,), (Media.of(PNG, "image/png", "plot"),))
@example((SHOT,), (Media.of(PNG, "image/jpeg"),))
@example((LINK,), (MediaLink("https://host/a.png?v=2"),))
@example((LINK,), (Text(LINK.told),))
@example((SHOT,), (Media.of(PNG + b"1", "image/png"),))
@example((SHOT, Text("a")), (Text("a"), SHOT))
def test_a_digest_tells_contents_apart_and_a_size_counts_all(one: tuple[Part, ...], other: tuple[Part, ...]) -> None:
    first, second = (ToolResult("a", Status.SUCCEEDED, each) for each in (one, other))
    alike = one == other or (told_text(one) == told_text(other) and all(isinstance(p, Text) for p in one + other))
    assert (first.digest == second.digest) == alike
    assert first.size == sum(map(size_of, one))


class Poster(Media):
    """
    A host's own class, under whose name nothing could be read again.
    """


@pytest.mark.parametrize("content", ["text", ("text",), [SHOT], (SHOT, None), (SHOT, Poster.of(PNG))])
def test_parts_are_texts_and_media(content: object) -> None:
    for build in (lambda: ToolResult("a", Status.SUCCEEDED, content), lambda: UserMessage("m", content)):  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidValue, match=r"^content: takes (a tuple of )?Text, Media and MediaLink, got"):
            build()


def test_an_id_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"ToolRequest\.id: takes a str, got a int"):
        ToolRequest(7, "t", "{}")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
