"""
A loop as a tool of another loop: the model asks it in words, and it answers with a run of its own.
"""

import asyncio
import inspect
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, cast

from attrs import define, evolve, field, frozen
from pydantic import AfterValidator

from rodada.statemachine.jsontext import clean_text
from rodada.statemachine.limits import Limits
from rodada.statemachine.loop import ToolLoop
from rodada.statemachine.messages import Status, Text, ToolRequest, ToolResult
from rodada.statemachine.outcome import CallRecord, Outcome
from rodada.statemachine.ports import CallSetting, ToolCall
from rodada.statemachine.request import ToolDeclaration
from rodada.statemachine.states import RunStatus
from rodada.tools.approval import NeedsApproval
from rodada.tools.arguments import Refusal, argument_model
from rodada.tools.decorator import Tool
from rodada.tools.definitions import legal_name
from rodada.tools.fitting import fitted
from rodada.tools.options import OnCut, Options, Resources, ToolOptions, Usual, options_of
from rodada.tools.signatures import Parameter


def _not_blank(message: str) -> str:
    if not message.strip():
        raise ValueError("it is blank")
    return message


WORDS = Annotated[str, AfterValidator(_not_blank)]
MESSAGE = Parameter("message", WORDS, inspect.Parameter.empty, "What it is asked, with all that it must know.")
OWN_SHARE = 0.9  # of the time that is left, so that it can still say how far it came
STOP_SHARE = 0.8  # of the grace of a stop, so that it has settled when that is over
LONGEST_NAME, MOST_NAMES = 80, 20


@frozen
class LoopTool(Tool[..., Any]):
    """
    A loop that a model may ask; build it with `loop_tool`.

    Attributes:
        loop: that answers.
    """

    loop: ToolLoop = field(kw_only=True, repr=False)

    def call(self, request: ToolRequest, setting: CallSetting) -> ToolCall:
        """
        The call of a request, not yet running; with bad arguments one that is refused.
        """
        arguments = self.arguments.check(request)
        if isinstance(arguments, Refusal):
            return super().call(request, setting)
        return LoopCall(self.loop, str(arguments["message"]), request, setting, self.options)


def loop_tool(
    loop: ToolLoop,
    *,
    name: str,
    description: str,
    reads: Resources = None,
    writes: Resources = None,
    exclusive: bool = False,
    idempotent: bool = False,
    needs_approval: NeedsApproval = False,
    timeout: float | Usual | None = None,
    max_result_chars: int | Usual | None = Usual.USUAL,
    on_cut: OnCut | None = None,
) -> LoopTool:
    """
    Make a tool of a loop: each call is a run of it, on a conversation of its own. Only a completed run is a success;
    every other outcome is an error result with its reason, the model's closing words, and the calls that were left
    undone or whose outcome is not known.

    The run has the origin and the context value of the one around it, ends before that one's time is over, and is
    cancelled with it. Inside it nobody can be asked: a call that needs approval is denied there, so put
    `needs_approval=` here.

    Args:
        name: for the model; letters, digits, "_" and "-", at most 64.
        description: for the model: what the loop can answer.
        reads, writes, exclusive, idempotent, needs_approval: as for `@tool`, of all that its tools do.
        timeout: seconds that a call may take, over the run's own `Limits.seconds`; None, as when not given, adds no
            limit.
        max_result_chars, on_cut: as for `@tool`.

    Raises:
        ToolDefinitionError: an option is wrong.
    """
    place = f"loop_tool {name!r:.80}"
    options: ToolOptions = {
        "reads": reads,
        "writes": writes,
        "exclusive": exclusive,
        "idempotent": idempotent,
        "needs_approval": needs_approval,
        "timeout": timeout,
        "max_result_chars": max_result_chars,
        "on_cut": on_cut,
    }
    legal = legal_name(place, name)
    arguments = argument_model(legal, place, (MESSAGE,))
    declaration = ToolDeclaration(legal, clean_text(description).strip(), arguments.schema)
    return LoopTool(declaration, loop.run, arguments, options_of(place, loop.run, options), loop=loop)


