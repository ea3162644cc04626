"""
One call of a function: run once, it ends in exactly one true result, whatever the function does.
"""

import asyncio
import contextlib
import traceback
from collections.abc import Awaitable, Callable
from typing import cast

from attrs import define, field

from rodada.statemachine.drivers.calling_thread import CallingThread, calling_thread
from rodada.statemachine.drivers.errand import Errand, Withdrawn
from rodada.statemachine.jsontext import clean_text
from rodada.statemachine.log import log_warning
from rodada.statemachine.messages import Part, Status, Text, ToolRequest, ToolResult
from rodada.statemachine.ports import STOPPED, CallSetting
from rodada.tools.arguments import Arguments
from rodada.tools.cancels import cancels_asked
from rodada.tools.errors import OutcomeUnknown, ToolError
from rodada.tools.fitting import fitted
from rodada.tools.hooks import tell
from rodada.tools.options import Options
from rodada.tools.result_parts import returned_parts
from rodada.tools.signatures import is_async
from rodada.tools.threads import LEVELS, Threads
from rodada.tools.value_text import LET_THROUGH, Unshowable, error_name


@define(eq=False)
class FunctionCall:
    """
    A call whose arguments passed their checks.

    Attributes:
        function: sync or async; a sync one runs in a thread of ours, in the caller's where its options say so, or in
            place when it is deterministic.
        arguments: by name.
        request: what the model asked.
        setting: the run around it.
        options: of the tool.
        leading: values that stand in front and have no name.
    """

    function: Callable[..., object]
    arguments: Arguments
    request: ToolRequest
    setting: CallSetting
    options: Options
    leading: tuple[object, ...] = ()
    _errand: Errand[ToolResult] | None = field(default=None, init=False)

    async def run(self) -> ToolResult:
        """
        Run the function. Only a cancel of this coroutine, KeyboardInterrupt and SystemExit leave it.
        """
        if is_async(self.function):
            return await self._awaited()
        thread = self._thread()
        return self._called() if thread is None else await self._done_in(thread)

    @property
    def alive(self) -> bool:
        """
        Whether the function still runs in a thread that was left to itself.
        """
        return self._errand is not None and self._errand.alive

    @property
    def settles(self) -> bool:
        """
        Whether the function still waits for its thread: cancelled now, it never begins.
        """
        return self._errand is not None and not self._errand.begun

    def _thread(self) -> Threads | CallingThread | None:
        """
        Where a sync function runs; None is in place.
        """
        if self.options.deterministic:
            return None
        return calling_thread() if self.options.thread == "caller" else LEVELS.here()

    async def _done_in(self, thread: Threads | CallingThread) -> ToolResult:
        self._errand = Errand(f"rodada-tool-{self.request.name}", self._called)
        try:
            return await thread.do(self._errand)
        except (asyncio.CancelledError, Withdrawn):
            if self._errand.begun:
                raise
            text = f"{self.request.name} was not run: the call ended while it still waited for a thread."
            return self._result(Status.FAILED, Text(text))
        except RuntimeError as error:
            if self._errand.begun:
                raise
            return self._failed(error)
        except KeyboardInterrupt:
            if not isinstance(thread, CallingThread):
                raise
            # Somebody's, in the thread where Ctrl-C is heard: it came into the middle of whatever the call did.
            text = f"{self.request.name} was interrupted while it was running: it may have taken effect."
            return self._result(Status.OUTCOME_UNKNOWN, Text(text))

    def _called(self) -> ToolResult:
        try:
            value = self.function(*self.leading, **self.arguments)
        except LET_THROUGH:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is a result
            return self._failed(error)
        return self._returned(value)

    async def _awaited(self) -> ToolResult:
        cancels = cancels_asked()
        try:
            value = await cast(Awaitable[object], self.function(*self.leading, **self.arguments))
        except LET_THROUGH:
            raise
        except asyncio.CancelledError as error:
            # Somebody wants this task to stop, or the tool raised it itself: only the count of cancels tells, or
            # the driver's own message, where a library has taken the cancel back.
            if cancels_asked() > cancels or STOPPED in error.args:
                raise
            return self._failed(error)
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is a result
            result = self._failed(error)
            if cancels_asked() > cancels and not isinstance(error, ToolError):
                # It was cut off, and broke on that: only the tool itself could say what it had done by then.
                raise asyncio.CancelledError from None
            return result
        return self._returned(value)

    def _returned(self, value: object) -> ToolResult:
        # Asking the value itself, as isinstance does, would run code of its own.
        if issubclass(type(value), BaseException):
            return self._failed(cast(BaseException, value))
        try:
            returned = returned_parts(value)
        except Unshowable as error:
            text = f"{self.request.name} ran to its end, but what it returned cannot be shown: {error}."
            return self._result(Status.FAILED, Text(text))
        return self._result(Status.FAILED if returned.failed else Status.SUCCEEDED, *returned.parts)

    def _failed(self, error: BaseException) -> ToolResult:
        # No log filter of the host may change the result.
        with contextlib.suppress(Exception):
            log_warning("tool.failed", tool=self.request.name, error=error_name(error), place=_raised_at(error))
        tell(self.options.on_error, "on_error", self.request, error)
        status = Status.OUTCOME_UNKNOWN if isinstance(error, OutcomeUnknown) else Status.FAILED
        return self._result(status, Text(self._why(error)))

    def _why(self, error: BaseException) -> str:
        plain = f"{self.request.name} failed: it raised {error_name(error)}"
        may_tell = isinstance(error, ToolError) or self.options.errors == "message"
        message = _message(error) if may_tell else ""
        if isinstance(error, ToolError):
            return message or f"{self.request.name} failed."
        return f"{plain}: {message}" if message else f"{plain}. Its details are withheld."

    def _result(self, status: Status, *parts: Part) -> ToolResult:
        return fitted(self.request, status, parts, self.options, self.setting.limits)


def _message(error: BaseException) -> str:
    try:
        return clean_text(str(error)).strip()
    except LET_THROUGH:
        raise
    except BaseException:  # noqa: BLE001 - the exception's own __str__ may raise anything
        return ""


def _raised_at(error: BaseException) -> str:
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return "an unknown place"
    frame, line = frames[-1]
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}, line {line}"
