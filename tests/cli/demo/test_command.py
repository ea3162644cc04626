"""
The command as a person meets it: what it prints, and how it ends.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator

import pytest
from attrs import evolve

from rodada.cli import vendor_model
from rodada.cli.demo import beginning
from rodada.cli.demo.seen import Seen
from rodada.cli.demo.vendors import VENDORS, Vendor
from rodada.cli.main import call
from rodada.providers.loopback import Call, Hang, Loopback, Received, Reply, Turn
from rodada.providers.loopback.json_values import Object
from rodada.statemachine import Provider
from rodada.statemachine.errors import MissingExtra

Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

TITLES = (
    "1 · An answer after three chained tools",
    "2 · The limit, and a closing call",
    "3 · A tool that fails",
    "4 · Two independent requests, one of which fails",
    "5 · A cancel in the middle of two tools, and the next message",
)


@pytest.fixture(autouse=True)
def plain_output_80_columns_wide(monkeypatch: Patch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def use_vendors(monkeypatch: Patch, *vendors: Vendor) -> None:
    """
    Let the demo know other vendors.
    """
    monkeypatch.setattr(beginning, "VENDORS", vendors)


def missing(vendor: Vendor) -> Vendor:
    """
    The vendor, with its SDK not installed.
    """

    def refuse(model: str, key: str | None, url: str | None) -> Provider:
        raise MissingExtra(vendor.distribution, vendor.name)

    return evolve(vendor, provider=refuse)


def test_all_scenes_are_shown_in_full_once_and_in_a_line_for_the_other_sdks(capsys: Captured) -> None:
    assert call(["demo"]) == 0
    told = capsys.readouterr()
    assert [told.out.count(title) for title in TITLES] == [3] * 5
    assert [told.out.count(f"Through {vendor.distribution}") for vendor in VENDORS] == [1, 1, 1]
    assert "✓ 15 scenes through 3 SDKs: 141 promises checked, none broken." in told.out
    assert told.err == ""


def test_a_scene_shows_path_calls_outcome_and_answer(capsys: Captured, monkeypatch: Patch) -> None:
    use_vendors(monkeypatch, VENDORS[0])
    assert call(["demo"]) == 0
    told = capsys.readouterr().out
    for line in (
        "person    Compare my squat in August, September and October.",
        "  8  CallModel      TurnReceived     answer_out_of_rounds   →  AppendHistory",
        '          read_training_log {"exercise":"squat","month":"2026-10"}',
        "          → not executed: Not executed: the limit of tool rounds for one message",
        "outcome   incomplete: max_rounds; 2 rounds, 4 model calls",
        "answer    Your squat rose from 100 kg to 105 kg by September. I did not get to",
        "undone    read_training_log",
        "outcome   cancelled (the person left); 1 round, 1 model call",
    ):
        assert f"\n{line}\n" in told


def test_lines_fit_the_width_and_end_without_blanks(capsys: Captured, monkeypatch: Patch) -> None:
    use_vendors(monkeypatch, VENDORS[0])
    call(["demo"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80 or line.endswith(" ")] == []


def swapped(received: Received) -> Received:
    """
    A request with the two results of its last message in the wrong order.
    """
    messages = json.loads(received.raw)["messages"]
    if isinstance(messages[-1]["content"], list):
        messages[-1]["content"].reverse()
    return evolve(received, body={**received.body, "messages": messages})


def test_a_broken_promise_is_named_and_ends_with_1(capsys: Captured, monkeypatch: Patch) -> None:
    truth: Callable[[Loopback], tuple[Received, ...]] = Loopback.received.__get__

    def tampered(server: Loopback) -> tuple[Received, ...]:
        return tuple(map(swapped, truth(server)))

    monkeypatch.setattr(Loopback, "received", property(tampered))
    use_vendors(monkeypatch, VENDORS[0])
    assert call(["demo"]) == 1
    told = capsys.readouterr().out
    assert "✗ P1    one result a call, in order, in one message after its turn\n          P1 is broken: request" in told
    assert "✗ 5 scenes through 1 SDK: 47 promises checked, 1 broken.\n✗ P1 in 'Two independent requests" in told


def test_a_broken_promise_is_named_in_the_short_form_too(capsys: Captured, monkeypatch: Patch) -> None:
    def blind(body: Object) -> Seen:
        return evolve(VENDORS[1].seen(body), items=())

    use_vendors(monkeypatch, VENDORS[0], evolve(VENDORS[1], seen=blind))
    assert call(["demo"]) == 1
    told = capsys.readouterr().out
    assert "  ✗ 3 · A tool that fails: 1 of 8 broken\n          P5 is broken: the model was never told" in told


def test_an_sdk_that_is_not_installed_is_named(capsys: Captured, monkeypatch: Patch) -> None:
    use_vendors(monkeypatch, missing(VENDORS[0]), VENDORS[1], missing(VENDORS[2]))
    assert call(["demo"]) == 0
    told = capsys.readouterr().out
    assert "Skipped anthropic: the package anthropic is not installed: pip install\n'rodada[anthropic]'" in told
    assert "Skipped google: the package google-genai is not installed: pip install" in told
    assert "5 scenes through 1 SDK: 47 promises checked, none broken." in told


def test_without_any_sdk_there_is_one_clear_line(capsys: Captured, monkeypatch: Patch) -> None:
    use_vendors(monkeypatch, *map(missing, VENDORS))
    assert call(["demo"]) == 2
    told = capsys.readouterr()
    assert told.err == "rodada demo: no vendor's SDK is installed: pip install 'rodada[all]'\n"
    assert "promises checked" not in told.out


def test_ctrl_c_while_scenes_are_played_ends_with_4(monkeypatch: Patch) -> None:
    def interrupt(model: str, key: str | None, url: str | None) -> Provider:
        raise KeyboardInterrupt

    use_vendors(monkeypatch, evolve(VENDORS[0], provider=interrupt))
    assert call(["demo"]) == 4


def test_a_reader_that_goes_away_changes_nothing() -> None:
    with subprocess.Popen([sys.executable, "-m", "rodada", "demo"], stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        assert (first[:12], process.stderr.read(), process.wait()) == (b"rodada demo.", b"", 0)


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_a_proxy_in_the_environment_is_passed_by(vendor: Vendor, capsys: Captured, monkeypatch: Patch) -> None:
    use_vendors(monkeypatch, vendor)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intern.example")
    monkeypatch.delenv("no_proxy", raising=False)
    assert call(["demo"]) == 0
    assert (os.environ["NO_PROXY"], "no_proxy" in os.environ) == ("intern.example", False)


# A real model


KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GOOGLE_API_KEY"}


def asked(server: Loopback, vendor: Vendor, monkeypatch: Patch) -> int:
    """
    The exit code of a question to a vendor's model, which the server plays.
    """
    monkeypatch.setenv(KEYS[vendor.name], "sk-secret")
    address = server.base_url(vendor.name)
    return call(["demo", "--provider", vendor.name, "--model", vendor.model, "--base-url", address])


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_a_real_model_is_asked_with_the_same_tools(vendor: Vendor, capsys: Captured, monkeypatch: Patch) -> None:
    script = (
        Turn(calls=(Call("save_goal", {"exercise": "bench press", "kg": 85}),)),
        Turn("You improved by 5 kg."),
    )
    with Loopback(script) as server:
        assert asked(server, vendor, monkeypatch) == 0
        assert [vendor.seen(body).tools for body in server.requests()] == [
            ("read_training_log", "compute_record", "save_goal", "read_body_weight", "ask_coach")
        ] * 2
    told = capsys.readouterr().out
    assert "person    How much did my bench press improve this month?" in told
    assert "  2  CallModel      TurnReceived     tools_started          →  ExecuteTools" in told
    assert "answer    You improved by 5 kg.\nOn the desk lies a goal: bench press, 85.0 kg.\n" in told
    assert "sk-secret" not in told


def test_a_model_of_ones_own_server_is_asked_without_a_key(capsys: Captured, monkeypatch: Patch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Loopback([Turn("You improved by 5 kg.")]) as server:
        address = server.base_url("openai_chat")
        assert call(["demo", "--provider", "openai-chat", "--model", "qwen3", "--base-url", address]) == 0
        assert [each.wire for each in server.received] == ["openai_chat"]
    assert "answer    You improved by 5 kg.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "code", "outcome"),
    [
        ((Turn("Your bench", stop="cut"),), 3, "outcome   incomplete: cut"),
        ((), 5, "outcome   failed: call_failed"),
    ],
)
def test_exit_codes_are_those_of_run(
    script: tuple[Reply, ...], code: int, outcome: str, capsys: Captured, monkeypatch: Patch
) -> None:
    with Loopback(script) as server:
        assert asked(server, VENDORS[0], monkeypatch) == code
    assert outcome in capsys.readouterr().out


@pytest.fixture
def heard_ctrl_c() -> Generator[None]:
    """
    A shell starts what it runs in the background, tests too, with Ctrl-C ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_ctrl_c")
