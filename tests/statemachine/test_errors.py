"""
Errors: typed, with fields, caught by one base class, and saying the way out.
"""

import inspect

import pytest

from rodada.statemachine import errors
from rodada.statemachine.errors import (
    AlreadyEntered,
    ConversationBusy,
    FormatError,
    InvalidValue,
    LoopError,
    MissingExtra,
    MissingKey,
    NotEntered,
    ProviderError,
    RunningLoop,
    UnexpectedEvent,
    UnreadableMessages,
    WrongEventLoop,
)

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, Exception)]
PROVIDER_CLASSES = [each for each in CLASSES if issubclass(each, ProviderError)]
RETRYABLE = {"ProviderUnreachable", "ProviderTimeout", "ProviderOverloaded", "ProviderGarbled"}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_is_a_loop_error(kind: type[Exception]) -> None:
    assert issubclass(kind, LoopError)


@pytest.mark.parametrize(
    ("error", "message", "fields"),
    [
        (InvalidValue("Limits.seconds", "too short"), "Limits.seconds: too short", {"what": "Limits.seconds"}),
        (FormatError("$.id", "expected str"), "$.id: expected str", {"path": "$.id"}),
        (
            UnreadableMessages("anthropic", 3, "[3].role", "user or assistant", "null"),
            "[3].role: expected user or assistant, found null (anthropic)",
            {"wire": "anthropic", "index": 3, "path": "[3].role", "expected": "user or assistant"},
        ),
        (
            UnexpectedEvent("CallModel", "ToolFinished", ()),
            "ToolFinished does not fit a run in CallModel (no row starts here)",
            {"state": "CallModel", "event": "ToolFinished", "verdicts": ()},
        ),
        (
            UnexpectedEvent("CallModel", "TurnReceived", (("is_cut", False), ("is_flawed", True))),
            "TurnReceived does not fit a run in CallModel (is_cut=False, is_flawed=True)",
            {"verdicts": (("is_cut", False), ("is_flawed", True))},
        ),
        (
            ConversationBusy("c", "r"),
            "conversation c is busy with run r: wait for it, cancel it, or use conversation.branch()",
            {"conversation_id": "c", "run_id": "r"},
        ),
        (
            MissingExtra("anthropic", "anthropic"),
            "the package anthropic is not installed: pip install 'rodada[anthropic]'",
            {"package": "anthropic", "extra": "anthropic"},
        ),
        (
            MissingKey("google", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
            "no API key for google: pass api_key=... or set GEMINI_API_KEY or GOOGLE_API_KEY",
            {"provider": "google"},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_names_what_happened_and_has_it_in_fields(
    error: LoopError, message: str, fields: dict[str, object]
) -> None:
    assert str(error) == message
    assert {name: getattr(error, name) for name in fields} == fields


@pytest.mark.parametrize("error", [AlreadyEntered("r"), NotEntered("r"), RunningLoop(), WrongEventLoop("openai")])
def test_wrong_use_is_told_the_way_out(error: LoopError) -> None:
    assert any(way in str(error) for way in ("loop.start", "await loop.run", "one ToolLoop to each loop"))


@pytest.mark.parametrize("kind", PROVIDER_CLASSES, ids=lambda kind: kind.__name__)
def test_a_providers_error_says_whether_the_same_may_succeed_later(kind: type[ProviderError]) -> None:
    assert kind("w", "m").retryable is (kind.__name__ in RETRYABLE)
    assert kind("w", "m", retryable=True).retryable is True
    assert kind("w", "m", retryable=False).retryable is False


def test_a_providers_error_shows_its_marks_and_keeps_its_fields() -> None:
    error = ProviderError(
        "anthropic", "overloaded", status=529, code="overloaded_error", request_id="req_1", retry_after=3
    )
    assert str(error) == "anthropic: overloaded (529, overloaded_error, req_1)"
    assert (error.status, error.code, error.request_id, error.retry_after) == (529, "overloaded_error", "req_1", 3)
    assert str(ProviderError("google", "no answer")) == "google: no answer"


def test_what_is_wrong_in_a_value_or_a_document_is_a_value_error_too() -> None:
    assert issubclass(InvalidValue, ValueError)
    assert issubclass(FormatError, ValueError)
    assert issubclass(MissingExtra, ImportError)
