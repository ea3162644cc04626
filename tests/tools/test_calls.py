"""
Calls: whatever a function does, its call ends in one true result; only a real cancel leaves it.
"""

import asyncio
import contextlib
import contextvars
import gc
import logging
import threading
from collections.abc import Callable
from typing import Any

import anthropic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from rodada.providers.scripted import Call, Scripted, Turn
from rodada.statemachine import Outcome, ToolLoop
from rodada.statemachine.limits import Limits
from rodada.statemachine.messages import Media, Status, Text, ToolRequest, ToolResult
from rodada.statemachine.ports import CallSetting
from rodada.statemachine.wording import ENGLISH
from rodada.tools import Context, OutcomeUnknown, Tool, ToolError, ToolResultParts, tool
from rodada.tools.value_text import NOTHING
from support.thread_bound import at_most
from support.tool_calls import called, request, result, told

AnyTool = Tool[..., Any]


def raising(error: BaseException, **options: Any) -> tuple[AnyTool, AnyTool]:
    """
    A sync and an async tool that raise the same.
    """

    def f() -> None:
        raise error

    async def g() -> None:
        raise error

    return tool(name="f", **options)(f), tool(name="f", **options)(g)


def test_a_call_gives_the_result_of_its_request() -> None:
    @tool
    def add(a: int, b: int) -> int:
        return a + b

    asked = request("add", '{"a":1,"b":2}', "c9")
    assert asyncio.run(add.call(asked, CallSetting()).run()) == ToolResult.of(asked, Status.SUCCEEDED, "3")


def test_arguments_arrive_as_the_types_of_the_signature() -> None:
    class Goal(BaseModel):
        name: str

    @tool
    async def show(goal: Goal) -> str:
        return goal.name

    assert told(show, '{"goal":{"name":"squat"}}') == (Status.SUCCEEDED, "squat")


def test_a_tool_without_a_value_says_so() -> None:
    @tool
    def f() -> None: ...

    assert told(f) == (Status.SUCCEEDED, NOTHING)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        StopIteration("x"),
        TimeoutError("connection timed out"),
        ConnectionError("connection timed out"),
        anthropic.AnthropicError("overloaded"),
        GeneratorExit("x"),
        asyncio.CancelledError("x"),
        ExceptionGroup("x", [ValueError("y")]),
        BaseException("x"),
        RecursionError("x"),
        MemoryError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_f091_whatever_a_tool_raises_is_its_result(error: BaseException) -> None:
    sync_tool, async_tool = raising(error)
    name = type(error).__name__
    expected = (Status.FAILED, f"f failed: it raised {name}. Its details are withheld.")
    assert told(sync_tool) == expected
    if isinstance(error, StopIteration):
        expected = (Status.FAILED, "f failed: it raised RuntimeError. Its details are withheld.")
    assert told(async_tool) == expected


def test_f110_the_text_of_an_exception_reaches_neither_model_nor_log(caplog: pytest.LogCaptureFixture) -> None:
    secret = "postgres://u:pw@host/db /srv/app/x.py"
    for at in (0, 1):
        with caplog.at_level(logging.DEBUG):
            assert told(raising(RuntimeError(secret))[at]) == (
                Status.FAILED,
                "f failed: it raised RuntimeError. Its details are withheld.",
            )
    records = [record for record in caplog.records if record.name != "asyncio"]
    assert [(record.name, record.levelname) for record in records] == [("rodada", "WARNING")] * 2
    for record, inner in zip(records, ("f", "g"), strict=True):
        place = f"{__name__}.raising.<locals>.{inner}, line "
        assert record.getMessage().startswith(f"event=tool.failed tool=f error=RuntimeError place={place}")
    assert all(record.exc_info is None for record in records)


def test_f110_a_tool_error_tells_its_text_and_errors_message_opts_in() -> None:
    for each in raising(ToolError("The disk is full.")):
        assert told(each) == (Status.FAILED, "The disk is full.")
    for each in raising(ToolError()):
        assert told(each) == (Status.FAILED, "f failed.")
    for each in raising(ValueError("no such order"), errors="message"):
        assert told(each) == (Status.FAILED, "f failed: it raised ValueError: no such order")
    for each in raising(ValueError(), errors="message"):
        assert told(each) == (Status.FAILED, "f failed: it raised ValueError. Its details are withheld.")


