"""
The command `run`: its options. What they lead to is imported when it is called, so that help stays quick.
"""

import enum
from pathlib import Path
from typing import Annotated

import typer


class Provider(enum.StrEnum):
    """
    Whose model answers.
    """

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    OPENAI_CHAT = "openai-chat"
    GOOGLE = "google"
    SCRIPTED = "scripted"


class Language(enum.StrEnum):
    """
    Language of the engine's own texts.
    """

    EN = "en"
    PT = "pt"
    ES = "es"


def run(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="What the person says.")],
    provider: Annotated[Provider, typer.Option(help="Whose model answers; keys come from the usual variables.")],
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model, as its vendor names it.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Another address of the vendor's API.")] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py|MODULE", help="Every @tool in it; may be given several times."),
    ] = None,
    attach: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="An image or a file beside the message; may be given several times."),
    ] = None,
    instructions: Annotated[str, typer.Option(metavar="TEXT", help="System instructions.")] = "",
    max_rounds: Annotated[
        int | None, typer.Option(min=0, help="Rounds of tools at most (10); 0: no tool runs.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="Time of the whole run (300).")] = None,
    conversation: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read if it exists, and rewritten at the end, whatever the end."),
    ] = None,
    script: Annotated[Path | None, typer.Option(metavar="FILE", help="What the scripted model says (JSON).")] = None,
    language: Annotated[Language, typer.Option(help="Language of the engine's own texts.")] = Language.EN,
    stream: Annotated[bool, typer.Option("--stream", help="Show the model's words while they come.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object, and nothing else.")
    ] = False,
) -> None:
    """
    Answer one message, with tools.

    Exit codes: 0 completed, 3 incomplete, 4 cancelled, 5 failed, 2 wrong use. Ctrl-C cancels the run, which then has
    some seconds to settle; a second Ctrl-C stops it at once. Either way the conversation is saved.
    """
    from rodada.cli.interrupts import Interrupts

    with Interrupts() as interrupts:
        from rodada.cli.answering import Asked, answer

        asked = Asked(
            message=message,
            provider=provider.value,
            model=model,
            base_url=base_url,
            tools=tuple(tools or ()),
            attached=tuple(attach or ()),
            instructions=instructions,
            max_rounds=max_rounds,
            seconds=seconds,
            conversation=conversation,
            script=script,
            language=language.value,
            stream=stream,
            as_json=as_json,
        )
        code = answer(asked, interrupts)
    raise typer.Exit(code)
