"""
Calls that come in fragments over Chat Completions, each put together by itself.

OpenAI numbers them: a fragment's `index` says to which call it belongs. Other servers number every call 0, or none, so
that a new id or a new name begins a new call under a number that was used, and so does whatever follows whole arguments
under the same name again. A name that is said again behind them without anything further may be either: the next words
decide.
"""

from typing import TypeAlias

from attrs import define, field

from rodada.providers.json_body import told_text
from rodada.providers.openai_chat_input import WIRE
from rodada.statemachine.errors import ProviderGarbled
from rodada.statemachine.jsontext import JsonObject, JsonValue, dump_json, parse_object
from rodada.statemachine.notice import ArgumentsDelta

Number: TypeAlias = int | str | None


@define
class Fragments:
    """
    One call as far as it came: what stands beside its arguments is said once, also where it is said in each fragment.
    """

    _call: JsonObject = field(factory=JsonObject)
    _function: JsonObject = field(factory=JsonObject)
    _written: list[str] = field(factory=list[str])
    _said_again: JsonObject | None = None

    @property
    def id(self) -> str:
        """
        Its id, or "".
        """
        return told_text(self._call.get("id"))

    @property
    def name(self) -> str:
        """
        The name of its function, or "".
        """
        return told_text(self._function.get("name"))

    @property
    def function(self) -> JsonObject:
        """
        What is called, and with what.
        """
        written = "".join(self._written)
        # Behind arguments that are no text some servers send an empty one.
        if not self._written or (self._function.get("arguments") and not written.strip()):
            return self._function
        return {**self._function, "arguments": written}

    @property
    def call(self) -> JsonObject:
        """
        The call as it would have come whole.
        """
        return {**self._call, "function": self.function} if self._function or self._written else self._call

    def take(self, fragment: JsonObject, function: JsonObject) -> str:
        """
        Take one more fragment, and give what it adds to the arguments.
        """
        _say_once(self._call, fragment, "index", "function")
        _say_once(self._function, function, "arguments")
        arguments = function.get("arguments")
        if self._may_begin_another(function):
            self._said_again = fragment
        if isinstance(arguments, str):
            self._written.append(arguments)
            return arguments
        _say_once(self._function, {key: value for key, value in function.items() if key == "arguments"})
        return "" if arguments is None else dump_json(arguments)

    def ends_before(self, fragment: JsonObject, function: JsonObject) -> bool:
        """
        Whether a fragment under the same number belongs to another call.
        """
        call_id, name = told_text(fragment.get("id")), told_text(function.get("name"))
        if call_id and self.id and call_id != self.id:
            return True
        goes_on = _says_something(function.get("arguments"))
        if not name or not self.name:
            return goes_on and self._said_again is not None
        return name != self.name or (goes_on and self._has_whole_arguments())

    def another(self, name: str) -> "Fragments":
        """
        The call that begins where this one ends, with what was said of it already.
        """
        begun, said = Fragments(), self._said_again
        if said is not None and name in ("", self.name):
            begun.take(said, _function_of(said))
        return begun

    def _may_begin_another(self, function: JsonObject) -> bool:
        named = bool(told_text(function.get("name"))) and not _says_something(function.get("arguments"))
        return named and self._has_whole_arguments()

    def _has_whole_arguments(self) -> bool:
        last = next((piece.rstrip() for piece in reversed(self._written) if piece.strip()), "")
        if not last:
            return isinstance(self._function.get("arguments"), dict)
        # Most fragments end elsewhere, and need no look at all that came before.
        return last.endswith("}") and parse_object("".join(self._written)) is not None


@define
class Calls:
    """
    The calls of a message, in the order in which they began.
    """

    _calls: list[Fragments] = field(factory=list[Fragments])
    # Places in that list: of the last call that began under a number; and by number, id and name, where no name stands
    # for the last one of that id.
    _last: dict[Number, int] = field(factory=dict["Number", int])
    _known: dict[tuple[Number, str, str], int] = field(factory=dict["tuple[Number, str, str]", int])

    @property
    def whole(self) -> list[JsonValue]:
        """
        As they would have come whole.
        """
        return [each.call for each in self._calls]

    def add(self, fragments: JsonValue) -> tuple[ArgumentsDelta, ...]:
        """
        Take the fragments of one chunk.

        Raises:
            ProviderGarbled: they are no list of objects.
        """
        if not isinstance(fragments, list):
            raise ProviderGarbled(WIRE, "the calls of a chunk are no list")
        heard = (self._take(at, fragment) for at, fragment in enumerate(fragments))
        return tuple(each for each in heard if each.text)

    def _take(self, at: int, fragment: JsonValue) -> ArgumentsDelta:
        if not isinstance(fragment, dict):
            raise ProviderGarbled(WIRE, "a fragment of a call is no object")
        function = _function_of(fragment)
        told = fragment.get("index")
        number = told if isinstance(told, int | str) else None
        place = self._place(at, number, fragment, function)
        call = self._calls[place]
        text = call.take(fragment, function)
        if call.id:
            self._known[number, call.id, call.name] = self._known[number, call.id, ""] = place
        return ArgumentsDelta(place, call.name, text)

    def _place(self, at: int, number: Number, fragment: JsonObject, function: JsonObject) -> int:
        name = told_text(function.get("name"))
        known = self._known.get((number, told_text(fragment.get("id")), name))
        if known is not None:
            return known
        beside = number is None and at > 0 and bool(name)  # unnumbered calls in one chunk
        last = self._last.get(number)
        if last is None or beside or self._calls[last].ends_before(fragment, function):
            self._calls.append(Fragments() if last is None else self._calls[last].another(name))
            self._last[number] = last = len(self._calls) - 1
        return last


def _say_once(said: JsonObject, more: JsonObject, *but: str) -> None:
    said.update({key: value for key, value in more.items() if key not in but and not said.get(key)})


def _function_of(fragment: JsonObject) -> JsonObject:
    given = fragment.get("function")
    return given if isinstance(given, dict) else JsonObject()


def _says_something(arguments: JsonValue) -> bool:
    return bool(arguments.strip()) if isinstance(arguments, str) else arguments is not None
