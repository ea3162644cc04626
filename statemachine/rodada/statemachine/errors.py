"""
The errors of the engine, of providers and of imports: typed, with fields, naming what happened, where and the way out.
Those of tools stand in `rodada.tools.errors`.
"""

from typing import ClassVar


class LoopError(Exception):
    """
    Base of all errors that this library raises on purpose to its users.
    """


class InvalidValue(LoopError, ValueError):
    """
    A value cannot be built as asked: `what` names it, the message says what is wrong and what would be right.
    """

    def __init__(self, what: str, message: str) -> None:
        super().__init__(f"{what}: {message}")
        self.what = what


class UnusableFile(InvalidValue):
    """
    A file cannot be a medium: it is not there, is no regular file, holds nothing, is too large, or is of no known type.

    Attributes:
        path: as it was given.
        why: what is wrong with it.
    """

    def __init__(self, path: str, why: str, mend: str = "") -> None:
        super().__init__("Media.from_path", f"{path!r} {why}" + (f": {mend}" if mend else ""))
        self.path = path
        self.why = why


class FormatError(LoopError, ValueError):
    """
    Stored JSON cannot be read: `path` says where, the message what was found and what was expected.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class UnreadableMessages(FormatError):
    """
    Stored messages of a vendor's wire cannot be read. Mend or leave out what `path` names, and import again.

    Attributes:
        wire: whose messages they should be, for example "anthropic".
        index: of the message; None where the whole is no list.
        path: of what is wrong, from the list on: "[3].content[0].text".
        expected: what should stand there.
    """

    def __init__(self, wire: str, index: int | None, path: str, expected: str, found: str) -> None:
        super().__init__(path or "messages", f"expected {expected}, found {found} ({wire})")
        self.wire = wire
        self.index = index
        self.expected = expected


class AmbiguousResult(UnreadableMessages):
    """
    A stored result does not say which of several open calls it answers, and none is guessed. Give it the id of its
    call, or leave it out.
    """


class UnexpectedEvent(LoopError):
    """
    No row of the table admits this event in this state. The run is unchanged.

    Attributes:
        state: name of the state the run is in.
        event: name of the event.
        verdicts: each guard that a candidate row names, with its answer.
    """

    def __init__(self, state: str, event: str, verdicts: tuple[tuple[str, bool], ...], why: str = "") -> None:
        told = why or ", ".join(f"{name}={answer}" for name, answer in verdicts) or "no row starts here"
        super().__init__(f"{event} does not fit a run in {state} ({told})")
        self.state = state
        self.event = event
        self.verdicts = verdicts


class ConversationBusy(LoopError):
    """
    Another run is answering on this conversation. Wait for it or cancel it, or run on `conversation.branch()`.
    """

    def __init__(self, conversation_id: str, run_id: str) -> None:
        super().__init__(
            f"conversation {conversation_id} is busy with run {run_id}: "
            "wait for it, cancel it, or use conversation.branch()"
        )
        self.conversation_id = conversation_id
        self.run_id = run_id


class AlreadyEntered(LoopError):
    """
    A `LiveRun` was entered a second time: it is one run. Call `loop.start(...)` again for another one.
    """

    def __init__(self, run_id: str) -> None:
        super().__init__(f"{run_id} was entered before: one LiveRun is one run, call loop.start(...) again")
        self.run_id = run_id


class NotEntered(LoopError):
    """
    A `LiveRun` was used before its block began.
    """

    def __init__(self, run_id: str) -> None:
        super().__init__(f"{run_id} has not begun: use `async with loop.start(...) as live:`, or `with`")
        self.run_id = run_id


class RunningLoop(LoopError):
    """
    What waits in its thread (`run_sync`, a `with` block) was used where an event loop runs, which it would block. Use
    `await loop.run(...)` or `async with` there.
    """

    def __init__(self) -> None:
        super().__init__("this would block the event loop that runs here: use `await loop.run(...)` or `async with`")


class NotSupported(LoopError):
    """
    This provider does not have what was asked for, such as streaming.
    """


class MissingExtra(LoopError, ImportError):
    """
    A package that comes with an extra, such as a provider's SDK, is not installed.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"the package {package} is not installed: pip install 'rodada[{extra}]'")
        self.package = package
        self.extra = extra


class MissingKey(LoopError):
    """
    No API key was given to a provider, and none is in its environment variables.
    """

    def __init__(self, provider: str, variables: tuple[str, ...]) -> None:
        names = " or ".join(variables)
        super().__init__(f"no API key for {provider}: pass api_key=... or set {names}")
        self.provider = provider
        self.variables = variables


class WrongEventLoop(LoopError):
    """
    An SDK client that was passed in is bound to the event loop it was first used on.
    """

    def __init__(self, provider: str) -> None:
        super().__init__(
            f"the client given to {provider} was first used on another event loop, and its connections belong "
            "to that loop: give no client (one is made for each loop), or one ToolLoop to each loop"
        )
        self.provider = provider


class ProviderError(LoopError):
    """
    The provider answered with an error, or not at all.

    Attributes:
        provider: which wire, for example "anthropic".
        status: HTTP status, where there was one.
        code: the vendor's own error code or type.
        request_id: the vendor's id of the request, for its support.
        retry_after: seconds that the vendor asked to wait.
        retryable: whether the same request may succeed later.
    """

    default_retryable: ClassVar[bool] = False

    def __init__(
        self,
        provider: str,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.retryable = self.default_retryable if retryable is None else retryable

    def __str__(self) -> str:
        marks = [str(mark) for mark in (self.status, self.code, self.request_id) if mark is not None]
        return f"{self.provider}: {self.message}" + (f" ({', '.join(marks)})" if marks else "")


class ProviderUnreachable(ProviderError):
    """
    No connection, or it broke before the answer was whole.
    """

    default_retryable = True


class ProviderTimeout(ProviderError):
    """
    No whole answer within the time of the call.
    """

    default_retryable = True


class ProviderOverloaded(ProviderError):
    """
    Too many requests, or a fault on the vendor's side; `retry_after` says when, if the vendor did.
    """

    default_retryable = True


class ProviderQuota(ProviderError):
    """
    A quota or spend limit is used up: waiting does not help, the account's owner must act.
    """


class ProviderAuthentication(ProviderError):
    """
    The key is wrong or lacks a permission.
    """


class ProviderRejected(ProviderError):
    """
    The vendor refused the request itself: sent again it would be refused again.
    """


class ProviderTooLarge(ProviderRejected):
    """
    The request is larger than the vendor takes, or than `Limits.max_request_bytes` allows.
    """


class ProviderGarbled(ProviderError):
    """
    The answer cannot be read: broken JSON, a page instead of JSON, or not the form that the wire promises.
    """

    default_retryable = True


class ProviderOffline(ProviderError):
    """
    The environment says that nothing may be sent to a vendor (RODADA_OFFLINE). Unset it, or let another model answer:
    `with loop.using(provider=...)`.
    """
