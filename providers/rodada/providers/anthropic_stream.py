"""
A streamed reply of the Anthropic Messages API, put together to the message that the same call without streaming gives.
"""

from attrs import define, field

from rodada.providers.anthropic_output import NotAMessage
from rodada.providers.anthropic_wire import said_in
from rodada.providers.paragraphs import Paragraphs
from rodada.statemachine.jsontext import JsonError, JsonObject, JsonValue, parse_json
from rodada.statemachine.notice import ArgumentsDelta, Delta, ReasoningDelta, TextDelta

LONGEST_SHOWN = 40


@define
class _Block:
    """
    A block that is being said.
    """

    start: JsonObject
    texts: dict[str, list[str]] = field(factory=dict[str, list[str]])
    citations: list[JsonValue] = field(factory=list[JsonValue])

    def add(self, key: str, piece: JsonValue) -> str:
        text = piece if isinstance(piece, str) else ""
        self.texts.setdefault(key, []).append(text)
        return text

    @property
    def written(self) -> str:
        """
        What was written of the input of a call.
        """
        return "".join(self.texts.get("input", ()))


@define
class StreamedMessage:
    """
    A message as far as it came. Nothing of it may be used before it is `whole`.

    Attributes:
        paragraphs: what the turn said before its pauses.
        whole: whether its last event came.
    """

    paragraphs: Paragraphs = field(factory=Paragraphs)
    whole: bool = False
    _message: JsonObject | None = None
    _blocks: dict[int, _Block] = field(factory=dict[int, _Block])

    def add(self, event: JsonObject) -> Delta | None:
        """
        Take one more event, and give what of it can be heard.

        Raises:
            NotAMessage: it is not what the API promises; events of unknown types are left out.
        """
        if self.whole:
            return None
        match event.get("type"):
            case "message_start":
                self._begin(event)
            case "content_block_start":
                return self._start(_index(event), _object(event.get("content_block"), "a block"))
            case "content_block_delta":
                return self._said(_index(event), _object(event.get("delta"), "a delta"))
            case "message_delta":
                self._end(event)
            case "message_stop":
                self._begun()
                self.whole = True
            case _:
                pass
        return None

    @property
    def message(self) -> JsonObject:
        """
        The message; the input of a call that is no JSON object stands as an empty one.

        Raises:
            NotAMessage: it did not begin.
        """
        blocks = [_finished(block) for _, block in sorted(self._blocks.items())]
        return {**self._begun(), "content": [*blocks]}

    @property
    def broken(self) -> dict[int, str]:
        """
        Inputs that are no JSON object, as they were written, by the block's place.
        """
        inputs = {at: block.written for at, (_, block) in enumerate(sorted(self._blocks.items()))}
        return {at: raw for at, raw in inputs.items() if _read(raw) is None}

    def _begin(self, event: JsonObject) -> None:
        if self._message is not None:
            raise NotAMessage("a second message begins in it")
        message = dict(_object(event.get("message"), "its message"))
        usage = message.get("usage")
        if isinstance(usage, dict):  # of its output nothing is said yet: the number there counts no turn
            message["usage"] = {key: value for key, value in usage.items() if key != "output_tokens"}
        self._message = message

    def _begun(self) -> JsonObject:
        if self._message is None:
            raise NotAMessage("it has no message_start")
        return self._message

    def _end(self, event: JsonObject) -> None:
        message, usage = self._begun(), event.get("usage")
        message.update(_object(event.get("delta"), "a delta"))
        if isinstance(usage, dict):  # cumulative: what is told again counts instead, and is never added
            told = {key: value for key, value in usage.items() if value is not None}
            message["usage"] = {**_object(message.get("usage") or {}, "usage"), **told}

    def _start(self, index: int, start: JsonObject) -> Delta | None:
        if index in self._blocks:
            raise NotAMessage("a block begins twice")  # taken, the first one would be lost, a request perhaps
        block = self._blocks[index] = _Block(start)
        # With the vendor itself a block begins without words.
        if start.get("type") == "thinking" and start.get("thinking"):
            return ReasoningDelta(block.add("thinking", start["thinking"]))
        said = said_in(start)
        heard = self.paragraphs.heard(said)
        if said:
            block.add("text", said)
        return TextDelta(heard) if heard else None

    def _said(self, index: int, delta: JsonObject) -> Delta | None:
        block = self._blocks.get(index)
        if block is None:
            raise NotAMessage("a block goes on that never began")
        match delta.get("type"):
            case "text_delta":
                return TextDelta(self.paragraphs.heard(block.add("text", delta.get("text"))))
            case "thinking_delta":
                return ReasoningDelta(block.add("thinking", delta.get("thinking")))
            case "signature_delta":
                block.add("signature", delta.get("signature"))
            case "input_json_delta":
                written = block.add("input", delta.get("partial_json"))
                return self._written(index, block, written) if block.start.get("type") == "tool_use" else None
            case "citations_delta":
                block.citations.append(delta.get("citation"))
            case unknown:
                # Left out, it would be missing from what is sent back.
                raise NotAMessage(f"a delta of the unknown type {str(unknown)[:LONGEST_SHOWN]!r}")
        return None

    def _written(self, index: int, block: _Block, text: str) -> Delta | None:
        calls = [at for at, each in sorted(self._blocks.items()) if each.start.get("type") == "tool_use"]
        name = block.start.get("name")
        return ArgumentsDelta(calls.index(index), name if isinstance(name, str) else "", text) if text else None


def _finished(block: _Block) -> JsonObject:
    found = dict(block.start)
    for key, pieces in block.texts.items():
        found[key] = _read("".join(pieces)) or {} if key == "input" else "".join(pieces)
    if block.citations:
        found["citations"] = [*block.citations]
    return found


def _read(raw: str) -> JsonObject | None:
    if not raw:
        return {}
    try:
        value = parse_json(raw)
    except JsonError:
        return None
    return value if isinstance(value, dict) else None


def _index(event: JsonObject) -> int:
    index = event.get("index")
    if not isinstance(index, int):
        raise NotAMessage("an event of a block does not say of which")
    return index


def _object(value: JsonValue, what: str) -> JsonObject:
    if not isinstance(value, dict):
        raise NotAMessage(f"{what} is no object")
    return value
