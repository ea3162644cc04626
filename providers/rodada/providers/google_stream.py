"""
A streamed reply of generateContent, put together to the body that the same call without streaming gives.
"""

from attrs import define, field

from rodada.providers.google_output import as_list, as_object, said_in
from rodada.providers.paragraphs import Paragraphs
from rodada.statemachine.jsontext import JsonError, JsonObject, JsonValue, dump_json
from rodada.statemachine.notice import ArgumentsDelta, Delta, ReasoningDelta, TextDelta

# A text that has nothing else goes on in the next one. A signature belongs to the part on which it came.
PLAIN = frozenset({"text", "thought"})
IN_PIECES = ("partialArgs", "willContinue")


@define
class _Part:
    """
    A part that may go on.
    """

    start: JsonObject
    more: list[str] = field(factory=list[str])

    def goes_on(self, part: JsonObject) -> bool:
        """
        Whether a part is more of the same text.
        """
        plain = _is_plain(self.start) and _is_plain(part)
        return plain and bool(self.start.get("thought")) is bool(part.get("thought"))

    @property
    def whole(self) -> JsonObject:
        """
        The part with all that came of its text.
        """
        return {**self.start, "text": "".join((str(self.start["text"]), *self.more))} if self.more else self.start


@define
class StreamedReply:
    """
    A reply as far as it came. Nothing of it may be used before it is `whole`.

    Attributes:
        asked: how many requests the turn made before its pauses.
        paragraphs: what it said before them.
    """

    asked: int = 0
    paragraphs: Paragraphs = field(factory=Paragraphs)
    _around: JsonObject = field(factory=JsonObject)
    _usage: JsonObject = field(factory=JsonObject)
    _candidate: JsonObject | None = None
    _content: JsonObject | None = None
    _parts: list[_Part] = field(factory=list[_Part])
    _last: JsonObject | None = None

    def add(self, chunk: JsonObject) -> list[Delta]:
        """
        Take one more event, and give what of it can be heard. Behind the end one that says the same as the one before
        it, its running counts included, is that event sent again: its calls must not be taken twice.

        Raises:
            JsonError: it is not what the wire promises; nothing of it is taken.
        """
        if self.whole and chunk == self._last:
            return []
        candidates = as_list(chunk.get("candidates") or [], "candidates")
        candidate = as_object(candidates[0], "the candidate") if candidates else None
        given = None if candidate is None else candidate.get("content")
        content = None if given is None else as_object(given, "the content")
        parts = [_checked(part) for part in as_list((content or {}).get("parts") or [], "parts")]
        usage = as_object(chunk.get("usageMetadata") or {}, "usageMetadata")
        self._last = chunk
        self._around |= _told(chunk, "candidates", "usageMetadata")
        self._usage.pop("totalTokenCount", None)  # of one event: an earlier one's does not hold for what came since
        self._usage |= _told(usage)  # counts so far, never to be added
        if candidate is not None:
            self._candidate = (self._candidate or {}) | _told(candidate, "content")
        if content is not None:
            self._content = (self._content or {}) | _told(content, "parts")
        return [delta for part in parts for delta in self._said(part)]

    @property
    def whole(self) -> bool:
        """
        Whether it told how it ended, or why nothing comes.
        """
        if self._candidate is not None:
            return bool(self._candidate.get("finishReason"))
        feedback = self._around.get("promptFeedback")
        return isinstance(feedback, dict) and bool(feedback.get("blockReason"))

    @property
    def body(self) -> JsonObject:
        """
        The body.
        """
        body = dict(self._around)
        if self._usage:
            body["usageMetadata"] = self._usage
        if self._candidate is not None:
            body["candidates"] = [{**self._candidate, **self._said_so_far()}]
        return body

    def _said_so_far(self) -> JsonObject:
        if self._content is None:
            return {}
        return {"content": {**self._content, "parts": [part.whole for part in self._parts]}}

    def _said(self, part: JsonObject) -> list[Delta]:
        last = self._parts[-1] if self._parts else None
        if last is not None and last.goes_on(part):
            last.more.append(str(part["text"]))
        else:
            self._parts.append(_Part(part))
        if "functionCall" in part:
            return self._asked(as_object(part["functionCall"], "a call"))
        text = part.get("text")
        if part.get("thought") and isinstance(text, str) and text:
            return [ReasoningDelta(text)]
        heard = self.paragraphs.heard(said_in(part))
        return [TextDelta(heard)] if heard else []

    def _asked(self, call: JsonObject) -> list[Delta]:
        name, args = call.get("name"), call.get("args")
        position = self.asked + sum("functionCall" in part.start for part in self._parts) - 1
        written = dump_json({} if args is None else args)
        return [ArgumentsDelta(position, name if isinstance(name, str) else "", written)]


def _is_plain(part: JsonObject) -> bool:
    return PLAIN.issuperset(part) and isinstance(part.get("text"), str)


def _checked(value: JsonValue) -> JsonObject:
    part = as_object(value, "a part")
    if "functionCall" in part and any(as_object(part["functionCall"], "a call").get(key) for key in IN_PIECES):
        raise JsonError("a call comes in pieces, which was not asked for")
    return part


def _told(given: JsonObject, *elsewhere: str) -> JsonObject:
    return {key: value for key, value in given.items() if value is not None and key not in elsewhere}
