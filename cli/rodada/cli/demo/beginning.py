"""
From the command's options to a screen, something to watch on it, and an exit code.
"""

import asyncio

from rodada.cli.answering import EXIT_CODES
from rodada.cli.console import LeavableConsole
from rodada.cli.demo.performance import perform
from rodada.cli.demo.question import ask
from rodada.cli.demo.vendors import VENDORS
from rodada.cli.demo.view import View
from rodada.cli.errors import WrongUse
from rodada.cli.vendor_model import vendor_model
from rodada.statemachine import RunStatus

BROKEN = 1


def play_scenes() -> int:
    """
    Play the scenes; the exit code.

    Raises:
        WrongUse: no SDK is installed.
    """
    try:
        done = asyncio.run(perform(_view(), VENDORS))
    except KeyboardInterrupt:
        return EXIT_CODES[RunStatus.CANCELLED]
    if not done.sdks:
        raise WrongUse("no vendor's SDK is installed: pip install 'rodada[all]'")
    return BROKEN if done.broken else 0


def ask_model(vendor: str | None, model: str | None, base_url: str | None) -> int:
    """
    Ask a real model; the exit code.

    Raises:
        WrongUse: something asked for cannot be.
    """
    if vendor is None:
        raise WrongUse("--model and --base-url go with --provider anthropic, openai, openai-chat or google")
    provider = vendor_model(vendor, model, base_url)
    try:
        return EXIT_CODES[asyncio.run(ask(_view(), provider)).status]
    except KeyboardInterrupt:
        return EXIT_CODES[RunStatus.CANCELLED]


def _view() -> View:
    return View(LeavableConsole(highlight=False))