@define(eq=False)
class LoopCall:
    """
    One run of a loop for another run.

    Attributes:
        loop: that answers.
        message: what it is asked.
        request: of the outer model.
        setting: the run around it.
        options: of the tool.
    """

    loop: ToolLoop
    message: str
    request: ToolRequest
    setting: CallSetting
    options: Options
    _left_running: tuple[str, ...] = field(default=(), init=False)

    @property
    def alive(self) -> bool:
        """
        Whether a call of the inner run was left running when that had ended.
        """
        return bool(self._left_running)

    @property
    def settles(self) -> bool:
        """
        A cancelled run stops its own calls with grace.
        """
        return True

    async def run(self) -> ToolResult:
        """
        Run the loop; a cancel cancels the inner run, which settles and is told like every other.
        """
        try:
            outcome = await self._outcome()
        except asyncio.CancelledError as error:
            settled = cast("Outcome | None", getattr(error, "outcome", None))
            if not isinstance(settled, Outcome):
                raise
            outcome = settled
        self._left_running = outcome.still_running
        told = Text(_told(self.request.name, outcome))
        return fitted(self.request, _status(outcome), (told,), self.options, self.setting.limits)

    async def _outcome(self) -> Outcome:
        setting = self.setting
        seconds = self.options.seconds(setting.limits.tool_seconds)
        limits = inherited(self.loop.limits, setting, seconds, self.loop.clock.now())
        return await self.loop.run(self.message, context=setting.context, origin=setting.origin, limits=limits)


def inherited(own: Limits, setting: CallSetting, seconds: float | None, now: datetime) -> Limits:
    """
    The limits of a run within another one: its own, within what the outer run and `seconds` leave it.
    """
    left = None if setting.deadline is None else max(0.0, (setting.deadline - now).total_seconds())
    around = [OWN_SHARE * each for each in (left, seconds) if each is not None]
    stop = min(own.stop_seconds, STOP_SHARE * setting.limits.stop_seconds)
    most = min((each for each in (own.seconds, *around) if each is not None), default=None)
    closing = own.closing_seconds if most is None else min(own.closing_seconds, most / 2)
    return evolve(own, seconds=most, closing_seconds=closing, stop_seconds=stop)


def _status(outcome: Outcome) -> Status:
    if outcome.status is RunStatus.COMPLETED:
        return Status.SUCCEEDED
    unknown = any(call.status is Status.OUTCOME_UNKNOWN for call in outcome.calls)
    return Status.OUTCOME_UNKNOWN if unknown else Status.FAILED


def _told(name: str, outcome: Outcome) -> str:
    told = [outcome.answer] if outcome.status is RunStatus.COMPLETED else _told_why(name, outcome)
    running = frozenset(outcome.still_running)
    lists = (
        ("Not executed", [call for call in outcome.calls if call.status is Status.NOT_EXECUTED]),
        ("Started, outcome unknown", [call for call in outcome.calls if call.status is Status.OUTCOME_UNKNOWN]),
        ("Still running", [call for call in outcome.calls if call.id in running]),
    )
    return "\n".join([*told, *(f"{what}: {_names(calls)}." for what, calls in lists if calls)])


def _told_why(name: str, outcome: Outcome) -> list[str]:
    reason = "" if outcome.reason is None else f" ({outcome.reason.value})"
    error = "" if outcome.error is None else f", {outcome.error.error}"
    told = [f"{name} did not complete: {outcome.status.value}{reason}{error}."]
    return [*told, f"Its closing words: {outcome.answer}"] if outcome.answer_by == "model" else told


def _names(calls: Iterable[CallRecord]) -> str:
    names = [call.name[:LONGEST_NAME] for call in calls]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more
