"""
Threads of our own: nobody waits for one that blocks, neither a closed event loop nor the interpreter's exit.
"""

import asyncio
import subprocess
import sys
import threading

from rodada.tools.threads import InThread

BLOCKED = """
import asyncio, threading
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.messages import ToolRequest
from rodada.tools import tool

entered = threading.Event()

@tool
def block() -> None:
    entered.set()
    threading.Event().wait()

async def main():
    call = block.call(ToolRequest("c1", "block", "{}"), CallSetting())
    task = asyncio.ensure_future(call.run())
    while not entered.is_set():
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    print(task.cancelled(), call.alive)

asyncio.run(main())
"""


def test_a_blocked_tool_does_not_hold_up_the_interpreters_exit() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_work_that_ends_after_its_event_loop_was_closed_is_let_go() -> None:
    go = threading.Event()

    async def main() -> InThread[bool]:
        return InThread("left", lambda: go.wait(10))

    started = asyncio.run(main())
    (thread,) = (each for each in threading.enumerate() if each.name == "left")
    assert started.alive
    go.set()
    thread.join(10)
    assert not thread.is_alive()
    assert not started.alive


def test_work_that_ends_after_its_waiter_was_cancelled_is_let_go() -> None:
    go = threading.Event()
    troubles: list[object] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: troubles.append(context))
        started = InThread("left", lambda: go.wait(10))
        (thread,) = (each for each in threading.enumerate() if each.name == "left")
        waiter = asyncio.ensure_future(started.answer())
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.wait([waiter])
        go.set()
        await asyncio.to_thread(thread.join, 10)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert troubles == []
