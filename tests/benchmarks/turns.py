"""
What one turn of many requests costs: CPU time and memory of a whole run, beside a hand-written loop that does the
same calls.

    python tests/benchmarks/turns.py [--sizes 100,1000,10000] [--scenes NAME,...] [--no-memory] [--profile]

A hand-written loop parses the arguments, calls the functions (at most `max_parallel` at once) and collects the
results; ours also checks, plans, steps and records each call. What matters is the growth: the time of one call should
not depend on how many there are. Only figures of one run can be compared.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import time
import tracemalloc
import warnings
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from attrs import evolve, frozen

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Limits, RunStatus, ToolLoop
from rodada.tools import Tool, tool

LIMITS = Limits(seconds=None, tool_seconds=600, call_seconds=600)


@tool(reads=())
async def free(number: int) -> int:
    """Touches nothing shared."""
    return number


@tool(reads="log")
async def read(number: int) -> int:
    """Reads the one log."""
    return number


@tool(writes=lambda a: f"row:{a['number'] % 10}")
async def write_few(number: int) -> int:
    """Writes one of ten rows."""
    return number


@tool(writes=lambda a: f"row:{a['number']}")
async def write_many(number: int) -> int:
    """Writes a row of its own."""
    return number


@tool(writes="log")
async def write(number: int) -> int:
    """Writes the one log."""
    return number


@tool(deterministic=True)
def square(number: int) -> int:
    """A number times itself."""
    return number * number


TOOLS: list[Tool[..., Any]] = [free, read, write, write_few, write_many, square]


@frozen
class Scene:
    """
    A turn: which tool each request asks for, and how it is run.
    """

    names: tuple[str, ...]
    parallel: bool = True
    at_once: int = 10_000

    def calls(self, size: int) -> list[tuple[str, dict[str, int]]]:
        """
        Name and arguments of each request.
        """
        return [(self.names[number % len(self.names)], {"number": number}) for number in range(size)]


SCENES = {
    "one after another": Scene(("write",), parallel=False, at_once=8),
    "independent, 8 at once": Scene(("free",), at_once=8),
    "independent, all at once": Scene(("free",)),
    "one row each": Scene(("write_many",)),
    "ten rows": Scene(("write_few",)),
    "readers and writers of one log": Scene(("read",) * 99 + ("write",)),
    "deterministic": Scene(("square",)),
    "unknown tools": Scene(("nosuch",)),
}


def ours(scene: Scene, size: int) -> Callable[[], Coroutine[Any, Any, None]]:
    """
    The turn as a run.
    """
    asked = [Call(name, arguments, f"id{at}") for at, (name, arguments) in enumerate(scene.calls(size))]

    async def run() -> None:
        model = Scripted([Turn("", asked), Turn("Done.")])
        limits = evolve(LIMITS, max_parallel=scene.at_once)
        outcome = await ToolLoop(model, tools=TOOLS, limits=limits, parallel=scene.parallel).run("Go.")
        assert (RunStatus.COMPLETED, size) == (outcome.status, len(outcome.calls))

    return run


def by_hand(scene: Scene, size: int) -> Callable[[], Coroutine[Any, Any, None]]:
    """
    The turn as everybody writes it first.
    """
    asked = [(name, json.dumps(arguments)) for name, arguments in scene.calls(size)]
    functions: dict[str, Any] = {each.name: each.function for each in TOOLS}

    async def run() -> None:
        room = asyncio.Semaphore(scene.at_once if scene.parallel else 1)

        async def call(name: str, raw: str) -> str:
            async with room:
                if name not in functions:
                    return "unknown tool"
                value = functions[name](**json.loads(raw))
                return json.dumps(await value if isinstance(value, Awaitable) else value)

        results = await asyncio.gather(*(call(name, raw) for name, raw in asked))
        assert size == len(results)

    return run


def seconds(play: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """
    CPU time of one play.
    """
    began = time.process_time()
    asyncio.run(play())
    return time.process_time() - began


def megabytes(play: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """
    The most memory that one play holds at once.
    """
    tracemalloc.start()
    asyncio.run(play())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1_000_000


def profiled(play: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """
    Where the time of one play goes.
    """
    with cProfile.Profile() as profile:
        asyncio.run(play())
    pstats.Stats(profile).sort_stats("tottime").print_stats(22)


def main() -> None:
    """
    Measure and print.
    """
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--scenes", default=",".join(SCENES))
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    print(
        "| turn | requests | by hand, µs CPU a call | rodada | ratio | peak MB |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name in _chosen(given.scenes):
        for size in map(int, given.sizes.split(",")):
            hand = seconds(by_hand(SCENES[name], size)) / size * 1e6
            own = seconds(ours(SCENES[name], size)) / size * 1e6
            peak = "" if given.no_memory else f"{megabytes(ours(SCENES[name], size)):.0f}"
            print(f"| {name} | {size} | {hand:.0f} | {own:.0f} | {own / hand:.0f} | {peak} |", flush=True)
            if given.profile:
                profiled(ours(SCENES[name], size))


def _chosen(names: str) -> list[str]:
    # A name holds a comma too.
    return [name for name in SCENES if name in names]


if __name__ == "__main__":
    main()
