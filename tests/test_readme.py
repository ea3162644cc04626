"""
README tells the truth: its code runs, its tables are those of the code.
"""

import re
import subprocess
import sys
from pathlib import Path

import attrs

from rodada.providers.loopback import Call, Loopback, Turn
from rodada.statemachine import Limits, Reason

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """
    The code blocks of one language.
    """
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_code_runs_as_it_stands() -> None:
    """
    The blocks build on one another; the model is the loopback server, reached as the vendor's SDK would reach it.
    """
    script = [
        Turn(calls=(Call("read_log", {"exercise": "bench press"}),)),
        Turn("You lift 5 kg more."),
        Turn("It seems that I lost my notes."),
        Turn(calls=(Call("clock_get_current_time", {"timezone": "Asia/Tokyo"}),)),
        Turn("It is noon."),
        Turn("Still 5 kg more."),
        Turn("5 kg more."),
        Turn(calls=(Call("plot_log", {"exercise": "bench press"}),)),
        Turn("A plot, and the same plot."),
        Turn(calls=(Call("read_log", {"exercise": "bench press"}),)),
        Turn('{"exercise": "bench press", "kg": [80, 82.5, 85]}'),
    ]
    with Loopback(script) as server:
        environment = {
            "ANTHROPIC_API_KEY": "test",
            "ANTHROPIC_BASE_URL": server.base_url("anthropic"),
            "PATH": str(Path(sys.executable).parent),
        }
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", "\n".join([*blocks("python"), "loop.close()", "connection.close()"])],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    assert ("", 0) == (done.stderr, done.returncode)
    lines = done.stdout.splitlines()
    assert "completed You lift 5 kg more." == lines[0]
    assert "[1].content[0] (toolu_1): no result of this call is stored: " in done.stdout
    assert {
        "It seems that I lost my notes.",
        "It is noon.",
        "Ended",
        "Still 5 kg more.",
        "5 kg more.",
        "A plot, and the same plot.",
    } <= {*lines}


def test_the_table_of_limits_is_whole() -> None:
    told = {
        name
        for row in re.findall(r"^\| (`[^|]*`) \|", README, flags=re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }

    assert {field.name for field in attrs.fields(Limits)} <= told


def test_each_reason_is_named() -> None:
    assert all(f"`{reason.value}`" in README for reason in Reason if reason is not Reason.CANCELLED)


def test_links_lead_to_files() -> None:
    root = Path(__file__).parents[1]

    assert all((root / target).exists() for target in re.findall(r"\]\(([^)#]+)\)", README))
