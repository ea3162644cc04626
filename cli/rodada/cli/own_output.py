"""
Standard output for one JSON object alone: whatever tools print goes to standard error meanwhile.
"""

import contextlib
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rodada.cli.plain import plain_json

if TYPE_CHECKING:
    from rodada.statemachine.jsontext import JsonObject


@contextmanager
def own_output() -> Generator[TextIO]:
    """
    The real standard output, within a block in which nobody else has it: neither `print` nor child processes.
    """
    ours = sys.stdout
    ours.flush()
    with _descriptor_lent(), contextlib.redirect_stdout(sys.stderr):
        yield ours


@contextmanager
def _descriptor_lent() -> Generator[None]:
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def print_json(value: "JsonObject", out: TextIO) -> None:
    """
    One object, readable, without any control of the terminal; in ASCII alone where the output's encoding cannot take
    the rest.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        text.encode(out.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, allow_nan=False)
    print(plain_json(text), file=out)


def forget_stdout() -> None:
    """
    Let what is still written to standard output go nowhere: its reader has gone.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