def test_a_tool_that_lost_sight_of_its_work_says_so() -> None:
    for each in raising(OutcomeUnknown("The payment was sent; no answer came.")):
        assert told(each) == (Status.OUTCOME_UNKNOWN, "The payment was sent; no answer came.")


def test_an_exception_whose_own_text_raises_is_still_a_result() -> None:
    class Broken(ToolError):
        def __str__(self) -> str:
            raise ValueError

    assert [told(each) for each in raising(Broken())] == [(Status.FAILED, "f failed.")] * 2


def test_f039_the_text_of_an_error_is_cleaned_and_cut() -> None:
    found = result(raising(ToolError("a\udc97b" + "x" * 1000))[0], limits=Limits(max_result_chars=200))
    assert found.text.startswith("a\ufffdbxxx")
    assert found.text.endswith("\n[cut here: the whole text has 1003 characters]")
    assert found.size == 200


def test_f044_a_returned_tool_error_is_a_failure() -> None:
    @tool
    def f() -> ToolError:
        return ToolError("disk full")

    @tool
    async def g() -> ValueError:
        return ValueError("postgres://u:pw@host")

    assert told(f) == (Status.FAILED, "disk full")
    assert told(g) == (Status.FAILED, "g failed: it raised ValueError. Its details are withheld.")


def test_f044_a_failure_with_content_is_a_failure() -> None:
    shot = Media.of(b"\x89PNG\r\n\x1a\n", "image/png")

    @tool
    def f() -> ToolResultParts:
        return ToolResultParts(["disk full", shot], failed=True)

    @tool
    async def g() -> ToolResultParts:
        return ToolResultParts(["Error: is the first word of this log", shot])

    assert result(f) == ToolResult.with_parts(request("f"), Status.FAILED, [Text("disk full"), shot])
    assert result(g).status is Status.SUCCEEDED


def test_a_tool_may_return_media() -> None:
    shot = Media.of(b"\x89PNG\r\n\x1a\n", "image/png")

    @tool
    def f() -> list[object]:
        return ["a" * 300, shot]

    @tool
    def g() -> bytes:
        return shot.bytes

    assert result(g) == ToolResult.with_parts(request("g"), Status.SUCCEEDED, [shot])
    setting = CallSetting(limits=Limits(max_result_chars=200))
    text, medium = asyncio.run(f.call(request("f"), setting).run()).content
    assert (len(text.text) if isinstance(text, Text) else 0, medium) == (200, shot)


def test_f045_the_status_never_comes_from_the_text() -> None:
    @tool
    def read() -> str:
        return "Error: this is line 1 of the log"

    @tool
    def build() -> str:
        raise ToolError("ok\nExit code: 2")

    @tool
    def check() -> dict[str, str]:
        return {"error": "none", "status": "failed"}

    assert told(read) == (Status.SUCCEEDED, "Error: this is line 1 of the log")
    assert told(build) == (Status.FAILED, "ok\nExit code: 2")
    assert told(check) == (Status.SUCCEEDED, '{"error":"none","status":"failed"}')


def test_f042_a_long_result_is_cut_and_its_status_stays() -> None:
    @tool
    def f() -> list[int]:
        return list(range(100_000))

    found = result(f, limits=Limits(max_result_chars=10_000))
    assert (found.status, found.size) == (Status.SUCCEEDED, 10_000)
    assert found.text.endswith("[cut here: the whole text has 588891 characters]")


def test_f038_a_value_that_cannot_be_shown_is_a_failure_that_tells_the_tool_ran() -> None:
    @tool
    def f() -> Any:
        return (n for n in range(3))

    assert told(f) == (
        Status.FAILED,
        "f ran to its end, but what it returned cannot be shown: "
        "it is a generator, which is not read yet: return a list, or a text.",
    )


def test_f038_a_value_that_lies_about_its_class_is_a_failure() -> None:
    class Hidden:
        @property
        def __class__(self) -> Any:
            raise LookupError

        @__class__.setter
        def __class__(self, value: Any) -> None: ...

    @tool
    async def f() -> Any:
        return Hidden()

    assert told(f) == (
        Status.FAILED,
        "f ran to its end, but what it returned cannot be shown: turning it into text raised LookupError.",
    )


