"""
The ports of one run, as its driver works with them.
"""

from collections.abc import Callable
from random import random

from attrs import frozen

from rodada.statemachine.drivers.clock import SystemClock
from rodada.statemachine.output import Output
from rodada.statemachine.ports import Clock, History, Provider, Toolbox


@frozen(kw_only=True)
class Ports:
    """
    What a driver works with.

    Attributes:
        provider: the model.
        toolbox: the tools.
        history: where entries are stored; None when the caller keeps them.
        instructions: system instructions of the run.
        stream: ask the model to stream.
        output: the type that an answer shall have; None when any text will do.
        context: the host's value, for its tools.
        asks: whether somebody can decide what needs an approval; where nobody can, it is denied.
        clock: time.
        jitter: a number in [0, 1) that spreads retries.
    """

    provider: Provider
    toolbox: Toolbox
    history: History | None = None
    instructions: str = ""
    stream: bool = False
    output: Output | None = None
    context: object = None
    asks: bool = True
    clock: Clock = SystemClock()
    jitter: Callable[[], float] = random
