"""
Lint: which tools should leave the loop, by their source alone, and why.
"""

import ast
import textwrap
from pathlib import Path

import pytest

from rodada.tools import ToolLoadError
from rodada.tools.lint import Judged, Verdict, judge, lint_tools
from rodada.tools.source_reader import Fact

HEAD = "from rodada.tools import Context, tool\nimport json, math, os, random, time, uuid, requests\n"
FOUND = "from datetime import date, datetime\nfrom pathlib import Path\nimport datetime as dt\n"


def judged(source: str) -> Judged:
    (found,) = judge(ast.parse(HEAD + FOUND + textwrap.dedent(source)))
    return found


def one_line(body: str, parameters: str = "a: int", options: str = "") -> Judged:
    return judged(f"@tool{options}\ndef f({parameters}):\n    {body}\n")


@pytest.mark.parametrize(
    "body",
    [
        "return a + 1",
        "return json.dumps({'a': math.sqrt(a)})",
        "return [n * a for n in range(a) if n % 2]",
        "return dt.datetime.fromisoformat('2026-01-01').isoformat()",
        "return os.path.join('a', str(a))",
        "return str(uuid.uuid5(uuid.NAMESPACE_DNS, str(a)))",
        "found = []; found.append(a); return sorted(found)",
        "import re; return re.sub('a', 'b', str(a))",
        "random = a; return random",
        "raise ValueError(str(a))",
        "return (lambda n: n + a)(1)",
        "return str(Path('x') / str(a))",
    ],
)
def test_what_depends_on_its_arguments_alone_should_leave_the_loop(body: str) -> None:
    found = one_line(body)
    assert (found.verdict, found.evidence, found.doubts) == (Verdict.SHOULD_LEAVE, (), ())
    assert found.reason == "looked for I/O, clock, randomness, await, shared state in lines 7 to 8: nothing found"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("return open(str(a)).name", "uses open, which depends on I/O"),
        ("print(a)", "uses print, which depends on I/O"),
        ("return os.environ['A']", "uses os.environ, which depends on I/O"),
        ("return requests.get(a).text", "uses requests.get, which depends on I/O"),
        ("return time.time()", "uses time.time, which depends on the clock"),
        ("return datetime.now()", "uses datetime.datetime.now, which depends on the clock"),
        ("return dt.date.today()", "uses datetime.date.today, which depends on the clock"),
        ("return a.now()", "calls .now(), which depends on the clock"),
        ("return Path('x').read_text()", "calls .read_text(), which depends on I/O"),
        ("return random.random()", "uses random.random, which depends on randomness"),
        ("return uuid.uuid4()", "uses uuid.uuid4, which depends on randomness"),
        ("from random import choice; return choice(a)", "uses random.choice, which depends on randomness"),
        ("say = print; say(a)", "uses print, which depends on I/O"),
        ("return hash(str(a))", "uses hash, which depends on the state of the process"),
        ("global seen; seen = a", "changes seen of the module"),
    ],
)
def test_evidence_keeps_a_tool_in_the_loop_and_is_told_with_its_line(body: str, what: str) -> None:
    found = one_line(body)
    assert (found.verdict, found.evidence) == (Verdict.STAYS, (Fact(8, what),))
    assert found.reason == f"line 8: {what}"


def test_awaiting_keeps_a_tool_in_the_loop_and_being_async_does_not() -> None:
    waits = judged("@tool\nasync def f(a: int) -> int:\n    return await a\n")
    assert (waits.verdict, waits.evidence) == (Verdict.STAYS, (Fact(8, "awaits"),))
    assert judged("@tool\nasync def f(a: int) -> int:\n    return a\n").verdict is Verdict.SHOULD_LEAVE


@pytest.mark.parametrize("loop", ["async for b in a: pass", "async with a: pass"])
def test_async_loops_and_blocks_await_too(loop: str) -> None:
    assert judged(f"@tool\nasync def f(a: int):\n    {loop}\n").verdict is Verdict.STAYS


def test_what_the_module_defines_is_read_too() -> None:
    source = """
    RATES = {"EUR": 1.1}

    def rate(code: str) -> float:
        return RATES[code]

    def noisy(n: float) -> float:
        return n + (random.random() if n > 3 else noisy(n + 1))

    @tool
    def convert(n: float) -> float:
        return {calls}
    """
    assert judged(source.replace("{calls}", "n * rate('EUR')")).verdict is Verdict.SHOULD_LEAVE
    found = judged(source.replace("{calls}", "noisy(n)"))
    assert found.evidence == (Fact(13, "uses random.random, which depends on randomness"),)


def test_classes_of_the_module_are_read_where_they_are_used() -> None:
    source = """
    class Note:
        def save(self) -> None:
            print(self)

    @tool
    def f(note: Note) -> None:
        note.save()
    """
    assert judged(source).evidence == (Fact(9, "uses print, which depends on I/O"),)


