"""
Samples of every released format: read for ever, and written again byte for byte while the format is the newest; what an
older one holds is written in the newest.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rodada.statemachine.conversation import FORMAT as CONVERSATION
from rodada.statemachine.conversation import VERSION as NEWEST_CONVERSATION
from rodada.statemachine.conversation import Conversation
from rodada.statemachine.errors import FormatError
from rodada.statemachine.events import DeadlinePassed, Failure
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.messages import Exchange, Media, MediaLink, Status, Stop, Text, UserMessage
from rodada.statemachine.orders import AskApproval, AskModel, StartTool, StopTool, orders
from rodada.statemachine.run import FORMAT as RUN
from rodada.statemachine.run import VERSION as NEWEST_RUN
from rodada.statemachine.run import Run
from rodada.statemachine.states import Reason, State
from rodada.statemachine.wording import PORTUGUESE
from support.pairing import broken_pairs
from support.walks import after

FORMATS = Path(__file__).parent / "formats"
CONVERSATIONS = sorted(path.name for path in FORMATS.glob("conversation-*.json"))
RUNS = sorted(path.name for path in FORMATS.glob("run-*.json"))
NEWEST = f"conversation-{NEWEST_CONVERSATION}", f"run-{NEWEST_RUN}"


def text_of(name: str) -> str:
    return (FORMATS / name).read_text("utf-8")


def stored(name: str) -> JsonObject:
    document: JsonObject = json.loads(text_of(name))
    return document


def written(document: JsonObject) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def sample(name: str) -> Run:
    return Run.from_json(stored(name))


def test_there_is_a_sample_of_every_released_format() -> None:
    assert {f"conversation-{version}.json" for version in range(1, NEWEST_CONVERSATION + 1)} <= set(CONVERSATIONS)
    assert {f"run-{version}.json" for version in range(1, NEWEST_RUN + 1)} <= set(RUNS)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_stored_conversation_is_read_and_written_again(name: str) -> None:
    conversation = Conversation.from_json(stored(name))
    again = conversation.to_json(reasoning=True)
    assert again["format"] == f"{CONVERSATION}/{NEWEST_CONVERSATION}"
    assert Conversation.from_json(again) == conversation
    assert broken_pairs(stored(name)) == []
    assert written(again) == text_of(name) or not name.startswith(NEWEST)


@pytest.mark.parametrize("name", RUNS)
def test_a_stored_run_is_read_and_written_again(name: str) -> None:
    run = sample(name)
    again = run.to_json()
    assert again["format"] == f"{RUN}/{NEWEST_RUN}"
    assert Run.from_json(again) == run
    assert written(again) == text_of(name) or not name.startswith(NEWEST)


def test_what_was_stored_before_means_what_it_means_now() -> None:
    for name in ("conversation-1.json", "conversation-1-media.json"):
        assert Conversation.from_json(stored(name)) == Conversation.from_json(stored(name.replace("-1", "-2")))
    assert sample("run-1.json") == sample("run-2.json")


def test_a_run_of_format_1_expires_nothing_and_says_the_new_sentences_in_its_own_language() -> None:
    run = sample("run-1.json")
    assert [call.within_ms for call in run.plan.calls] == [None] * len(run.plan.calls)
    assert (run.wording.expired, run.wording.nobody_asked) == (PORTUGUESE.expired, PORTUGUESE.nobody_asked)


def test_conversation_1_means_what_it_meant() -> None:
    conversation = Conversation.from_json(stored("conversation-1.json"))
    assert conversation.id == "conversation_0f8fad5bd9cb469fa16570867728950e"
    person, every, cut, answer, *more = conversation.entries
    assert isinstance(person, UserMessage)
    assert person.text == 'Quanto melhorou meu supino este mês? 😀 "quoted" \\ \t'
    assert isinstance(every, Exchange)
    assert [result.status for result in every.results] == list(Status)
    assert [request.wire_id for request in every.turn.requests] == [
        None,
        "toolu_01",
        "toolu_02",
        "toolu_03",
        "toolu_04",
    ]
    assert every.turn.requests[0].arguments == {"kg": 82.5, "exercício": "supino"}
    assert [piece.bare is None for piece in every.turn.native] == [True, False]
    assert isinstance(cut, Exchange)
    assert (cut.turn.stop, cut.turn.requests[0].arguments) == (Stop.CUT, None)
    assert getattr(answer, "text", "") == "Seu recorde é 82,5 kg."
    assert [type(entry) for entry in more] == [UserMessage, UserMessage]
    assert "c2lnbmVk" not in json.dumps(conversation.to_json())


def test_stored_media_mean_what_they_meant() -> None:
    person, exchange, _, file = Conversation.from_json(stored("conversation-1-media.json")).entries
    assert isinstance(person, UserMessage)
    assert person.content == (Text("O que está na foto?"), Media.of(b"\xff\xd8\xff\xe0", "image/jpeg", "barra.jpg"))
    assert isinstance(exchange, Exchange)
    shot, report = exchange.results
    assert shot.content == (Text("12 pontos"), Media.of(b"\x89PNG\r\n\x1a\n", "image/png"), Text("fim"))
    assert (shot.size, shot.digest[:8], report.status, report.told) == (
        20,
        "3093d560",
        Status.FAILED,
        "[relatório.pdf: application/pdf, 8 bytes]",
    )
    assert isinstance(file, UserMessage)
    assert file.content == (Media.of(b"a,b\n", "text/csv"),)


def test_stored_links_mean_what_they_meant() -> None:
    person, exchange, _ = Conversation.from_json(stored("conversation-2-links.json")).entries
    assert isinstance(person, UserMessage)
    assert person.content == (
        Text("O que está na foto?"),
        MediaLink("https://fotos.example/barra.jpg?v=2", "image/jpeg", "barra"),
        MediaLink("gs://treinos/plano.pdf", "application/pdf"),
    )
    assert isinstance(exchange, Exchange)
    (found,) = exchange.results
    assert found.content == (
        Text("achei"),
        MediaLink("https://fotos.example/outra", "image/*"),
        Media.of(b"\x89PNG\r\n\x1a\n", "image/png"),
    )
    assert (found.size, found.digest[:8]) == (40, "5e29c5f7")


def test_the_stored_runs_wait_for_what_they_waited_for() -> None:
    waiting = {name: (sample(name).state, orders(sample(name))) for name in RUNS}
    assert waiting.pop("run-1-appending.json")[0] is State.APPEND_HISTORY
    assert waiting == {
        "run-1.json": (State.AWAIT_APPROVAL, (AskApproval("call_7_0"),)),
        "run-2.json": (State.AWAIT_APPROVAL, (AskApproval("call_7_0"),)),
        "run-1-paused.json": (State.CALL_MODEL, (AskModel(4, True, 40),)),
        "run-1-running.json": (State.EXECUTE_TOOLS, (StartTool("call_7_0"), StopTool("call_7_0"))),
        "run-1-ended.json": (State.FINALIZE, ()),
    }


def test_a_stored_run_goes_on() -> None:
    run = after(sample("run-1.json"), DeadlinePassed(mono_ms=9000))
    assert (run.state, run.reason, run.people_ms) == (State.APPEND_HISTORY, Reason.DEADLINE, 6400)
    assert isinstance(run.entry, Exchange)
    assert [result.status for result in run.entry.results] == [Status.NOT_EXECUTED, Status.DENIED, Status.NOT_EXECUTED]
    assert PORTUGUESE.because_deadline in run.entry.results[0].text


def test_a_stored_end_tells_its_outcome() -> None:
    ending = sample("run-1-ended.json").outcome
    assert ending is not None
    assert ending.answer == PORTUGUESE.own_answer(Reason.DEADLINE, ("save_goal",))
    assert ending.failure == Failure("ProviderQuota", "out of credit", False, "anthropic", 429, "quota", None)


@pytest.mark.parametrize("version", ["3", "11"])
def test_a_later_version_is_refused_by_name(version: str) -> None:
    with pytest.raises(FormatError, match=rf"^\$\.format: {RUN}/{version} is later than {RUN}/2: read it with a newer"):
        Run.from_json({**stored("run-1.json"), "format": f"{RUN}/{version}"})
    with pytest.raises(FormatError, match=rf"{CONVERSATION}/{version} is later than {CONVERSATION}/2"):
        Conversation.from_json({**stored("conversation-1.json"), "format": f"{CONVERSATION}/{version}"})


def places(value: JsonValue, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """
    Where something stands in a document.
    """
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*path, key)
        yield from places(each, (*path, key))


def put(document: JsonValue, path: tuple[str | int, ...], value: JsonValue) -> JsonValue:
    """
    The document with something else there. What it holds is never walked.
    """
    if not path:
        return value
    key, *inner = path
    if isinstance(document, dict):
        return {**document, str(key): put(document[str(key)], tuple(inner), value)}
    assert isinstance(document, list)
    return [put(each, tuple(inner), value) if at == key else each for at, each in enumerate(document)]


@pytest.mark.parametrize("name", ["conversation-2-media.json", "run-1-ended.json", "run-2.json"])
def test_what_is_nested_too_deeply_to_be_shown_is_refused_wherever_it_stands(name: str) -> None:
    kind: type[Conversation] | type[Run] = Conversation if name.startswith("conversation") else Run
    document = stored(name)
    deep: JsonValue = []
    for _ in range(100_000):
        deep = [deep]
    for path in places(document):
        with pytest.raises(FormatError, match=r"^\$"):
            kind.from_json(put(document, path, deep))
    while isinstance(deep, list) and deep:
        deep = deep.pop()


def test_one_format_is_not_read_as_another() -> None:
    with pytest.raises(FormatError, match=rf"expected {CONVERSATION}/2 or earlier, found str '{RUN}/1'"):
        Conversation.from_json(stored("run-1.json"))
    with pytest.raises(FormatError, match=rf"expected {RUN}/2 or earlier, found str '{CONVERSATION}/1'"):
        Run.from_json(stored("conversation-1.json"))