def test_ctrl_c_cancels_and_shows_the_outcome(capsys: Captured, monkeypatch: Patch) -> None:
    def interrupt(received: Received) -> Reply:
        os.kill(os.getpid(), signal.SIGINT)
        return Hang()

    with Loopback(interrupt) as server:
        assert asked(server, VENDORS[0], monkeypatch) == 4
    assert "outcome   cancelled (cancelled); 0 rounds, 1 model call" in capsys.readouterr().out


def test_what_a_model_says_cannot_steer_the_terminal(capsys: Captured, monkeypatch: Patch) -> None:
    with Loopback((Turn("[red]85[/red] \x1b[2Jkg\u202e"),)) as server:
        assert asked(server, VENDORS[0], monkeypatch) == 0
    assert "answer    [red]85[/red] \\x1b[2Jkg\\u202e\n" in capsys.readouterr().out


def test_a_real_model_without_its_sdk_is_wrong_use(capsys: Captured, monkeypatch: Patch) -> None:
    def refuse(model: str, base_url: str | None) -> Provider:
        raise MissingExtra("openai", "openai")

    monkeypatch.setattr(vendor_model, "PROVIDERS", {"openai": refuse})
    assert call(["demo", "--provider", "openai", "--model", "gpt-5.6"]) == 2
    told = "rodada demo: the package openai is not installed: pip install 'rodada[openai]'\n"
    assert capsys.readouterr() == ("", told)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--provider", "openai"], "--provider openai needs --model NAME"),
        (["--model", "gpt-5.6"], "--model and --base-url go with --provider anthropic, openai, openai-chat or google"),
        (["--provider", "openai", "--model", "gpt-5.6"], "no API key for openai: set OPENAI_API_KEY"),
        (["--provider", "google", "--model", "m", "--base-url", "nowhere"], "--base-url nowhere is no address"),
        (["--provider", "mistral"], "Invalid value for '--provider'"),
    ],
)
def test_wrong_use_gets_one_clear_line(options: list[str], told: str, capsys: Captured, monkeypatch: Patch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert call(["demo", *options]) == 2
    found = capsys.readouterr()
    assert told in found.err
    assert (found.err.count("\n"), found.out) == (1, "")
