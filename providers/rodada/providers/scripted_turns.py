"""
The words of a script: what the scripted model says, from Python or from JSON that somebody wrote by hand.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar, cast

from attrs import field, frozen

from rodada.statemachine import errors
from rodada.statemachine.errors import FormatError, InvalidValue, ProviderError
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, parse_json
from rodada.statemachine.messages import ModelTurn, Stop, ToolRequest, Usage
from rodada.statemachine.request import ModelRequest

T = TypeVar("T")

WIRE = "scripted"
TOKENS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
ERRORS: Mapping[str, type[ProviderError]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, ProviderError)
}


def _as_text(arguments: Mapping[str, object] | str) -> str:
    """
    Arguments as a model sends them, and a copy: later changes of the mapping change no script.
    """
    if isinstance(arguments, str):
        return arguments
    try:
        return dump_json(cast(JsonValue, dict(arguments)))
    except (TypeError, ValueError) as error:
        raise InvalidValue("Call.arguments", f"need a JSON object, or text to be sent as it is ({error})") from None


@frozen
class Call:
    """
    One call that the scripted model asks for.

    Attributes:
        name: of the tool.
        arguments: an object, or text that is sent as it is, even when it is no JSON.
        id: as a wire would give it; None when the wire gives none.
    """

    name: str
    arguments: str = field(default="{}", converter=_as_text)
    id: str | None = None


@frozen
class Turn:
    """
    One reply of the scripted model, or one failure of its call.

    Attributes:
        text: what it says; of a call that fails what it has said until then, where it streams.
        calls: what it asks for.
        stop: why it ends; only a whole or a cut turn may ask for calls.
        usage: tokens; None in it is "not told".
        seconds: to wait before replying.
        error: raised instead of a reply.

    Raises:
        InvalidValue: calls in a turn that may not have any, or a negative wait.
    """

    text: str = ""
    calls: tuple[Call, ...] = field(default=(), converter=tuple[Call, ...])
    stop: Stop = field(default=Stop.WHOLE, kw_only=True)
    usage: Usage = field(default=Usage(), kw_only=True)
    seconds: float = field(default=0.0, kw_only=True)
    error: ProviderError | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.calls and self.stop not in (Stop.WHOLE, Stop.CUT):
            raise InvalidValue("Turn.stop", f"a {self.stop.value} turn asks for no calls: use whole or cut")
        if self.error is not None and self.calls:
            raise InvalidValue("Turn.error", "a call that fails asks for no calls")
        if not 0 <= self.seconds < math.inf:
            raise InvalidValue("Turn.seconds", f"needs a number of seconds >= 0, got {self.seconds!r}")

    def reply(self, request: ModelRequest) -> ModelTurn:
        """
        The turn as the machine takes it.
        """
        ids = request.request_ids(tuple(call.id for call in self.calls))
        requests = tuple(
            ToolRequest(id, call.name, call.arguments, call.id) for id, call in zip(ids, self.calls, strict=True)
        )
        return ModelTurn(self.stop, self.text, requests, self.stop.value, self.usage, model=WIRE)


Script: TypeAlias = "tuple[tuple[Turn, ...], Turn | None]"


def read_script(value: JsonValue, root: str = "") -> Script:
    """
    The turns and the closing turn that some JSON stands for. `root` stands before each place in an error.

    Raises:
        FormatError: malformed; `path` is the place, such as `turns[2].calls[0].arguments`.
    """
    if isinstance(value, list):
        return _turns(value, f"{root}turns"), None
    fields = _fields(value, f"{root}script", ("turns", "closing"), "a list of turns, or an object with turns")
    if "turns" not in fields:
        raise FormatError(f"{root}turns", "missing: expected a list of turns")
    closing = fields.get("closing")
    return (
        _turns(fields["turns"], f"{root}turns"),
        None if closing is None else _turn(closing, f"{root}closing"),
    )


def _turns(value: JsonValue, place: str) -> tuple[Turn, ...]:
    return tuple(_turn(each, f"{place}[{index}]") for index, each in enumerate(_list(value, place, "turns")))


def _turn(value: JsonValue, place: str) -> Turn:
    known = ("text", "calls", "stop", "usage", "seconds", "error")
    fields = _fields(value, place, known, "an object with text, calls or error")
    if not {"text", "calls", "stop", "error"} & set(fields):
        raise FormatError(place, "says nothing: expected text, calls, stop or error")
    return _built(
        place,
        lambda: Turn(
            _text(fields.get("text", ""), f"{place}.text"),
            _calls(fields.get("calls", []), f"{place}.calls"),
            stop=_stop(fields.get("stop", "whole"), f"{place}.stop"),
            usage=_usage(fields.get("usage", {}), f"{place}.usage"),
            seconds=_number(fields.get("seconds", 0), f"{place}.seconds"),
            error=_error(fields["error"], f"{place}.error") if "error" in fields else None,
        ),
    )


def _built(place: str, build: Callable[[], Turn]) -> Turn:
    try:
        return build()
    except InvalidValue as error:
        about = error.what.removeprefix("Turn")
        raise FormatError(place + about, str(error).removeprefix(f"{error.what}: ")) from None


def _calls(value: JsonValue, place: str) -> tuple[Call, ...]:
    return tuple(_call(each, f"{place}[{index}]") for index, each in enumerate(_list(value, place, "calls")))


def _call(value: JsonValue, place: str) -> Call:
    fields = _fields(value, place, ("name", "arguments", "id"), "an object with name and arguments")
    if "name" not in fields:
        raise FormatError(f"{place}.name", "missing: expected the name of a tool")
    arguments = fields.get("arguments", {})
    if not isinstance(arguments, dict | str):
        raise FormatError(
            f"{place}.arguments", f"expected an object, or text to be sent as it is; found {_kind(arguments)}"
        )
    id = fields.get("id")
    return Call(_text(fields["name"], f"{place}.name"), arguments, None if id is None else _text(id, f"{place}.id"))


def _stop(value: JsonValue, place: str) -> Stop:
    known = {stop.value: stop for stop in Stop}
    return _one_of(value, place, known)


def _usage(value: JsonValue, place: str) -> Usage:
    fields = _fields(value, place, TOKENS, "an object of token counts")
    return Usage(**{name: _count(count, f"{place}.{name}") for name, count in fields.items()})


def _error(value: JsonValue, place: str) -> ProviderError:
    known = ("class", "message", "status", "code", "retry_after", "retryable")
    fields = _fields(value, place, known, "an object with class and message")
    kind = _one_of(fields.get("class", "ProviderError"), f"{place}.class", ERRORS)
    status, retry_after = fields.get("status"), fields.get("retry_after")
    code, retryable = fields.get("code"), fields.get("retryable")
    if not isinstance(retryable, bool | None):
        raise FormatError(f"{place}.retryable", f"expected true or false, found {_kind(retryable)}")
    return kind(
        WIRE,
        _text(fields.get("message", "the script says so"), f"{place}.message"),
        status=None if status is None else _count(status, f"{place}.status"),
        code=None if code is None else _text(code, f"{place}.code"),
        retry_after=None if retry_after is None else _number(retry_after, f"{place}.retry_after"),
        retryable=retryable,
    )


def _fields(value: JsonValue, place: str, known: Iterable[str], wanted: str) -> JsonObject:
    if not isinstance(value, dict):
        raise FormatError(place, f"expected {wanted}; found {_kind(value)}")
    unknown = [key for key in value if key not in known]
    if unknown:
        raise FormatError(f"{place}.{unknown[0][:80]}", f"unknown: expected one of {', '.join(known)}")
    return value


def _list(value: JsonValue, place: str, of: str) -> "list[JsonValue]":
    if not isinstance(value, list):
        raise FormatError(place, f"expected a list of {of}, found {_kind(value)}")
    return value


def _text(value: JsonValue, place: str) -> str:
    if not isinstance(value, str):
        raise FormatError(place, f"expected text, found {_kind(value)}")
    return value


def _number(value: JsonValue, place: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise FormatError(place, f"expected a number of seconds >= 0, found {_kind(value)}")
    return value


def _count(value: JsonValue, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise FormatError(place, f"expected a whole number >= 0, found {_kind(value)}")
    return value


def _one_of(value: JsonValue, place: str, known: Mapping[str, T]) -> T:
    if not isinstance(value, str) or value not in known:
        raise FormatError(place, f"expected one of {', '.join(known)}; found {_kind(value)}")
    return known[value]


def _kind(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "null" if value is None else dump_json(value)[:80]


def parse_script(text: str, root: str = "") -> Script:
    """
    The same from JSON text.

    Raises:
        FormatError: no JSON, or malformed.
    """
    try:
        value = parse_json(text)
    except ValueError as error:
        raise FormatError(f"{root}script", f"expected JSON: {error}") from None
    return read_script(value, root)
