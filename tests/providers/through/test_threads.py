"""
One ToolLoop from many threads at once, through each real SDK.
"""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest

from rodada.providers.loopback import Call, Loopback, Received, Reply, Turn, WireName
from rodada.statemachine import Limits, Outcome, RunStatus, ToolLoop
from rodada.statemachine.drivers.background import run_in_background
from rodada.tools import tool
from support.heard import heard
from support.stage import MAKERS, MODELS, WIRES
from support.wire_pairs import pair_faults

THREADS, MESSAGES = 8, 3


def looks_and_answers(received: Received) -> Reply:
    """
    A round of two calls, then the answer to the person's own question.
    """
    turns = heard(received).turns
    question = next(each for each in (f"question {number}." for number in range(24)) if each in str(turns[0]))
    if len(turns) == 1:
        return Turn("", [Call("look", {"question": question}), Call("store", {"question": question})], reasoning=True)
    return Turn(f"Answer to {question}")


@pytest.mark.parametrize("wire", WIRES)
def test_eight_threads_ask_three_times_each_and_nothing_is_sent_twice(wire: WireName) -> None:
    @tool(reads="log")
    async def look(question: str) -> str:
        """Look it up."""
        return f"found for {question}"

    @tool
    def store(question: str) -> str:
        """Store it."""
        return f"stored {question}"

    with Loopback(looks_and_answers) as server:
        loop = ToolLoop(MAKERS[wire][MODELS[wire][0]](server), tools=[look, store], limits=Limits(max_attempts=1))

        def asks(thread: int) -> list[Outcome]:
            return [loop.run_sync(f"question {thread * MESSAGES + at}.") for at in range(MESSAGES)]

        with ThreadPoolExecutor(THREADS) as pool:
            outcomes = [outcome for each in pool.map(asks, range(THREADS)) for outcome in each]
        run_in_background(loop.aclose())
        received, refusals = server.received, server.refusals
    assert [(outcome.status, outcome.answer, outcome.model_calls) for outcome in outcomes] == [
        (RunStatus.COMPLETED, f"Answer to question {number}.", 2) for number in range(THREADS * MESSAGES)
    ]
    assert [[call.text for call in outcome.calls] for outcome in outcomes] == [
        [f"found for question {number}.", f"stored question {number}."] for number in range(THREADS * MESSAGES)
    ]
    assert (len(received), refusals) == (2 * THREADS * MESSAGES, ())
    assert not any(pair_faults(wire, each.body) for each in received)
    gc.collect()  # what was left open warns now, and a warning is an error
