"""
What is said of a tool beside its function.
"""

import enum
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from attrs import field, frozen

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.limits import COUNTS
from rodada.statemachine.messages import ToolRequest, ToolResult
from rodada.statemachine.plan import Kind
from rodada.statemachine.scheduling import EVERYTHING, Touches
from rodada.tools.approval import NeedsApproval, may_be_needed
from rodada.tools.errors import ToolDefinitionError
from rodada.tools.signatures import is_async

OnError: TypeAlias = Callable[[ToolRequest, BaseException], object]
OnCut: TypeAlias = Callable[[ToolRequest, ToolResult], object]
Resources: TypeAlias = str | Iterable[str] | Callable[[Mapping[str, Any]], str | Iterable[str]] | None
Named: TypeAlias = frozenset[str] | Callable[[Mapping[str, Any]], str | Iterable[str]] | None
Errors: TypeAlias = Literal["class", "message"]
Thread: TypeAlias = Literal["pool", "caller"]

LEAST_RESULT_CHARS = COUNTS["max_result_chars"]


class Usual(enum.Enum):
    """
    A limit that is the run's, not a tool's own.
    """

    USUAL = "usual"


def _as_names(given: Resources) -> Named:
    if given is None or callable(given):
        return given
    try:
        return _names(given)
    except TypeError:
        wanted = "names of resources, or a function to them"
        raise InvalidValue("resources", f"takes {wanted}; got {given!r:.80}") from None


def _names(given: str | Iterable[str]) -> frozenset[str]:
    return _several(given) - {""}


def _several(given: str | Iterable[str]) -> frozenset[str]:
    return frozenset((given,) if isinstance(given, str) else given)


@frozen(kw_only=True)
class Options:
    """
    What is said of a tool beside its function.

    Attributes:
        reads, writes: names of the resources that it touches, or a function from the arguments to them; None when
            nothing was said.
        exclusive: whether no other call may run beside it, whatever it touches.
        deterministic: whether the arguments alone decide the result, and nothing is touched.
        idempotent: whether the same call may run twice with the effect of once.
        needs_approval: whether somebody must approve a call, who, or a function from the arguments to that.
        timeout: seconds that a call may take; None is unlimited.
        thread: where a sync function runs: in one of our own threads, or in the caller's.
        errors: what the model is told of an exception: its class, or its message too.
        on_error: told of every exception; what it raises itself is only logged.
        max_result_chars: characters of a result's text; None is uncut.
        on_cut: handed every result that was cut, whole; what it raises is only logged.

    Raises:
        InvalidValue: an option of the wrong kind or out of range.
    """

    reads: Named = field(default=None, converter=_as_names)
    writes: Named = field(default=None, converter=_as_names)
    exclusive: bool = False
    deterministic: bool = False
    idempotent: bool = False
    needs_approval: NeedsApproval = False
    timeout: float | Usual | None = Usual.USUAL
    thread: Thread = "pool"
    errors: Errors = "class"
    on_error: OnError | None = None
    max_result_chars: int | Usual | None = Usual.USUAL
    on_cut: OnCut | None = None

    def __attrs_post_init__(self) -> None:
        for option, given in (("reads", self.reads), ("writes", self.writes)):
            _check(option, _are_names(given), "names of resources", given)
        _check("exclusive", _is_flag(self.exclusive), "True or False", self.exclusive)
        _check("deterministic", _is_flag(self.deterministic), "True or False", self.deterministic)
        _check("deterministic", self._may_be_deterministic, "True only where nothing is read or written", True)
        _check("idempotent", _is_flag(self.idempotent), "True or False", self.idempotent)
        people = "True, False, an Approval, or a function from the arguments to one of these that is not async"
        _check("needs_approval", may_be_needed(self.needs_approval), people, self.needs_approval)
        _check("timeout", _is_timeout(self.timeout), "seconds above 0, or None for unlimited", self.timeout)
        _check("thread", self.thread in ("pool", "caller"), '"pool" or "caller"', self.thread)
        _check("thread", self._may_choose_thread, '"caller" only where the function is not deterministic', self.thread)
        _check("errors", self.errors in ("class", "message"), '"class" or "message"', self.errors)
        chars = f"a whole number >= {LEAST_RESULT_CHARS}, or None for uncut"
        _check("max_result_chars", _is_length(self.max_result_chars), chars, self.max_result_chars)
        for option, hook in (("on_error", self.on_error), ("on_cut", self.on_cut)):
            _check(option, _is_hook(hook), "a function that is not async", hook)

    @property
    def _may_be_deterministic(self) -> bool:
        return not (self.deterministic and (self.reads or self.writes or self.exclusive))

    @property
    def _may_choose_thread(self) -> bool:
        return not (self.deterministic and self.thread == "caller")

    @property
    def kind(self) -> Kind:
        """
        A read when only reads are declared, or nothing is touched; a write unless something else is said.
        """
        if self.deterministic or (self.reads is not None and not self.writes):
            return Kind.READ
        return Kind.IDEMPOTENT if self.idempotent else Kind.WRITE

    @property
    def declared(self) -> bool:
        """
        Whether it was said which resources it touches.
        """
        return self.exclusive or self.deterministic or self.reads is not None or self.writes is not None

    @property
    def always_touches(self) -> Touches | None:
        """
        What each call touches, where its arguments have no say; None where they have.
        """
        if self.exclusive or not self.declared:
            return EVERYTHING
        return None if callable(self.reads) or callable(self.writes) else self.touches({})

    def touches(self, arguments: Mapping[str, Any]) -> Touches:
        """
        What a call with these arguments touches: everything, where nothing was said or where saying it fails.
        """
        if self.exclusive or not self.declared:
            return EVERYTHING
        try:
            return Touches(_resolved(self.reads, arguments), _resolved(self.writes, arguments))
        except BaseException:  # noqa: BLE001 - a host's function that raises anything must not let calls overlap
            return EVERYTHING

    def seconds(self, usual: float | None) -> float | None:
        """
        The time limit of a call, in seconds; None is unlimited.
        """
        return usual if isinstance(self.timeout, Usual) else self.timeout

    def result_chars(self, usual: int | None) -> int | None:
        """
        The most characters of a result's text; None is uncut.
        """
        return usual if isinstance(self.max_result_chars, Usual) else self.max_result_chars


