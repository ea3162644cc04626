"""
`rodada run`: from what was asked for on the command line to an outcome, a saved conversation and an exit code.
"""

import logging
import sys
from pathlib import Path

from attrs import frozen

from rodada.cli.attached import parts_of
from rodada.cli.attending import Attended
from rodada.cli.conversation_file import ConversationFile
from rodada.cli.errors import WrongUse
from rodada.cli.given_up import KeptHistory, given_up
from rodada.cli.interrupts import Interrupts
from rodada.cli.own_output import own_output, print_json
from rodada.cli.stop_clock import StopClock
from rodada.cli.vendor_model import vendor_model
from rodada.cli.view import View
from rodada.providers.scripted import Scripted
from rodada.statemachine import LANGUAGES, Conversation, Limits, LiveRun, Outcome, Provider, RunStatus, ToolLoop
from rodada.statemachine.errors import LoopError
from rodada.tools import load_tools
from rodada.tools.loading import AnyFunctionTool

EXIT_CODES = {RunStatus.COMPLETED: 0, RunStatus.INCOMPLETE: 3, RunStatus.CANCELLED: 4, RunStatus.FAILED: 5}
NOT_SAVED = 5


@frozen(kw_only=True)
class Asked:
    """
    What was asked for; None and empty mean "not given".
    """

    message: str
    provider: str
    model: str | None = None
    base_url: str | None = None
    tools: tuple[str, ...] = ()
    attached: tuple[Path, ...] = ()
    instructions: str = ""
    max_rounds: int | None = None
    seconds: float | None = None
    conversation: Path | None = None
    script: Path | None = None
    language: str = "en"
    stream: bool = False
    as_json: bool = False


@frozen
class _Ready:
    """
    A run that can begin.
    """

    live: LiveRun
    loop: ToolLoop
    clock: StopClock
    history: KeptHistory


def answer(asked: Asked, interrupts: Interrupts) -> int:
    """
    Answer the message, save the conversation, show the outcome.

    Raises:
        WrongUse: something asked for cannot be.
    """
    # It tells of every transition, with arguments, wherever the tools' own code has switched logging on.
    logging.getLogger("transitions.core").setLevel(logging.WARNING)
    return _answer_as_json(asked, interrupts) if asked.as_json else _answer_in_view(asked, interrupts)


def _answer_as_json(asked: Asked, interrupts: Interrupts) -> int:
    with own_output() as out:
        ready = _ready(asked)
        outcome = _outcome(ready, Attended(ready.live, ready.loop, ready.clock, interrupts, lambda notice: None))
        saved = _save(asked, outcome.conversation)
    print_json(outcome.to_json(), out)
    return EXIT_CODES[outcome.status] if saved else NOT_SAVED


def _answer_in_view(asked: Asked, interrupts: Interrupts) -> int:
    ready = _ready(asked)
    with View() as view:
        outcome = _outcome(ready, Attended(ready.live, ready.loop, ready.clock, interrupts, view.show))
    saved = _save(asked, outcome.conversation)
    view.end(outcome)
    return EXIT_CODES[outcome.status] if saved else NOT_SAVED


def _outcome(ready: _Ready, attended: Attended) -> Outcome:
    outcome = attended.wait()
    return (
        given_up(ready.live.id, ready.history, tuple(attended.seen), ready.loop.tools) if outcome is None else outcome
    )


def _ready(asked: Asked) -> _Ready:
    try:
        conversation = _earlier(asked)
        history, clock = KeptHistory(conversation, len(conversation.entries)), StopClock()
        loop = ToolLoop(
            _provider(asked),
            tools=_tools(asked.tools),
            instructions=asked.instructions,
            limits=_limits(asked),
            wording=LANGUAGES[asked.language],
            history=history,
            clock=clock,
            stream=asked.stream,
        )
        # Not by whoever watches: a view may fail, and a watcher may miss a question.
        live = loop.start(parts_of(asked.message, asked.attached), conversation=conversation, asks=False)
        return _Ready(live, loop, clock, history)
    except WrongUse:
        raise
    except LoopError as error:
        raise WrongUse(str(error)) from error


def _earlier(asked: Asked) -> Conversation:
    return Conversation() if asked.conversation is None else ConversationFile(asked.conversation).read()


def _provider(asked: Asked) -> Provider:
    return _scripted(asked) if asked.provider == "scripted" else _vendor(asked)


def _scripted(asked: Asked) -> Scripted:
    if asked.script is None:
        raise WrongUse("--provider scripted needs --script FILE")
    for option, value in (("--model", asked.model), ("--base-url", asked.base_url)):
        if value is not None:
            raise WrongUse(f"{option} is for a vendor's model, and --provider scripted has none")
    return Scripted.from_file(asked.script)


def _vendor(asked: Asked) -> Provider:
    if asked.script is not None:
        raise WrongUse(f"--script is for --provider scripted, not for {asked.provider}")
    return vendor_model(asked.provider, asked.model, asked.base_url)


def _tools(specs: tuple[str, ...]) -> tuple[AnyFunctionTool, ...]:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return tuple(each for spec in specs for each in load_tools(spec))


def _limits(asked: Asked) -> Limits:
    usual = Limits()
    return Limits(
        max_rounds=usual.max_rounds if asked.max_rounds is None else asked.max_rounds,
        seconds=usual.seconds if asked.seconds is None else asked.seconds,
    )


def _save(asked: Asked, conversation: Conversation) -> bool:
    if asked.conversation is None:
        return True
    try:
        ConversationFile(asked.conversation).write(conversation)
    except OSError as error:
        print(f"rodada run: conversation {asked.conversation} was not saved: {error.strerror}", file=sys.stderr)
        return False
    return True
