"""
`rodada lint`: what it prints, and its exit code.
"""

import json

from support.command_line import Desk

PURE = """
from rodada.tools import tool


@tool
def add(a: int, b: int) -> int:
    return a + b


@tool(deterministic=True)
def shout(a: str) -> str:
    print(a)
    return a.upper()


@tool(reads="log")
def read() -> str:
    return open("log").read()
"""
LOOKED = "looked for I/O, clock, randomness, await, shared state in lines 6 to 7: nothing found"


def test_it_names_what_should_leave_the_loop_and_why(desk: Desk) -> None:
    (desk.folder / "pure.py").write_text(PURE, encoding="utf-8")
    said = desk.command("lint", "pure.py")
    assert (said.code, said.err) == (1, "")
    assert said.out.splitlines() == [
        f"pure.py:6: add: its arguments alone decide the result: call it in code, or say deterministic=True ({LOOKED})",
        "pure.py:11: shout: it says deterministic=True, and more than its arguments decides the result "
        "(line 12: uses print, which depends on I/O)",
        "3 tools, 2 to change",
    ]


def test_its_json_tells_every_tool(desk: Desk) -> None:
    (desk.folder / "pure.py").write_text(PURE, encoding="utf-8")
    said = desk.command("lint", "pure", "--json")
    assert said.code == 1
    told = json.loads(said.out)
    assert told["findings"][0] == {
        "tool": "add",
        "line": 6,
        "verdict": "should_leave_the_loop",
        "reason": LOOKED,
        "evidence": [],
        "doubts": [],
    }
    assert [(each["tool"], each["verdict"]) for each in (*told["findings"], *told["others"])] == [
        ("add", "should_leave_the_loop"),
        ("shout", "declared_deterministic_but_is_not"),
        ("read", "stays"),
    ]


def test_nothing_to_change_is_exit_code_0(desk: Desk) -> None:
    (desk.folder / "io.py").write_text(PURE.replace("return a", "print(); return a").replace("True", "False"), "utf-8")
    said = desk.command("lint", "io.py")
    assert (said.code, said.out) == (0, "3 tools, 0 to change\n")


def test_wrong_use_is_one_line_and_exit_code_2(desk: Desk) -> None:
    said = desk.command("lint", "nosuch.py")
    assert (said.code, said.out) == (2, "")
    assert said.err == "rodada lint: tools of nosuch.py: cannot be read: No such file or directory\n"
