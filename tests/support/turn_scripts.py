"""
Random scripts: what the model says, call after call, what the tools do, and under which limits, over some messages
of one conversation.
"""

from attrs import frozen
from hypothesis import strategies as st

from rodada.providers.loopback import Body, Broken, Drop, Failure, Raw, Stop, Turn, WireName
from rodada.statemachine import LANGUAGES, Limits, Media, MediaLink, Part, Text
from support.stage import MODELS, WIRES

STOPS: tuple[Stop, ...] = ("whole", "cut", "paused", "malformed", "refused", "unknown")
TEXTS = ("", "", "Let me see.", "Let me see.", " \n", "Já está ✓ 😀", "half \ud83d of a pair", '{"a": "\\ud800"}')
MADE_IDS = ("call_1_0", "call_2_0")  # in the form of those that are made where the wire gives none
AGAIN, LONE = "again", "\ud83d"
IDS = (*MADE_IDS, AGAIN, AGAIN, "", "a b", "é✓", "x" * 70, "y" * 300, "line\nbreak", LONE)
UNKNOWN = ("nope", "multi_tool_use.parallel", "no such tool!", "z" * 200, "ação", "\ud83d")
BAD_ARGUMENTS = (
    "",
    "{}",
    '{"n": "seven"}',
    '{"n": 1, "more": true}',
    '{"n": 1, "n": 2}',
    '{"n": "\\ud83d", "\\ud83d": 1}',
    '{"n": 1e400}',
    '{"n": NaN}',
    '{"n": 1',
    "[1, 2]",
    "null",
    '"n"',
    "3",
    "n = 1",
    '{"n": ' * 400 + "1" + "}" * 400,
    '{"n": "' + "long " * 500 + '"}',
)
SAME = '{"n": 0}'

# What a tool does; those above the line end the run or its patience.
ACTS = (
    *("cancel", "cancel and hang", "deadline", "deadline and hang", "time out"),
    *("raise", "tell", "raise odd", "cancel itself", "return an error"),
    *("text", "text", "slow", "nothing", "empty", "huge", "surrogate", "nan", "bytes", "object", "endless", "ref"),
    *("coroutine", "generator", "set", "shared"),
    *("image", "image", "parts", "failed parts", "odd media", "links"),
)

PNG, JPEG, PDF = b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xd8\xff\xe0\0", b"%PDF-1.7\n%%EOF"
IMAGE, PAPER = Media.of(PNG, "image/png", "lift \ud83d.png"), Media.of(PDF, "application/pdf")
PHOTO_LINK = MediaLink("https://host/lift.png?v=1", name="lift")
STORED = MediaLink("gs://bucket/lift.mp4", "video/mp4")
SHOWN: tuple[str | tuple[Part, ...], ...] = (
    *("How is it going?", "How is it going?"),
    (IMAGE,),
    (Text("Look at this:"), Media.of(JPEG, "image/png"), Text(" \n"), PAPER),
    (Text("And this?"), PHOTO_LINK, STORED),
    (Media.of(b"kg\n80\n", "text/csv", "log.csv"), Media.of(b"RIFF", "audio/wav"), Media.of(b"BM", "image/bmp")),
)

# Said in so many pieces that on no wire the frames below hold all of them.
BROKEN_OFF = Turn("You lift more than in spring, and less than you could if you slept as long as I told you.")
HELD_FRAMES = 9  # some of its pieces are among them

FAULTS: tuple[Failure | Drop | Raw | Body | Broken, ...] = (
    Failure(429),
    Failure(429, headers={"retry-after": "7"}),
    Failure(500),
    Failure(503),
    Failure(400, "Something was wrong with it."),
    Failure(401),
    Drop(),
    Raw(b"<html>"),
    Raw(b""),
    Body({"what": "is this"}),
    *(Broken(BROKEN_OFF, frames, "end") for frames in (0, 2, 9)),
    *(Broken(BROKEN_OFF, frames, "drop") for frames in (1, 7)),
    *(Broken(BROKEN_OFF, frames, failure) for frames, failure in ((1, Failure(503)), (8, Failure(429)))),
    Broken(BROKEN_OFF, 6, Failure(400, "Something was wrong with it.")),
)


@frozen
class Ask:
    """
    A request for a tool: the declared tool at a place, or else an unknown one. `arguments` None are good ones.
    """

    tool: int = 0
    unknown: str = "nope"
    arguments: str | None = None
    id: str | None = None
    act: str = "text"


