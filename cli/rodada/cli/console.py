"""
The console of a view, whose reader may go away.
"""

from rich.console import Console

from rodada.cli.own_output import forget_stdout


class LeavableConsole(Console):
    """
    A console that falls silent when whoever read its output has gone (`| head`): what was begun goes on unseen, to be
    saved and for the exit code.
    """

    def on_broken_pipe(self) -> None:
        """
        Fall silent.
        """
        self.quiet = True
        forget_stdout()
