"""
`rodada run`: what it prints, how it exits, and that the conversation is kept whatever happens.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rodada.cli import answering
from rodada.cli.view import View
from rodada.providers import loopback
from rodada.providers.loopback import WireName
from rodada.providers.scripted import Scripted
from rodada.statemachine import (
    ENGLISH,
    LANGUAGES,
    Conversation,
    Exchange,
    Limits,
    Media,
    Notice,
    Status,
    Text,
    UserMessage,
    audience,
)
from rodada.statemachine.drivers.background import run_in_background
from support.command_line import Desk, asks

LOOK = {"text": "Let me look.", **asks("read_log", exercise="squat"), "usage": {"input_tokens": 9, "output_tokens": 2}}
ANSWER = {"text": "You lift 5 kg more.", "usage": {"input_tokens": 20, "reasoning_tokens": 1}}
JSON = ("--json",)


def step(n: int, state: str, event: str, row: str, to: str) -> dict[str, object]:
    return {"n": n, "state": state, "event": event, "row": row, "to": to}


def kept(path: Path) -> Conversation:
    return Conversation.from_json(json.loads(path.read_text(encoding="utf-8")))


def kinds(conversation: Conversation) -> list[str]:
    return [type(entry).__name__ for entry in conversation.entries]


def press_until_gone(process: "subprocess.Popen[str]") -> None:
    """
    Two signals sent in a row may arrive as one.
    """
    for _ in range(200):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            return
    raise AssertionError("it is still there")


def test_json_is_one_object_and_all_that_is_printed(desk: Desk) -> None:
    said = desk.run(LOOK, ANSWER, options=JSON)
    assert (said.code, said.json) == (
        0,
        {
            "run_id": "run_",
            "status": "completed",
            "reason": None,
            "detail": "",
            "answer": "You lift 5 kg more.",
            "answer_by": "model",
            "narration": ["Let me look."],
            "partial": "",
            "output": None,
            "rounds": 1,
            "model_calls": 2,
            "calls": [
                {
                    "id": "call_1_0",
                    "name": "read_log",
                    "arguments": {"exercise": "squat"},
                    "status": "succeeded",
                    "deterministic": False,
                }
            ],
            "unfinished": [],
            "usage": {
                "input_tokens": 29,
                "cached_input_tokens": None,
                "cache_write_tokens": None,
                "output_tokens": 2,
                "reasoning_tokens": 1,
            },
            "usage_is_whole": False,
            "cost": None,
            "still_running": [],
            "error": None,
            "transitions": [
                step(1, "AppendHistory", "HistoryAppended", "model_called", "CallModel"),
                step(2, "CallModel", "TurnReceived", "tools_started", "ExecuteTools"),
                step(3, "ExecuteTools", "ToolFinished", "turn_settled", "AppendHistory"),
                step(4, "AppendHistory", "HistoryAppended", "model_called", "CallModel"),
                step(5, "CallModel", "TurnReceived", "answer_kept", "AppendHistory"),
                step(6, "AppendHistory", "HistoryAppended", "answer_stored", "Finalize"),
            ],
        },
    )
    assert sorted(said.err.splitlines()) == ["a child process prints", "a tool prints"]


def test_the_view_is_plain_lines_where_there_is_no_terminal(desk: Desk) -> None:
    said = desk.run(asks("order"), ANSWER)
    lines = said.out.splitlines()
    lines[3] = lines[3].replace(lines[3].split(" after ")[1].split(" s ")[0], "0.00")
    assert (said.code, said.err, lines) == (
        0,
        "",
        [
            "  1  AppendHistory -> CallModel  model_called",
            "  2  CallModel -> ExecuteTools  tools_started",
            "     order started  call_1_0",
            "     order failed after 0.00 s  call_1_0",
            "  3  ExecuteTools -> AppendHistory  turn_settled",
            "  4  AppendHistory -> CallModel  model_called",
            "  5  CallModel -> AppendHistory  answer_kept",
            "  6  AppendHistory -> Finalize  answer_stored",
            "completed",
            "1 round, 2 model calls, tokens in 20, out 0",
            "",
            "You lift 5 kg more.",
        ],
    )


def test_what_a_model_says_is_printed_as_it_reads(desk: Desk) -> None:
    said = desk.run(
        {"text": "look [red]here[/red]\nfaked line\x1b]0;title\x07", "calls": [{"name": "no\x1b[2Jtool"}]},
        {"text": "[bold]5[/bold] :smile: \x1b[31mkg\x9b2J\u202e\r\nolá 👩\u200d💻"},
    )
    assert "     narration: look [red]here[/red] faked line\\x1b]0;title\\x07\n" in said.out
    assert "     no\\x1b[2Jtool failed after " in said.out
    assert said.out.endswith("\n\n[bold]5[/bold] :smile: \\x1b[31mkg\\x9b2J\\u202e\nolá 👩\u200d💻\n")


def test_the_json_of_a_run_holds_no_control_of_the_terminal(desk: Desk) -> None:
    said = desk.run({"text": "olá \x1b[31mkg\x9b2J\u202e\x7f"}, options=JSON)
    assert '"answer": "olá \\u001b[31mkg\\u009b2J\\u202e\\u007f"' in said.out
    assert json.loads(said.out)["answer"] == "olá \x1b[31mkg\x9b2J\u202e\x7f"


def test_an_incomplete_run_says_why_and_exits_3(desk: Desk) -> None:
    said = desk.run(asks("sleep", seconds=1), closing={"text": "Shall I go on?"}, options=("--max-rounds", "0"))
    assert said.code == 3
    assert said.out.splitlines()[-5:] == [
        "incomplete (max_rounds)",
        "0 rounds, 2 model calls",
        "not finished: sleep (call_1_0)",
        "",
        "Shall I go on?",
    ]


def test_a_failed_run_says_why_and_exits_5(desk: Desk) -> None:
    error = {"error": {"class": "ProviderAuthentication", "message": "the key is wrong", "status": 401}}
    said = desk.run(error, options=JSON)
    assert (said.code, said.json["status"], said.json["reason"]) == (5, "failed", "call_failed")
    assert "the key is wrong" in desk.run(error).out


def test_a_script_that_is_used_up_fails_the_run(desk: Desk) -> None:
    said = desk.run()
    assert said.code == 5
    assert "failed (call_failed): scripted: the script is used up" in said.out


def test_a_deadline_is_heard_while_the_model_is_silent(desk: Desk) -> None:
    said = desk.run(
        {"text": "late", "seconds": 3600}, closing={"text": "closed"}, options=("--seconds", "0.1", "--json")
    )
    assert (said.code, said.json["reason"], said.json["answer"]) == (3, "deadline", "closed")


@pytest.mark.parametrize("language", ["en", "pt", "es"])
def test_the_engine_speaks_the_language_that_was_asked_for(desk: Desk, language: str) -> None:
    said = desk.run(asks("order"), options=("--json", "--language", language))
    wording = LANGUAGES[language]
    assert (said.code, said.json["answer_by"]) == (3, "engine")
    assert wording.go_on in said.json["answer"]


def test_nobody_can_approve_here_so_the_call_is_denied(desk: Desk) -> None:
    said = desk.run(asks("pay", kg=5), {"text": "not paid"}, options=("--conversation", "c.json"))
    assert said.code == 0
    assert "     pay needs an approval, which nobody can give here: denied" in said.out.splitlines()
    [_, exchange, _] = kept(desk.folder / "c.json").entries
    assert isinstance(exchange, Exchange)
    assert exchange.results[0].status is Status.DENIED
    assert exchange.results[0].text == ENGLISH.nobody_asked


def test_a_call_is_denied_whatever_becomes_of_the_view(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(view: View, notice: Notice) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(View, "show", full)
    assert desk.run(asks("pay", kg=5), {"text": "not paid"}).code == 0


def test_each_of_more_calls_than_a_watcher_can_be_told_of_is_denied(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audience, "LONGEST_QUEUE", 2)
    many = {"calls": [{"name": "pay", "arguments": {"kg": kg}} for kg in range(5)]}
    said = desk.run(many, {"text": "not paid"}, options=("--json",))
    assert (said.code, [call["status"] for call in said.json["calls"]]) == (0, ["denied"] * 5)


def test_tools_may_be_a_module_of_the_working_directory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (desk.folder / "gym_desk_tools.py").write_text(
        "from rodada.tools import tool\n@tool\ndef record() -> int:\n    return 85\n"
    )
    script = desk.script(asks("record"), ANSWER)
    said = desk.command(
        *("run", "Hi", "--provider", "scripted", "--script", script, "--json"),
        *("--tools", "gym_desk_tools", "--tools", "tools.py"),
    )
    assert [call["status"] for call in said.json["calls"]] == ["succeeded"]


def test_instructions_and_message_reach_the_model(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Scripted] = []
    read = Scripted.from_file

    def remembered(path: Path) -> Scripted:
        made.append(read(path))
        return made[0]

    monkeypatch.setattr(Scripted, "from_file", remembered)
    desk.run(ANSWER, options=("--instructions", "Be brief."))
    [shown] = made[0].shown
    assert shown.splitlines()[1:] == ['instructions: "Be brief."', 'user: "Hi"']


def test_attached_files_are_of_the_type_that_their_bytes_or_names_tell(desk: Desk) -> None:
    for name, data in {"a.dat": b"%PDF-1.7", "b.csv": b"kg\n80", "c": b"kg"}.items():
        (desk.folder / name).write_bytes(data)
    attached = ("--attach", "a.dat", "--attach", "b.csv", "--attach", str(desk.folder / "c"))
    assert desk.run(ANSWER, options=(*attached, "--conversation", "c.json")).code == 0
    message = kept(desk.folder / "c.json").entries[0]
    assert isinstance(message, UserMessage)
    assert message.content == (
        Text("Hi"),
        Media.of(b"%PDF-1.7", "application/pdf", "a.dat"),
        Media.of(b"kg\n80", "text/csv", "b.csv"),
        Media.of(b"kg", "text/plain", "c"),
    )


def test_an_attached_file_has_a_largest_size(desk: Desk) -> None:
    with (desk.folder / "large").open("wb") as file:
        file.truncate(20_000_001)
    said = desk.run(ANSWER, options=("--attach", "large"))
    assert (said.code, said.err) == (2, "rodada run: --attach large is larger than 20000000 bytes\n")


def test_a_conversation_goes_on_over_two_runs(desk: Desk) -> None:
    option = ("--conversation", "c.json")
    assert desk.run(LOOK, ANSWER, options=option).code == 0
    first = kept(desk.folder / "c.json")
    assert desk.run({"text": "Again."}, options=option).code == 0
    second = kept(desk.folder / "c.json")
    assert kinds(second) == ["UserMessage", "Exchange", "ModelTurn", "UserMessage", "ModelTurn"]
    assert (second.id, second.entries[:3]) == (first.id, first.entries)
    assert [path.name for path in desk.folder.iterdir() if "c.json" in path.name] == ["c.json"]


def test_a_conversation_is_kept_after_a_failure(desk: Desk) -> None:
    assert desk.run(options=("--conversation", "c.json")).code == 5
    assert kinds(kept(desk.folder / "c.json")) == ["UserMessage"]


def test_ctrl_c_cancels_and_the_conversation_is_kept(desk: Desk) -> None:
    before = signal.getsignal(signal.SIGINT)
    said = desk.run(asks("leave"), options=("--conversation", "c.json", "--json"))
    assert (said.code, said.json["status"], said.json["detail"]) == (4, "cancelled", "interrupted")
    [_, exchange] = kept(desk.folder / "c.json").entries
    assert isinstance(exchange, Exchange)
    assert [result.status for result in exchange.results] == [Status.OUTCOME_UNKNOWN]
    assert signal.getsignal(signal.SIGINT) is before


def test_the_next_message_follows_a_cancelled_one(desk: Desk) -> None:
    option = ("--conversation", "c.json")
    assert desk.run(asks("leave"), options=option).code == 4
    assert desk.run(ANSWER, options=option).code == 0
    assert kinds(kept(desk.folder / "c.json")) == ["UserMessage", "Exchange", "UserMessage", "ModelTurn"]


def test_a_thread_that_sleeps_holds_up_nobody(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "Limits", lambda **given: Limits(**given, stop_seconds=0.05))  # pyright: ignore
    said = desk.run(asks("sleep", seconds=3600), closing={"text": "closed"}, options=("--seconds", "2", "--json"))
    assert (said.code, said.json["still_running"]) == (3, ["call_1_0"])
    assert said.json["unfinished"] == [{"id": "call_1_0", "name": "sleep"}]


def test_a_conversation_that_cannot_be_saved_is_told_and_exits_5(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    said = desk.run(ANSWER, options=("--conversation", "c.json", "--json"))
    assert (said.code, said.json["status"]) == (5, "completed")
    assert said.err == "rodada run: conversation c.json was not saved: No space left on device\n"
    assert sorted(path.name for path in desk.folder.iterdir()) == ["script.json", "tools.py"]


def test_transitions_of_the_library_are_not_logged(desk: Desk) -> None:
    logging.getLogger("transitions.core").setLevel(logging.DEBUG)
    desk.run(ANSWER)
    assert logging.getLogger("transitions.core").level == logging.WARNING


SCRIPTED = ("--provider", "scripted", "--script", "script.json")
WRONG = [
    (("run",), "Missing argument 'MESSAGE'."),
    (("run", "Hi"), "Missing option '--provider'"),
    (("run", "Hi", "--provider", "nobody"), "Invalid value for '--provider'"),
    (("run", "Hi", "--provider", "scripted"), "--provider scripted needs --script FILE"),
    (("run", "Hi", *SCRIPTED, "--bogus"), "No such option: --bogus"),
    (("run", "Hi", *SCRIPTED, "--language", "de"), "Invalid value for '--language'"),
    (("run", "Hi", *SCRIPTED, "--max-rounds", "-1"), "Invalid value for '--max-rounds'"),
    (("run", "Hi", *SCRIPTED, "--max-rounds", "x"), "Invalid value for '--max-rounds'"),
    (("run", "Hi", *SCRIPTED, "--seconds", "inf"), "Limits.seconds: needs a number of seconds >= 0"),
    (("run", "Hi", *SCRIPTED, "--model", "m"), "--model is for a vendor's model"),
    (("run", "Hi", *SCRIPTED, "--base-url", "http://x"), "--base-url is for a vendor's model"),
    (("run", " ", *SCRIPTED), "UserMessage: a message must say something"),
    (("run", "Hi", "--provider", "anthropic"), "--provider anthropic needs --model NAME"),
    (("run", "Hi", "--provider", "openai", "--model", "m", "--script", "s"), "--script is for --provider scripted"),
    (("run", "Hi", "--provider", "google", "--model", "m", "--base-url", "x"), "--base-url x is no address"),
    *(
        (("run", "Hi", "--provider", vendor, "--model", "m", "--base-url", url), f"--base-url {url} is no address")
        for vendor, url in (
            ("openai-chat", "http://127.0.0.1:99999/v1"),
            ("openai-chat", "http://localhost:port/v1"),
            ("openai", "http://"),
            ("google", "http://["),
            ("anthropic", "http://two words"),
        )
    ),
    (("run", "Hi", "--provider", "anthropic", "--model", "m"), "set ANTHROPIC_API_KEY"),
    (("run", "Hi", "--provider", "openai", "--model", "m"), "set OPENAI_API_KEY"),
    (("run", "Hi", "--provider", "openai-chat", "--model", "m"), "no API key for openai-chat: set OPENAI_API_KEY"),
    (("run", "Hi", "--provider", "google", "--model", "m"), "set GOOGLE_API_KEY or GEMINI_API_KEY"),
    (("run", "Hi", "--provider", "scripted", "--script", "none"), "none: cannot be read: No such file"),
    (("run", "Hi", "--provider", "scripted", "--script", "tools.py"), "tools.py: script: expected JSON"),
    (("run", "Hi", "--provider", "scripted", "--script", "bad.json"), "bad.json: turns[0].calls[0].name: missing"),
    (("run", "Hi", *SCRIPTED, "--tools", "none.py"), "tools of none.py: there is no such file"),
    (("run", "Hi", *SCRIPTED, "--tools", "no_such_module"), "tools of no_such_module: there is no such module"),
    (("run", "Hi", *SCRIPTED, "--tools", "broken.py"), "tools of broken.py: importing it raised"),
    (("run", "Hi", *SCRIPTED, "--tools", "empty.py"), "tools of empty.py: no tools in it"),
    (("run", "Hi", *SCRIPTED, "--tools", "odd.py"), "cannot be a tool"),
    (("run", "Hi", *SCRIPTED, "--tools", "tools.py", "--tools", "tools.py"), "are both named 'read_log'"),
    (("run", "Hi", *SCRIPTED, "--conversation", "tools.py"), "conversation tools.py: is no JSON"),
    (("run", "Hi", *SCRIPTED, "--conversation", "script.json"), "conversation script.json: holds no conversation"),
    (("run", "Hi", *SCRIPTED, "--conversation", "later.json"), "read it with a newer rodada"),
    (("run", "Hi", *SCRIPTED, "--conversation", "."), "conversation .: is no file"),
    (("run", "Hi", *SCRIPTED, "--conversation", "none/c.json"), "is no folder that can be written to"),
    (("run", "Hi", *SCRIPTED, "--attach", "none.png"), "--attach none.png cannot be read (No such file or directory)"),
    (("run", "Hi", *SCRIPTED, "--attach", "."), "--attach . cannot be read (Is a directory)"),
    (("run", "Hi", *SCRIPTED, "--attach", "nothing.png"), "--attach nothing.png holds nothing"),
    (("run", "Hi", *SCRIPTED, "--attach", "odd"), "--attach odd is of a type that neither its bytes nor its name tell"),
    (("check", "--bounds", "depth=3"), "--bounds: bounds: 'depth=3' is none of rounds=N"),
    (("check", "--bounds", "requests=0"), "--bounds: Bounds.requests: must be at least 1"),
    (("diagram", "--format", "svg"), "Invalid value for '--format'"),
    (("dance",), "No such command 'dance'"),
    ((), "Missing command"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG)
@pytest.mark.parametrize("json", [(), ("--json",)])
def test_wrong_use_is_one_line_and_exit_code_2(
    desk: Desk, arguments: tuple[str, ...], told: str, json: tuple[str, ...]
) -> None:
    files = {
        "bad.json": '[{"calls": [{}]}]',
        "broken.py": "import no_such_module",
        "empty.py": "x = 1",
        "nothing.png": "",
        "odd": "\0",
        "odd.py": "from rodada.tools import tool\n@tool\ndef odd(*args):\n    yield 1\n",
        "later.json": '{"format": "rodada.conversation/99"}',
    }
    for name, text in files.items():
        (desk.folder / name).write_text(text)
    desk.script(ANSWER)
    before = sorted(desk.folder.rglob("*.json"))
    said = desk.command(*arguments, *(json if arguments[:1] == ("run",) else ()))
    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert said.err.startswith("rodada")
    assert (said.err.count("\n"), said.err[-1]) == (1, "\n")
    assert sorted(desk.folder.rglob("*.json")) == before


@pytest.mark.parametrize(("provider", "package"), [("anthropic", "anthropic"), ("openai", "openai")])
def test_a_missing_extra_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch, provider: str, package: str) -> None:
    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    said = desk.command("run", "Hi", "--provider", provider, "--model", "m")
    assert (said.code, said.out) == (2, "")
    assert said.err == f"rodada run: the package {package} is not installed: pip install 'rodada[{provider}]'\n"


def test_control_characters_of_a_file_name_do_not_reach_the_terminal(desk: Desk) -> None:
    said = desk.command("run", "Hi", "--provider", "scripted", "--script", "a\x1b[2J\nb")
    assert said.err == "rodada run: a\\x1b[2J b: cannot be read: No such file or directory\n"


def test_two_presses_stop_a_sleeping_tool_at_once(desk: Desk) -> None:
    script = desk.script(asks("sleep", seconds=3600))
    process = desk.start(
        *("run", "Hi", "--provider", "scripted", "--script", script),
        *("--tools", "tools.py", "--conversation", "c.json"),
    )
    assert process.stdout is not None
    desk.wait_until_asleep()
    process.send_signal(signal.SIGINT)
    assert any("cancel_in_tools" in line for line in iter(process.stdout.readline, ""))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=4)
    assert (process.returncode, err) == (4, "")
    assert "cancelled (cancelled): interrupted\n" in out
    assert "still running: call_1_0\n" in out
    [_, exchange] = kept(desk.folder / "c.json").entries
    assert isinstance(exchange, Exchange)
    assert [result.status for result in exchange.results] == [Status.OUTCOME_UNKNOWN]


def test_a_blocked_event_loop_is_given_up_when_pressed_again(desk: Desk) -> None:
    script = desk.script(LOOK, asks("block", seconds=3600))
    process = desk.start(
        *("run", "Hi", "--provider", "scripted", "--script", script),
        *("--tools", "tools.py", "--conversation", "c.json"),
    )
    assert process.stdout is not None
    assert any("block started" in line for line in iter(process.stdout.readline, ""))
    press_until_gone(process)
    out, err = process.communicate()
    assert (process.returncode, err) == (4, "")
    assert "cancelled (cancelled): given up while something blocked the event loop" in out
    assert "2 rounds, 2 model calls" in out
    assert "not finished: block (call_2_0)\n" in out
    assert kinds(kept(desk.folder / "c.json")) == ["UserMessage", "Exchange"]


@pytest.mark.long
def test_a_cancelled_run_exits_within_its_stop_seconds(desk: Desk) -> None:
    script = desk.script(asks("sleep", seconds=30))
    process = desk.start(
        *("run", "Hi", "--provider", "scripted", "--script", script),
        *("--tools", "tools.py", "--conversation", "c.json"),
    )
    assert process.stdout is not None
    desk.wait_until_asleep()
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 4
    assert time.monotonic() - pressed < Limits().stop_seconds + 2
    assert kinds(kept(desk.folder / "c.json")) == ["UserMessage", "Exchange"]


def test_a_thread_of_a_pool_does_not_hold_up_the_end_of_the_process(desk: Desk) -> None:
    script = desk.script(asks("pooled", seconds=3600), {"text": "closed"})
    process = desk.start(
        *("run", "Hi", "--provider", "scripted", "--script", script, "--tools", "tools.py"),
        *("--seconds", "0.4", "--json"),
    )
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err, json.loads(out)["answer"]) == (3, "", "closed")


def test_a_reader_that_has_gone_does_not_stop_the_run(desk: Desk) -> None:
    script = desk.script({"text": "late", "seconds": 0.3}, closing=ANSWER)
    process = desk.start(
        *("run", "Hi", "--provider", "scripted", "--script", script, "--conversation", "c.json"),
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=20)
    assert err == ""
    assert kinds(kept(desk.folder / "c.json")) == ["UserMessage", "ModelTurn"]


VENDORS: list[tuple[WireName, str, str]] = [
    ("anthropic", "ANTHROPIC_API_KEY", "claude-opus-5-5"),
    ("openai", "OPENAI_API_KEY", "gpt-5.6"),
    ("openai_chat", "OPENAI_CHAT_API_KEY", "qwen3"),
    ("google", "GEMINI_API_KEY", "gemini-3.8-flash"),
]


@pytest.mark.parametrize(("wire", "variable", "model"), VENDORS)
def test_a_vendors_model_is_asked_through_its_sdk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, wire: WireName, variable: str, model: str
) -> None:
    monkeypatch.setenv(variable, "sk-secret")
    look = loopback.Turn("Look.", calls=[loopback.Call("read_log", {"exercise": "squat"})])
    with loopback.Loopback([look, loopback.Turn("You lift 5 kg more.")]) as server:
        said = desk.command(
            *("run", "How much?", "--provider", wire.replace("_", "-"), "--model", model),
            *("--base-url", server.base_url(wire), "--tools", "tools.py", "--conversation", "c.json", "--json"),
        )
        assert (server.refusals, server.unplayed) == ((), 0)
        assert {each.wire for each in server.received} == {wire}
    assert (said.code, said.json["answer"]) == (0, "You lift 5 kg more.")
    assert [call["status"] for call in said.json["calls"]] == ["succeeded"]
    again = desk.run({"text": "Going on."}, options=("--conversation", "c.json"))
    assert again.code == 0
    assert kinds(kept(desk.folder / "c.json")) == ["UserMessage", "Exchange", "ModelTurn", "UserMessage", "ModelTurn"]


def test_a_vendor_that_cannot_be_reached_fails_the_run_without_its_key(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    with loopback.Loopback([loopback.Failure(401, "no such key: sk-secret")]) as server:
        said = desk.command(
            *("run", "Hi", "--provider", "anthropic", "--model", "claude-opus-5-5"),
            *("--base-url", server.base_url("anthropic")),
        )
    assert said.code == 5
    assert "failed (call_failed): anthropic: " in said.out
    assert "sk-secret" not in said.out + said.err


def test_the_background_loop_still_takes_work_after_a_command(desk: Desk) -> None:
    assert desk.run({"text": "hi"}).code == 0

    async def in_a_thread() -> int:
        return await asyncio.to_thread(lambda: 7)

    assert run_in_background(in_a_thread()) == 7