class ToolOptions(TypedDict, total=False):
    """
    What may be said of a tool beside its function, by name.

    Attributes:
        reads, writes: names of the resources that it touches, one or several. `reads` without `writes` makes it
            a read, which may be run again after a crash; `reads=()` touches nothing shared. A function names them
            from the arguments: `writes=lambda a: f"order:{a['order_id']}"`.
        exclusive: no other call runs beside it, with `ToolLoop(parallel=True)` either.
        deterministic: the arguments alone decide the result, and nothing is touched. Each distinct argument set is
            computed once a run, a sync function in place, where no timeout can cut it off; the outcome marks the calls.
        idempotent: whether the same call may run twice with the effect of once.
        needs_approval: whether somebody must approve a call before it runs; an `Approval` says how many must, whether
            the run's own actor counts, and how long they may take. A function says it of the arguments, which are
            valid then: `needs_approval=lambda a: a["euros"] > 100`; where it raises, somebody must.
        timeout: seconds that a call may take, waiting for a thread included; None is unlimited; not given, the limit
            of the run.
        thread: where a sync function runs. "pool": in one of our own threads. "caller", for what is bound to a thread,
            such as a connection of `sqlite3`: in the thread that called `run_sync`, which does it while it waits; in
            the event loop's thread where the run is awaited, which holds the loop up, and then no timeout can cut it
            off.
        errors: "message" tells the model the message of an exception too, which may carry secrets.
        on_error: called with the request and the exception; for a sync function in its thread.
        max_result_chars: characters of a result's text, at least 200; a longer one is cut with a mark. It may be more
            than the run's limit; None is uncut; not given, the limit of the run.
        on_cut: called with the request and the whole `ToolResult` where one was cut, before the model is told the
            rest; for a sync function that ran in its thread and within its timeout, else on the event loop; for equal
            calls of a deterministic one once a run. What it raises is only logged.
    """

    reads: Resources
    writes: Resources
    exclusive: bool
    deterministic: bool
    idempotent: bool
    needs_approval: NeedsApproval
    timeout: float | Usual | None
    thread: Thread
    errors: Errors
    on_error: OnError | None
    max_result_chars: int | Usual | None
    on_cut: OnCut | None


def options_of(place: str, function: Callable[..., object], given: ToolOptions) -> Options:
    """
    The options of a function.

    Raises:
        ToolDefinitionError: an option is wrong, or is none.
    """
    # Python passes every keyword on, so a misspelt one would be lost without a word.
    known = ToolOptions.__annotations__
    for name in given:
        if name not in known:
            raise ToolDefinitionError(place, f"{name!r} is no option; these are: {', '.join(known)}")
    try:
        options = Options(**given)
        _check("thread", options.thread == "pool" or not is_async(function), '"caller" only for a sync one', "caller")
    except InvalidValue as error:
        raise ToolDefinitionError(place, str(error)) from None
    return options


def _check(option: str, is_right: bool, wanted: str, given: object) -> None:
    if not is_right:
        raise InvalidValue(option, f"takes {wanted}; got {given!r:.80}")


def _computed(given: str | Iterable[str]) -> frozenset[str]:
    # A name that the model left empty is no reason to let two writes overlap.
    found = _several(given)
    if "" in found:
        raise InvalidValue("resources", "an empty name was computed")
    return found


def _resolved(named: Named, arguments: Mapping[str, Any]) -> frozenset[str]:
    if named is None:
        return frozenset()
    found = _computed(named(dict(arguments))) if callable(named) else named
    if not _are_names(found):
        raise InvalidValue("resources", f"names of resources are wanted, got {found!r:.80}")
    return found


def _are_names(given: Named) -> bool:
    return given is None or callable(given) or _are_texts(given)


def _are_texts(given: Iterable[object]) -> bool:
    return all(isinstance(each, str) for each in given)


def _is_flag(given: object) -> bool:
    return isinstance(given, bool)


def _is_timeout(given: object) -> bool:
    if given is None or isinstance(given, Usual):
        return True
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given) and given > 0


def _is_length(given: object) -> bool:
    if given is None or isinstance(given, Usual):
        return True
    return isinstance(given, int) and not isinstance(given, bool) and given >= LEAST_RESULT_CHARS


def _is_hook(given: Callable[..., object] | None) -> bool:
    return given is None or (callable(given) and not is_async(given))
