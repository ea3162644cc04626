"""
The loop written by hand and the four lines in its place say the same, on the same tools.
"""

import ast
import subprocess
import sys
from pathlib import Path

from rodada.providers.loopback import Call, Loopback, Turn
from rodada.providers.loopback.json_values import Object

FILE = Path(__file__).parents[2] / "examples" / "migration" / "loop.py"


def play(function: str, *script: Turn) -> tuple[str, str, Object]:
    """
    What one of the two prints, its last line of errors, and the last request that it made. A process of its own, as
    a host has it.
    """
    code = f"import runpy; print(runpy.run_path({str(FILE)!r})[{function!r}]('How much did I improve?'))"
    with Loopback(script) as server:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": server.base_url("anthropic"), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout.strip(), done.stderr.strip().rpartition("\n")[2], server.requests()[-1]


def results(request: Object) -> list[object]:
    """
    The contents of the tool results in a request, in order.
    """
    messages = request["messages"]
    assert isinstance(messages, list)
    contents = [message["content"] for message in messages if isinstance(message, dict)]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block["content"] for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]


def test_the_migrated_loop_says_and_sends_the_same() -> None:
    script = [
        Turn(calls=[Call("list_exercises")]),
        Turn("Let me see.", [Call("read_log", {"exercise": "bench press", "last": 2})]),
        Turn("You lift 2.5 kg more."),
    ]
    by_hand, adopted = (play(name, *script) for name in ("by_hand", "adopted"))

    assert ("You lift 2.5 kg more.", "") == by_hand[:2] == adopted[:2]
    assert ["bench press, squat", "[82.5, 85.0]"] == results(by_hand[2]) == results(adopted[2])
    assert by_hand[2]["tools"] == adopted[2]["tools"]


def test_a_wrong_argument_ends_the_loop_by_hand_and_is_mended_by_the_other() -> None:
    script = [Turn(calls=[Call("read_log", {"exercise": "squat", "last": "all"})]), Turn("Sorry.")]

    assert play("by_hand", *script)[1].startswith("TypeError: ")
    text, error, request = play("adopted", *script)
    assert ("Sorry.", "") == (text, error)
    assert results(request) == [
        "read_log was not run; its arguments: last: should be of type integer. It takes exercise: string, "
        "last: integer (optional)."
    ]


def test_it_takes_four_lines() -> None:
    (function,) = (
        each
        for each in ast.parse(FILE.read_text(encoding="utf-8")).body
        if isinstance(each, ast.FunctionDef) and each.name == "adopted"
    )
    assert function.end_lineno == function.lineno + 4
