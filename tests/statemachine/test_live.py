"""
Who owns a run: a block or an awaiting task; leaving either settles the run first.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from rodada.statemachine import (
    ApprovalAsked,
    Conversation,
    Ended,
    Gap,
    Kind,
    Limits,
    LiveRun,
    ModelRequest,
    ModelTurn,
    Notice,
    Origin,
    Outcome,
    RunStatus,
    Status,
    StepTaken,
    Stop,
    ToolLoop,
    Watch,
    audience,
)
from rodada.statemachine import live as live_module
from rodada.statemachine.approvals import waits_for_decision
from rodada.statemachine.errors import AlreadyEntered, ConversationBusy, InvalidValue, NotEntered, UnexpectedEvent
from rodada.statemachine.machine import FLOW
from rodada.statemachine.run import Run
from support.clock import HeldClock, idle
from support.held import HeldHistory, HeldProvider, HeldTool


def held_loop(*tools: HeldTool, history: HeldHistory | None = None) -> tuple[ToolLoop, HeldProvider, HeldClock]:
    provider, clock = HeldProvider(), HeldClock()
    return ToolLoop(provider, tools=tools, clock=clock, history=history), provider, clock


class Answers:
    """
    A model that always says the same.
    """

    async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
        return ModelTurn(Stop.WHOLE, "hi")


async def fail_inside(live: LiveRun) -> None:
    async with live:
        await idle()
        raise ZeroDivisionError


def outcome_on(error: BaseException | None) -> Outcome:
    """
    The outcome that a cancelled run left on the exception.
    """
    outcome = cast("Outcome | None", getattr(error, "outcome", None))
    assert isinstance(outcome, Outcome)
    return outcome


def test_leaving_the_block_before_the_end_cancels_the_run_and_waits_until_it_has_settled() -> None:
    async def scene() -> tuple[Outcome, int]:
        tool = HeldTool("a", Kind.READ)
        loop, provider, _ = held_loop(tool)
        async with loop.start("hello") as live:
            await idle()
            provider.call("a")
            await idle()
        return await live.outcome(), tool.calls[0].cancels

    outcome, cancels = asyncio.run(scene())
    assert RunStatus.CANCELLED is outcome.status
    assert [Status.OUTCOME_UNKNOWN] == [call.status for call in outcome.calls]
    assert 1 == cancels


def test_an_error_in_the_block_is_raised_after_the_run_has_settled() -> None:
    async def scene() -> Outcome:
        loop, _, _ = held_loop()
        live = loop.start("hello")
        with pytest.raises(ZeroDivisionError):
            await fail_inside(live)
        return await live.outcome()

    assert "left by an error" == asyncio.run(scene()).detail


def test_cancelling_the_awaiting_task_cancels_the_run_and_hands_the_outcome_over() -> None:
    async def scene() -> Outcome:
        loop, provider, _ = held_loop(HeldTool("a", Kind.READ))
        task = asyncio.create_task(loop.run("hello"))
        await idle()
        provider.call("a")
        await idle()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert task.cancelled()
        return outcome_on(caught.value)

    outcome = asyncio.run(scene())
    assert RunStatus.CANCELLED is outcome.status
    assert [Status.OUTCOME_UNKNOWN] == [call.status for call in outcome.calls]


def test_f114_a_timeout_around_a_run_is_raised_and_holds_the_outcome() -> None:
    async def scene() -> Outcome:
        loop, provider, _ = held_loop()

        async def expire(limit: asyncio.Timeout) -> None:
            await idle()
            assert len(provider.requests) == 1
            limit.reschedule(0)

        async def in_time() -> None:
            async with asyncio.timeout(None) as limit, asyncio.TaskGroup() as group:
                group.create_task(expire(limit))
                await loop.run("hello")

        with pytest.raises(TimeoutError) as caught:
            await in_time()
        assert [1] == provider.given_up
        return outcome_on(caught.value.__context__)

    assert RunStatus.CANCELLED is asyncio.run(scene()).status


def test_f115_a_cancel_is_an_event_in_its_turn_and_interrupts_no_step() -> None:
    """
    Fired from inside the driver's own notice of a step, the cancel is fed after that step, not within it.
    """

    async def scene() -> Outcome:
        loop, _, _ = held_loop()
        async with loop.start("hello") as live:
            async for notice in live.events():
                if isinstance(notice, StepTaken):
                    live.cancel("now")
                    break
            return await live.outcome()

    outcome = asyncio.run(scene())
    assert ["model_called", "cancel_in_call"] == [each.row for each in outcome.transitions]


def test_a_second_cancel_while_settling_ends_every_grace_and_keeps_the_outcome() -> None:
    async def scene() -> tuple[list[int], Outcome]:
        done, running = HeldTool("a"), HeldTool("b")
        loop, provider, _ = held_loop(done, running)
        task = asyncio.create_task(loop.run("hello"))
        await idle()
        provider.call("a", "b")
        await idle()
        done.calls[0].finish("saved")
        await idle()
        task.cancel()
        await idle()
        grace = running.calls[0].cancels
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return [grace, running.calls[0].cancels], outcome_on(caught.value)

    cancels, outcome = asyncio.run(scene())
    assert [0, 1] == cancels
    assert [("a", "saved", Status.SUCCEEDED)] == [(each.name, each.text, each.status) for each in outcome.calls[:1]]
    assert Status.OUTCOME_UNKNOWN is outcome.calls[1].status


def test_a_third_cancel_drops_the_run() -> None:
    async def scene() -> None:
        loop, _, _ = held_loop(history=HeldHistory())
        task = asyncio.create_task(loop.run("hello"))
        for _ in range(3):
            await idle()
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await idle()
        assert {asyncio.current_task()} == asyncio.all_tasks()

    asyncio.run(scene())


def test_a_cancel_while_a_left_block_settles_is_raised_and_holds_the_outcome() -> None:
    async def leave() -> None:
        loop, provider, _ = held_loop(HeldTool("a"))
        async with loop.start("hello"):
            await idle()
            provider.call("a")
            await idle()

    async def scene() -> tuple[bool, Outcome]:
        task = asyncio.create_task(leave())
        await idle()
        await idle()
        await idle()
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return task.cancelled(), outcome_on(caught.value)

    cancelled, outcome = asyncio.run(scene())
    assert cancelled
    assert [Status.OUTCOME_UNKNOWN] == [call.status for call in outcome.calls]


def test_a_cancel_in_the_middle_of_an_append_waits_for_the_store() -> None:
    async def scene() -> tuple[bool, Outcome]:
        history = HeldHistory()
        loop, _, _ = held_loop(history=history)
        task = asyncio.create_task(loop.run("hello"))
        await idle()
        task.cancel()
        await idle()
        waited = not task.done()
        history.done[0].set_result(None)
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        return waited, outcome_on(caught.value)

    waited, outcome = asyncio.run(scene())
    assert waited
    assert ["cancel_in_append", "cancel_settled"] == [each.row for each in outcome.transitions]


def test_one_live_run_is_one_run() -> None:
    async def scene() -> None:
        live = ToolLoop(Answers()).start("hello")
        async with live:
            await live.outcome()
        with pytest.raises(AlreadyEntered, match=live.id):
            async with live:
                pass

    asyncio.run(scene())


@pytest.mark.parametrize("use", ["outcome", "cancel"])
def test_a_live_run_that_has_not_begun_says_so(use: str) -> None:
    async def scene() -> None:
        live = ToolLoop(Answers()).start("hello")
        with pytest.raises(NotEntered, match="has not begun"):
            live.cancel() if use == "cancel" else await live.outcome()

    asyncio.run(scene())


def test_f016_a_second_run_on_a_busy_conversation_is_refused_and_nothing_is_lost() -> None:
    async def scene() -> tuple[Outcome, str, ConversationBusy]:
        loop, provider, _ = held_loop()
        conversation = Conversation()
        async with loop.start("hello", conversation=conversation) as live:
            await idle()
            with pytest.raises(ConversationBusy) as caught:
                await loop.run("again", conversation=conversation)
            provider.say("hi")
            outcome = await live.outcome()
            return outcome, live.id, caught.value

    outcome, run_id, busy = asyncio.run(scene())
    assert (run_id, outcome.conversation.id) == (busy.run_id, busy.conversation_id)
    assert RunStatus.COMPLETED is outcome.status


def test_f082_of_two_runs_on_one_conversation_only_one_ever_calls_the_model() -> None:
    async def scene() -> tuple[int, list[object]]:
        loop, provider, _ = held_loop()
        conversation = Conversation()
        tasks = [asyncio.create_task(loop.run(text, conversation=conversation)) for text in ("A", "B")]
        await idle()
        asked = len(provider.requests)
        provider.say("hi")
        results: list[object] = [type(each) for each in await asyncio.gather(*tasks, return_exceptions=True)]
        return asked, results

    assert (1, [Outcome, ConversationBusy]) == asyncio.run(scene())


def test_f082_nor_of_two_loops_in_two_threads() -> None:
    asked: list[str] = []
    begun, go = threading.Event(), threading.Event()

    class Waits:
        async def ask(self, request: ModelRequest, watch: Watch) -> ModelTurn:
            asked.append(request.conversation.entries[-1].text)  # type: ignore[union-attr]
            begun.set()
            await asyncio.to_thread(go.wait, 10)
            return ModelTurn(Stop.WHOLE, "hi")

    conversation = Conversation()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(ToolLoop(Waits()).run_sync, "A", conversation=conversation)
        assert begun.wait(10)
        with pytest.raises(ConversationBusy):
            ToolLoop(Waits()).run_sync("B", conversation=conversation)
        go.set()
        assert RunStatus.COMPLETED is first.result(10).status
    assert ["A"] == asked


def test_a_run_that_is_killed_before_its_first_step_leaves_its_conversation_free() -> None:
    """
    As an event loop does it that is shut down: it cancels every task.
    """

    async def scene() -> RunStatus:
        loop, conversation = ToolLoop(Answers()), Conversation()
        killed = loop.start("hello", conversation=conversation)
        await killed.__aenter__()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await killed.outcome()
        return (await loop.run("hello", conversation=conversation)).status

    assert RunStatus.COMPLETED is asyncio.run(scene())


def test_a_conversation_is_free_again_after_every_end() -> None:
    async def scene() -> dict[str, str]:
        loop, _, _ = held_loop()
        async with loop.start("hello", conversation=Conversation("c")):
            await idle()
        async with loop.start("hello", conversation=Conversation("c")):
            await idle()
        return live_module._busy  # pyright: ignore[reportPrivateUsage]

    assert {} == asyncio.run(scene())


def test_a_decision_that_nobody_waits_for_is_refused_by_name() -> None:
    async def scene() -> None:
        loop, _, _ = held_loop()
        async with loop.start("hello") as live:
            await idle()
            with pytest.raises(InvalidValue, match="'nobody' does not wait for one; these do: none"):
                live.approve("nobody", by="ana")
            with pytest.raises(InvalidValue, match="it needs somebody"):
                live.approve("nobody", by=" ")
            with pytest.raises(InvalidValue, match="takes a str, got a NoneType"):
                live.approve("nobody", by=None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    asyncio.run(scene())


def test_a_run_can_be_cancelled_from_another_thread() -> None:
    async def scene() -> Outcome:
        loop, _, _ = held_loop()
        async with loop.start("hello") as live:
            await idle()
            thread = threading.Thread(target=live.cancel, args=("from outside",))
            thread.start()
            thread.join()
            return await live.outcome()

    assert "from outside" == asyncio.run(scene()).detail


def test_a_reason_that_is_no_text_is_refused_in_the_thread_that_gave_it() -> None:
    async def scene() -> None:
        loop, _, _ = held_loop()
        async with loop.start("hello") as live:
            await idle()
            with pytest.raises(InvalidValue, match="takes a str, got a NoneType"):
                await asyncio.to_thread(live.cancel, None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    asyncio.run(scene())


def test_a_decision_of_another_thread_is_judged_on_one_state_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The run goes on while it is judged: here it is cancelled behind the first look at it.
    """

    async def scene() -> None:
        loop, provider, _ = held_loop(HeldTool("a", approvals=1))
        async with loop.start("hello") as live:
            await idle()
            provider.call("a")
            await idle()
            (asked,) = [each async for each in _so_far(live) if isinstance(each, ApprovalAsked)]

            def going_on(run: Run, request_id: str) -> bool:
                waits = waits_for_decision(run, request_id)
                events.call_soon_threadsafe(live.cancel)
                asyncio.run_coroutine_threadsafe(idle(), events).result(10)
                return waits

            events = asyncio.get_running_loop()
            monkeypatch.setattr(live_module, "waits_for_decision", going_on)
            await asyncio.to_thread(live.approve, asked.id, by="ana", digest=asked.digest)

    asyncio.run(scene())


