"""
A streamed answer of Chat Completions, put together to the body that the same call without streaming gives.
"""

from collections.abc import Iterator, Sequence

from attrs import define, field

from rodada.providers.json_body import told_text
from rodada.providers.openai_chat_fragments import Calls, Fragments
from rodada.providers.openai_chat_input import WIRE
from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.notice import ArgumentsDelta, Delta, ReasoningDelta, TextDelta

# Under one of these names, or under both at once.
REASONING = ("reasoning_content", "reasoning")
OF_CALLS = frozenset({"tool_calls", "function_call"})


@define
class StreamedCompletion:
    """
    A completion as far as it came. Nothing of it may be used before it is `whole`.
    """

    _body: JsonObject = field(factory=JsonObject)
    _choice: JsonObject = field(factory=JsonObject)
    _message: dict[str, list[JsonValue]] = field(factory=dict[str, "list[JsonValue]"])
    _calls: Calls = field(factory=Calls)
    _old_call: Fragments = field(factory=Fragments)  # in the form of the wire's first years
    _last: JsonObject | None = None

    @property
    def whole(self) -> bool:
        """
        Whether it was said how it ends.
        """
        return bool(self._choice.get("finish_reason"))

    @property
    def ended(self) -> bool:
        """
        Never: its usage follows its end.
        """
        return False

    @property
    def body(self) -> JsonObject:
        """
        The completion with its one choice.
        """
        message: JsonObject = {"role": "assistant"}
        message.update({name: _joined(name, pieces) for name, pieces in self._message.items()})
        if self._calls.whole:
            message["tool_calls"] = self._calls.whole
        if self._old_call.function:
            message["function_call"] = self._old_call.function
        return {**self._body, "choices": [{**self._choice, "message": message}]}

    def add(self, event: JsonObject) -> tuple[Delta, ...]:
        """
        Take one more chunk, and give what of it can be heard. Behind the end the same chunk once more is that chunk
        sent again: its calls must not be taken twice.

        Raises:
            ProviderGarbled: a choice, its delta or a fragment of a call is no object.
        """
        if self.whole and event == self._last:
            return ()
        self._last = event
        for name, value in event.items():
            if name == "object":
                self._body[name] = "chat.completion"
            elif name == "usage":
                self._count(value)
            elif name != "choices" and not self._body.get(name):
                self._body[name] = value
        choices = event.get("choices")
        return tuple(self._chosen(choices)) if isinstance(choices, list) else ()

    def _count(self, usage: JsonValue) -> None:
        if isinstance(usage, dict):  # cumulative: what is told again counts instead, and is never added
            known = self._body.get("usage")
            told = {name: value for name, value in usage.items() if value is not None}
            self._body["usage"] = {**(known if isinstance(known, dict) else usage), **told}

    def _chosen(self, choices: list[JsonValue]) -> Iterator[Delta]:
        for each in choices:
            choice = _object(each, "a choice")
            index = choice.get("index") or 0
            if self._choice.setdefault("index", index) != index:
                continue
            further = {name: value for name, value in choice.items() if name not in ("index", "delta", "message")}
            self._choice.update({name: value for name, value in further.items() if value or name not in self._choice})
            message = choice.get("message")
            if isinstance(message, dict) and choice.get("finish_reason") and self._is_repeated_by(message):
                yield from self._said_again(message)
            else:
                yield from self._said(_object(choice.get("delta") or message or {}, "a delta"))

    def _is_repeated_by(self, message: JsonObject) -> bool:
        # Some servers end a stream with all of it, others call the pieces so.
        content = _visible(message.get("content"))
        spoke = bool(self._text or self._calls.whole)
        return spoke and content.startswith(self._text) and bool(content or message.get("tool_calls"))

    def _said_again(self, message: JsonObject) -> Iterator[Delta]:
        rest = _visible(message.get("content")).removeprefix(self._text)
        self._message.update({name: [value] for name, value in message.items() if name not in OF_CALLS})
        yield from map(TextDelta, filter(None, [rest]))
        calls = Calls()
        heard = calls.add(message.get("tool_calls") or [])
        if calls.whole:
            yield from () if self._calls.whole else heard
            self._calls = calls

    @property
    def _text(self) -> str:
        return _visible(_joined("content", self._message.get("content", [])))

    def _said(self, delta: JsonObject) -> Iterator[Delta]:
        for name, value in delta.items():
            if name not in OF_CALLS:
                self._message.setdefault(name, []).append(value)
        thought = next((told_text(delta[name]) for name in REASONING if delta.get(name)), "")
        yield from map(ReasoningDelta, filter(None, [thought]))
        yield from map(TextDelta, filter(None, [_visible(delta.get("content")), told_text(delta.get("refusal"))]))
        yield from self._calls.add(delta.get("tool_calls") or [])
        old = _object(delta.get("function_call") or {}, "the call of a chunk")
        written = self._old_call.take({}, old)
        if written:
            yield ArgumentsDelta(0, self._old_call.name, written)


def _joined(name: str, pieces: list[JsonValue]) -> JsonValue:
    told = [piece for piece in pieces if piece is not None]
    texts = [piece for piece in told if isinstance(piece, str)]
    if name == "role":
        return next(filter(None, texts), "assistant")  # servers say it in every chunk
    if told and len(texts) == len(told):
        return "".join(texts)
    if any(isinstance(piece, list) for piece in told):
        return _parts(told)
    return told[-1] if told else None


def _parts(told: Sequence[JsonValue]) -> list[JsonValue]:
    parts: list[JsonValue] = []
    texts: list[str] = []
    for part in (part for piece in told for part in (piece if isinstance(piece, list) else [_text_part(piece)])):
        text = _plain_text(part)
        if text is not None:
            texts.append(text)
            continue
        parts += [*_text_parts(texts), part]
        texts = []
    return [*parts, *_text_parts(texts)]


def _text_parts(texts: list[str]) -> list[JsonValue]:
    return [_text_part("".join(texts))] if texts else []


def _text_part(text: JsonValue) -> JsonValue:
    return {"type": "text", "text": text}


def _plain_text(part: JsonValue) -> str | None:
    if not isinstance(part, dict) or part.keys() != {"type", "text"} or part["type"] != "text":
        return None
    return told_text(part["text"])


def _visible(content: JsonValue) -> str:
    parts = content if isinstance(content, list) else []
    return told_text(content) or "".join(_plain_text(part) or "" for part in parts)


def _object(value: JsonValue, what: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ProviderGarbled(WIRE, f"{what} is no object")
    return value