@pytest.mark.parametrize(
    ("body", "doubt"),
    [
        ("return SEEN", "uses SEEN, which the module changes"),
        ("return OBJECT.value(a)", "uses OBJECT, an object that may change"),
        ("return other.work(a)", "uses other.work, whose source is elsewhere"),
        ("return helper(a)", "uses .near.helper, whose source is elsewhere"),
        ("return nosuch(a)", "uses nosuch, which is not defined in this source"),
        ("return around(a)", "uses around, which is not defined in this source"),
    ],
)
def test_what_cannot_be_seen_through_is_left_alone(body: str, doubt: str) -> None:
    source = f"""
    import other
    from .near import helper

    class Box:
        def value(self, n: int) -> int:
            return n

    SEEN = []
    OBJECT = Box()

    def note(n: int) -> None:
        SEEN.append(n)

    def outer(around):
        @tool
        def f(a: int):
            {body}
    """
    found = judged(source)
    assert (found.verdict, [fact.what for fact in found.doubts]) == (Verdict.UNDECIDED, [doubt])


@pytest.mark.parametrize("change", ["SEEN.append(a)", "SEEN[0] = a", "del SEEN[0]"])
def test_changing_what_belongs_to_the_module_is_evidence(change: str) -> None:
    found = judged(f"SEEN = []\n\n@tool\ndef f(a: int):\n    {change}\n")
    assert found.evidence == (Fact(10, "changes SEEN of the module"),)


def test_a_value_is_judged_by_how_it_was_made() -> None:
    found = judged("BEGAN = time.time()\n\n@tool\ndef f(a: int):\n    return a - BEGAN\n")
    assert found.evidence == (Fact(6, "uses time.time, which depends on the clock"),)


@pytest.mark.parametrize("parameters", ["a: int, seen: list[int] = []", "a: int, *, seen: list[int] = []"])
def test_changing_a_default_is_evidence_for_all_calls_share_it(parameters: str) -> None:
    found = one_line("seen.append(a); return len(seen)", parameters)
    assert found.evidence == (Fact(7, "changes the default of seen, which all calls share"),)
    assert one_line("return len(seen)", parameters).verdict is Verdict.SHOULD_LEAVE


def test_a_tool_that_takes_the_context_of_its_call_stays() -> None:
    assert one_line("return a", "context: Context[int], a: int").verdict is Verdict.STAYS


def test_a_tool_that_says_so_is_no_finding_and_one_that_says_so_wrongly_is() -> None:
    right = one_line("return a", options="(deterministic=True)")
    assert (right.verdict, right.is_finding) == (Verdict.LEAVES, False)
    wrong = one_line("return time.time()", options="(deterministic=True)")
    assert (wrong.verdict, wrong.is_finding) == (Verdict.DECLARED_WRONGLY, True)
    assert wrong.reason == "line 8: uses time.time, which depends on the clock"
    assert one_line("return nosuch", options="(deterministic=True)").verdict is Verdict.LEAVES
    assert one_line("return a", options="(deterministic=False)").verdict is Verdict.SHOULD_LEAVE


def test_tools_are_found_however_they_are_made() -> None:
    source = """
    import rodada.tools
    import rodada.tools as t
    from rodada.tools import tool as made

    @rodada.tools.tool
    def a(): ...

    @t.tool(name="second")
    def b(): ...

    def c(): ...

    @other.tool
    def d(): ...

    if True:
        def e(): ...

    tools = [made(c), made(deterministic=True)(e)]
    """
    found = judge(ast.parse(textwrap.dedent(source)))
    assert [(each.name, each.declared) for each in found] == [
        ("a", False),
        ("second", False),
        ("c", False),
        ("e", True),
    ]


def test_a_file_or_module_is_read_and_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{HEAD}\nraise SystemExit\n\n@tool\ndef f(a: int):\n    return a\n"
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "__init__.py").write_text("raise SystemExit\n", encoding="utf-8")
    (tmp_path / "box" / "gym.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert lint_tools("box.gym") == lint_tools("box/gym.py") == (Judged("f", 7, 8, declared=False),)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("nosuch.py", "cannot be read: No such file or directory"),
        ("broken.py", "is no Python: invalid syntax in line 1"),
        ("nul.py", "is no Python"),
        ("empty.py", "no tools in it"),
        ("nosuch.module", "there is no such module"),
        ("sys", "there is no such module, or it has no source"),
        ("", "there is no such module"),
    ],
)
def test_what_has_no_tools_to_read_is_refused(
    spec: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text("a b", encoding="utf-8")
    Path("nul.py").write_bytes(b"a = 1\0")
    Path("empty.py").write_text("a = 1", encoding="utf-8")
    with pytest.raises(ToolLoadError, match=f"^tools of {spec}: {told}"):
        lint_tools(spec)