def test_a_sync_function_that_returns_a_coroutine_is_told_to_be_async() -> None:
    async def inner() -> int:
        return 1

    @tool
    def f() -> Any:
        return inner()

    status, text = told(f)
    assert status is Status.FAILED
    assert "make the tool async and await it there" in text


# A cancel


@pytest.mark.parametrize("at", [0, 1])
def test_f074_a_cancelled_error_of_the_tools_own_is_its_failure(at: int) -> None:
    each = raising(asyncio.CancelledError())[at]

    async def main() -> tuple[Status, int]:
        found = await called(each)
        task = asyncio.current_task()
        assert task is not None
        await asyncio.sleep(0)
        return found.status, task.cancelling()

    assert asyncio.run(main()) == (Status.FAILED, 0)


def test_f074_a_library_that_cancels_something_inside_the_tool_is_no_cancel_of_the_call() -> None:
    @tool
    async def f() -> None:
        inner = asyncio.ensure_future(asyncio.Event().wait())
        inner.cancel()
        await inner

    @tool
    async def g() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    assert told(f) == (Status.FAILED, "f failed: it raised CancelledError. Its details are withheld.")
    assert told(g) == (Status.FAILED, "g failed: it raised TimeoutError. Its details are withheld.")


def test_a_real_cancel_passes_through_the_tool_and_out() -> None:
    seen: list[str] = []

    async def main() -> None:
        entered = asyncio.Event()

        @tool
        async def f() -> None:
            try:
                entered.set()
                await asyncio.Event().wait()
            finally:
                seen.append("finally")

        task = asyncio.ensure_future(called(f))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["finally"]


def test_a_tool_that_finishes_in_spite_of_a_cancel_keeps_its_result() -> None:
    async def main() -> ToolResult:
        entered = asyncio.Event()

        @tool
        async def f() -> str:
            entered.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return "saved all the same"

        task = asyncio.ensure_future(called(f))
        await entered.wait()
        task.cancel()
        return await task

    assert asyncio.run(main()) == ToolResult.of(request("f"), Status.SUCCEEDED, "saved all the same")


def broken_by_a_cancel(error: Exception) -> tuple[Status, str]:
    """
    What is told of a write whose library makes an error of its own of the cancel that cuts it off.
    """

    async def main() -> Outcome:
        @tool
        async def pay(ctx: Context[object]) -> None:
            ctx.cancel("the person left")
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise error from None

        model = Scripted([Turn(calls=[Call("pay")])])
        return await ToolLoop(model, tools=[pay], limits=Limits(stop_seconds=0.1)).run("pay")

    (call,) = asyncio.run(main()).calls
    return call.status, call.text


@pytest.mark.parametrize("error", [ConnectionError("torn"), TimeoutError(), ExceptionGroup("torn", [OSError()])])
def test_what_a_tool_raises_because_it_was_cut_off_does_not_tell_its_outcome(error: Exception) -> None:
    assert broken_by_a_cancel(error) == (Status.OUTCOME_UNKNOWN, ENGLISH.interrupted)


def test_a_tool_that_is_cut_off_may_say_itself_what_is_true() -> None:
    assert broken_by_a_cancel(ToolError("Nothing was paid.")) == (Status.FAILED, "Nothing was paid.")


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_end_the_program_is_nobodys_result(error: type[BaseException], at: int) -> None:
    with pytest.raises(error):
        result(raising(error())[at])
    gc.collect()


# Threads


def test_f081_a_sync_tool_has_its_own_copy_of_the_context() -> None:
    var = contextvars.ContextVar("var", default="none")

    @tool
    def f(value: str) -> str:
        before = var.get()
        var.set(value)
        return f"{before} {var.get()}"

    async def main() -> tuple[list[str], str]:
        var.set("u1")
        found = await asyncio.gather(called(f, '{"value":"a"}'), called(f, '{"value":"b"}'))
        return [each.text for each in found], var.get()

    assert asyncio.run(main()) == (["u1 a", "u1 b"], "u1")


