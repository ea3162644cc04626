"""
A streamed answer of the Responses API, put together to the body that the same call without streaming gives.

That body comes with the last event; only its output is gathered before, for servers that leave it out there.
"""

from attrs import define, field

from rodada.providers.json_body import told_text
from rodada.providers.openai_responses_input import CALLS, WIRE
from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.notice import ArgumentsDelta, Delta, ReasoningDelta, TextDelta

PARAGRAPH = "\n\n"


@define
class _Voice:
    """
    Texts that are said one after another, heard as paragraphs.
    """

    _saying: tuple[JsonValue, ...] | None = None

    def heard(self, text: str, *place: JsonValue) -> tuple[str, ...]:
        """
        The next piece of the text at a place; none of an empty one.
        """
        if not text:
            return ()
        begins = self._saying not in (None, place)
        self._saying = place
        return (PARAGRAPH + text,) if begins else (text,)


@define
class StreamedResponse:
    """
    A response as far as it came. Nothing of it may be used before it is `whole`.
    """

    _response: JsonObject | None = None
    _done: dict[int, JsonObject] = field(factory=dict[int, JsonObject])
    _calls: dict[int, tuple[int, str]] = field(factory=dict[int, "tuple[int, str]"])
    _text: _Voice = field(factory=_Voice)
    _reasoning: _Voice = field(factory=_Voice)

    @property
    def whole(self) -> bool:
        """
        Whether its last event came.
        """
        return self._response is not None

    @property
    def ended(self) -> bool:
        """
        The same: nothing of it follows that event.
        """
        return self.whole

    @property
    def body(self) -> JsonObject:
        """
        The response of the last event, with the items that came before where it has fewer.

        Raises:
            ProviderGarbled: that event did not come.
        """
        if self._response is None:
            raise ProviderGarbled(WIRE, "the stream has no last event")
        output = self._response.get("output")
        if isinstance(output, list) and len(output) >= len(self._done):
            return self._response
        return {**self._response, "output": [item for _, item in sorted(self._done.items())]}

    def add(self, event: JsonObject) -> tuple[Delta, ...]:
        """
        Take one more event, and give what of it can be heard.

        Raises:
            ProviderGarbled: an item or the response is no object; events of unknown types are left out.
        """
        text, item = told_text(event.get("delta")), event.get("output_index")
        match event.get("type"):
            case "response.output_item.added":
                self._begin(item, event.get("item"))
            case "response.output_item.done":
                self._done[self._place(item)] = _object(event.get("item"), "an output item")
            case "response.output_text.delta" | "response.refusal.delta":
                return tuple(map(TextDelta, self._text.heard(text, item)))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return tuple(map(ReasoningDelta, self._reasoning.heard(text, item, event.get("summary_index"))))
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                return self._written(item, text)
            case "response.completed" | "response.incomplete" | "response.failed":
                self._response = _object(event.get("response"), "the response of the last event")
            case _:
                pass
        return ()

    def _begin(self, index: JsonValue, item: JsonValue) -> None:
        begun = _object(item, "an output item")
        if told_text(begun.get("type")) in CALLS and isinstance(index, int):
            self._calls.setdefault(index, (len(self._calls), told_text(begun.get("name"))))

    def _place(self, index: JsonValue) -> int:
        return index if isinstance(index, int) else len(self._done)

    def _written(self, index: JsonValue, text: str) -> tuple[Delta, ...]:
        if not text or not isinstance(index, int) or index not in self._calls:
            return ()
        return (ArgumentsDelta(*self._calls[index], text),)


def _object(value: JsonValue, what: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ProviderGarbled(WIRE, f"{what} is no object")
    return value
