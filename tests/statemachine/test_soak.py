"""
Many runs at once for a while, with everything that goes wrong in them: nothing adds up.
"""

import asyncio
import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random, randrange

import pytest
from attrs import evolve, frozen

from support.event_loops import KINDS, Kind, new_loop
from support.left_behind import nothing_left, tasks_left
from support.rough_runs import SLOW, Rough

AT_ONCE = 200
SEED = randrange(10**6) if "RODADA_EXPLORE" in os.environ else 1
FILES, PAGES = Path("/proc/self/fd"), Path("/proc/self/statm")
MOST_GROWTH = 16 * 2**20  # bytes: what the allocator keeps varies, and what each run leaves would add up to more
MET = {
    *("completed", "cancelled cancelled", "incomplete deadline", "incomplete max_rounds", "failed call_failed"),
    *("call succeeded", "call failed", "call not_executed", "call outcome_unknown"),
}
OURS = ("Rough", "LiveRun", "AsyncioDriver", "ToolRun", "FunctionCall", "Errand", "Audience", "Run", "Outcome")


@frozen
class There:
    """
    What other tests left: it is no leak of these runs.
    """

    ours: Counter[str]
    threads: frozenset[threading.Thread]


@frozen
class Wave:
    """
    What there is when a wave of runs is over.
    """

    faults: tuple[str, ...]
    met: Counter[str]
    ours: Counter[str]
    tasks: tuple[str, ...]
    threads: tuple[str, ...]
    files: int
    bytes: int


def _soaked(kind: Kind, waves_until: Callable[[int], bool]) -> list[Wave]:
    """
    Waves of runs, of which each begins when nothing of the one before is left.
    """

    async def scene() -> list[Wave]:
        waves: list[Wave] = []
        there = There(_ours(), _busy())
        with nothing_left():
            while not waves or not waves_until(len(waves)):
                waves.append(await _wave(Random(f"{SEED} {len(waves)}"), there))
        return waves

    with asyncio.Runner(loop_factory=partial(new_loop, kind)) as runner:
        return runner.run(scene())


async def _wave(random: Random, there: There) -> Wave:
    heard = await asyncio.gather(*(_one(Random(random.random()), number) for number in range(AT_ONCE)))
    await _ended(there)
    return Wave(
        faults=tuple(each for faults, _ in heard for each in faults),
        met=Counter(each for _, met in heard for each in met),
        ours=_ours() - there.ours,
        tasks=tuple(tasks_left()),
        threads=tuple(thread.name for thread in _busy() - there.threads),
        files=_open_files(),
        bytes=_resident_bytes(),
    )


def _ours() -> Counter[str]:
    gc.collect()
    return Counter(name for each in gc.get_objects() if (name := type(each).__name__) in OURS)


async def _one(random: Random, number: int) -> tuple[list[str], list[str]]:
    rough = Rough(random, parallel=number % 2 == 0, streams=number % 4 < 2)
    faults = await rough.play()
    return [*faults, *(await rough.goes_on() if number % 4 == 0 else [])], list(rough.met)


async def _ended(there: There) -> None:
    """
    Wait for what no run could stop: it ends by itself.
    """
    end = time.monotonic() + 10
    while (tasks_left() or _busy() - there.threads) and time.monotonic() < end:  # noqa: ASYNC110  (a thread sets no event)
        await asyncio.sleep(SLOW)


def _busy() -> frozenset[threading.Thread]:
    """
    Threads in which a tool runs.
    """
    tools = (thread for thread in threading.enumerate() if thread.name.startswith("rodada-tool"))
    return frozenset(thread for thread in tools if not thread.name.endswith("(idle)"))


def _open_files() -> int:
    return len(list(FILES.iterdir())) if FILES.is_dir() else 0


def _resident_bytes() -> int:
    return int(PAGES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if PAGES.is_file() else 0


def _judge(waves: list[Wave]) -> str:
    """
    After each wave there is as much as after the first; what was met, in words.
    """
    assert [] == [each for wave in waves for each in wave.faults]
    clean = Wave((), Counter(), Counter(), (), (), waves[0].files, 0)
    assert [clean] * len(waves) == [evolve(each, met=Counter(), bytes=0) for each in waves]
    grown = waves[-1].bytes - waves[len(waves) // 2].bytes
    assert grown <= MOST_GROWTH
    met = sum((wave.met for wave in waves), Counter[str]())
    assert met.keys() >= MET
    most = ", ".join(f"{times} {what}" for what, times in met.most_common())
    return f"{len(waves) * AT_ONCE} runs, {AT_ONCE} at once, {grown / 2**20:+.1f} MB: {most}"


@pytest.mark.parametrize("kind", KINDS)
def test_soak_for_a_moment(count: Callable[[str], None], kind: Kind) -> None:
    count(f"soak on {kind}, seed {SEED}: {_judge(_soaked(kind, lambda done: done >= 2))}")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_soak_for_a_minute(count: Callable[[str], None], kind: Kind) -> None:
    """
    On the event loops that are not asyncio's own, for a part of it.
    """
    end = time.monotonic() + (60 if kind == "asyncio" else 15)
    count(f"soak on {kind}, seed {SEED}: {_judge(_soaked(kind, lambda _: time.monotonic() > end))}")