def test_f080_an_async_tool_runs_on_the_event_loop() -> None:
    @tool
    async def f() -> tuple[int, bool]:
        return threading.get_ident(), asyncio.get_running_loop() is loops[0]

    async def main() -> ToolResult:
        loops.append(asyncio.get_running_loop())
        return await called(f)

    loops: list[asyncio.AbstractEventLoop] = []
    assert asyncio.run(main()).text == f"[{threading.get_ident()},true]"


def test_a_sync_tool_runs_in_a_daemon_thread_and_the_event_loop_goes_on() -> None:
    async def main() -> ToolResult:
        go = threading.Event()

        @tool
        def f() -> str:
            thread = threading.current_thread()
            assert go.wait(10)
            return f"{thread.name} {thread.daemon}"

        task = asyncio.ensure_future(called(f))
        await asyncio.sleep(0)
        go.set()
        return await task

    assert asyncio.run(main()).text == "rodada-tool-f True"


def test_a_cancelled_sync_call_is_alive_until_its_thread_ends() -> None:
    entered, go, left = threading.Event(), threading.Event(), threading.Event()

    @tool
    def f() -> None:
        entered.set()
        go.wait(10)
        left.set()

    async def main() -> tuple[bool, bool, bool]:
        call = f.call(request("f"), CallSetting())
        before = call.alive
        task = asyncio.ensure_future(call.run())
        await asyncio.to_thread(entered.wait, 10)
        during = call.alive
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return before, during, call.alive

    assert asyncio.run(main()) == (False, True, True)
    go.set()
    assert left.wait(10)


def test_a_finished_call_is_not_alive() -> None:
    @tool
    def f() -> None: ...

    async def main() -> bool:
        call = f.call(request("f"), CallSetting())
        await call.run()
        return call.alive

    assert asyncio.run(main()) is False


def test_no_thread_to_be_had_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    @tool
    def f() -> None: ...

    with at_most(1):
        monkeypatch.setattr(threading.Thread, "start", no_more)
        found = told(f)
    assert found == (Status.FAILED, "f failed: it raised RuntimeError. Its details are withheld.")


# The host's hook


def test_on_error_sees_the_exception_and_its_request() -> None:
    seen: list[tuple[ToolRequest, BaseException]] = []
    error = ValueError("whole")

    def hook(asked: ToolRequest, error: BaseException) -> None:
        seen.append((asked, error))

    for each in raising(error, on_error=hook):
        told(each)
    assert seen == [(request("f"), error)] * 2


@pytest.mark.parametrize("second", [KeyError("k"), asyncio.CancelledError()], ids=repr)
def test_a_failing_hook_or_log_filter_changes_nothing(
    second: BaseException, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hook(asked: ToolRequest, error: BaseException) -> None:
        raise second

    expected = (Status.FAILED, "f failed: it raised ValueError. Its details are withheld.")
    for each in raising(ValueError("x"), on_error=hook):
        assert told(each) == expected
    assert f"event=tool.on_error_failed tool=f error={type(second).__name__}" in caplog.messages
    monkeypatch.setattr(logging.getLogger("rodada"), "filters", [_breaking])
    for each in raising(ValueError("x"), on_error=hook):
        assert told(each) == expected


def _breaking(record: logging.LogRecord) -> bool:
    raise KeyError(record.name)


def test_the_log_is_silent_until_the_host_wants_it() -> None:
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("rodada").handlers)


VALUES: st.SearchStrategy[Callable[[], object]] = st.one_of(
    st.sampled_from([ValueError, StopIteration, asyncio.CancelledError, ToolError, BaseException]).map(
        lambda error: _raiser(error)
    ),
    st.one_of(st.none(), st.text(st.characters()), st.binary(), st.floats(), st.lists(st.text(st.characters()))).map(
        lambda value: lambda: value
    ),
)


def _raiser(error: type[BaseException]) -> Callable[[], object]:
    def run() -> object:
        raise error("a\udc97b")

    return run


@given(VALUES, st.booleans())
def test_no_tool_makes_its_call_raise(work: Callable[[], object], is_async: bool) -> None:
    async def later() -> object:
        return work()

    found = result(tool(name="f")(later if is_async else work), limits=Limits(max_result_chars=200))
    assert found.status in (Status.SUCCEEDED, Status.FAILED)
    assert 0 < found.size <= 200
    assert found.told.encode("utf-8")
