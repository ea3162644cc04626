"""
The command line's entry: its commands, and what becomes of wrong use, Ctrl-C and a reader that has gone.
"""

import errno
import io
import sys
from importlib import metadata
from typing import Annotated, Protocol, runtime_checkable

import typer

from rodada.cli.check import check
from rodada.cli.demo import demo
from rodada.cli.diagram import diagram
from rodada.cli.ending import leave
from rodada.cli.errors import WrongUse
from rodada.cli.lab.command import lab
from rodada.cli.lint import lint
from rodada.cli.own_output import forget_stdout
from rodada.cli.plain import one_line
from rodada.cli.run import run

WRONG_USE, CANCELLED, UNSHOWN = 2, 4, 1
# What typer makes of a KeyboardInterrupt within a command, without a word.
INTERRUPTED = 130
UNWRITABLE = (errno.ENOSPC, errno.EIO)


@runtime_checkable
class _UsageError(Protocol):
    """
    What the option parser raises; its class is not public.
    """

    exit_code: int
    ctx: "typer.Context | None"

    def format_message(self) -> str: ...


def _version(asked: bool) -> None:
    if asked:
        print(f"rodada {metadata.version('rodada')}")
        raise typer.Exit()


app = typer.Typer(name="rodada", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(run)
app.command()(check)
app.command()(diagram)
app.command()(demo)
app.command()(lint)
app.command()(lab)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """
    The tool-use loop of a language model as an explicit, checked state machine.
    """


def main() -> None:
    """
    Run the command that the process was started with, and end the process.
    """
    _show_what_cannot_be_encoded()
    leave(call(sys.argv[1:]))


def _show_what_cannot_be_encoded() -> None:
    """
    An answer in a language that the terminal's encoding lacks is shown in escapes, not lost in an error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def call(arguments: list[str]) -> int:
    """
    Run a command; the exit code.
    """
    try:
        code: object = app(arguments, prog_name="rodada", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except WrongUse as error:
        return _refused(f"rodada {arguments[0]}: {error}", WRONG_USE)
    except (typer.Abort, KeyboardInterrupt):
        return _refused("rodada: interrupted", CANCELLED)
    except BrokenPipeError:
        forget_stdout()
        return UNSHOWN
    except OSError as error:
        if error.errno not in UNWRITABLE or error.filename is not None:
            raise
        forget_stdout()
        return _refused(f"rodada: standard output cannot be written ({error.strerror})", UNSHOWN)
    except Exception as error:
        if not isinstance(error, _UsageError):
            raise
        command = error.ctx.command_path if error.ctx else "rodada"
        return _refused(f"{command}: {error.format_message()} (see {command} --help)", error.exit_code)


def _refused(line: str, code: int) -> int:
    print(one_line(line), file=sys.stderr)
    return code