@frozen
class Say:
    """
    A turn of the model.
    """

    text: str = ""
    asks: tuple[Ask, ...] = ()
    stop: Stop = "whole"
    reasoning: bool = False


@frozen
class Break:
    """
    A call that gives no turn; where it streams it may break off in the middle of one.
    """

    fault: Failure | Drop | Raw | Body | Broken


@frozen
class Hold:
    """
    A call that is never answered: meanwhile the run is cancelled, or its time passes. Where it streams that happens
    when some words of the turn were heard.
    """

    cancels: bool


Reply = Say | Break | Hold


@frozen
class Message:
    """
    One message of the person and what comes of it.

    Attributes:
        model: who answers.
        replies: in order; after them the model answers, or asks on for ever.
        asks_on: which of the two.
        stored: whether the conversation was stored without reasoning and read again before.
        says: what the person says.
        stream: whether its turns are streamed, where the wire can.
    """

    model: str
    replies: tuple[Reply, ...]
    asks_on: bool
    stored: bool
    says: str | tuple[Part, ...] = "How is it going?"
    stream: bool = False


@frozen
class Script:
    """
    One conversation.
    """

    messages: tuple[Message, ...]
    limits: Limits
    language: str
    tools: bool


asks = st.builds(
    Ask,
    tool=st.sampled_from((0, 0, 1, 1, 2, 3)),
    unknown=st.sampled_from(UNKNOWN),
    arguments=st.one_of(st.none(), st.none(), st.just(SAME), st.sampled_from(BAD_ARGUMENTS)),
    id=st.one_of(st.none(), st.none(), st.sampled_from(IDS)),
    act=st.sampled_from(ACTS),
)
rounds = st.builds(
    Say,
    text=st.sampled_from(TEXTS),
    asks=st.lists(asks, min_size=1, max_size=3).map(tuple),
    reasoning=st.sampled_from((True, True, False)),
)
says = st.builds(
    Say,
    text=st.sampled_from(TEXTS),
    asks=st.lists(asks, max_size=3).map(tuple),
    stop=st.sampled_from(STOPS),
    reasoning=st.booleans(),
)
again = st.just(Say(asks=(Ask(arguments=SAME),)))
breaks = st.builds(Break, st.sampled_from(FAULTS))
holds = st.builds(Hold, st.booleans())
replies = st.integers(0, 19).flatmap(
    lambda roll: rounds if roll < 9 else says if roll < 14 else again if roll < 16 else breaks if roll < 19 else holds
)


def messages(wire: WireName, usual: str) -> st.SearchStrategy[Message]:
    """
    Messages that are mostly answered by one model, else by another one of its wire or of another wire.
    """
    others = st.sampled_from([name for each in WIRES if each != wire for name in MODELS[each]])
    return st.builds(
        Message,
        model=st.one_of(st.just(usual), st.just(usual), st.just(usual), st.sampled_from(MODELS[wire]), others),
        replies=st.lists(replies, max_size=6).map(tuple),
        asks_on=st.booleans(),
        stored=st.sampled_from((False, False, True)),
        says=st.sampled_from(SHOWN),
        stream=st.booleans(),
    )


limits = st.builds(
    Limits,
    max_rounds=st.sampled_from((0, 1, 2, 3, 3, 10)),
    max_attempts=st.integers(1, 3),
    max_pauses=st.integers(0, 2),
    max_repeats=st.sampled_from((None, None, 1, 2)),
    max_tokens_total=st.sampled_from((None, None, None, 150, 400)),
    max_result_chars=st.sampled_from((200, 5000)),
    history_messages=st.sampled_from((0, 2, 2, 3, 4, 6, 20, None)),
    seconds=st.just(10_000),
    closing_seconds=st.just(1000),
    call_seconds=st.none(),
    tool_seconds=st.just(200),
)


def scripts(wire: WireName) -> st.SearchStrategy[Script]:
    """
    Scripts that mostly play on one wire.
    """
    usual = st.sampled_from((MODELS[wire][0], *MODELS[wire]))
    return usual.flatmap(lambda model: _scripts(messages(wire, model)))


def _scripts(one: st.SearchStrategy[Message]) -> st.SearchStrategy[Script]:
    return st.builds(
        Script,
        messages=st.lists(one, min_size=2, max_size=4).map(tuple),
        limits=limits,
        language=st.sampled_from(sorted(LANGUAGES)),
        tools=st.sampled_from((True, True, True, True, False)),
    )
