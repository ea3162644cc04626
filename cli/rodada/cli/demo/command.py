"""
The command `demo`: its options. What they lead to is imported when it is called, so that help stays quick.
"""

import enum
from typing import Annotated

import typer


class Vendor(enum.StrEnum):
    """
    Whose real model answers.
    """

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENAI_CHAT = "openai-chat"
    GOOGLE = "google"


def demo(
    provider: Annotated[
        Vendor | None, typer.Option(help="Ask a real model of this vendor; the key comes from the usual variable.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model, as its vendor names it.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Another address of the vendor's API.")] = None,
) -> None:
    """
    Watch the loop work: five scenes on a scripted model, through each vendor's SDK that is installed.

    The promises are checked on what the server received; the exit code is 1 if one was broken. With --provider and
    --model a real model is asked one question instead. Exit codes are then: 0 completed, 3 incomplete, 4 cancelled,
    5 failed. In both cases 2 is wrong use.
    """
    from rodada.cli.demo.beginning import ask_model, play_scenes

    scripted = (provider, model, base_url) == (None, None, None)
    raise typer.Exit(play_scenes() if scripted else ask_model(provider, model, base_url))