async def _so_far(live: LiveRun) -> AsyncIterator[Notice]:
    events = live.events(after=0)
    while True:
        try:
            yield await asyncio.wait_for(anext(events), 0.01)
        except TimeoutError:
            return


def test_a_slow_watcher_loses_notices_and_is_told_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audience, "LONGEST_QUEUE", 2)

    async def scene() -> list[object]:
        loop, provider, _ = held_loop()
        async with loop.start("hello") as live:
            events = live.events()
            await idle()
            provider.say("hi")
            await live.outcome()
            return [notice async for notice in events]

    seen = asyncio.run(scene())
    assert isinstance(seen[0], Gap)
    assert isinstance(seen[-1], Ended)
    assert 3 == len(seen)


def test_a_watcher_that_comes_after_the_end_still_sees_it() -> None:
    async def scene() -> list[object]:
        async with ToolLoop(Answers()).start("hello") as live:
            await live.outcome()
            return [type(notice) async for notice in live.events()]

    assert [Ended] == asyncio.run(scene())


def test_the_events_of_a_run_that_crashes_end_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for event in FLOW.machine.events.values():
        monkeypatch.setattr(event, "transitions", {})

    async def scene() -> list[object]:
        async with ToolLoop(Answers()).start("hello") as live:
            seen: list[object] = [notice async for notice in live.events()]
            with pytest.raises(UnexpectedEvent):
                await live.outcome()
            return [*seen, *[notice async for notice in live.events()]]

    assert [] == asyncio.run(scene())


def test_f079_leaving_the_events_early_leaves_the_run_to_its_block() -> None:
    async def scene() -> tuple[Outcome, int]:
        loop, provider, _ = held_loop()
        async with loop.start("hello") as live:
            async for _ in live.events():
                break
            await idle()
            provider.say("hi")
            outcome = await live.outcome()
        await idle()
        return outcome, len(asyncio.all_tasks())

    outcome, tasks = asyncio.run(scene())
    assert RunStatus.COMPLETED is outcome.status
    assert 1 == tasks


def test_live_runs_are_made_by_start() -> None:
    assert isinstance(ToolLoop(Answers(), limits=Limits()).start("hello"), LiveRun)


def test_the_line_with_which_a_run_starts_says_who_it_is_for(caplog: pytest.LogCaptureFixture) -> None:
    origin = Origin(tenant="gym", actor="ana\nrun.ended", labels=(("plan", "free"),))

    with caplog.at_level(logging.INFO, logger="rodada"):
        asyncio.run(ToolLoop(Answers()).run("hello", origin=origin))

    [line] = [each.getMessage() for each in caplog.records if "run.started" in each.getMessage()]
    assert line.endswith(r" tenant='gym' actor='ana\nrun.ended' labels=(('plan', 'free'),)")
